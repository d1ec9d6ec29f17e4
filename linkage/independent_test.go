package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// register makes a table of persons, of whom a tenth are there twice with one error each, in any one column. The columns say
// nothing about each other but, where there are several countries, by their country, which has names of its own.
func register(n, countries int) string {
	rng := rand.New(rand.NewPCG(51, 7))
	few := func(from, of int) string { return word(from + int(float64(of)*rng.Float64()*rng.Float64())) }
	var rows strings.Builder
	rows.WriteString("id,country,first,last,year,month,day\n")
	for i := range n {
		country := int(float64(countries) * rng.Float64() * rng.Float64())
		first, last := few(1000*country, 80), few(1000*country+300, 250)
		born := [3]int{1930 + rng.IntN(80), 1 + rng.IntN(12), 1 + rng.IntN(28)}
		fmt.Fprintf(&rows, "%d,C%d,%s,%s,%d,%d,%d\n", i, country, first, last, born[0], born[1], born[2])
		if i%10 > 0 {
			continue
		}
		switch k := rng.IntN(5); k {
		case 0:
			first = first[:len(first)-2] + "x" + first[len(first)-1:]
		case 1:
			last = last[:len(last)-2] + "x" + last[len(last)-1:]
		default:
			born[k-2] = [3]int{1930, 1, 1}[k-2] + (born[k-2]+4)%[3]int{80, 12, 28}[k-2]
		}
		fmt.Fprintf(&rows, "copy%d,C%d,%s,%s,%d,%d,%d\n", i, country, first, last, born[0], born[1], born[2])
	}
	return rows.String()
}

func TestCopiesWithOneErrorInAnyColumnAreFound(t *testing.T) {
	const n = 8000
	for _, countries := range []int{1, 4} {
		r := join(t, Config{Left: write(t, "register.csv", register(n, countries))})
		right := 0
		for l := range r.Links.All() {
			if string(l.B) == "copy"+string(l.A) || string(l.A) == "copy"+string(l.B) {
				right++
			}
		}
		precision, recall := float64(right)/float64(r.Links.Len()), float64(right)/(n/10)
		t.Logf("precision %.3f, recall %.3f of %d links, says %.2f and %.2f", precision, recall, r.Links.Len(), r.ExpectedPrecision, r.ExpectedRecall)
		if precision < 0.8 || recall < 0.8 {
			t.Errorf("%d countries: precision %.3f, recall %.3f", countries, precision, recall)
		}
	}
}
