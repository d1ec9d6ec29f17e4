package measure_test

import (
	"fmt"
	"log"

	"github.com/alike-dev/alike/measure"
)

// A passage of 40 shingles, 38 of which stand in a text of 2000.
func ExampleMatch() {
	m := measure.Match{A: 0, B: 1, Intersection: 38, SizeA: 40, SizeB: 2000}
	fmt.Printf("jaccard %.3f\n", m.Similarity(measure.Jaccard))
	fmt.Printf("containment %.3f\n", m.Similarity(measure.Containment))
	// Output:
	// jaccard 0.019
	// containment 0.950
}

// The pair lies exactly on the threshold, where floating point says otherwise.
func ExampleThreshold_Reached() {
	t, err := measure.NewThreshold(measure.Jaccard, 0.55)
	if err != nil {
		log.Fatal(err)
	}
	hundred := 100.0
	fmt.Println(t, t.Reached(55, 70, 85), 55 >= 0.55*hundred)
	// Output: jaccard>=0.55 true false
}

func ExampleParseThreshold() {
	t, err := measure.ParseThreshold("containment>=0.5")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Measure(), t.MinOverlap(41, 1000), t.Measure().Symmetric())
	_, err = measure.ParseThreshold("similar>=0.5")
	fmt.Println(err)
	// Output:
	// containment 21 false
	// threshold "similar>=0.5": unknown measure "similar": want one of jaccard, containment, max-containment, cosine, dice, overlap, weighted-jaccard
}
