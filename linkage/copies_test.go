package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// houses makes a table of houses with their owners, some of whom have several, and of each so many houses a share twice, with
// one letter changed in some addresses and owners. The truth is in the number at the head of ids.
func houses(n int, share float64) (table string, matches int) {
	rng := rand.New(rand.NewPCG(3, 4))
	changed := func(s string) string {
		if rng.Float64() > 0.3 {
			return s
		}
		at := rng.IntN(len(s))
		return s[:at] + string(rune('a'+rng.IntN(26))) + s[at+1:]
	}
	var b strings.Builder
	b.WriteString("id,address,owner\n")
	for i := 0; i < n; {
		owner := word(rng.IntN(150)) + " " + word(200+rng.IntN(600))
		for range []int{1, 1, 1, 2, 3, 5}[rng.IntN(6)] {
			address := fmt.Sprintf("%d %s Street", 1+rng.IntN(250), word(1000+rng.IntN(150)))
			fmt.Fprintf(&b, "%d-a,%s,%s\n", i, address, owner)
			if rng.Float64() < share {
				fmt.Fprintf(&b, "%d-b,%s,%s\n", i, changed(address), changed(owner))
				matches++
			}
			i++
		}
	}
	return b.String(), matches
}

// TestCopiesAreFoundAmongThingsThatHaveMuchInCommon has houses of which most pairs that agree strongly are of one owner.
func TestCopiesAreFoundAmongThingsThatHaveMuchInCommon(t *testing.T) {
	table, matches := houses(1200, 0.25)
	r := join(t, Config{Left: write(t, "houses.csv", table)})
	right := 0
	for l := range r.Links.All() {
		a, _, _ := strings.Cut(string(l.A), "-")
		if b, _, _ := strings.Cut(string(l.B), "-"); a == b {
			right++
		}
	}
	if f1 := 2 * float64(right) / float64(r.Links.Len()+matches); f1 < 0.85 {
		t.Errorf("F1 %.3f: %d of %d links are right, of %d matches", f1, right, r.Links.Len(), matches)
	}
	if !r.Disputed {
		t.Error("that these are the things, and not their owners, is said to be known")
	}
}
