package recipe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
)

func Example() {
	r, err := recipe.Parse("words n=1 | oph k=128 | no keys | jaccard>=0.5 exact")
	if err != nil {
		panic(err)
	}
	sets := r.NewSetMaker()
	a := sets.AppendSet(nil, []byte("a rose is a flower"))
	b := sets.AppendSet(nil, []byte("a rose is a rose"))
	similarity, wanted := r.NewComparer(false).Sets(a, b)
	fmt.Println(r)
	fmt.Println(similarity, wanted)
	// Output:
	// text/v2 nfkc fold words n=1 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1 | no keys | jaccard>=0.5 exact
	// 0.75 true
}

func ExampleNew_distance() {
	r, err := recipe.New(recipe.Options{Sketch: recipe.SimHash(simhash.Default()), Distance: new(3)})
	if err != nil {
		panic(err)
	}
	fmt.Println(r)
	m := r.NewMaker(recipe.MakerOptions{})
	m.Make([]byte("a text of some words, and some more"))
	fmt.Println(len(m.AppendKeys(nil)), "keys")
	// Output:
	// text/v2 nfkc fold words n=5 unicode=15.0.0 | simhash/fastsimhash/v1 bits=64 | blocks keys=10 | hamming<=3
	// 10 keys
}

// least is a caller's own scheme: the k least features, cut to 32 bits.
type least int

func (k least) String() string               { return fmt.Sprintf("least/v1 k=%d", int(k)) }
func (k least) Words() int                   { return int(k) }
func (k least) NewSketcher() recipe.Sketcher { return k }
func (k least) HammingBits() int             { return 32 * int(k) }
func (k least) Sketch(dst []uint32, f []uint64) {
	f = slices.Clone(f)
	slices.Sort(f)
	clear(dst)
	for i := range min(len(dst), len(f)) {
		dst[i] = uint32(f[i])
	}
}

func (k least) AppendBinary(dst []byte, signature []uint32) []byte {
	for _, w := range signature {
		dst = append(dst, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return dst
}

func TestACallersOwnSchemeIsOneAsAllOthers(t *testing.T) {
	r := made(t, recipe.Options{Sketch: least(2), Distance: new(0)})
	if !strings.Contains(r.String(), "| least/v1 k=2 | blocks keys=1 | hamming<=0") {
		t.Errorf("line %q", r)
	}
	if _, err := recipe.Parse(r.String()); err == nil {
		t.Error("a line of a caller's own scheme is parsed")
	}
	m := r.NewMaker(recipe.MakerOptions{})
	m.Make([]byte("some words of a text and more"))
	a := slices.Clone(m.Signature())
	m.Make([]byte("Some WORDS of a text and more"))
	if similarity, wanted := r.NewComparer(false).Signatures(a, m.Signature()); similarity != 1 || !wanted {
		t.Errorf("equal texts: %v, %v", similarity, wanted)
	}
	m.Make([]byte("some words of another text and more"))
	if _, wanted := r.NewComparer(false).Signatures(a, m.Signature()); wanted {
		t.Error("different texts are within distance 0")
	}
}

// everyKind returns a recipe of every kind.
func everyKind(t *testing.T) []recipe.Recipe {
	word, err := recipe.ExLSH(exlsh.Word())
	if err != nil {
		t.Fatal(err)
	}
	return []recipe.Recipe{
		made(t, recipe.Options{Threshold: threshold(t, 0.8)}),
		made(t, recipe.Options{Threshold: threshold(t, 0.8), Sketch: sketchOf(t, "kmins"), Verify: recipe.Sketch}),
		made(t, recipe.Options{Sketch: sketchOf(t, "bottomk")}),
		made(t, recipe.Options{Sketch: recipe.SimHash(simhash.Default()), Distance: new(3)}),
		made(t, recipe.Options{Texts: word, Distance: new(3)}),
	}
}

func TestADocumentAllocatesNothingOnceAMakerIsWarm(t *testing.T) {
	text := []byte(strings.Repeat("The quick brown fox, Straße of Σίσυφος; 東京 12 ", 20))
	for _, r := range everyKind(t) {
		m := r.NewMaker(recipe.MakerOptions{Signature: true})
		keys := make([]uint64, 0, r.Keys())
		do := func() { m.Make(text); keys = m.AppendKeys(keys[:0]) }
		do()
		if _, features := r.Features(); !features {
			continue // what a TextSketcher allocates is its own
		}
		if n := testing.AllocsPerRun(50, do); n > 0 {
			t.Errorf("%s: %v allocations", r, n)
		}
	}
}

// A signature that was written down becomes what its text did, but for what is made of
// features.
func TestAStoredSignatureIsTakenAsItWasMade(t *testing.T) {
	simple, err := simhash.ParseScheme("simhash bits=100")
	if err != nil {
		t.Fatal(err)
	}
	kinds := append(everyKind(t), made(t, recipe.Options{Sketch: recipe.SimHash(simple), Distance: new(3)}),
		made(t, recipe.Options{Sketch: sketchOf(t, "kmins k=13 bits=4")}))
	for _, r := range kinds {
		from, to := r.NewMaker(recipe.MakerOptions{Signature: true}), r.NewMaker(recipe.MakerOptions{Signature: true})
		for _, text := range []string{"some words of a text and more", "other words, of which there are not many", "one"} {
			want := from.Make([]byte(text))
			packed := r.AppendBinary(nil, from.Signature())
			got, err := to.Take(packed)
			if err != nil || !slices.Equal(to.Signature(), from.Signature()) || !slices.Equal(to.AppendKeys(nil), from.AppendKeys(nil)) {
				t.Errorf("%s: %x, want %x, or other keys; error %v", r, to.Signature(), from.Signature(), err)
			}
			if _, hamming := r.Distance(); hamming && got.Digest != want.Digest || (got.Features == 0) != (want.Features == 0) {
				t.Errorf("%s: %+v, want %+v", r, got, want)
			}
			for _, damaged := range [][]byte{nil, packed[:len(packed)-1], append(packed[:len(packed):len(packed)], 0)} {
				if _, err := to.Take(damaged); err == nil && !strings.Contains(r.String(), "bottomk") { // which may be shorter
					t.Errorf("%s: %d bytes are taken for a signature", r, len(damaged))
				}
			}
		}
	}
	m := made(t, recipe.Options{}).NewMaker(recipe.MakerOptions{Signature: true})
	m.Make(nil)
	if got, err := m.Take(made(t, recipe.Options{}).AppendBinary(nil, m.Signature())); err != nil || got.Features != 0 {
		t.Errorf("an empty document: %+v, error %v", got, err)
	}
	if _, err := made(t, recipe.Options{Sketch: least(2)}).NewMaker(recipe.MakerOptions{Signature: true}).Take(make([]byte, 8)); err == nil {
		t.Error("a signature of a scheme that cannot read is read")
	}
}

// A long text, of which features are made block by block, becomes what a short one does.
func TestLongTextsBecomeWhatShortOnesDo(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "word%d ", i*i%3001)
	}
	text := []byte(b.String())
	for _, r := range everyKind(t) {
		short := r.NewMaker(recipe.MakerOptions{Signature: true})
		long := r.NewMaker(recipe.MakerOptions{Signature: true, Long: 100, Whole: func(int) bool { return true }})
		want, got := short.Make(text), long.Make(text)
		if got != want || !slices.Equal(long.Signature(), short.Signature()) || !slices.Equal(long.AppendKeys(nil), short.AppendKeys(nil)) {
			t.Errorf("%s: %+v, want %+v", r, got, want)
		}
		if _, features := r.Features(); features && !slices.Equal(long.Set(), short.Set()) {
			t.Errorf("%s: other sets", r)
		}
	}
}

