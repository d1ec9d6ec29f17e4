package simjoin_test

import (
	"fmt"
	"log"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

var baskets = [][]uint64{
	{1, 2, 3, 4},
	{2, 3, 4, 5},
	{1, 2, 3, 4, 5},
	{},
	{1, 2, 3, 4},
	{7, 8},
}

func ExampleSelfJoin() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	for p := range simjoin.SelfJoin(baskets, t) {
		fmt.Printf("%d %d: %d of %d and %d\n", p.A, p.B, p.Intersection, p.SizeA, p.SizeB)
	}
	// Output:
	// 0 2: 4 of 4 and 5
	// 0 4: 4 of 4 and 4
	// 1 2: 4 of 4 and 5
	// 2 4: 4 of 5 and 4
}

func ExampleVerify() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	inter, ok := simjoin.Verify(baskets[0], baskets[2], t)
	fmt.Println(inter, ok)
	_, ok = simjoin.Verify(baskets[0], baskets[1], t)
	fmt.Println(ok)
	// Output:
	// 4 true
	// false
}

// Several goroutines take pieces from a counter. Each has a Prober and a list of pairs
// of its own. Equal sets need not be spelled out pair by pair: groups have members.
func ExampleIndex_Pairs() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewIndex(baskets, t)
	const workers = 2
	var (
		next  atomic.Int64
		wait  sync.WaitGroup
		found [workers][]simjoin.GroupPair
	)
	for w := range workers {
		wait.Go(func() {
			var p simjoin.Prober
			for piece := int(next.Add(1)) - 1; piece < x.Pieces(); piece = int(next.Add(1)) - 1 {
				found[w] = slices.AppendSeq(found[w], x.Pairs(&p, piece))
			}
		})
	}
	wait.Wait()
	for _, pair := range slices.Concat(found[:]...) {
		fmt.Printf("%v and %v share %d\n", x.Members(pair.A), x.Members(pair.B), pair.Intersection)
	}
	// Unordered output:
	// [0 4] and [2] share 4
	// [1] and [2] share 4
}

// A collection too large for memory is joined part by part: each part with itself,
// and then with the sets of all later ones.
func ExampleSearchIndex() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewSearchIndex(baskets[:2], t)
	var p simjoin.Prober
	for i, set := range baskets[2:] {
		for _, m := range x.Search(&p, set) {
			fmt.Printf("%d is like %v: %d of %d and %d\n", 2+i, x.Members(m.Group), m.Intersection, len(set), m.Size)
		}
	}
	// Output:
	// 2 is like [0]: 4 of 5 and 4
	// 2 is like [1]: 4 of 5 and 4
	// 4 is like [0]: 4 of 4 and 4
}
