package index

import (
	"fmt"
	"slices"
	"testing"

	"github.com/alike-dev/alike/cluster"
)

// What is between documents is what the recipe says of them, and nothing is between one that has gone and others.
func TestBetweenComparesEachWithEach(t *testing.T) {
	for rname, r := range recipes(t) {
		t.Run(rname, func(t *testing.T) {
			o := Options{Recipe: r, ByID: true, Keep: KeepText}
			x, twin, texts := made(t, o), newTwin(o), newTexter(6)
			b := x.NewBatch()
			for i := range 60 {
				d := Document{ID: fmt.Append(nil, i), Text: []byte(texts.next())}
				b.Add(d)
				twin.docs = append(twin.docs, twin.doc(d))
			}
			if err := x.Add(b); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Delete([]byte("7")); err != nil {
				t.Fatal(err)
			}
			slots, by := []uint64{3, 59, 7, 12, 12}, r.NewComparer(false)
			for slot := range uint64(50) {
				slots = append(slots, slot)
			}
			var want []cluster.Link
			for j, m := range slots {
				for i, n := range slots[:j] {
					p, q := twin.docs[n], twin.docs[m]
					similarity, alike := by.Signatures(p.signature, q.signature)
					if r.BySets() {
						similarity, alike = by.Sets(p.set, q.set)
					}
					if alike && m != 7 && n != 7 {
						want = append(want, cluster.Link{Edge: cluster.Edge{A: uint32(i), B: uint32(j)}, Similarity: similarity})
					}
				}
			}
			if got, err := x.NewSearcher().Between(slots); err != nil || !slices.Equal(got, want) || len(want) < 20 {
				t.Errorf("%v %v\nwant %v", err, got, want)
			}
		})
	}
}
