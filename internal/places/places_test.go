package places_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// anyText draws words, so many that texts have some blocks.
func anyText(rng *rand.Rand, words int) string {
	all := make([]string, words)
	for i := range all {
		word := make([]byte, 2+rng.IntN(8))
		for k := range word {
			word[k] = byte('a' + rng.IntN(26))
		}
		all[i] = string(word)
	}
	return strings.Join(all, " ")
}

// noisy changes one in so many characters.
func noisy(rng *rand.Rand, s string, one int) string {
	out := []byte(s)
	for i := range out {
		if rng.IntN(one) == 0 {
			out[i] = byte('a' + rng.IntN(26))
		}
	}
	return string(out)
}

// runsOf returns the runs of a text that is normal already, each once.
func runsOf(s string) map[string]bool {
	all := map[string]bool{}
	for i := 0; i+places.Chars <= len(s); i++ {
		all[s[i:i+places.Chars]] = true
	}
	return all
}

// slowContradicts counts strings.
func slowContradicts(a, b, c string) bool {
	ofA, ofB, ofC := runsOf(a), runsOf(b), runsOf(c)
	shared, ofPair, ofBoth := 0, 0, 0
	for run := range ofA {
		if ofB[run] {
			shared++
			if ofC[run] {
				ofPair++
			}
		}
		if ofC[run] {
			ofBoth++
		}
	}
	return 4*ofPair*min(len(ofA), len(ofC)) < ofBoth*min(shared, len(ofC))
}

// slowStands returns the share of the blocks of a that stand in b.
func slowStands(a, b string) (share float64) {
	ofB := runsOf(b)
	n := len(a) - places.Chars + 1
	size, blocks := places.Blocks(n)
	runs, hits := make([]int, blocks), make([]places.Hits, blocks)
	seen := make([]map[string]bool, blocks)
	for i := range n {
		at, run := min(i/size, blocks-1), a[i:i+places.Chars]
		if seen[at] == nil {
			seen[at] = map[string]bool{}
		}
		if seen[at][run] {
			continue
		}
		seen[at][run] = true
		runs[at]++
		if ofB[run] {
			hits[at].Runs++
		}
	}
	var scratch []float64
	return places.Covered(hits, runs, false, &scratch)
}

func TestThirdTextsAreJudgedAsByStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		passage, one := anyText(rng, rng.IntN(40)), 5+rng.IntN(60)
		own := []string{anyText(rng, 2+rng.IntN(60)), anyText(rng, 2+rng.IntN(60))}
		a, b := noisy(rng, passage+" "+own[0], one), noisy(rng, passage+" "+own[1], one)
		if rng.IntN(3) == 0 {
			b = noisy(rng, a[:len(a)/2], one)
		}
		c := noisy(rng, []string{own[0], passage, passage + " " + own[0]}[rng.IntN(3)], one)
		a, b, c = strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "), strings.Join(strings.Fields(c), " ")
		if min(len(a), len(b), len(c)) < places.Chars {
			return
		}
		r := places.NewReader(shingle.Options{})
		x, y, z := r.Read([]byte(a)), r.Read([]byte(b)), r.Read([]byte(c))
		var j places.Judge
		shared := 0
		for run := range runsOf(a) {
			if runsOf(b)[run] {
				shared++
			}
		}
		const stands = 2. / 3
		if got, want := j.Doubts(x, y), shared >= places.Chars && slowStands(a, b) < stands && slowStands(b, a) < stands; got != want {
			t.Fatalf("doubts %v, want %v\n%s\n%s", got, want, a, b)
		}
		if got, want := j.Contradicts(x, z), slowContradicts(a, b, c); got != want && shared > 0 {
			t.Fatalf("contradicts %v, want %v", got, want)
		}
	})
}

// Of a long text a sample is held; what is said of it is the same where texts clearly are alike or not.
func TestLongTextsAreJudgedBySamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	passage, x, y := anyText(rng, 60_000), anyText(rng, 90_000), anyText(rng, 90_000)
	r := places.NewReader(shingle.Options{Text: text.Options{}})
	read := func(s string) *places.Text { return r.Read([]byte(noisy(rng, s, 60))) }
	a, b := read(passage+" "+x), read(passage+" "+y)
	for name, c := range map[string]struct {
		a, b, third         *places.Text
		doubts, contradicts bool
	}{
		"a copy of one":      {a, b, read(x), true, true},
		"a short one of it":  {a, b, read(x[:3000]), true, true},
		"one with the same":  {a, b, read(passage + x[:9000]), true, false},
		"a part of the same": {a, b, read(passage[:3000]), true, false},
		"a half":             {a, read(x[:len(x)/2]), nil, false, false},
		"a short part":       {a, read(x[4000:9000]), nil, false, false},
		"unrelated":          {read(x), read(y), nil, false, false},
	} {
		var j places.Judge
		if got := j.Doubts(c.a, c.b); got != c.doubts {
			t.Errorf("%s: doubts %v", name, got)
		}
		if c.third != nil && j.Contradicts(c.a, c.third) != c.contradicts {
			t.Errorf("%s: contradicts %v", name, !c.contradicts)
		}
		if c.a.Bytes() > 2<<20 {
			t.Errorf("%s: %d bytes", name, c.a.Bytes())
		}
	}
}

func ExampleJudge() {
	r := places.NewReader(shingle.Options{})
	a := r.Read([]byte("Rain fell on the old harbour all night. The council votes on the new bridge in May, says its mayor, who is against it."))
	b := r.Read([]byte("Rain fell on the old harbour all night. Prices of wheat rose again last week, and growers expect more of the same soon."))
	c := r.Read([]byte("The council votes on the new bridge in May, says its mayor, who is against it."))
	var j places.Judge
	fmt.Println(j.Doubts(a, b), j.Contradicts(a, c))
	// Output: true true
}
