package linkage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// specimens makes two tables of plants that were collected in series, of one collector, day and place, with consecutive
// numbers: in each table some of them. The truth is in equal ids.
func specimens(n int) (left, right string) {
	rng := rand.New(rand.NewPCG(5, 6))
	var l, r strings.Builder
	l.WriteString("id,taxon,collector,number,date,lat,altitude\n")
	r.WriteString("id,name,collector,number,date,lat,altitude\n")
	for i := 0; i < n; {
		by, day, number, lat := word(rng.IntN(60)), rng.IntN(30000), 1+rng.IntN(9000), rng.Float64()*60-30
		date := fmt.Sprintf("%d-%02d-%02d", 1900+day/360, 1+day/30%12, 1+day%28)
		for k := range []int{1, 2, 3, 5, 8}[rng.IntN(5)] {
			taxon, altitude := word(100+rng.IntN(80))+" "+word(200+rng.IntN(300)), rng.IntN(3000)
			if rng.Float64() < 0.8 {
				fmt.Fprintf(&l, "%d,%s,%s %c.,%d,%s,%.3f,%d\n", i, taxon, by, 'A'+rng.IntN(6), number+k, date, lat, altitude)
			}
			if rng.Float64() < 0.65 {
				if rng.IntN(4) == 0 {
					genus, _, _ := strings.Cut(taxon, " ")
					taxon = genus + " " + word(200+rng.IntN(300))
				}
				fmt.Fprintf(&r, "%d,%s,%s,%d,%s,%.2f,%d\n", i, taxon, by, number+k, date[:4+6*rng.IntN(2)], lat, altitude)
			}
			i++
		}
	}
	return l.String(), r.String()
}

// TestNeighboursInASeriesAreNotTheSameThing has records whose neighbours in a series agree in nearly everything.
func TestNeighboursInASeriesAreNotTheSameThing(t *testing.T) {
	left, right := specimens(1200)
	r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	ids := map[string]bool{}
	for _, line := range strings.Split(left, "\n")[1:] {
		id, _, _ := strings.Cut(line, ",")
		ids[id] = true
	}
	matches := 0
	for _, line := range strings.Split(strings.TrimSpace(right), "\n")[1:] {
		if id, _, _ := strings.Cut(line, ","); ids[id] {
			matches++
		}
	}
	found := 0
	for _, l := range slices.Collect(r.Links.All()) {
		if string(l.A) == string(l.B) {
			found++
		}
	}
	if f1 := 2 * float64(found) / float64(r.Links.Len()+matches); f1 < 0.97 {
		t.Errorf("F1 %.3f: %d of %d links are right, of %d matches", f1, found, r.Links.Len(), matches)
	}
	if p := float64(found) / float64(r.Links.Len()); p < r.ExpectedPrecision[0]-0.05 {
		t.Errorf("precision %.3f, and expected was %.2f", p, r.ExpectedPrecision)
	}
}
