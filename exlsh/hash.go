package exlsh

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/zeebo/xxh3"
	//lint:ignore SA1019 existing fingerprints use it, and nothing here depends on its strength
	"golang.org/x/crypto/ripemd160"
)

// A Hash gives every shingle its bits, eight for each byte of the hash. The zero value
// stands for MD5.
type Hash struct {
	name string
	size int // bytes
	// newSums returns the function for one goroutine.
	newSums func() sums
}

// sums writes the hashes of shingles to rows of so many words each, the first byte of a hash
// lowest, and zeros to the rest of each row. Shingle i is text[starts[i]:ends[i]].
type sums func(rows []uint64, words int, text []byte, starts, ends []int)

// NewHash makes a hash function of size bytes of a function that appends the hash of a
// shingle to dst. Several goroutines call it at once. The canonical line shows the name,
// which must not contain spaces.
func NewHash(name string, size int, appendSum func(dst, shingle []byte) []byte) Hash {
	return Hash{name, size, func() sums {
		buffer := make([]byte, 0, size+7)
		return each(size, func(shingle []byte) []byte { return appendSum(buffer, shingle) })
	}}
}

// The hash functions. XXH3 is the variant with 128 bits, its high byte first, and by far the
// fastest. The others are for agreement with existing fingerprints: resistance to inversion
// or collisions adds nothing to a fingerprint.
var (
	MD5       = Hash{"md5", md5.Size, newMD5}
	SHA1      = Hash{"sha1", sha1.Size, newSHA1}
	SHA256    = Hash{"sha256", sha256.Size, newSHA256}
	SHA512    = Hash{"sha512", sha512.Size, newSHA512}
	RIPEMD160 = Hash{"ripemd160", ripemd160.Size, newRIPEMD160}
	CRC32     = Hash{"crc32", crc32.Size, func() sums { return crc32Rows }}
	XXH3      = Hash{"xxh3", 16, func() sums { return xxh3Rows }}
)

// each makes sums of a function that returns the hash of one shingle, which stays valid
// until its next call.
func each(size int, sum func(shingle []byte) []byte) sums {
	padded := make([]byte, (size+7)&^7)
	return func(rows []uint64, words int, text []byte, starts, ends []int) {
		for i, start := range starts {
			copy(padded[:size], sum(text[start:ends[i]]))
			for w := range words {
				rows[i*words+w] = binary.LittleEndian.Uint64(padded[8*w:])
			}
		}
	}
}

func newMD5() sums {
	var h [md5.Size]byte
	return each(len(h), func(shingle []byte) []byte { h = md5.Sum(shingle); return h[:] })
}

func newSHA1() sums {
	var h [sha1.Size]byte
	return each(len(h), func(shingle []byte) []byte { h = sha1.Sum(shingle); return h[:] })
}

func newSHA256() sums {
	var h [sha256.Size]byte
	return each(len(h), func(shingle []byte) []byte { h = sha256.Sum256(shingle); return h[:] })
}

func newSHA512() sums {
	var h [sha512.Size]byte
	return each(len(h), func(shingle []byte) []byte { h = sha512.Sum512(shingle); return h[:] })
}

func newRIPEMD160() sums {
	state := ripemd160.New()
	var h [ripemd160.Size]byte
	return each(len(h), func(shingle []byte) []byte {
		state.Reset()
		_, _ = state.Write(shingle) // never fails
		return state.Sum(h[:0])
	})
}

func crc32Rows(rows []uint64, _ int, text []byte, starts, ends []int) {
	for i, start := range starts {
		rows[i] = uint64(bits.ReverseBytes32(crc32.ChecksumIEEE(text[start:ends[i]])))
	}
}

func xxh3Rows(rows []uint64, _ int, text []byte, starts, ends []int) {
	for i, start := range starts {
		h := xxh3.Hash128(text[start:ends[i]])
		rows[2*i], rows[2*i+1] = bits.ReverseBytes64(h.Hi), bits.ReverseBytes64(h.Lo)
	}
}
