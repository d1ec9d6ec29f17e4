package places_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/shingle"
)

// slowStandsWhole is Judge.Stands by strings: many tells what many texts have.
func slowStandsWhole(a, b string, many map[string]bool) float64 {
	n := len(a) - places.Chars + 1
	size, blocks := places.Blocks(n)
	ofB := runsOf(b)
	all, own, hits := make([]int, blocks), make([]int, blocks), make([]places.Hits, blocks)
	seen := map[string]bool{}
	for i := range n {
		at, run := min(i/size, blocks-1), a[i:i+places.Chars]
		key := string(rune(at)) + run
		if seen[key] {
			continue
		}
		seen[key] = true
		all[at]++
		if !many[run] {
			own[at]++
		}
		if ofB[run] {
			hits[at].Runs++
		}
	}
	sumAll, sumOwn := 0, 0
	for i := range all {
		sumAll, sumOwn = sumAll+all[i], sumOwn+own[i]
	}
	unchanged := 0.
	if len(b) <= places.LongerAtMost*len(a) && 2*sumOwn >= sumAll {
		var e places.Edits
		_, changed := e.Distance(charsOf(a), charsOf(b))
		unchanged = 1 - float64(changed)/float64(len(a))
		if blocks < places.BlocksTell {
			return unchanged
		}
	}
	ofOwn, ofMany := make([]int, blocks), make([]int, blocks)
	owned, other := 0., 0.
	for i := range all {
		switch {
		case all[i] == 0:
		case 2*own[i] >= all[i]:
			ofOwn[i] = all[i]
			owned++
		default:
			ofMany[i] = all[i]
			other++
		}
	}
	var scratch []float64
	found := owned*places.Covered(hitsOf(hits, ofOwn), ofOwn, false, &scratch) + other/256*places.Covered(hitsOf(hits, ofMany), ofMany, false, &scratch)
	found /= max(owned+other/256, 1./256)
	if found < places.WholeShare && unchanged >= 0.82 {
		return unchanged
	}
	return found
}

// hitsOf leaves those of blocks with runs.
func hitsOf(hits []places.Hits, runs []int) []places.Hits {
	left := slices.Clone(hits)
	for i, n := range runs {
		if n == 0 {
			left[i] = places.Hits{}
		}
	}
	return left
}

func charsOf(s string) (chars []uint64) {
	for _, c := range s {
		chars = append(chars, uint64(c))
	}
	return chars
}

// manyOf returns the runs that more texts have than most.
func manyOf(texts []string, most int) map[string]bool {
	n, many := map[string]int{}, map[string]bool{}
	for _, t := range texts {
		for run := range runsOf(t) {
			n[run]++
		}
	}
	for run, of := range n {
		many[run] = of > most
	}
	return many
}

func TestHowMuchOfATextStandsInAnotherIsThatByStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		frame, one := anyText(rng, rng.IntN(60)), 5+rng.IntN(60)
		var all []string // so many that more than 32 may have the frame
		for range rng.IntN(50) {
			all = append(all, frame+" "+anyText(rng, rng.IntN(4)))
		}
		own := anyText(rng, 1+rng.IntN(60))
		a := noisy(rng, strings.TrimSpace(frame+" "+own), one)
		b := noisy(rng, []string{frame, own, frame + " " + own, anyText(rng, 20) + " " + own[:len(own)/2], own + " " + anyText(rng, 90)}[rng.IntN(5)], one)
		a, b = strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " ")
		if min(len(a), len(b)) < places.Chars {
			return
		}
		plain := places.NewReader(shingle.Options{})
		var texts []*places.Text
		for _, s := range all {
			texts = append(texts, plain.Read([]byte(s)))
		}
		r := places.NewWholeReader(shingle.Options{}, places.NewCommon(texts, len(texts)))
		var j places.Judge
		x, y := r.Read([]byte(a)), r.Read([]byte(b))
		_ = j.Doubts(y, x) // what is asked before changes nothing
		if got, want := j.Stands(x, y), slowStandsWhole(a, b, manyOf(all, 32)); got != want {
			t.Fatalf("%v, want %v\n%s\n%s", got, want, a, b)
		}
	})
}

// Copies stand in each other with errors, in longer texts, in frames that many have and if many are there; a text beside a
// passage of the other one does not, nor another page of the same frame.
func TestWhatStandsWholeInAnotherText(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	frame, other := anyText(rng, 120), anyText(rng, 120)
	var all []*places.Text
	plain := places.NewReader(shingle.Options{})
	for i := range 200 {
		all = append(all, plain.Read([]byte([2]string{frame, other}[i%2]+" "+anyText(rng, 20))))
	}
	own := anyText(rng, 90)
	title := anyText(rng, 9)
	for name, c := range map[string]struct {
		a, b  string
		whole bool
	}{
		"a copy with errors":            {noisy(rng, own, 16), noisy(rng, own, 16), true},
		"a half":                        {own[:len(own)/2], own, true},
		"a text of which that is half":  {own, own[:len(own)/2], false},
		"run into another text":         {own, noisy(rng, anyText(rng, 90)+" "+own, 20), true},
		"a passage of both":             {own + " " + anyText(rng, 40), own + " " + anyText(rng, 50), false},
		"the same in another frame":     {frame + " " + own, other + " " + noisy(rng, own, 20), true},
		"another text in one frame":     {frame + " " + own, frame + " " + anyText(rng, 60), false},
		"nothing but the frame":         {noisy(rng, frame, 30), noisy(rng, frame, 30), true},
		"a title with errors":           {noisy(rng, title, 12), "seen: " + noisy(rng, title, 12), true},
		"a title in a long text":        {title, anyText(rng, 90) + " " + title, true},
		"another title of equal length": {title, anyText(rng, 9), false},
	} {
		r := places.NewWholeReader(shingle.Options{}, places.NewCommon(all, 4000))
		var j places.Judge
		if got := j.Stands(r.Read([]byte(c.a)), r.Read([]byte(c.b))); (got >= places.WholeShare) != c.whole {
			t.Errorf("%s: %.2f", name, got)
		}
	}
}
