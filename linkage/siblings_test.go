package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/linkage/internal/judge"
)

// baptisms makes a register: children of couples, each once. Brothers and sisters have all in common but their names, and days some
// years apart.
func baptisms(couples int) string {
	rng := rand.New(rand.NewPCG(41, 42))
	var rows strings.Builder
	rows.WriteString("id,child,sex,father,mother,farm,parish,baptised\n")
	n := 0
	for range couples {
		family, parish := word(300+rng.IntN(250)), word(900+rng.IntN(12))
		father, mother := word(rng.IntN(120))+" "+family, word(120+rng.IntN(120))+" "+word(300+rng.IntN(250))
		first := time.Date(1780+rng.IntN(50), 1, 1, 0, 0, 0, 0, time.UTC)
		for child := range 1 + rng.IntN(5) {
			name, farm := word(rng.IntN(240)), ""
			if rng.IntN(3) > 0 {
				farm = family + "rud"
			}
			day := first.AddDate(2*child, 0, rng.IntN(700))
			fmt.Fprintf(&rows, "%d,%s,%s,%s,%s,%s,%s,%s\n", n, name, []string{"F", "M"}[rng.IntN(2)], wrong(rng, father), wrong(rng, mother), farm, parish, day.Format("2 Jan 2006"))
			n++
		}
	}
	return rows.String()
}

func TestBrothersAndSistersAreNotSaidToBeCopies(t *testing.T) {
	r := join(t, Config{Left: write(t, "register.csv", baptisms(250))})
	if r.Links.Len() > 10 && !r.Disputed {
		t.Errorf("%d links, said to be right: %v, of a register without a copy", r.Links.Len(), r.ExpectedPrecision)
	}
}

// TestPartnersByChanceAreNotSeveral has matches of which the view of chance leaves most, or hardly any.
func TestPartnersByChanceAreNotSeveral(t *testing.T) {
	for left, want := range map[float64]bool{0.9: false, 0.4: true} {
		e := &judge.Examiner{Probability: []float64{0.9, 0.9, 0.8, 0.1}, Views: [][]float64{{0.9, left, left, 0.1}}}
		e.Once.Right = true
		if got := byChance(e); got != want {
			t.Errorf("chance leaves %v of three matches, two of them at %v: by chance %v, want %v", e.Views[0], left, got, want)
		}
		if e.Once.Left = true; byChance(e) {
			t.Error("where a record has one partner at most, chance has bounded the probabilities themselves")
		}
	}
}
