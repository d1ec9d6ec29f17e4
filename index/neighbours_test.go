package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// nearestByAll is Neighbours by comparing the text with every document.
func nearestByAll(t *testing.T, x *Index, sets map[string][]uint64, mine []uint64, top int) (lines []string) {
	t.Helper()
	var all []Near
	for slot := uint64(0); slot < x.Stats().Next; slot++ {
		id, ok, err := x.Slots().ID(slot)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		other := sets[string(id)]
		inter, a, b := uint64(simjoin.Intersection(mine, other)), uint64(len(mine)), uint64(len(other))
		if inter > 0 {
			all = append(all, Near{Match{Slot: slot, ID: id, Similarity: measure.Jaccard.Similarity(inter, a, b)}, float64(inter) / float64(a), float64(inter) / float64(b)})
		}
	}
	slices.SortFunc(all, nearestFirst)
	return nearLines(all[:min(top, len(all))])
}

func nearLines(all []Near) (lines []string) {
	for _, n := range all {
		lines = append(lines, fmt.Sprintf("%s %.6f %.6f %.6f", n.ID, n.Similarity, n.AInB, n.BInA))
	}
	return lines
}

// Whatever an index has keys for, and however many documents have the same phrases, the nearest documents are those that
// comparing with all finds.
func TestNeighboursAreThoseOfComparingAll(t *testing.T) {
	r := recipes(t)["sets"]
	sets := r.NewSetMaker()
	for name, o := range map[string]Options{
		"all features":        {Recipe: r, Containment: 1},
		"small buckets":       {Recipe: r, Containment: 1, BucketCap: 4},
		"features, not texts": {Recipe: r, Containment: 1, BucketCap: 8, Keep: KeepFeatures},
		"some features":       {Recipe: r, Containment: 5},
		"none":                {Recipe: r},
		"window":              {Recipe: r, Containment: 1, BucketCap: 4, Window: Window{Docs: 50}},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(9, uint64(len(name))))
			o.ByID = true
			x := made(t, o)
			known := map[string][]uint64{}
			var texts []string
			add := func(id, text string) {
				b := x.NewBatch()
				b.Add(Document{ID: []byte(id), Text: []byte(text)})
				if err := x.Add(b); err != nil {
					t.Fatal(err)
				}
				texts = append(texts, text)
				known[id] = slices.Clone(sets.AppendSet(nil, []byte(text)))
			}
			word := func() string { return fmt.Sprint("w", random.IntN(400)) }
			s := x.NewSearcher() // one, while documents come and go
			ask := func() {
				for range 30 {
					words := strings.Fields(texts[random.IntN(len(texts))])
					if len(words) > 4 && random.IntN(2) == 0 {
						words = words[random.IntN(3) : 3+random.IntN(len(words)-3)]
					}
					if random.IntN(2) == 0 {
						words = append(words, strings.Fields("a phrase that many of them have")...)
					}
					query := []byte(strings.Join(words, " "))
					mine := slices.Clone(sets.AppendSet(nil, query))
					for _, top := range []int{1, 5, 1000} {
						got, err := s.Neighbours(query, SearchOptions{Top: top})
						if err != nil {
							t.Fatal(err)
						}
						if want := nearestByAll(t, x, known, mine, top); !slices.Equal(nearLines(got), want) {
							t.Fatalf("%q, top %d:\n%s\nwant\n%s", query, top, strings.Join(nearLines(got), "\n"), strings.Join(want, "\n"))
						}
					}
				}
			}
			for i := range 120 {
				var words []string
				switch i % 6 {
				case 0:
					words = strings.Fields("a phrase that many of them have")
				case 1:
					if i > 1 {
						words = strings.Fields(texts[random.IntN(len(texts))]) // a copy
					}
				case 2:
					words = strings.Fields("a phrase that many of them have")
					fallthrough
				default:
					for range 2 + random.IntN(40) {
						words = append(words, word())
					}
				}
				add(fmt.Sprint("d", i), strings.Join(words, " "))
				if i%17 == 16 {
					add(fmt.Sprint("d", random.IntN(i)), texts[random.IntN(len(texts))]+" "+word()) // in place of another one
				}
				if i%40 == 39 {
					ask()
				}
			}
		})
	}
}
