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
