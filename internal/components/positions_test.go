package components

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// entriesAs sorts entries as Positions takes them.
func entriesAs(t rapid.TB, dir extsort.Dir, entries []extsort.Entry) *extsort.Sorted {
	t.Helper()
	sorter, err := extsort.New(extsort.Options{Dir: dir, Name: "edges"})
	if err != nil {
		t.Fatal(err)
	}
	a := sorter.Appender()
	for _, e := range entries {
		if err := a.Add(e.Key, e.Value); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Flush(); err != nil {
		t.Fatal(err)
	}
	sorted, err := sorter.Sort(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sorted
}

func TestPositionsAreLabelledAsTheirRanksAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Some below 2³², some above, neighbours among them.
		positions := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(1<<32-20, 1<<32+20)), 2, 40, rapid.ID).Draw(t, "positions")
		slices.Sort(positions)
		var edges []cluster.Edge
		var entries []extsort.Entry
		for range rapid.IntRange(0, 40).Draw(t, "edges") {
			a := rapid.IntRange(0, len(positions)-2).Draw(t, "a")
			b := rapid.IntRange(a+1, len(positions)-1).Draw(t, "b")
			edges = append(edges, cluster.Edge{A: uint32(a), B: uint32(b)})
			entries = append(entries, extsort.Entry{Key: positions[a], Value: positions[b]})
		}
		dir := newFolder(t, vfstest.NewMem())
		sorted := entriesAs(t, dir, entries)
		memory := rapid.SampledFrom([]int64{0, 1}).Draw(t, "memory")
		labels, err := Positions(context.Background(), sorted, extsort.Options{Dir: dir, Name: "components", Memory: memory, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []extsort.Entry
		r := labels.Reader()
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			got = append(got, e)
		}
		for _, e := range twin(len(positions), edges) {
			want = append(want, extsort.Entry{Key: positions[e.Key], Value: positions[e.Value]})
		}
		if !slices.Equal(got, want) {
			t.Errorf("labels %v\nwant   %v", got, want)
		}
		if err := errors.Join(r.Close(), labels.Close(), sorted.Close()); err != nil {
			t.Error(err)
		}
		dir.checkEmpty(t)
	})
}

func TestAnEdgeThatDoesNotAscendIsRefused(t *testing.T) {
	dir := newFolder(t, vfstest.NewMem())
	sorted := entriesAs(t, dir, []extsort.Entry{{Key: 1 << 40, Value: 1 << 39}})
	_, err := Positions(context.Background(), sorted, extsort.Options{Dir: dir, Name: "components"})
	if err == nil || !strings.Contains(err.Error(), "1099511627776") {
		t.Errorf("error %v", err)
	}
	if err := sorted.Close(); err != nil {
		t.Error(err)
	}
	dir.checkEmpty(t)
}
