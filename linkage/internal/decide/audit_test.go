package decide

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

// population draws candidates of a join: the probability that a model gives each, whether it is a match, and the links.
// wrong is the power by which the odds of the model are too large.
func population(r *rand.Rand, size int, wrong float64) (probability []float64, match []bool, links []int) {
	for i := range size {
		score := r.NormFloat64()*2 - 5
		if r.Float64() < 0.3 {
			score = r.NormFloat64()*2 + 3
		}
		probability = append(probability, 1/(1+math.Exp(-score)))
		match = append(match, r.Float64() < 1/(1+math.Exp(-score/wrong)))
		if probability[i] >= 0.5 {
			links = append(links, i)
		}
	}
	return probability, match, links
}

// answered answers the questions of strata by the truth.
func answered(strata []Stratum, match []bool) (answers []Answers) {
	for _, s := range strata {
		a := Answers{Stratum: s}
		for _, i := range s.Drawn {
			if match[i] {
				a.Yes++
			} else {
				a.No++
			}
		}
		answers = append(answers, a)
	}
	return answers
}

// truth returns precision and recall of links among the candidates that an audit draws from.
func truth(probability []float64, match []bool, links []int) (precision, recall float64) {
	right, all := 0.0, 0.0
	linked := make([]bool, len(match))
	for _, i := range links {
		linked[i] = true
	}
	for i, m := range match {
		if m && linked[i] {
			right++
		}
		if m && (linked[i] || probability[i] >= improbable) {
			all++
		}
	}
	return right / float64(len(links)), right / all
}

func TestIntervalsOfAnAuditHaveTheTruth(t *testing.T) {
	for _, c := range []struct {
		size, asked int
		wrong       float64
	}{{500, 40, 1}, {500, 40, 1.5}, {500, 40, 3}, {5000, 40, 1}, {5000, 100, 1}, {5000, 100, 1.5}, {200, 100, 1.5}} {
		r := rand.New(rand.NewPCG(1, uint64(c.size+c.asked)))
		const trials, rounding = 1000, 1e-9
		least := trials * 93 / 100
		if c.asked < 100 { // a stratum has ten answers
			least = trials * 91 / 100
		}
		var ofPrecision, ofRecall int
		var wide float64
		for range trials {
			probability, match, links := population(r, c.size, c.wrong)
			seed := r.Uint64()
			order := func(i int) uint64 { return hashing.Mix(seed + uint64(i)) }
			strata, _ := Draw(links, probability, c.asked, order)
			p, recall, ok := Measure(answered(strata, match))
			if !ok {
				t.Fatal("nothing measured")
			}
			wantPrecision, wantRecall := truth(probability, match, links)
			if p.Low-rounding <= wantPrecision && wantPrecision <= p.High+rounding {
				ofPrecision++
			}
			if recall.Low-rounding <= wantRecall && wantRecall <= recall.High+rounding {
				ofRecall++
			}
			wide += (p.High - p.Low) / trials
		}
		t.Logf("%+v: precision %.3f, recall %.3f, mean width %.3f", c, float64(ofPrecision)/trials, float64(ofRecall)/trials, wide)
		if ofPrecision < least {
			t.Errorf("%+v: the interval has the precision in %d of %d audits", c, ofPrecision, trials)
		}
		if ofRecall < least {
			t.Errorf("%+v: the interval has the recall in %d of %d audits", c, ofRecall, trials)
		}
	}
}

func TestAnAuditOfAllPairsMeasuresExactly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(rt, "candidates")
		probability, match := make([]float64, n), make([]bool, n)
		var links []int
		matches := 0
		for i := range n {
			probability[i] = rapid.Float64Range(improbable, 1).Draw(rt, "probability")
			match[i] = rapid.Bool().Draw(rt, "match")
			if rapid.Bool().Draw(rt, "link") {
				links = append(links, i)
			}
			if match[i] {
				matches++
			}
		}
		strata, _ := Draw(links, probability, n, func(i int) uint64 { return uint64(i) })
		precision, recall, ok := Measure(answered(strata, match))
		if len(links) == 0 || matches == 0 {
			if ok {
				rt.Fatal("measured without a link or a match")
			}
			return
		}
		wantPrecision, wantRecall := truth(probability, match, links)
		for what, pair := range map[string][2]float64{
			"least precision": {precision.Low, wantPrecision}, "most precision": {precision.High, wantPrecision},
			"least recall": {recall.Low, wantRecall}, "most recall": {recall.High, wantRecall},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				rt.Fatalf("%s is %v, want %v", what, pair[0], pair[1])
			}
		}
	})
}

func TestAnAuditDrawsFromLinksAndOthers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(rt, "candidates")
		asked := rapid.IntRange(1, 80).Draw(rt, "asked")
		probability := make([]float64, n)
		var links []int
		others, rest := 0, 0.0
		for i := range n {
			probability[i] = rapid.Float64Range(0, 1).Draw(rt, "probability")
			switch {
			case rapid.Bool().Draw(rt, "link"):
				links = append(links, i)
			case probability[i] >= improbable:
				others++
			default:
				rest += probability[i]
			}
		}
		strata, left := Draw(links, probability, asked, func(i int) uint64 { return uint64(i * 7919 % 1009) })
		if math.Abs(left-rest) > 1e-9 {
			rt.Fatalf("%v matches are left, want %v", left, rest)
		}
		drawn, size, seen := map[bool]int{}, map[bool]int{}, map[int]bool{}
		for _, s := range strata {
			drawn[s.Linked] += len(s.Drawn)
			size[s.Linked] += s.Size
			for _, i := range s.Drawn {
				if seen[i] || slices.Contains(links, i) != s.Linked {
					rt.Fatalf("candidate %d is drawn twice, or from the wrong stratum", i)
				}
				seen[i] = true
			}
		}
		if size[true] != len(links) || size[false] != others {
			rt.Fatalf("strata of %v, want %d and %d", size, len(links), others)
		}
		if got, want := drawn[true]+drawn[false], min(asked, len(links)+others); got != want {
			rt.Fatalf("%d drawn, want %d", got, want)
		}
		for _, s := range strata {
			if least := min(s.Size, min(asked, len(links)+others)/8); len(s.Drawn) < least {
				rt.Fatalf("%d of %d drawn, want %d", len(s.Drawn), s.Size, least)
			}
		}
	})
}
