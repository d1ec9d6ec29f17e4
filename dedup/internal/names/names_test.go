package names_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/names"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
)

// The room alone: of documents with one id on one side the first is used. A reference may
// have the id of an input, and is named by its place then.
func TestOfEqualIDsTheFirstIsUsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "documents")
		references := rapid.IntRange(0, n).Draw(t, "references")
		docs := make([]roomtest.Doc, n)
		for i := range docs {
			id := fmt.Sprint("id-", rapid.IntRange(0, 25).Draw(t, "id"))
			docs[i] = roomtest.Doc{ID: id}
			docs[i].IDHash, docs[i].Features, docs[i].Line = doctable.HashID([]byte(id)), 1, uint32(i+1)
		}
		made, policy := roomtest.Table(t, references, false, docs), sides.Against(references)
		skipped, shared, err := names.Unique(t.Context(), scratch.New(scratch.Options{Threads: 2}), made, &policy)
		if err != nil {
			t.Fatal(err)
		}
		want, wantShared := map[uint64]uint64{}, 0
		inputs := map[string]bool{}
		for _, d := range docs[references:] {
			inputs[d.ID] = true
		}
		for _, side := range [][2]int{{0, references}, {references, n}} {
			first := map[string]int{}
			for doc := side[0]; doc < side[1]; doc++ {
				if before, there := first[docs[doc].ID]; there {
					want[uint64(doc)] = uint64(before)
					continue
				}
				first[docs[doc].ID] = doc
				if doc < references && inputs[docs[doc].ID] {
					wantShared++
				}
			}
		}
		got := map[uint64]uint64{}
		for _, e := range roomtest.Entries(t, skipped) {
			got[e.Key] = e.Value
		}
		if !maps.Equal(got, want) || shared != wantShared {
			t.Errorf("skipped %v, want %v; %d references share names, want %d", got, want, shared, wantShared)
		}
		for doc := range uint32(n) {
			_, repeated := want[uint64(doc)]
			if made.Skipped.Has(doc) != repeated {
				t.Errorf("document %d is skipped: %v", doc, !repeated)
			}
			if byPlace := made.NamedByPlace(doc); byPlace != (!repeated && int(doc) < references && inputs[docs[doc].ID]) {
				t.Errorf("document %d of %d references is named by its place: %v", doc, references, byPlace)
			}
		}
	})
}
