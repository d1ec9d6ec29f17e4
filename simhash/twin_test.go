package simhash

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// countedSketch is the definition of a signature: a counter for every component.
func countedSketch(s Scheme, features []uint64) []uint64 {
	counts := make([]int, 64*s.Words())
	for _, f := range features {
		for w := range s.Words() {
			f += 0x9e3779b97f4a7c15 // SplitMix64
			z := (f ^ f>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			for b := range 64 {
				component := 64*w + b
				if s.Method() == Fast {
					component = 64*w + 8*(b%8) + b/8
				}
				counts[component] += int(z >> b & 1)
			}
		}
	}
	sig := make([]uint64, s.Words())
	for i := range s.Bits() {
		count := counts[i]
		if len(features)%2 == 0 && i%2 == 1 {
			count++
		}
		if count > len(features)/2 {
			sig[i/64] |= 1 << (i % 64)
		}
	}
	return sig
}

func TestASignatureEqualsItsTwinWithCounters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, 700)
		features := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3)), 0, 300).Draw(t, "features")
		before := slices.Clone(features)
		sig := make([]uint64, s.Words())
		s.NewSketcher().Sketch(sig, features)
		if want := countedSketch(s, features); !slices.Equal(sig, want) {
			t.Fatalf("%v: got %x, want %x", s, sig, want)
		}
		if !slices.Equal(features, before) {
			t.Fatal("the features have changed")
		}
	})
}

func TestASketcherRemembersNothing(t *testing.T) {
	s := mustParse(t, "fastsimhash bits=700")
	used, sig, want := s.NewSketcher(), make([]uint64, s.Words()), make([]uint64, s.Words())
	for _, n := range []int{3000, 1, 130, 17, 0, 2049} {
		features := randomFingerprints(n)
		used.Sketch(sig, features)
		if s.NewSketcher().Sketch(want, features); !slices.Equal(sig, want) {
			t.Errorf("%d features: another signature from a used sketcher", n)
		}
	}
}

func TestASketcherAllocatesNothing(t *testing.T) {
	s := mustParse(t, "fastsimhash bits=1000")
	sketcher, sig, features := s.NewSketcher(), make([]uint64, s.Words()), randomFingerprints(1000)
	if allocs := testing.AllocsPerRun(20, func() { sketcher.Sketch(sig, features) }); allocs != 0 {
		t.Errorf("%v allocations a set", allocs)
	}
	words, text, packed := s.NewWords(), []byte(strings.Repeat("eins zwei drei ", 100)), []byte(nil)
	packed, _ = words.AppendSketch(packed[:0], text)
	if allocs := testing.AllocsPerRun(20, func() { packed, _ = words.AppendSketch(packed[:0], text) }); allocs != 0 {
		t.Errorf("%v allocations a text", allocs)
	}
}

// wordSet is the definition of the elements of a text.
func wordSet(text string) []uint64 {
	var set []uint64
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		var bytes []byte
		for _, unit := range utf16.Encode([]rune(word)) {
			bytes = append(bytes, byte(unit), byte(unit>>8))
		}
		if h := Komihash(bytes); !slices.Contains(set, h) {
			set = append(set, h)
		}
	}
	return set
}

func TestTheWordsOfATextAreASetHashedAsUTF16(t *testing.T) {
	words, s := Default().NewWords(), Default()
	pieces := rapid.SampledFrom([]string{"a", "é", "😀", " ", "\n", "\u2003", "\xff", "\xf0\x9f", "東", "\u0085", "\ufffd"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		set := wordSet(text)
		want := make([]uint64, s.Words())
		s.NewSketcher().Sketch(want, set)
		packed, n := words.AppendSketch([]byte("before"), []byte(text))
		if got := s.AppendBinary([]byte("before"), want); string(packed) != string(got) || n != len(set) {
			t.Fatalf("%q: %x of %d words, want %x of %d", text, packed, n, got, len(set))
		}
	})
}

func TestAPackedSignatureUnpacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, 200)
		sig := make([]uint64, s.Words())
		s.NewSketcher().Sketch(sig, rapid.SliceOf(rapid.Uint64()).Draw(t, "features"))
		packed := s.AppendBinary(nil, sig)
		for i := range s.Bits() {
			if packed[i/8]>>(i%8)&1 != byte(sig[i/64]>>(i%64)&1) {
				t.Fatalf("bit %d is not where hash4j has it", i)
			}
		}
		back, err := s.DecodeBinary([]uint64{7}, packed)
		if err != nil || back[0] != 7 || !slices.Equal(back[1:], sig) {
			t.Fatalf("%x unpacks to %x, %v", packed, back, err)
		}
		if _, err := s.DecodeBinary(nil, packed[1:]); err == nil {
			t.Fatal("too few bytes, no error")
		}
		if s.Bits()%8 != 0 {
			packed[len(packed)-1] |= 0x80
			if _, err := s.DecodeBinary(nil, packed); err == nil {
				t.Fatal("ones in unused bits, no error")
			}
		}
	})
}

func TestSignaturesOfTheWrongLengthPanic(t *testing.T) {
	s := mustParse(t, "simhash bits=100")
	for name, f := range map[string]func(){
		"Sketch":       func() { s.NewSketcher().Sketch(make([]uint64, 1), nil) },
		"Equal":        func() { s.Equal(make([]uint64, 2), make([]uint64, 3)) },
		"AppendBinary": func() { s.AppendBinary(nil, nil) },
		"zero Scheme":  func() { Scheme{}.NewSketcher() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func FuzzDecodeBinary(f *testing.F) {
	f.Add(uint16(12), []byte{0xff, 0x0f})
	f.Add(uint16(64), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, bits uint16, packed []byte) {
		s, err := New(Simple, int(bits))
		if err != nil {
			return
		}
		sig, err := s.DecodeBinary(nil, packed)
		if err != nil {
			return
		}
		if back := s.AppendBinary(nil, sig); string(back) != string(packed) {
			t.Errorf("%d bits: %x unpacks to %x, which packs to %x", bits, packed, sig, back)
		}
	})
}
