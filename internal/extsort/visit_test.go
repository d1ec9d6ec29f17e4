package extsort

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLookupFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		there := map[uint64]uint64{}
		var entries []Entry
		for _, key := range rapid.SliceOfDistinct(rapid.Uint64Range(0, 60), rapid.ID).Draw(t, "keys") {
			there[key] = key * 7
			entries = append(entries, Entry{Key: key, Value: key * 7})
		}
		sorter, err := New(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := add(sorter, entries, 1); err != nil {
			t.Fatal(err)
		}
		sorted, err := sorter.Sort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		by := NewLookup(sorted)
		asked := rapid.SliceOf(rapid.Uint64Range(0, 70)).Draw(t, "asked")
		slices.Sort(asked)
		for _, key := range asked {
			value, ok := by.Find(key)
			if want, there := there[key]; ok != there || value != want {
				t.Errorf("find(%d) = %d, %t", key, value, ok)
			}
		}
	})
}

func TestVisitOnceLeavesOutWhatIsEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint64Range(0, 3)
		entries := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Entry {
			return Entry{Key: number.Draw(t, "key"), Value: number.Draw(t, "value")}
		})).Draw(t, "entries")
		sorter, err := New(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := add(sorter, entries, 1); err != nil {
			t.Fatal(err)
		}
		sorted, err := sorter.Sort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []Entry
		if err := sorted.VisitOnce(func(e Entry) error { got = append(got, e); return nil }); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(entries, compare)
		if want := slices.Compact(entries); !slices.Equal(got, want) {
			t.Errorf("visited %v, not %v", got, want)
		}
	})
}
