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

// Several goroutines take groups from a counter, in batches, since the last ones
// hold the longest sets. Each has a Prober and a list of pairs of its own.
func ExampleIndex_Probe_parallel() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewIndex(baskets, t)
	const workers, batch = 2, 64
	var (
		next  atomic.Int64
		wait  sync.WaitGroup
		found [workers][]measure.Match
	)
	for w := range workers {
		wait.Go(func() {
			var p simjoin.Prober
			for {
				end := int(next.Add(batch))
				for g := end - batch; g < min(end, x.Len()); g++ {
					x.Probe(&p, g, func(pair measure.Match) { found[w] = append(found[w], pair) })
				}
				if end >= x.Len() {
					return
				}
			}
		})
	}
	wait.Wait()
	pairs := slices.Concat(found[:]...)
	fmt.Println(len(pairs), "pairs")
	// Output: 4 pairs
}

// Equal sets need not be spelled out pair by pair.
func ExampleIndex_Matches() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewIndex(baskets, t)
	var p simjoin.Prober
	for g := range x.Len() {
		fmt.Print(x.Members(g))
		for _, m := range x.Matches(&p, g) {
			fmt.Printf(" shares %d with %v", m.Intersection, x.Members(m.Group))
		}
		fmt.Println()
	}
	// Output:
	// [5]
	// [0 4]
	// [1]
	// [2] shares 4 with [0 4] shares 4 with [1]
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
