package dedup

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/lsh"
)

// bucketsRun is a run over n documents in buckets, of which some pairs are similar.
type bucketsRun struct {
	r       *run
	buckets [][]uint32
	pieces  []bool // the bucket comes piece by piece
	similar func(p pair) bool
}

func anyBuckets(t *rapid.T) *bucketsRun {
	n := rapid.IntRange(2, 60).Draw(t, "documents")
	g := &graph{n: n, refs: rapid.IntRange(0, n/3).Draw(t, "references"), edges: map[pair]float64{}, first: make([]uint32, n), lengths: make([]uint32, n)}
	cap := rapid.IntRange(2, 25).Draw(t, "cap")
	b := &bucketsRun{r: g.run(t, Config{Candidates: CandidatesLSH, BucketCap: cap, Banding: lsh.Params{Bands: 8, Rows: 1, MinBands: 1}})}
	b.r.classes.active = newBitset(n)
	table := b.r.table.segments[0]
	table.keys = make([]uint64, n*b.r.recipe.Keys()) // a bucket of each band, number i in band i, and 0 for the others
	for doc := range n {
		b.r.classes.active.add(uint32(doc))
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "buckets") {
		bucket := rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(n-1)), 2, n, rapid.ID).Draw(t, "bucket")
		slices.Sort(bucket)
		b.buckets = append(b.buckets, bucket)
		for _, doc := range bucket {
			table.keys[i*n+int(doc)] = keyOfBucket(i)
		}
		over := len(bucket) > b.r.config.BucketCap
		b.pieces = append(b.pieces, over && rapid.Bool().Draw(t, "in pieces"))
	}
	// So few that spokes alone leave much apart.
	one := rapid.Uint64Range(1, 12).Draw(t, "one similar pair in")
	seed := rapid.Uint64().Draw(t, "similar")
	b.similar = func(p pair) bool { return hashing.Mix(p.key()^seed)%one == 0 }
	return b
}

func keyOfBucket(i int) uint64 { return uint64(i)*1000003 + 1 }

