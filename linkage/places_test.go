package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// hotels makes a table of hotels in few towns, each twice, with coordinates in one column that are some metres apart, and the
// time of a photograph that is some minutes later.
func hotels(n int) string {
	rng := rand.New(rand.NewPCG(21, 22))
	var b strings.Builder
	b.WriteString("id,name,location,taken\n")
	for i := range n {
		name := fmt.Sprintf("%s %s", []string{"Grand", "Park", "Royal", "Central"}[rng.IntN(4)], word(rng.IntN(60)))
		lat, lon, at := 48+rng.Float64(), 2+rng.Float64(), rng.IntN(23*60)
		for c := range 2 {
			minute := at + c*rng.IntN(8)
			fmt.Fprintf(&b, "%d-%d,%s,\"%.4f, %.4f\",%02d:%02d\n", i, c, wrong(rng, name), lat+rng.NormFloat64()/5000, lon+rng.NormFloat64()/5000, minute/60, minute%60)
		}
	}
	return b.String()
}

func TestPlacesAndTimesAreComparedByDistance(t *testing.T) {
	const n = 800
	r := join(t, Config{Left: write(t, "hotels.csv", hotels(n))})
	right := rightOf(r)
	if f1 := 2 * float64(right) / float64(r.Links.Len()+n); f1 < 0.95 {
		t.Errorf("F1 %.3f: %d of %d links are right", f1, right, r.Links.Len())
	}
	if text := r.String(); !strings.Contains(text, "compared: name, location latitude, location longitude, taken\n") {
		t.Errorf("what is compared is not said: %s", text)
	}
}

// landmarks makes a table of landmarks in some towns, each there twice. Names and types return in other towns, and coordinates are
// what tells those apart; a few lack them.
func landmarks(n int) string {
	rng := rand.New(rand.NewPCG(23, 24))
	var b strings.Builder
	b.WriteString("id,name,type,coordinates,town\n")
	type place struct{ lat, lon float64 }
	towns := make([]place, 40)
	for i := range towns {
		towns[i] = place{45 + 10*rng.Float64(), 15 * rng.Float64()}
	}
	for i := range n {
		kind, town := []string{"Church", "Castle", "Bridge", "Mill", "Chapel", "Museum"}[rng.IntN(6)], rng.IntN(len(towns))
		name := word(rng.IntN(200))
		at := place{towns[town].lat + rng.NormFloat64()/50, towns[town].lon + rng.NormFloat64()/50}
		for c := range 2 {
			coordinates, in := "", ""
			if rng.IntN(7) > 0 {
				coordinates = fmt.Sprintf("\"%.6f, %.6f\"", at.lat+rng.NormFloat64()/1500, at.lon+rng.NormFloat64()/1500)
			}
			if rng.IntN(10) < 7 {
				in = word(9000 + town)
			}
			fmt.Fprintf(&b, "%d-%d,%s,%s,%s,%s\n", i, c, wrong(rng, []string{kind + " " + name, name + " " + kind}[c]), strings.ToLower(kind), coordinates, in)
		}
	}
	return b.String()
}

// TestPlacesOfOneNameInOtherTownsAreNotOne has kinds of pairs that only distances tell apart.
func TestPlacesOfOneNameInOtherTownsAreNotOne(t *testing.T) {
	const n = 900
	r := join(t, Config{Left: write(t, "landmarks.csv", landmarks(n))})
	right := rightOf(r)
	if f1 := 2 * float64(right) / float64(r.Links.Len()+n); f1 < 0.85 {
		t.Errorf("F1 %.3f: %d of %d links are right, %d are to be found", f1, right, r.Links.Len(), n)
	}
}
