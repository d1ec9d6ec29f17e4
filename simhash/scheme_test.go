package simhash

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
		"simhash":                          "simhash/simhash/v1 bits=64",
		"simhash/v1":                       "simhash/simhash/v1 bits=64",
		"simhash/simhash":                  "simhash/simhash/v1 bits=64",
		"fastsimhash":                      "simhash/fastsimhash/v1 bits=64",
		"fastsimhash/v1,bits=1":            "simhash/fastsimhash/v1 bits=1",
		"  simhash/fastsimhash  bits=1000": "simhash/fastsimhash/v1 bits=1000",
	} {
		if s, err := ParseScheme(line); err != nil || s.String() != want {
			t.Errorf("%q parses to %q, %v; want %q", line, s, err, want)
		}
	}
}

func TestAParseErrorNamesWhatIsWrongAndWhatIsAllowed(t *testing.T) {
	const all = "want simhash or fastsimhash, then bits=1..1048576"
	for line, want := range map[string]string{
		"":                       "empty",
		"oph":                    `unknown scheme "oph"`,
		"simhash/oph":            `unknown scheme "simhash/oph"`,
		"simhash/v2":             `unknown version "v2" of simhash`,
		"simhash/fastsimhash/v2": `unknown version "v2" of fastsimhash`,
		"simhash bits":           `"bits" is not name=value`,
		"simhash bits=many":      "bits=many is not a number",
		"simhash bits=1 bits=2":  "bits is given twice",
		"simhash k=5":            `unknown parameter "k"`,
		"simhash bits=0":         "1 to 1048576 bits",
		"simhash bits=1048577":   "1 to 1048576 bits",
	} {
		_, err := ParseScheme(line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", line, err, want)
		} else if !strings.Contains(err.Error(), all) {
			t.Errorf("%q: error %v does not say what is allowed", line, err)
		}
	}
}

// drawScheme draws any valid scheme with at most limit bits.
func drawScheme(t *rapid.T, limit int) Scheme {
	s, err := New(rapid.SampledFrom([]Method{Simple, Fast}).Draw(t, "method"), rapid.IntRange(1, limit).Draw(t, "bits"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASchemeParsesBackFromItsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, MaxBits)
		if back, err := ParseScheme(s.String()); err != nil || back != s {
			t.Fatalf("%q parses to %q, %v", s, back, err)
		}
	})
}

func TestNewRefusesAnUnknownMethod(t *testing.T) {
	if _, err := New(3, 64); err == nil || !strings.Contains(err.Error(), "unknown method 3") {
		t.Errorf("error %v", err)
	}
}

func FuzzParseScheme(f *testing.F) {
	f.Add("simhash/fastsimhash/v1 bits=64")
	f.Add("simhash/v1,bits=7")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := ParseScheme(line)
		if err != nil {
			return
		}
		if back, err := ParseScheme(s.String()); err != nil || back != s {
			t.Errorf("%q parses to %q, which parses to %q, %v", line, s, back, err)
		}
	})
}
