package index

import (
	"fmt"
	"testing"

	"github.com/alike-dev/alike/recipe"
)

func TestNearestIsTheMostSimilarOfAllBeforeASlot(t *testing.T) {
	for rname, r := range recipes(t) {
		t.Run(rname, func(t *testing.T) {
			o := Options{Recipe: r, ByID: true, Keep: KeepText, Columns: []string{"parity"}}
			x, twin, texts := made(t, o), newTwin(o), newTexter(5)
			b := x.NewBatch()
			for i := range 200 {
				d := Document{ID: fmt.Append(nil, i), Text: []byte(texts.next()), Columns: [][]byte{fmt.Append(nil, i%2)}}
				b.Add(d)
				twin.docs = append(twin.docs, twin.doc(d))
			}
			if err := x.Add(b); err != nil {
				t.Fatal(err)
			}
			s, by, maker, below := x.NewSearcher(), r.NewComparer(true), r.NewMaker(recipe.MakerOptions{}), 0
			for n := range 100 {
				text, before := []byte(texts.next()), uint64(n*2)
				if maker.Make(text).Features == 0 {
					continue // it is like nothing
				}
				q := twin.doc(Document{Text: text})
				best, want := 0.0, ""
				for slot, k := range twin.docs[:before] {
					similarity := 0.0
					if r.BySets() {
						similarity, _ = by.Sets(q.set, k.set)
					} else {
						similarity, _ = by.Signatures(q.signature, k.signature)
					}
					if slot%2 == 1 && similarity > best {
						best, want = similarity, k.id
					}
				}
				if want != "" && best < 0.5 {
					below++
				}
				m, all, found, err := s.Nearest(text, before, func(columns [][]byte) bool { return string(columns[0]) == "1" })
				if err != nil || !all || found != (want != "") || string(m.ID) != want || m.Similarity != best {
					t.Fatalf("%q before %d: %s %v, all %v, %v; want %s %v", text, before, m.ID, m.Similarity, all, err, want, best)
				}
			}
			if below == 0 && r.BySets() {
				t.Error("none was below a half: the test does not look at enough")
			}
		})
	}
}
