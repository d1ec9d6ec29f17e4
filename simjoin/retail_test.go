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
	sets := retail(t)
	want := sortPairs(knownPairs(t, 0, "setsim_retail", "pairs_jaccard_0.8.csv.zst"), len(sets))
	if len(want) != 568171 {
		t.Errorf("%d pairs are known", len(want))
	}
	if got := SelfJoin(sets, threshold(t, 0.8)); !slices.Equal(got, want) {
		t.Errorf("%d pairs at threshold 0.8 that are not the known ones", len(got))
	}
}

// knownPairs reads pairs of sets that are numbered from first on:
// id1,id2,intersection,union.
func knownPairs(t *testing.T, first uint32, elem ...string) (pairs []Pair) {
	t.Helper()
	eachLine(t, shareddata.Open(t, elem...), func(line string) {
		var numbers []uint32
		for field := range strings.SplitSeq(line, ",") {
			n, err := strconv.ParseUint(field, 10, 32)
			if err != nil {
				return // the header
			}
			numbers = append(numbers, uint32(n))
		}
		pairs = append(pairs, Pair{numbers[0] - first, numbers[1] - first, numbers[2], numbers[3]})
	})
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

// BenchmarkProbe finds all pairs in an index, and neither builds it nor keeps them.
func BenchmarkProbe(b *testing.B) {
	sets := retail(b)
	for _, f := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			x := NewIndex(sets, threshold(b, f))
			for b.Loop() {
				var p Prober
				n := 0
				for g := range x.Len() {
					x.Probe(&p, g, func(Pair) { n++ })
				}
				b.ReportMetric(float64(n), "pairs")
			}
		})
	}
}
