package minhash

import (
	"math/bits"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// described are the constants of section 6 of docs/how/algorithms.md.
type described struct{ first, second, key0, key1, gamma uint64 }

// A signature can be made from the description of the scheme alone: with its constants, in the words of its formulas.
func TestASignatureIsMadeFromItsDescription(t *testing.T) {
	d := readDescription(t)
	features := make([]uint64, 300)
	for i := range features {
		features[i] = d.mix(uint64(i) * 977)
	}
	for _, line := range []string{"oph", "oph k=16 bits=8 seed=7", "oph k=100 bits=1 seed=18446744073709551615"} {
		s, err := ParseScheme(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 2, 30, 300} {
			got := make([]uint32, s.K())
			s.NewSketcher().Sketch(got, features[:n])
			if want := d.signature(s, features[:n]); !slices.Equal(got, want) {
				t.Errorf("%s of %d features:\n got %x\nwant %x", s, n, got, want)
			}
		}
	}
}

// readDescription reads the constants.
func readDescription(t *testing.T) (d described) {
	t.Helper()
	page, err := os.ReadFile("../docs/how/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## 6. ")
	section, _, _ = strings.Cut(section, "\n## ")
	for pattern, to := range map[string]*uint64{
		`x >> 30\);  x = x · (0x[0-9a-f]+)`: &d.first, `x >> 27\);  x = x · (0x[0-9a-f]+)`: &d.second,
		`Key0 = (0x[0-9a-f]+)`: &d.key0, `Key1 = (0x[0-9a-f]+)`: &d.key1, `γ = (0x[0-9a-f]+)`: &d.gamma,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(section)
		if found == nil {
			t.Fatalf("section 6 has no %s", pattern)
		}
		if *to, err = strconv.ParseUint(found[1], 0, 64); err != nil {
			t.Fatal(err)
		}
	}
	for _, formula := range []string{
		"start  = Mix(Mix(seed ⊕ Key0) + stream · Key1)", "key[i] = Mix(start + (i+1) · γ)", "return x ⊕ (x >> 31)",
		"h   = Mix(x ^ key[i])", "bin = ⌊h·k / 2⁶⁴⌋  if i < k,  else i − k",
	} {
		if !strings.Contains(section, formula) {
			t.Fatalf("section 6 no longer says %q, which this test does", formula)
		}
	}
	return d
}

func (d described) mix(x uint64) uint64 {
	x ^= x >> 30
	x *= d.first
	x ^= x >> 27
	x *= d.second
	return x ^ x>>31
}

func (d described) key(seed uint64, i int) uint64 {
	const stream = 1
	start := d.mix(d.mix(seed^d.key0) + stream*d.key1)
	return d.mix(start + uint64(i+1)*d.gamma)
}

// signature follows the section, line by line.
func (d described) signature(s Scheme, features []uint64) []uint32 {
	const empty = 1<<64 - 1
	k := s.K()
	value := slices.Repeat([]uint64{empty}, k)
	for i := 0; i < 2*k && len(features) > 0 && slices.Contains(value, empty); i++ {
		before := slices.Clone(value)
		for _, x := range features {
			h := d.mix(x ^ d.key(s.Seed(), i))
			bin := i - k
			if i < k {
				product, _ := bits.Mul64(h, uint64(k))
				bin = int(product)
			}
			if before[bin] == empty {
				value[bin] = min(value[bin], h)
			}
		}
	}
	signature := make([]uint32, k)
	for j, v := range value {
		signature[j] = uint32(v) & uint32(1<<s.Bits()-1)
	}
	return signature
}
