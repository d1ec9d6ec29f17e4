package decide

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/model"
)

// TestTheDecisionHasTheLargestF1 compares it with that of every number of the most probable edges.
func TestTheDecisionHasTheLargestF1(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + r.IntN(40)
		edges, probability := make([]int, n), make([]float64, n)
		shape := r.Float64() * r.Float64()
		for i := range edges {
			edges[i] = i
			if probability[i] = r.Float64(); r.Float64() < shape {
				probability[i] = 1 - probability[i]*probability[i]/8
			}
		}
		order := slices.Clone(probability)
		slices.Sort(order)
		slices.Reverse(order)
		all, right, most, wanted := model.SumOf(probability), 0.0, 0.0, 0
		for i, p := range order {
			right += p
			if f1 := 2 * right / (float64(i+1) + all); f1 > most {
				most, wanted = f1, i+1
			}
		}
		if most < 0.5 || order[0] <= 0.5 {
			wanted = len(slices.DeleteFunc(order, func(p float64) bool { return p <= 0.5 }))
		}
		if kept := Probable(edges, probability, Balance(edges, probability)); len(kept) != wanted {
			t.Fatalf("%d edges are kept, want %d; of %v", len(kept), wanted, probability)
		}
	}
}

func TestWithoutAProbableEdgeThereIsNone(t *testing.T) {
	edges, probability := []int{0, 1, 2}, []float64{0.5, 0.4, 0.5}
	if kept := Probable(edges, probability, Balance(edges, probability)); len(kept) > 0 {
		t.Errorf("%v are kept", kept)
	}
}
