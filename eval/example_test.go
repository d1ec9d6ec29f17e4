package eval_test

import (
	"fmt"

	"github.com/alike-dev/alike/eval"
)

func ExamplePairs() {
	found := []eval.Pair{{A: "b", B: "a"}, {A: "a", B: "c"}}
	truth := []eval.Pair{{A: "a", B: "b"}, {A: "c", B: "d"}, {A: "d", B: "e"}}
	s := eval.Pairs(found, truth)
	fmt.Println(s.TruePositives, s.FalsePositives, s.FalseNegatives)
	fmt.Printf("precision %.3f recall %.3f F1 %.3f\n", s.Precision, s.Recall, s.F1)
	// Output:
	// 1 1 2
	// precision 0.500 recall 0.333 F1 0.400
}

func ExampleClusters() {
	found := map[string]string{"a": "x", "b": "x", "c": "y"} // d is alone
	truth := map[string]string{"a": "1", "b": "1", "c": "2", "d": "2"}
	s := eval.Clusters(found, truth)
	fmt.Printf("%d ids, adjusted Rand index %.3f\n", s.Documents, s.AdjustedRand)
	fmt.Printf("precision %.1f recall %.1f\n", s.Pairs.Precision, s.Pairs.Recall)
	// Output:
	// 4 ids, adjusted Rand index 0.571
	// precision 1.0 recall 0.5
}
