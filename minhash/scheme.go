package minhash

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/hashing"
)

// Limits and defaults of a scheme's parameters.
const (
	MaxK        = 1 << 16 // most components of a signature
	DefaultK    = 128
	DefaultBits = 32
	DefaultSeed = 1
)

// Family names the family of permutations of a k-mins scheme.
type Family string

const (
	MultiplyShift Family = "multiplyshift" // a·x + b mod 2³², a odd
	XOR           Family = "xor"           // x ⊕ r, weak: see the package comment
	PlainXOR      Family = "plainxor"      // the same, without mixing the features first
)

// Scheme says how a signature is made: the method, the number and width of its components or
// hashes, and the seed. [OPH], [KMins], [Weighted], [BottomK], [Default] and [ParseScheme]
// make schemes, with valid parameters only; the zero Scheme is not valid. Equal schemes give
// equal signatures.
type Scheme struct {
	method method
	k      int32
	bits   uint8
	seed   uint64
	// numbers holds the given words of all permutations but the first, eight bytes each, little
	// endian. It is a string, so that schemes compare with ==.
	numbers string
}

// method is the algorithm of a scheme; its name is part of the format.
type method uint8

const (
	methodOPH method = iota + 1
	methodMultiplyShift
	methodXOR
	methodPlainXOR
	methodWeighted
	methodBottomKXXH3 // bottom-k from here on, see HasBands
	methodBottomKFNV
	methodBottomKListing
)

// bottomKMethods maps hash functions to the bottom-k methods that use them.
var bottomKMethods = map[Hash]method{XXH3: methodBottomKXXH3, FNV1a: methodBottomKFNV, FNV1aListing: methodBottomKListing}

// OPH returns the scheme of fast similarity sketching with 1 ≤ k ≤ 65536
// components of 1, 2, 4, 8, 16 or 32 bits.
func OPH(k, bits int, seed uint64) (Scheme, error) {
	return newScheme(methodOPH, k, bits, seed)
}

// KMins returns the scheme of k minima of k permutations, 1 ≤ k ≤ 65536, with
// components of 1, 2, 4, 8, 16 or 32 bits.
func KMins(family Family, k, bits int, seed uint64) (Scheme, error) {
	switch family {
	case MultiplyShift:
		return newScheme(methodMultiplyShift, k, bits, seed)
	case XOR:
		return newScheme(methodXOR, k, bits, seed)
	case PlainXOR:
		return newScheme(methodPlainXOR, k, bits, seed)
	}
	return Scheme{}, fmt.Errorf("minhash: unknown family %q: want %s, %s or %s", family, MultiplyShift, XOR, PlainXOR)
}

// Default returns minhash/oph/v1 k=128 bits=32 seed=1.
func Default() Scheme {
	return Scheme{method: methodOPH, k: DefaultK, bits: DefaultBits, seed: DefaultSeed}
}

func newScheme(m method, k, bits int, seed uint64) (Scheme, error) {
	if k < 1 || k > MaxK {
		return Scheme{}, fmt.Errorf("minhash: k=%d: the number of components must be 1 to %d", k, MaxK)
	}
	switch bits {
	case 1, 2, 4, 8, 16, 32:
	default:
		return Scheme{}, fmt.Errorf("minhash: bits=%d: a component has 1, 2, 4, 8, 16 or 32 bits", bits)
	}
	return Scheme{method: m, k: int32(k), bits: uint8(bits), seed: seed}, nil
}

func newBottomK(hash Hash, k, bits int, seed uint64) (Scheme, error) {
	m, known := bottomKMethods[hash]
	switch {
	case !known:
		return Scheme{}, fmt.Errorf("minhash: unknown hash %q: want %s, %s or %s", hash, XXH3, FNV1a, FNV1aListing)
	case k < 1 || k > MaxK:
		return Scheme{}, fmt.Errorf("minhash: k=%d: the number of hashes must be 1 to %d", k, MaxK)
	case bits != 32 && bits != 64:
		return Scheme{}, fmt.Errorf("minhash: bits=%d: a hash of bottomk has 32 or 64 bits", bits)
	case m != methodBottomKXXH3 && seed != 0:
		return Scheme{}, fmt.Errorf("minhash: seed=%d: %s has no seed", seed, hash)
	}
	return Scheme{method: m, k: int32(k), bits: uint8(bits), seed: seed}, nil
}

// K returns the number of components of a signature, or the largest number of
// hashes of a bottom-k fingerprint.
func (s Scheme) K() int { return int(s.k) }

// Words returns the number of 32-bit words of a signature: K, or twice as many for
// bottom-k hashes of 64 bits.
func (s Scheme) Words() int { return int(s.k) * ((int(s.bits) + 31) / 32) }

// Bits returns the number of bits of a component or hash.
func (s Scheme) Bits() int { return int(s.bits) }

// IsWeighted reports whether signatures are those of [Weighted].
func (s Scheme) IsWeighted() bool { return s.method == methodWeighted }

// Seed returns the seed of the hash functions, 0 for [Permutations].
func (s Scheme) Seed() uint64 { return s.seed }

// mask has ones in the bits of a component.
func (s Scheme) mask() uint32 { return uint32(1<<s.bits - 1) }

