package simhash

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits and defaults of a scheme's parameters.
const (
	MaxBits     = 1 << 20 // widest signature
	DefaultBits = 64
)

// Method says which component a generated bit counts for. It makes no difference to
// accuracy or, here, to speed.
type Method uint8

// The methods, under the names of hash4j.
const (
	Simple Method = iota + 1 // simhash: bit b of word w counts for component 64w + b
	Fast                     // fastsimhash: for component 64w + 8·(b mod 8) + ⌊b/8⌋
)

func (m Method) String() string {
	switch m {
	case Simple:
		return "simhash"
	case Fast:
		return "fastsimhash"
	}
	return "invalid"
}

// Scheme says how a signature is made: the method and the number of bits. [New],
// [Default] and [ParseScheme] make schemes, with valid parameters only; the zero Scheme
// is not valid. Equal schemes give equal signatures.
type Scheme struct {
	method Method
	bits   int32
}

// New returns the scheme of signatures of 1 to [MaxBits] bits.
func New(method Method, bits int) (Scheme, error) {
	if method != Simple && method != Fast {
		return Scheme{}, fmt.Errorf("simhash: unknown method %d: want Simple or Fast", method)
	}
	if bits < 1 || bits > MaxBits {
		return Scheme{}, fmt.Errorf("simhash: bits=%d: a signature has 1 to %d bits", bits, MaxBits)
	}
	return Scheme{method, int32(bits)}, nil
}

// Default returns simhash/fastsimhash/v1 bits=64.
func Default() Scheme { return Scheme{Fast, DefaultBits} }

// Method returns the method.
func (s Scheme) Method() Method { return s.method }

// Bits returns the number of bits of a signature, which are its components.
func (s Scheme) Bits() int { return int(s.bits) }

// Words returns the length of a signature in words, ⌈Bits/64⌉.
func (s Scheme) Words() int { return (int(s.bits) + 63) / 64 }

// String returns the canonical line of the scheme, which [ParseScheme] reads.
func (s Scheme) String() string {
	return fmt.Sprintf("simhash/%s/v1 bits=%d", s.method, s.bits)
}

// ParseScheme reads a scheme line. It also accepts shorthand: "simhash/" and "/v1" may be
// missing, as may bits=64, and a comma may replace a space: "fastsimhash", "simhash
// bits=1024".
func ParseScheme(line string) (Scheme, error) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(fields) == 0 {
		return Scheme{}, parseError(line, "empty")
	}
	method, err := parseMethod(fields[0])
	if err != nil {
		return Scheme{}, parseError(line, "%v", err)
	}
	bits := DefaultBits
	for i, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		switch {
		case !ok:
			return Scheme{}, parseError(line, "%q is not name=value", f)
		case key != "bits":
			return Scheme{}, parseError(line, "unknown parameter %q", key)
		case i > 0:
			return Scheme{}, parseError(line, "bits is given twice")
		}
		if bits, err = strconv.Atoi(value); err != nil {
			return Scheme{}, parseError(line, "bits=%s is not a number in range", value)
		}
	}
	s, err := New(method, bits)
	if err != nil {
		return Scheme{}, parseError(line, "%s", strings.TrimPrefix(err.Error(), "simhash: "))
	}
	return s, nil
}

// parseMethod reads the first word of a scheme line.
func parseMethod(word string) (Method, error) {
	name := word
	if rest, ok := strings.CutPrefix(word, "simhash/"); ok && !isVersion(rest) {
		name = rest
	}
	name, version, versioned := strings.Cut(name, "/")
	if versioned && version != "v1" {
		return 0, fmt.Errorf("unknown version %q of %s, this program knows v1", version, name)
	}
	for _, m := range []Method{Simple, Fast} {
		if name == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown scheme %q", word)
}

// isVersion distinguishes "simhash/v1", the method and its version, from
// "simhash/fastsimhash", the family and its method.
func isVersion(s string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(s, "v"))
	return err == nil
}

// parseError says what is wrong with a scheme line and what a correct one looks like.
func parseError(line, format string, args ...any) error {
	return fmt.Errorf("simhash: scheme %q: %s (want simhash or fastsimhash, then bits=1..%d, as in %q)",
		line, fmt.Sprintf(format, args...), MaxBits, Default())
}
