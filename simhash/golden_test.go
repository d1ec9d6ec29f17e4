package simhash

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The sets of hash4j's announcement.
var goldenTexts = map[string]string{
	"A": "small set of some words",
	"B": "similar set of some words",
	"C": "disjoint collection containing a few strings",
}

// readGolden reads what hash4j itself has computed.
func readGolden(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "hash4j.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]json.RawMessage
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	return golden
}

func decodeGolden(t *testing.T, golden map[string]json.RawMessage, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(golden[name], v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestKomihashIsThatOfHash4j(t *testing.T) {
	golden := readGolden(t)
	var chars, sizes map[string]string
	decodeGolden(t, golden, "komihash5_0_hashCharsToLong", &chars)
	decodeGolden(t, golden, "komihash5_0_hashBytesToLong_of_bytes_0_to_n-1", &sizes)
	if len(chars) == 0 || len(sizes) == 0 {
		t.Fatal("no vectors")
	}
	for s, want := range chars {
		if got := fmt.Sprintf("%016x", KomihashString(s)); got != want {
			t.Errorf("KomihashString(%q) = %s, want %s", s, got, want)
		}
	}
	for size, want := range sizes {
		var n int
		if _, err := fmt.Sscan(size, &n); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i)
		}
		if got := fmt.Sprintf("%016x", Komihash(data)); got != want {
			t.Errorf("Komihash of %d bytes = %s, want %s", n, got, want)
		}
	}
}

func TestSignaturesAreThoseOfHash4j(t *testing.T) {
	golden := readGolden(t)
	for name, line := range map[string]string{
		"SimHash_v1_64": "simhash bits=64", "SimHash_v1_1024": "simhash bits=1024",
		"FastSimHash_v1_64": "fastsimhash bits=64", "FastSimHash_v1_1024": "fastsimhash bits=1024",
	} {
		var vectors map[string]any
		decodeGolden(t, golden, name, &vectors)
		scheme := mustParse(t, line)
		sigs := map[string][]uint64{}
		for key, text := range goldenTexts {
			packed, _ := scheme.NewWords().AppendSketch(nil, []byte(text))
			var err error
			if sigs[key], err = scheme.DecodeBinary(nil, packed); err != nil {
				t.Fatal(err)
			}
		}
		for key, want := range vectors {
			if similarity, ok := want.(float64); ok { // AB, AC, BC
				if got := scheme.Fraction(scheme.Equal(sigs[key[:1]], sigs[key[1:]])); got != similarity {
					t.Errorf("%s %s: similarity %v, want %v", name, key, got, similarity)
				}
				continue
			}
			sig := sigs[key]
			if size, ok := strings.CutPrefix(key, "synthetic_"); ok {
				sig = make([]uint64, scheme.Words())
				scheme.NewSketcher().Sketch(sig, synthetic(t, size))
			}
			if got := hex.EncodeToString(scheme.AppendBinary(nil, sig)); got != want {
				t.Errorf("%s %s:\ngot  %s\nwant %s", name, key, got, want)
			}
		}
	}
}

// Computed by hash4j 0.17.0, with the sets of the golden file's rule.
func TestSignaturesOfOddWidthsAreThoseOfHash4j(t *testing.T) {
	for _, c := range []struct {
		method  string
		bits, n int
		want    string
	}{
		{"simhash", 3, 5, "04"},
		{"fastsimhash", 3, 5, "04"},
		{"simhash", 3, 16, "06"},
		{"fastsimhash", 3, 16, "00"},
		{"simhash", 7, 5, "44"},
		{"fastsimhash", 7, 5, "0c"},
		{"simhash", 7, 256, "34"},
		{"fastsimhash", 7, 256, "2e"},
		{"simhash", 65, 16, "c6069a27a1a4eab000"},
		{"fastsimhash", 65, 16, "980a2b448cf861a500"},
		{"simhash", 100, 16, "c6069a27a1a4eab0a84548a308"},
		{"fastsimhash", 100, 16, "980a2b448cf861a50a48ca5500"},
		{"simhash", 100, 256, "3426a38d00cd44a09a6e59f509"},
		{"fastsimhash", 100, 256, "2e02eb28018760ac9c83eaf70d"},
		{"simhash", 129, 255, "3427a78d00cd44a49a6e59f599142cdf00"},
		{"fastsimhash", 129, 255, "2e06ef28018760ac9c83ead7bd4a8e9900"},
	} {
		scheme := mustParse(t, fmt.Sprintf("%s bits=%d", c.method, c.bits))
		sig := make([]uint64, scheme.Words())
		scheme.NewSketcher().Sketch(sig, synthetic(t, fmt.Sprint(c.n)))
		if got := hex.EncodeToString(scheme.AppendBinary(nil, sig)); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// synthetic returns the set of that size by the rule in the golden file.
func synthetic(t *testing.T, size string) []uint64 {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(size, &n); err != nil {
		t.Fatal(err)
	}
	set := make([]uint64, n)
	for i := range set {
		set[i] = uint64(i+1)*0x9e3779b97f4a7c15 ^ uint64(i*31)
	}
	return set
}