// String returns the canonical line of the scheme, which [ParseScheme] reads.
func (s Scheme) String() string {
	var head string
	switch s.method {
	case methodOPH:
		head = "minhash/oph/v1"
	case methodMultiplyShift:
		head = "minhash/kmins/v1 family=" + string(MultiplyShift)
	case methodXOR:
		head = "minhash/kmins/v1 family=" + string(XOR)
	case methodPlainXOR:
		head = "minhash/kmins/v1 family=" + string(PlainXOR)
		if s.numbers != "" {
			return fmt.Sprintf("%s k=%d bits=%d numbers=%016x", head, s.k, s.bits, hashing.Bytes([]byte(s.numbers)))
		}
	case methodWeighted:
		head = "minhash/weighted/v1"
	case methodBottomKXXH3:
		return fmt.Sprintf("minhash/bottomk/v1 k=%d bits=%d hash=%s seed=%d", s.k, s.bits, XXH3, s.seed)
	case methodBottomKFNV:
		return fmt.Sprintf("minhash/bottomk/v1 k=%d bits=%d hash=%s", s.k, s.bits, FNV1a)
	case methodBottomKListing:
		return fmt.Sprintf("minhash/bottomk/v1 k=%d bits=%d hash=%s", s.k, s.bits, FNV1aListing)
	default:
		return "minhash/invalid"
	}
	return fmt.Sprintf("%s k=%d bits=%d seed=%d", head, s.k, s.bits, s.seed)
}

// ParseScheme reads a scheme line. It also accepts shorthand: "minhash/" and "/v1" may be
// missing, as may any parameter (k=128, bits=32, seed=1, family=multiplyshift; for bottomk
// bits=64, hash=xxh3), parameters may come in any order, and commas may replace spaces:
// "oph", "kmins k=200 family=xor", "oph,bits=8", "bottomk hash=fnv1a bits=32".
func ParseScheme(line string) (Scheme, error) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(fields) == 0 {
		return Scheme{}, parseError(line, "empty")
	}
	name, version, versioned := strings.Cut(strings.TrimPrefix(fields[0], "minhash/"), "/")
	if !slices.Contains([]string{"oph", "kmins", "bottomk", "weighted"}, name) {
		return Scheme{}, parseError(line, "unknown scheme %q", fields[0])
	}
	if versioned && version != "v1" {
		return Scheme{}, parseError(line, "unknown version %q of %s, this program knows v1", version, name)
	}
	p := parameters{k: DefaultK, bits: DefaultBits, seed: DefaultSeed, family: MultiplyShift, hash: XXH3}
	if name == "bottomk" {
		p.bits = bottomKBits
	}
	seen := map[string]bool{}
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			return Scheme{}, parseError(line, "%q is not name=value", f)
		}
		if seen[key] {
			return Scheme{}, parseError(line, "%s is given twice", key)
		}
		seen[key] = true
		if key == "family" && name != "kmins" {
			return Scheme{}, parseError(line, "family belongs to kmins, not to %s", name)
		}
		if key == "hash" && name != "bottomk" {
			return Scheme{}, parseError(line, "hash belongs to bottomk, not to %s", name)
		}
		if err := p.set(key, value); err != nil {
			return Scheme{}, parseError(line, "%v", err)
		}
	}
	if p.hash != XXH3 && !seen["seed"] {
		p.seed = 0
	}
	s, err := p.scheme(name)
	if err != nil {
		return Scheme{}, parseError(line, "%s", strings.TrimPrefix(err.Error(), "minhash: "))
	}
	return s, nil
}

// parameters holds the values of a scheme line while it is parsed.
type parameters struct {
	k, bits int
	seed    uint64
	family  Family
	hash    Hash
}

// scheme returns the scheme of the parameters; name is oph, kmins, weighted or bottomk.
func (p *parameters) scheme(name string) (Scheme, error) {
	switch name {
	case "oph":
		return OPH(p.k, p.bits, p.seed)
	case "kmins":
		return KMins(p.family, p.k, p.bits, p.seed)
	case "weighted":
		return Weighted(p.k, p.bits, p.seed)
	}
	return BottomK(p.hash, p.k, p.bits, p.seed)
}

// set stores one name=value of a scheme line.
func (p *parameters) set(key, value string) error {
	var err error
	switch key {
	case "k":
		p.k, err = strconv.Atoi(value)
	case "bits":
		p.bits, err = strconv.Atoi(value)
	case "seed":
		p.seed, err = strconv.ParseUint(value, 0, 64)
	case "family":
		p.family = Family(value)
	case "hash":
		p.hash = Hash(value)
	case "numbers":
		return fmt.Errorf("numbers=%s names the numbers of permutations but does not hold them: give the numbers themselves", value)
	default:
		return fmt.Errorf("unknown parameter %q", key)
	}
	if err != nil {
		return fmt.Errorf("%s=%s is not a number in range", key, value)
	}
	return nil
}

// parseError says what is wrong with a scheme line and what a correct one looks like.
func parseError(line, format string, args ...any) error {
	return fmt.Errorf("minhash: scheme %q: %s (want oph, kmins, weighted or bottomk, then any of k=1..%d bits=1|2|4|8|16|32 seed=N, "+
		"for kmins family=%s|%s|%s, for bottomk bits=32|64 hash=%s|%s|%s, as in %q)",
		line, fmt.Sprintf(format, args...), MaxK, MultiplyShift, XOR, PlainXOR, XXH3, FNV1a, FNV1aListing, Default())
}

// checkLength panics when sig does not have the given number of words.
func checkLength(sig []uint32, words int) {
	if len(sig) != words {
		panic(fmt.Sprintf("minhash: a signature of %d words used with a scheme of %d", len(sig), words))
	}
}

// BinarySize returns the length in bytes of a packed signature, ⌈K·Bits/8⌉; a packed
// bottom-k signature may be shorter.
func (s Scheme) BinarySize() int { return (int(s.k)*int(s.bits) + 7) / 8 }

// Weighted returns the scheme of weighted MinHash with 1 ≤ k ≤ 65536 components of 1,
// 2, 4, 8, 16 or 32 bits. For sets without weights it is a k-independent sketch like
// the others, and slower than [OPH].
func Weighted(k, bits int, seed uint64) (Scheme, error) {
	return newScheme(methodWeighted, k, bits, seed)
}
