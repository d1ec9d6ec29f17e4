package simjoin_test

import (
	"fmt"
	"log"
	"slices"
	"sync"
	"sync/atomic"

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
	t, err := simjoin.NewThreshold(0.8)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range simjoin.SelfJoin(baskets, t) {
		fmt.Printf("%d %d %d/%d\n", p.A, p.B, p.Inter, p.Union)
	}
	// Output:
	// 0 2 4/5
	// 0 4 4/4
	// 1 2 4/5
	// 2 4 4/5
}

func ExampleVerify() {
	t, err := simjoin.NewThreshold(0.8)
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
	t, err := simjoin.NewThreshold(0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewIndex(baskets, t)
	const workers, batch = 2, 64
	var (
		next  atomic.Int64
		wait  sync.WaitGroup
		found [workers][]simjoin.Pair
	)
	for w := range workers {
		wait.Go(func() {
			var p simjoin.Prober
			for {
				end := int(next.Add(batch))
				for g := end - batch; g < min(end, x.Len()); g++ {
					x.Probe(&p, g, func(pair simjoin.Pair) { found[w] = append(found[w], pair) })
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
	t, err := simjoin.NewThreshold(0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewIndex(baskets, t)
	var p simjoin.Prober
	for g := range x.Len() {
		fmt.Print(x.Members(g))
		for _, m := range x.Matches(&p, g) {
			fmt.Printf(" like %v (%d/%d)", x.Members(m.Group), m.Inter, m.Union)
		}
		fmt.Println()
	}
	// Output:
	// [5]
	// [0 4]
	// [1]
	// [2] like [0 4] (4/5) like [1] (4/5)
}

// A collection too large for memory is joined part by part: each part with itself,
// and then with the sets of all later ones.
func ExampleSearchIndex() {
	t, err := simjoin.NewThreshold(0.8)
	if err != nil {
		log.Fatal(err)
	}
	x := simjoin.NewSearchIndex(baskets[:2], t)
	var p simjoin.Prober
	for i, set := range baskets[2:] {
		for _, m := range x.Search(&p, set) {
			fmt.Printf("%d is like %v (%d/%d)\n", 2+i, x.Members(m.Group), m.Inter, m.Union)
		}
	}
	// Output:
	// 2 is like [0] (4/5)
	// 2 is like [1] (4/5)
	// 4 is like [0] (4/4)
}