func TestWhatDoesNotGoTogetherIsRefused(t *testing.T) {
	hashed := recipe.SimHash(simhash.Default())
	for want, o := range map[string]recipe.Options{
		"decides by itself":       {Sketch: hashed, Distance: new(3), Threshold: threshold(t, 0.8)},
		"not compared by Hamming": {Distance: new(3)},
		"choose one of":           {Threshold: threshold(t, 0.8), Verify: "so"},
		"no components to cut":    {Threshold: threshold(t, 0.8), Sketch: hashed, Keys: recipe.LSH},
		"needs candidates":        {Threshold: threshold(t, 0.8), Verify: recipe.Sketch, Keys: recipe.NoKeys},
		"do not estimate":         {Threshold: thresholdOf(t, measure.Containment, 0.8), Verify: recipe.Sketch},
		"hashed by":               {Features: otherFeatures(t)["Hash"][0], Sketch: sketchOf(t, "bottomk hash=fnv1a")},
		"set a Hamming distance":  {Texts: recipe.Hash4jWords(simhash.Default()), Threshold: threshold(t, 0.8)},
	} {
		if _, err := recipe.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want something about %q", o, err, want)
		}
	}
	if r := made(t, recipe.Options{}); r.Words() != minhash.Default().Words() {
		t.Error("the default scheme is not that of minhash")
	}
}

func TestAShareOfASetIsWhatIsWantedOfIt(t *testing.T) {
	r, err := recipe.Parse("words n=2 | oph k=128 | no keys | jaccard>=0.5 exact")
	if err != nil {
		t.Fatal(err)
	}
	sets, long := r.NewSetMaker(), ""
	for i := range 3000 { // several blocks
		long += fmt.Sprintf("word %d ", i%2000)
	}
	for _, text := range []string{"", "one", strings.Repeat("the cat sat on the mat and ", 3), long} {
		for _, bits := range []uint{0, 1, 3} {
			keep := func(feature uint64) bool { return feature&(1<<bits-1) == 0 }
			want := slices.DeleteFunc(sets.AppendSet(nil, []byte(text)), func(feature uint64) bool { return !keep(feature) })
			if got := sets.AppendShare([]uint64{7}, []byte(text), keep); got[0] != 7 || !slices.Equal(got[1:], want) {
				t.Errorf("of %d bytes, %d bits: %x, want %x", len(text), bits, got, want)
			}
		}
	}
}
