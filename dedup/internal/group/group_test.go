package group

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
)

// someBuckets are documents in buckets, of which some pairs are similar.
type someBuckets struct {
	o       Options
	refs    int
	keys    [][]uint64 // of documents
	buckets [][]uint32
	pieces  []bool // the bucket comes piece by piece
	similar func(p graph.Pair) bool
}

func anyBuckets(t *rapid.T) *someBuckets {
	n := rapid.IntRange(2, 60).Draw(t, "documents")
	b := &someBuckets{refs: rapid.IntRange(0, n/3).Draw(t, "references")}
	docs := make([]roomtest.Doc, n)
	limit := rapid.IntRange(2, 25).Draw(t, "cap")
	const bands = 8 // with a bucket each, number i in band i, and one of all others
	for doc := range docs {
		docs[doc].Features = 1
		for band := range bands {
			docs[doc].Keys = append(docs[doc].Keys, keyOfBucket(bands+band))
		}
	}
	for i := range rapid.IntRange(1, bands).Draw(t, "buckets") {
		bucket := rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(n-1)), 2, n, rapid.ID).Draw(t, "bucket")
		slices.Sort(bucket)
		b.buckets = append(b.buckets, bucket)
		for _, doc := range bucket {
			docs[doc].Keys[i] = keyOfBucket(i)
		}
		over := len(bucket) > limit
		b.pieces = append(b.pieces, over && rapid.Bool().Draw(t, "in pieces"))
	}
	for doc := range docs {
		b.keys = append(b.keys, docs[doc].Keys)
	}
	policy, reps := sides.Against(b.refs), bitset.New[uint32](n)
	for doc := range n {
		reps.Add(uint32(doc))
	}
	b.o = Options{
		Graph: graph.Graph{Space: scratch.New(scratch.Options{Threads: 1}), Docs: n}, Table: roomtest.Table(t, b.refs, false, docs),
		Docs: reps, Sides: &policy, Keys: bands, Cap: limit,
	}
	// So few that spokes alone leave much apart.
	one := rapid.Uint64Range(1, 12).Draw(t, "one similar pair in")
	seed := rapid.Uint64().Draw(t, "similar")
	b.similar = func(p graph.Pair) bool { return hashing.Mix(p.Key()^seed)%one == 0 }
	return b
}

func keyOfBucket(i int) uint64 { return uint64(i)*1000003 + 1 }

