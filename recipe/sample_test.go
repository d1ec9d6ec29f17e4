package recipe_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// someWords returns a text of n words, some of them more often than once.
func someWords(random *rand.Rand, n int) []byte {
	var text []byte
	for range n {
		text = append(text, byte('a'+random.IntN(26)), byte('a'+random.IntN(26)), ' ')
	}
	return text
}

func TestTheKeysOfASampleAreTheSmallestHashesOfTheSet(t *testing.T) {
	for _, seed := range []uint64{1, 9} {
		keysAreTheSmallestHashes(t, seed)
	}
}

func keysAreTheSmallestHashes(t *testing.T, seed uint64) {
	scheme, err := minhash.OPH(128, 32, seed)
	if err != nil {
		t.Fatal(err)
	}
	r := made(t, recipe.Options{Sketch: scheme, Threshold: thresholdOf(t, measure.Containment, 0.5)})
	if again, err := recipe.Parse(r.String()); err != nil || again.SampleSeed() != seed {
		t.Fatalf("%v, %v", again, err)
	}
	size := r.Sample().Size
	if r.Keys() != size || r.MinKeys() != r.Sample().Agree {
		t.Fatalf("%v has %d keys, of which %d must agree", r.Sample(), r.Keys(), r.MinKeys())
	}
	random := rand.New(rand.NewPCG(3, 4))
	sets := r.NewSetMaker()
	whole, inBlocks := r.NewMaker(recipe.MakerOptions{}), r.NewMaker(recipe.MakerOptions{Long: 100})
	for _, words := range []int{0, 1, 5, 6, 10, 17, 18, 19, 300, 5000} {
		text := someWords(random, words)
		want := recipe.AppendSampleHashes(nil, sets.AppendSet(nil, text), seed)
		slices.Sort(want)
		want = append(want[:min(len(want), size)], slices.Repeat([]uint64{recipe.NoKey}, max(size-len(want), 0))...)
		for _, m := range []*recipe.Maker{whole, inBlocks} {
			m.Make(text)
			if keys := m.AppendKeys([]uint64{7}); keys[0] != 7 || !slices.Equal(keys[1:], want) {
				t.Errorf("%d words: keys %x, want %x", words, keys[1:], want)
			}
		}
	}
}

func TestMakingKeysOfASampleAllocatesNothing(t *testing.T) {
	m := made(t, recipe.Options{Threshold: thresholdOf(t, measure.Containment, 0.8)}).NewMaker(recipe.MakerOptions{})
	text := someWords(rand.New(rand.NewPCG(5, 6)), 1000)
	var keys []uint64
	make := func() { m.Make(text); keys = m.AppendKeys(keys[:0]) }
	make()
	if n := testing.AllocsPerRun(10, make); n > 0 {
		t.Errorf("%v allocations a document", n)
	}
}

func TestContainmentTakesSamplesAndNoBands(t *testing.T) {
	for _, m := range []measure.Measure{measure.Containment, measure.MaxContainment} {
		for _, keys := range []recipe.Keys{recipe.AnyKeys, recipe.LSH} {
			r := made(t, recipe.Options{Threshold: thresholdOf(t, m, 0.8), Keys: keys})
			if !strings.Contains(r.String(), " | sample=7 agree=3 | ") || r.Banding() != (lsh.Params{}) {
				t.Errorf("%v, keys %q: %v", m, keys, r)
			}
		}
		if _, err := recipe.New(recipe.Options{Threshold: thresholdOf(t, m, 0.8), Banding: lsh.Params{Bands: 16, Rows: 6}}); !errors.Is(err, lsh.ErrNoBound) {
			t.Errorf("%v by bands: %v", m, err)
		}
		low := recipe.Options{Threshold: thresholdOf(t, m, 0.01)}
		if r := made(t, low); r.Keys() != 0 {
			t.Errorf("a threshold that no sample serves has keys: %v", r)
		}
		low.Keys = recipe.LSH
		if _, err := recipe.New(low); !errors.Is(err, lsh.ErrRecallOutOfReach) {
			t.Errorf("%v by a sample at 0.01: %v", m, err)
		}
	}
}

// The line of a recipe with a seed of its own, as it was when all samples had one seed, is refused: a run that was begun
// with those samples must not go on with others.
func TestALineOfSamplesWithAnotherSeedIsRefused(t *testing.T) {
	scheme, err := minhash.OPH(128, 32, 9)
	if err != nil {
		t.Fatal(err)
	}
	line := made(t, recipe.Options{Sketch: scheme, Threshold: thresholdOf(t, measure.Containment, 0.8)}).String()
	before := strings.Replace(line, "agree=3 seed=9", "agree=3", 1)
	if before == line {
		t.Fatalf("%q does not name the seed of samples", line)
	}
	if r, err := recipe.Parse(before); err == nil {
		t.Errorf("%q is read as %q", before, r)
	}
	if line := made(t, recipe.Options{Threshold: thresholdOf(t, measure.Containment, 0.8)}).String(); !strings.Contains(line, "sample=7 agree=3 |") {
		t.Errorf("the line of the default seed is %q", line)
	}
}
