package cluster_test

import (
	"fmt"
	"log"

	"github.com/alike-dev/alike/cluster"
)

// Documents 1 and 2 are alike, and 2 and 4.
var edges = []cluster.Edge{{A: 1, B: 2}, {A: 4, B: 2}}

func ExampleComponents() {
	fmt.Println(cluster.Components(5, edges))
	// Output: [0 1 1 3 1]
}

func ExampleUnionFind() {
	u := cluster.New(5)
	fmt.Println(u.Union(1, 2), u.Union(2, 4), u.Union(4, 1))
	fmt.Println(u.Find(4))
	// Output:
	// true true false
	// 1
}

// The longest document of every cluster is kept: 4 for itself, 1 and 2.
func ExampleKept() {
	longest, err := cluster.ParseKeep("longest")
	if err != nil {
		log.Fatal(err)
	}
	lengths := []int64{10, 20, 20, 20, 30}
	order := longest.Order(func(d uint32) cluster.Meta { return cluster.Meta{Length: lengths[d]} })
	fmt.Println(cluster.Kept(cluster.Components(5, edges), 0, order))
	// Output: [0 4 4 3 4]
}

// As ExampleKept, but 1 is not similar to 4 itself and stays.
func ExampleStar() {
	longest, err := cluster.ParseKeep("longest")
	if err != nil {
		log.Fatal(err)
	}
	lengths := []int64{10, 20, 20, 20, 30}
	order := longest.Order(func(d uint32) cluster.Meta { return cluster.Meta{Length: lengths[d]} })
	fmt.Println(cluster.Star(5, 0, edges, order))
	// Output: [0 1 4 3 4]
}

// Documents 0 and 1 are references: they stay, and what is like them goes.
func ExampleStar_references() {
	edges := []cluster.Edge{{A: 0, B: 1}, {A: 1, B: 2}, {A: 3, B: 4}}
	fmt.Println(cluster.Star(5, 2, edges, cluster.Keep{}.Order(nil)))
	// Output: [0 1 1 3 3]
}
