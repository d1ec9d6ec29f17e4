package contam

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slowMeet is meet by sorting all that items and the document have in common.
func slowMeet(x *Index, hits []hit) (places []near) {
	type meeting struct {
		item, token, word, gram uint32
		frequent                bool
	}
	of := map[uint32][]meeting{}
	for _, h := range hits {
		for _, p := range x.leads(h.gram) {
			of[p.item] = append(of[p.item], meeting{p.item, h.token, p.word, h.gram, x.among[h.gram] > frequent})
		}
	}
	for item, all := range of {
		slices.SortFunc(all, func(a, b meeting) int { return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.word, b.word)) })
		n := len(x.Items[item].tokens)
		for from, to := 0, 0; from < len(all); from = to {
			first, met, half := all[from], 0, 0
			for to = from; to < len(all); to++ {
				fresh := Gram
				if to > from {
					grams := x.Items[item].grams
					next := all[to-1].word + all[to].token - all[to-1].token
					if all[to].word <= first.word+2 && int(next) < len(grams) && grams[next] == all[to].gram {
						all[to].word = next // the item has its beginning again, and goes on
					}
					fresh = min(int(all[to].token-all[to-1].token), Gram)
					apart := int(all[to].token - all[to-1].token)
					far := apart > body+n/2
					again := fresh > 0 && all[to].word <= first.word+2 && (n > 12 || int(all[to].word) != int(all[to-1].word)+apart)
					if far || again && 2*met >= n {
						break
					}
				}
				if met += fresh; all[to].frequent {
					half += fresh
				}
			}
			if last := all[to-1]; (n > 12 || met >= n-4) && float64(met)-float64(half)/2 >= leastMet*float64(n) {
				places = append(places, near{int(item), int(first.token) - int(first.word) - margin, int(last.token) + n - int(last.word) + margin})
			}
		}
	}
	slices.SortFunc(places, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.item, b.item), cmp.Compare(a.to, b.to))
	})
	return places
}

// TestPlacesAreThoseOfTheSlowTwin uses few words, so that items have grams in common, with each other and with themselves.
func TestPlacesAreThoseOfTheSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%c ", 'a'+rune(r.IntN(3)))
		}
		return b.String()
	}
	found := 0
	for range 60 {
		var rows []Item
		for n := range 1 + r.IntN(200) {
			rows = append(rows, Item{ID: fmt.Sprint(n), Question: []byte(words(4 + r.IntN(40)))})
		}
		s := NewIndex(rows).NewScanner()
		for range 10 {
			var doc strings.Builder
			for range r.IntN(20) {
				doc.WriteString(words(r.IntN(30)) + strings.Repeat("z ", r.IntN(60)) + string(rows[r.IntN(len(rows))].Question))
			}
			s.look([]byte(doc.String()))
			got, want := s.meeter.meet(s.hits), slowMeet(s.x, s.hits)
			if !slices.Equal(got, want) {
				t.Fatalf("%v, not %v", got, want)
			}
			found += len(got)
		}
	}
	if found == 0 {
		t.Error("nothing met")
	}
}

func TestPickedGramsAreThoseOfTheIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{0, 1, 100, 50_000} {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = r.Uint64()
		}
		f := newFilter(keys)
		if got := f.pick(nil, keys); len(got) != n {
			t.Errorf("%d of %d grams are picked", len(got), n)
		}
		others := make([]uint64, 10_000)
		for i := range others {
			others[i] = r.Uint64()
		}
		if got := f.pick(nil, others); len(got) > len(others)/20 {
			t.Errorf("%d of %d other grams are picked", len(got), len(others))
		}
	}
}
