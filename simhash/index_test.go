package simhash

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustIndex(t testing.TB, fingerprints []uint64, width, distance int) *Index {
	t.Helper()
	x, err := NewIndex(fingerprints, width, distance)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAnIndexFindsWhatLookingAtAllFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.OneOf(rapid.Just(64), rapid.IntRange(1, 64), rapid.IntRange(65, 400)).Draw(t, "bits")
		distance := min(rapid.IntRange(0, 12).Draw(t, "distance"), width-1)
		fingerprints := drawFingerprints(t, width, 500)
		x := &Index{fingerprints: fingerprints, words: (width + 63) / 64, distance: distance}
		if rapid.Bool().Draw(t, "cheapest") {
			x.tables = cheapestTables(x.Len(), width, distance)
		} else {
			x.tables, _ = blockTables(x.Len(), width, distance, rapid.IntRange(max(1, min(3, distance/3)), distance+1).Draw(t, "blocks"))
		}
		for i := range x.tables {
			x.fill(&x.tables[i])
		}
		asked := rapid.IntRange(0, distance).Draw(t, "distance asked for")
		var pairs []Pair
		for id := range x.Len() {
			for _, m := range x.AppendLater(nil, uint32(id), asked) {
				pairs = append(pairs, Pair{uint32(id), m.ID, m.Distance})
			}
		}
		if want := comparedPairs(fingerprints, x.words, asked); !slices.Equal(pairs, want) {
			t.Fatalf("%d pairs, want %d", len(pairs), len(want))
		}
		query := drawFingerprints(t, width, 1)
		if len(query) == 0 {
			return
		}
		var want []Match
		for id := range x.Len() {
			if d := Distance(query, x.at(id)); d <= asked {
				want = append(want, Match{uint32(id), d})
			}
		}
		if got := x.AppendWithin(nil, query, asked); !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}

func TestAnIndexTakesTheBlocksThatCostLeast(t *testing.T) {
	for _, c := range []struct {
		n, width, distance int
		want               string
	}{
		{10_000_000, 64, 3, "[21/1 21/0 22/0]"},
		{1000, 64, 0, "[10/0]"},
	} {
		var got []string
		for _, table := range cheapestTables(c.n, c.width, c.distance) {
			got = append(got, fmt.Sprintf("%d/%d", table.keyBits, table.radius))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: bits/radius of tables %v", c, got)
		}
	}
}

func TestAnIndexRefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct {
		words, width, distance int
		want                   string
	}{
		{0, 0, 0, "fingerprints of 0 bits"},
		{0, MaxBits + 1, 0, "an index takes 1 to 1048576"},
		{3, 65, 0, "3 words are not a whole number of fingerprints of 2 words"},
		{2, 65, 65, "distance 65: fingerprints of 65 bits take 0 to 64"},
	} {
		_, err := NewIndex(make([]uint64, c.words), c.width, c.distance)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	x := mustIndex(t, []uint64{1, 2}, 64, 3)
	for name, search := range map[string]func(){
		"distance above the index's": func() { x.AppendWithin(nil, []uint64{1}, 4) },
		"query of another width":     func() { x.AppendWithin(nil, []uint64{1, 2}, 3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			search()
		}()
	}
}

func TestASearchAllocatesNothing(t *testing.T) {
	x := mustIndex(t, randomFingerprints(10_000), 64, 3)
	query, found := []uint64{x.fingerprints[99]}, make([]Match, 0, 10)
	if allocs := testing.AllocsPerRun(100, func() { found = x.AppendWithin(found[:0], query, 3) }); allocs != 0 || len(found) < 2 {
		t.Errorf("%v allocations, found %v", allocs, found)
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, c := range []struct{ n, width, distance int }{{1_000_000, 64, 3}, {1_000_000, 64, 6}, {100_000, 1024, 100}} {
		b.Run(fmt.Sprintf("n=%d/bits=%d/d=%d", c.n, c.width, c.distance), func(b *testing.B) {
			x := mustIndex(b, randomFingerprints(c.n*c.width/64), c.width, c.distance)
			var found []Match
			i := 0
			for b.Loop() {
				found = x.AppendWithin(found[:0], x.at(i), c.distance)
				i = (i + 7919) % c.n
			}
			b.ReportMetric(float64(x.Size())/float64(c.n), "B/fingerprint")
			b.ReportMetric(float64(len(x.tables)), "tables")
		})
	}
}

func TestTheSizeOfAnIndexIsThatOfItsTables(t *testing.T) {
	for width, want := range map[int]int64{
		64:  12*1000 + 4*(1<<10+1), // one table, of ten bits
		128: 4*1000 + 4*(1<<10+1),
	} {
		if got := mustIndex(t, make([]uint64, 1000*width/64), width, 0).Size(); got != want {
			t.Errorf("%d bits: %d bytes, want %d", width, got, want)
		}
	}
}
