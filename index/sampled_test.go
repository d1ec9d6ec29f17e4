package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/simjoin"
)

// Of short queries, which often have few keys or some that every document has, those that are answered
// keep the promised recall, and a search of every document finds what comparing finds.
func TestAShortPassageIsFoundWithTheRecallPromisedOrRefused(t *testing.T) {
	r, random := recipes(t)["sets"], rand.New(rand.NewPCG(4, 2))
	var phrases []string // that many documents have
	for i := range 6 {
		phrases = append(phrases, strings.TrimSpace(strings.Repeat(fmt.Sprintf("p%d said on q%d ", i, i), 2)))
	}
	var texts []string
	for range 100 {
		var words []string
		for len(words) < 150 {
			if random.IntN(12) == 0 {
				words = append(words, strings.Fields(phrases[random.IntN(len(phrases))])...)
			}
			words = append(words, fmt.Sprint("w", random.IntN(20_000)))
		}
		texts = append(texts, strings.Join(words, " "))
	}
	sets := r.NewSetMaker()
	set := func(text string) []uint64 { return slices.Clone(sets.AppendSet(nil, []byte(text))) }
	var all [][]uint64
	for _, text := range texts {
		all = append(all, set(text))
	}
	for _, scale := range []int{4, 12} {
		t.Run(fmt.Sprint("one of ", scale), func(t *testing.T) {
			x := made(t, Options{Recipe: r, Containment: scale, BucketCap: 32})
			b := x.NewBatch()
			for _, text := range texts {
				b.Add(Document{Text: []byte(text)})
			}
			if err := x.Add(b); err != nil {
				t.Fatal(err)
			}
			s, answered, refused, there, found := x.NewSearcher(), 0, 0, 0, 0
			for i := range 180 {
				words := strings.Fields(texts[i%len(texts)])
				from, n := random.IntN(100), 12+random.IntN(30)
				passage := slices.Clone(words[from : from+n])
				for range i % 3 {
					passage[random.IntN(n)] = "other"
				}
				query, least := strings.Join(passage, " "), threshold(t, []string{"containment>=0.7", "containment>=1", "overlap>=12"}[i/3%3])
				var want []uint64
				mine := set(query)
				for slot, other := range all {
					if _, alike := simjoin.Verify(mine, other, least); alike {
						want = append(want, uint64(slot))
					}
				}
				slots := func(o SearchOptions) (slots []uint64, err error) {
					o.Threshold = least
					matches, err := s.Search([]byte(query), o)
					for _, m := range matches {
						slots = append(slots, m.Slot)
					}
					slices.Sort(slots)
					return slots, err
				}
				if i%8 == 0 {
					if got, err := slots(SearchOptions{Exact: true}); err != nil || !slices.Equal(got, want) {
						t.Fatalf("%q: comparing with every document finds %v (%v), want %v", query, got, err, want)
					}
				}
				got, err := slots(SearchOptions{})
				if errors.Is(err, ErrRecall) {
					refused++
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				answered++
				there += len(want)
				for _, slot := range want {
					if slices.Contains(got, slot) {
						found++
					}
				}
			}
			t.Logf("%d answered, %d refused, %d of %d found", answered, refused, found, there)
			if answered < 40 || refused < 10 {
				t.Errorf("%d queries answered, %d refused: the test does not look at enough", answered, refused)
			}
			if float64(found) < 0.98*float64(there) {
				t.Errorf("found %d of %d", found, there)
			}
		})
	}
}

// The probability of agreeing in some keys is that of drawing them, whichever features are shared.
func TestAgreementOfSamplesIsThatOfDraws(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, h := range []sampling{
		{features: 30, shared: 20, keys: 5, scale: 4},
		{features: 30, shared: 30, keys: 5, scale: 4},
		{features: 12, shared: 3, keys: 6, scale: 2},
	} {
		const draws = 20_000
		counts := make([]int, h.keys+1)
		for range draws {
			agree := 0
			for _, feature := range random.Perm(int(h.features))[:h.keys] {
				if feature < int(h.shared) {
					agree++
				}
			}
			counts[agree]++
		}
		for keys, n := range counts {
			p := h.agreement(keys)
			if sigma := math.Sqrt(p * (1 - p) / draws); math.Abs(float64(n)/draws-p) > 4*sigma+1e-12 {
				t.Errorf("%+v: in %d keys with probability %v, drawn %v", h, keys, p, float64(n)/draws)
			}
		}
	}
}

// What a message proposes does: the scale promises the recall, and a larger one does not.
func TestTheScaleThatIsProposedIsTheLargestThatDoes(t *testing.T) {
	for shared := uint64(5); shared < 500; shared++ {
		scale := scaleFor(shared, 0.99)
		promised := func(scale int) bool {
			return sampling{features: shared, shared: shared, keys: 1, scale: uint64(scale)}.onAverage() >= 0.99
		}
		if !promised(scale) || promised(scale+1) {
			t.Errorf("%d shared features: scale %d", shared, scale)
		}
	}
}
