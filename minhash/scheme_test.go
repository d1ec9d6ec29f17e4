package minhash

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, line string) Scheme {
	t.Helper()
	s, err := ParseScheme(line)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShorthandParsesToTheCanonicalLine(t *testing.T) {
	for line, want := range map[string]string{
		"oph":                                   "minhash/oph/v1 k=128 bits=32 seed=1",
		"minhash/oph":                           "minhash/oph/v1 k=128 bits=32 seed=1",
		"oph/v1":                                "minhash/oph/v1 k=128 bits=32 seed=1",
		"  oph   bits=8  k=200 ":                "minhash/oph/v1 k=200 bits=8 seed=1",
		"oph,seed=0x10,k=64":                    "minhash/oph/v1 k=64 bits=32 seed=16",
		"oph seed=18446744073709551615":         "minhash/oph/v1 k=128 bits=32 seed=18446744073709551615",
		"kmins":                                 "minhash/kmins/v1 family=multiplyshift k=128 bits=32 seed=1",
		"minhash/kmins k=200 family=xor":        "minhash/kmins/v1 family=xor k=200 bits=32 seed=1",
		"minhash/kmins/v1 family=multiplyshift": "minhash/kmins/v1 family=multiplyshift k=128 bits=32 seed=1",
		"weighted k=64":                         "minhash/weighted/v1 k=64 bits=32 seed=1",
		"bottomk":                               "minhash/bottomk/v1 k=128 bits=64 hash=xxh3 seed=1",
		"bottomk,bits=32,seed=7":                "minhash/bottomk/v1 k=128 bits=32 hash=xxh3 seed=7",
		"bottomk hash=fnv1a bits=32":            "minhash/bottomk/v1 k=128 bits=32 hash=fnv1a",
		"minhash/bottomk/v1 hash=fnv1a-listing": "minhash/bottomk/v1 k=128 bits=64 hash=fnv1a-listing",
	} {
		if s, err := ParseScheme(line); err != nil || s.String() != want {
			t.Errorf("%q parses to %q, %v; want %q", line, s, err, want)
		}
	}
}

func TestAParseErrorNamesWhatIsWrongAndWhatIsAllowed(t *testing.T) {
	const all = "want oph, kmins, weighted or bottomk, then any of k=1..65536 bits=1|2|4|8|16|32 seed=N, for kmins family=multiplyshift|xor|plainxor, " +
		"for bottomk bits=32|64 hash=xxh3|fnv1a|fnv1a-listing"
	for line, want := range map[string]string{
		"":                          "empty",
		"simhash":                   `unknown scheme "simhash"`,
		"minhash":                   `unknown scheme "minhash"`,
		"minhash/oph/v2":            `unknown version "v2"`,
		"oph k":                     `"k" is not name=value`,
		"oph k=many":                "k=many is not a number",
		"oph k=1 k=2":               "k is given twice",
		"oph rows=5":                `unknown parameter "rows"`,
		"oph family=xor":            "family belongs to kmins",
		"oph k=0":                   "must be 1 to 65536",
		"oph k=65537":               "must be 1 to 65536",
		"oph bits=3":                "1, 2, 4, 8, 16 or 32 bits",
		"oph seed=-1":               "seed=-1 is not a number",
		"oph hash=xxh3":             "hash belongs to bottomk",
		"bottomk family=xor":        "family belongs to kmins",
		"bottomk bits=16":           "32 or 64 bits",
		"bottomk k=0":               "must be 1 to 65536",
		"bottomk hash=md5":          `unknown hash "md5": want xxh3, fnv1a or fnv1a-listing`,
		"bottomk hash=fnv1a seed=1": "fnv1a has no seed",
		"kmins family=tabulation":   `unknown family "tabulation": want multiplyshift, xor or plainxor`,
	} {
		_, err := ParseScheme(line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", line, err, want)
		} else if !strings.Contains(err.Error(), all) {
			t.Errorf("%q: error %v does not say what is allowed", line, err)
		}
	}
}

// drawScheme draws any valid scheme with at most limit components.
func drawScheme(t *rapid.T, limit int) Scheme {
	k := rapid.IntRange(1, limit).Draw(t, "k")
	bits := rapid.SampledFrom([]int{1, 2, 4, 8, 16, 32}).Draw(t, "bits")
	seed := rapid.Uint64().Draw(t, "seed")
	method := rapid.SampledFrom([]method{methodOPH, methodMultiplyShift, methodXOR, methodPlainXOR, methodWeighted}).Draw(t, "method")
	s, err := newScheme(method, k, bits, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawBottomK draws any bottom-k scheme of at most limit hashes.
func drawBottomK(t *rapid.T, limit int) Scheme {
	hash := rapid.SampledFrom([]Hash{XXH3, FNV1a, FNV1aListing}).Draw(t, "hash")
	seed := uint64(0)
	if hash == XXH3 {
		seed = rapid.Uint64().Draw(t, "seed")
	}
	s, err := BottomK(hash, rapid.IntRange(1, limit).Draw(t, "k"), rapid.SampledFrom([]int{32, 64}).Draw(t, "bits"), seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASchemeParsesBackFromItsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, MaxK)
		if rapid.Bool().Draw(t, "bottomk") {
			s = drawBottomK(t, MaxK)
		}
		if back, err := ParseScheme(s.String()); err != nil || back != s {
			t.Fatalf("%q parses to %q, %v", s, back, err)
		}
	})
}

func FuzzParseScheme(f *testing.F) {
	f.Add("minhash/oph/v1 k=128 bits=32 seed=1")
	f.Add("kmins,family=xor")
	f.Add("minhash/bottomk/v1 k=128 bits=32 hash=fnv1a-listing")
	f.Add("bottomk,seed=3")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := ParseScheme(line)
		if err != nil {
			return
		}
		if back, err := ParseScheme(s.String()); err != nil || back != s {
			t.Fatalf("%q parses to %q, which parses to %q, %v", line, s, back, err)
		}
	})
}

func TestDefaultIsOnePermutationWith128Components(t *testing.T) {
	s := Default()
	if s != mustParse(t, "oph") || s.K() != 128 || s.Bits() != 32 || s.Seed() != 1 {
		t.Errorf("default is %s", s)
	}
}

func TestTheZeroSchemeIsInvalid(t *testing.T) {
	if got := (Scheme{}).String(); got != "minhash/invalid" {
		t.Errorf("the zero scheme prints as %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("the zero scheme makes sketchers")
		}
	}()
	Scheme{}.NewSketcher()
}