// vote lets all buckets vote and returns the votes, rims and hubs.
func (b *bucketsRun) vote(t *rapid.T, sparse bool) (votesRimsHubs []*extsort.Sorted) {
	g := &grouper{r: b.r, sparse: sparse}
	for i, into := range []**extsort.Sorter{&g.votes, &g.rims, &g.hubs} {
		var err error
		if *into, err = extsort.New(b.r.voteOptions()[i]); err != nil {
			t.Fatal(err)
		}
	}
	v := g.voter()
	for i, bucket := range b.buckets {
		v.band = i
		var part []extsort.Entry
		for _, doc := range bucket {
			part = append(part, extsort.Entry{Key: keyOfBucket(i), Value: uint64(doc)})
		}
		err := error(nil)
		if b.pieces[i] {
			half := len(part) / 2
			err = errors.Join(v.take(part[:half], true), v.take(part[half:], false))
		} else {
			err = v.take(part, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := v.flush(); err != nil {
		t.Fatal(err)
	}
	for _, sorter := range g.sorters() {
		sorted, err := sorter.Sort(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		votesRimsHubs = append(votesRimsHubs, sorted)
	}
	return votesRimsHubs
}

// edges returns the similar ones of pairs.
func (b *bucketsRun) edges(t *rapid.T, pairs *extsort.Sorted) (edges []extsort.Entry) {
	for _, e := range entriesOf(t, pairs) {
		if b.similar(pairOf(e.Key)) {
			edges = append(edges, extsort.Entry{Key: e.Key, Value: 1})
		}
	}
	return edges
}

func (b *bucketsRun) labels(t *rapid.T, edges []extsort.Entry) *extsort.Sorted {
	labels, err := b.r.components(context.Background(), sortedOf(t, edges))
	if err != nil {
		t.Fatal(err)
	}
	return labels
}

func TestSpokesAndWhatCrossesConnectWhatAllCandidatesConnect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBuckets(t)
		all := b.vote(t, false)[0]
		checkVotes(t, b, all)
		want := entriesOf(t, b.labels(t, b.edges(t, all)))

		met := b.vote(t, true)
		spokes, rims, hubs := met[0], met[1], met[2]
		edges := b.edges(t, spokes)
		crossing, err := b.r.crossing(context.Background(), spokes, rims, hubs, b.labels(t, edges))
		if err != nil {
			t.Fatal(err)
		}
		known := map[uint64]bool{}
		for _, e := range entriesOf(t, all) {
			known[e.Key] = true
		}
		for _, s := range []*extsort.Sorted{spokes, crossing} {
			for _, e := range entriesOf(t, s) {
				if !known[e.Key] {
					t.Errorf("pair %v is no candidate", pairOf(e.Key))
				}
			}
		}
		if got := entriesOf(t, b.labels(t, append(edges, b.edges(t, crossing)...))); !slices.Equal(got, want) {
			t.Errorf("labels %v\nwant   %v", got, want)
		}
	})
}

// Of a bucket over the cap the pairs of the smallest members are candidates, as they are
// of one collection, and all of its members are noted: it has more pairs across than that
// many documents have, or comes in pieces. A bucket of one side has no part in anything.
func TestVotesAcrossAreThoseOfTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBuckets(t)
		n := b.r.table.n
		left := rapid.IntRange(0, n).Draw(t, "left")
		both := newBitset(left)
		for rep := range left {
			if rapid.IntRange(0, 3).Draw(t, "on both sides") == 0 {
				both.add(uint32(rep))
			}
		}
		b.r.sides = sides.Between(left, both)
		met := b.vote(t, false)
		want, hot := map[uint64]uint64{}, map[uint64]bool{}
		for number, bucket := range b.buckets {
			var pairs []pair
			onLeft, onRight := false, false
			for i, x := range bucket {
				onLeft, onRight = onLeft || int(x) < left, onRight || int(x) >= left || both.has(x)
				for _, y := range bucket[i+1:] {
					if int(x) < left && (int(y) >= left || both.has(x) || both.has(y)) {
						pairs = append(pairs, pair{x, y})
					}
				}
			}
			over := b.pieces[number] || len(pairs) > b.r.config.BucketCap*(b.r.config.BucketCap-1)/2
			for _, p := range pairs {
				if at, _ := slices.BinarySearch(bucket, p.a); !over || at < lsh.Hubs {
					want[p.key()]++
				}
			}
			for _, doc := range bucket {
				if over && onLeft && onRight {
					hot[uint64(doc)] = true
				}
			}
		}
		got := map[uint64]uint64{}
		for _, e := range entriesOf(t, met[0]) {
			got[e.Key] = e.Value
		}
		if !maps.Equal(got, want) {
			t.Errorf("votes %v, want %v", got, want)
		}
		levels, err := b.r.hotLevels(context.Background(), met[2])
		if err != nil {
			t.Fatal(err)
		}
		noted := map[uint64]bool{}
		for _, e := range entriesOf(t, levels) {
			noted[e.Key] = true
		}
		if !maps.Equal(noted, hot) {
			t.Errorf("members of hot buckets %v, want %v", noted, hot)
		}
	})
}

// checkVotes holds the votes for all pairs against the rule, bucket by bucket.
func checkVotes(t *rapid.T, b *bucketsRun, votes *extsort.Sorted) {
	want := map[uint64]uint64{}
	for _, bucket := range b.buckets {
		for i, x := range bucket {
			for _, y := range bucket[i+1:] {
				hub := len(bucket) <= b.r.config.BucketCap || i < lsh.Hubs
				if hub && int(y) >= b.r.table.refs {
					want[pair{x, y}.key()]++
				}
			}
		}
	}
	got := entriesOf(t, votes)
	for _, e := range got {
		if want[e.Key] != e.Value {
			t.Errorf("pair %v has %d votes, want %d", pairOf(e.Key), e.Value, want[e.Key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d pairs have votes, want %d", len(got), len(want))
	}
}
