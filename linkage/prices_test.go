package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOffersAreToldApartByPrice has articles of which each comes in three packs at three prices. Two shops name them alike, and
// their prices differ by up to a twentieth: no token tells the packs apart, the distance of prices does.
func TestOffersAreToldApartByPrice(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const articles = 250
	var l, r strings.Builder
	l.WriteString("id,title,price\n")
	r.WriteString("id,title,price\n")
	for i := range articles {
		title, price := fmt.Sprintf("%s %s %s", word(rng.IntN(90)), word(100+rng.IntN(200)), word(400+rng.IntN(200))), 5+200*rng.Float64()
		for pack := range 3 {
			price *= 1.7
			fmt.Fprintf(&l, "%d,%s pack,%.2f\n", 3*i+pack, title, price)
			fmt.Fprintf(&r, "%d,pack of %s,%.2f\n", 3*i+pack, title, price*(0.95+0.1*rng.Float64()))
		}
	}
	found := join(t, Config{Left: write(t, "l.csv", l.String()), Right: write(t, "r.csv", r.String())})
	precision, recall := scores(found, 3*articles)
	t.Logf("precision %.3f, recall %.3f", precision, recall)
	if precision < 0.9 || recall < 0.9 {
		t.Errorf("precision %.3f, recall %.3f of offers whose prices tell", precision, recall)
	}
}
