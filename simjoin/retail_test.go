package simjoin

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/klauspost/compress/zstd"
)

// retail reads the real market baskets; their numbers become hashes, as texts'
// features are.
func retail(t testing.TB) [][]uint64 {
	t.Helper()
	var sets [][]uint64
	eachLine(t, shareddata.Path(t, "setsim_retail", "sets.txt.zst"), func(line string) {
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

func eachLine(t testing.TB, path string, do func(line string)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	lines := bufio.NewReader(z)
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
	for _, c := range []struct {
		threshold float64
		want      int
	}{{0.6, 1276096}, {0.75, 608384}, {0.8, 568171}, {0.9, 563005}, {0.95, 563005}, {1, 563005}} {
		if got := len(SelfJoin(sets, threshold(t, c.threshold))); got != c.want {
			t.Errorf("%d pairs at threshold %v, want %d", got, c.threshold, c.want)
		}
	}
}

func TestSelfJoinFindsTheVeryPairsOfRealBaskets(t *testing.T) {
	sets := retail(t)
	var want []Pair
	eachLine(t, shareddata.Path(t, "setsim_retail", "pairs_jaccard_0.8.csv.zst"), func(line string) {
		var p Pair
		if _, err := fmt.Sscanf(line, "%d,%d,%d,%d", &p.A, &p.B, &p.Inter, &p.Union); err == nil {
			want = append(want, p)
		}
	})
	want = sortPairs(want, len(sets))
	if got := SelfJoin(sets, threshold(t, 0.8)); !slices.Equal(got, want) {
		t.Errorf("%d pairs that are not the %d known ones", len(got), len(want))
	}
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

func BenchmarkNewIndexRetail(b *testing.B) {
	sets := retail(b)
	th := threshold(b, 0.8)
	for b.Loop() {
		NewIndex(sets, th)
	}
}