// vote lets all buckets vote.
func (b *someBuckets) vote(t *rapid.T, sparse bool) *Met {
	g := &grouper{Options: b.o, sparse: sparse}
	for i, into := range []**extsort.Sorter{&g.votes, &g.rims, &g.hubs} {
		var err error
		if *into, err = extsort.New(g.sorting()[i]); err != nil {
			t.Fatal(err)
		}
	}
	v := g.voter()
	for i, bucket := range b.buckets {
		v.band = i
		var part []extsort.Entry
		for _, doc := range bucket {
			part = append(part, extsort.Entry{Key: keyOfBucket(i), Value: member(doc, 0)})
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
	var votesRimsHubs []*extsort.Sorted
	for _, sorter := range g.sorters() {
		sorted, err := sorter.Sort(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		votesRimsHubs = append(votesRimsHubs, sorted)
	}
	return &Met{Pairs: votesRimsHubs[0], Rims: votesRimsHubs[1], Hot: votesRimsHubs[2]}
}

// edges returns the similar ones of pairs.
func (b *someBuckets) edges(t *rapid.T, pairs *extsort.Sorted) (edges []extsort.Entry) {
	for _, e := range roomtest.Entries(t, pairs) {
		if b.similar(graph.PairOf(e.Key)) {
			edges = append(edges, extsort.Entry{Key: e.Key, Value: 1})
		}
	}
	return edges
}

func (b *someBuckets) labels(t *rapid.T, edges []extsort.Entry) *extsort.Sorted {
	labels, err := b.o.Graph.Components(context.Background(), roomtest.Sorted(t, edges))
	if err != nil {
		t.Fatal(err)
	}
	return labels
}

func TestSpokesAndWhatCrossesConnectWhatAllCandidatesConnect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBuckets(t)
		all := b.vote(t, false).Pairs
		checkVotes(t, b, all)
		want := roomtest.Entries(t, b.labels(t, b.edges(t, all)))

		met := b.vote(t, true)
		edges := b.edges(t, met.Pairs)
		others, err := Crossing(context.Background(), b.o, met, b.labels(t, edges))
		if err != nil {
			t.Fatal(err)
		}
		known := map[uint64]bool{}
		for _, e := range roomtest.Entries(t, all) {
			known[e.Key] = true
		}
		for _, s := range []*extsort.Sorted{met.Pairs, others} {
			for _, e := range roomtest.Entries(t, s) {
				if !known[e.Key] {
					t.Errorf("pair %v is no candidate", graph.PairOf(e.Key))
				}
			}
		}
		if got := roomtest.Entries(t, b.labels(t, append(edges, b.edges(t, others)...))); !slices.Equal(got, want) {
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
		n := b.o.Table.Docs
		left := rapid.IntRange(0, n).Draw(t, "left")
		both := bitset.New[uint32](left)
		for rep := range left {
			if rapid.IntRange(0, 3).Draw(t, "on both sides") == 0 {
				both.Add(uint32(rep))
			}
		}
		*b.o.Sides = sides.Between(left, both)
		met := b.vote(t, false)
		want, hot := map[uint64]uint64{}, map[uint64]bool{}
		for number, bucket := range b.buckets {
			var pairs []graph.Pair
			onLeft, onRight := false, false
			for i, x := range bucket {
				onLeft, onRight = onLeft || int(x) < left, onRight || int(x) >= left || both.Has(x)
				for _, y := range bucket[i+1:] {
					if int(x) < left && (int(y) >= left || both.Has(x) || both.Has(y)) {
						pairs = append(pairs, graph.Pair{A: x, B: y})
					}
				}
			}
			over := b.pieces[number] || len(pairs) > b.o.Cap*(b.o.Cap-1)/2
			for _, p := range pairs {
				if at, _ := slices.BinarySearch(bucket, p.A); !over || at < lsh.Hubs {
					want[p.Key()]++
				}
			}
			for _, doc := range bucket {
				if over && onLeft && onRight {
					hot[uint64(doc)] = true
				}
			}
		}
		got := map[uint64]uint64{}
		for _, e := range roomtest.Entries(t, met.Pairs) {
			got[e.Key] = e.Value
		}
		if !maps.Equal(got, want) {
			t.Errorf("votes %v, want %v", got, want)
		}
		noted := map[uint64]bool{}
		err := extsort.EachKey(roomtest.Entries(t, met.Hot), func(run []extsort.Entry) error {
			var present sides.Present
			for _, e := range run {
				present.Add(b.o.Sides, uint32(e.Value))
			}
			for _, e := range run {
				if present.Meet() {
					noted[e.Value] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(noted, hot) {
			t.Errorf("members of hot buckets %v, want %v", noted, hot)
		}
	})
}

// checkVotes holds the votes for all pairs against the rule, bucket by bucket.
func checkVotes(t *rapid.T, b *someBuckets, votes *extsort.Sorted) {
	want := map[uint64]uint64{}
	for _, bucket := range b.buckets {
		for i, x := range bucket {
			for _, y := range bucket[i+1:] {
				hub := len(bucket) <= b.o.Cap || i < lsh.Hubs
				if hub && int(y) >= b.refs {
					want[graph.Key(x, y)]++
				}
			}
		}
	}
	got := roomtest.Entries(t, votes)
	for _, e := range got {
		if want[e.Key] != e.Value {
			t.Errorf("pair %v has %d votes, want %d", graph.PairOf(e.Key), e.Value, want[e.Key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d pairs have votes, want %d", len(got), len(want))
	}
}

// The room alone, from keys made by hand: what it finds is what comparing all keys finds.
func TestCandidatesAreThePairsThatShareKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBuckets(t)
		b.o.Together, b.o.Progress = rapid.IntRange(1, 200).Draw(t, "keys at once"), silent{}
		met, err := Candidates(context.Background(), b.o, false)
		if err != nil {
			t.Fatal(err)
		}
		b.buckets, b.pieces = nil, nil
		capped := int64(0)
		for band := range b.o.Keys {
			of := map[uint64][]uint32{}
			for doc, keys := range b.keys {
				of[keys[band]] = append(of[keys[band]], uint32(doc))
			}
			for _, bucket := range of {
				if b.buckets = append(b.buckets, bucket); len(bucket) > b.o.Cap {
					capped++
				}
			}
		}
		checkVotes(t, b, met.Pairs)
		if met.Capped != capped {
			t.Errorf("%d buckets over the cap, want %d", met.Capped, capped)
		}
		if err := met.Release(); err != nil {
			t.Error(err)
		}
	})
}

type silent struct{}

func (silent) Advance(int64, int64) {}
