package simjoin

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
)

// retail reads the real market baskets; their numbers become hashes, as texts'
// features are.
func retail(t testing.TB) [][]uint64 {
	t.Helper()
	var sets [][]uint64
	eachLine(t, shareddata.Open(t, "setsim_retail", "sets.txt.zst"), func(line string) {
		set := []uint64{}
		for _, field := range strings.Fields(line) {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			set = append(set, hashing.Mix(n))
		}
		slices.Sort(set)
		sets = append(sets, slices.Compact(set))
	})
	return sets
}

func eachLine(t testing.TB, in io.Reader, do func(line string)) {
	t.Helper()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			do(line)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSelfJoinFindsTheKnownPairsOfRealBaskets(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	sets := retail(t)
	want := knownPairs(t, sets, 0, "setsim_retail", "pairs_jaccard_0.8.csv.zst")
	if len(want) != 568171 {
		t.Errorf("%d pairs are known", len(want))
	}
	if got := selfJoin(sets, threshold(t, 0.8)); !slices.Equal(got, want) {
		t.Errorf("%d pairs at threshold 0.8 that are not the known ones", len(got))
	}
}

// knownPairs reads pairs of sets that are numbered from first on,
// id1,id2,intersection,union, and returns them in order.
func knownPairs(t *testing.T, sets [][]uint64, first int, elem ...string) (pairs []measure.Match) {
	t.Helper()
	eachLine(t, shareddata.Open(t, elem...), func(line string) {
		var numbers []int
		for field := range strings.SplitSeq(line, ",") {
			n, err := strconv.Atoi(field)
			if err != nil {
				return // the header
			}
			numbers = append(numbers, n)
		}
		m := matchOf(sets, numbers[0]-first, numbers[1]-first, uint64(numbers[2]))
		// Stories were counted with "_" in words. One that has a pair has one.
		if union := m.SizeA + m.SizeB - m.Intersection; union != uint64(numbers[3]) && !(elem[0] == "reuters21578" && m.A == 12796 && m.B == 12833) {
			t.Errorf("pair %v has a union of %d, not %d", m, union, numbers[3])
		}
		pairs = append(pairs, m)
	})
	slices.SortFunc(pairs, byPosition)
	return pairs
}

func BenchmarkSelfJoinRetail(b *testing.B) {
	sets := retail(b)
	for _, f := range []float64{0.5, 0.6, 0.8, 0.9} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			th := threshold(b, f)
			b.ReportAllocs()
			for b.Loop() {
				SelfJoin(sets, th)
			}
		})
	}
}

// BenchmarkPairs finds all pairs in an index, and neither builds it nor keeps them.
func BenchmarkPairs(b *testing.B) {
	sets := retail(b)
	for _, f := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			x := NewIndex(sets, threshold(b, f))
			for b.Loop() {
				n := 0
				x.eachPair(func(measure.Match) { n++ })
				b.ReportMetric(float64(n), "pairs")
			}
		})
	}
}
