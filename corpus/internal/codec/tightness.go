package codec

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
)

// mostExpanded is how many times more than stored of the beginning of a file is decoded at most. What expands more is
// packed tightly.
const mostExpanded = 8

// Suffices tells whether a compressor makes no more bytes, or up to a hundredth more, of what a file begins with than
// head, its first stored bytes.
func (z *Compressor) Suffices(c Name, head []byte) bool {
	if c == Zstd { // a cut block is not decoded
		head = head[:WholeBlocks(head)]
	}
	r, err := NewReader(bytes.NewReader(head), c)
	if err != nil {
		return false
	}
	defer r.Release()
	text := make([]byte, mostExpanded*len(head))
	n, err := io.ReadFull(r, text)
	if n == 0 || err == nil {
		return false
	}
	packed, err := z.Part(nil, text[:n])
	return err == nil && len(packed) <= len(head)+len(head)/100
}

// WholeBlocks returns the length of all whole blocks of zstd that data begins with.
func WholeBlocks(data []byte) (end int) {
	for end < len(data) {
		var h zstd.Header
		if h.Decode(data[end:]) != nil {
			return end
		}
		p, last := end+h.HeaderSize, false
		if h.Skippable {
			p, last = p+int(h.SkippableSize), true
		}
		for !last {
			if p+3 > len(data) {
				return end
			}
			size := int(data[p+1])<<5 | int(data[p+2])<<13 | int(data[p])>>3
			if data[p]>>1&3 == 1 { // one byte, repeated
				size = 1
			}
			last = data[p]&1 != 0
			if p += 3 + size; p > len(data) {
				return end
			}
			end = p
		}
		if h.HasCheckSum {
			p += 4
		}
		if p > len(data) {
			return end
		}
		end = p
	}
	return end
}
