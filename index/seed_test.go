package index

import (
	"testing"

	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// The features that become keys of containment are drawn by the recipe's seed. An index that was made when they had one
// seed for all keeps that, and its header is as it was for the default.
func TestKeysOfContainmentAreDrawnByTheSeed(t *testing.T) {
	scheme, err := minhash.OPH(minhash.DefaultK, minhash.DefaultBits, 9)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Sketch: scheme, Threshold: threshold(t, "jaccard>=0.8")})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Recipe: r, Containment: 4}.withDefaults()
	if got := o.scaled().Seed(); got != 9 {
		t.Errorf("the seed is %d", got)
	}
	for header, want := range map[string]uint64{"4": minhash.DefaultSeed, "4 seed=9": 9} {
		var parsed Options
		if err := parsed.parseContainment(header); err != nil || parsed.Containment != 4 || parsed.seed != want {
			t.Errorf("%q: %+v, %v", header, parsed, err)
		}
		parsed.Recipe = r
		l := parsed.withDefaults().header()
		if got := l.get("containment"); got != header {
			t.Errorf("%q is written as %q", header, got)
		}
	}
}
