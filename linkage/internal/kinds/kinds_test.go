package kinds

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestFitFindsTheKindsThatPairsAreMadeOf draws pairs of three kinds and looks for them.
func TestFitFindsTheKindsThatPairsAreMadeOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	agrees := [][]float64{{0.95, 0.9, 0.9, 0.95}, {0.02, 0.02, 0.95, 0.95}, {0.9, 0.05, 0.02, 0.02}}
	share := []float64{0.2, 0.3, 0.5}
	var pairs []uint8
	var made []int
	for range 20_000 {
		kind, x := 0, rng.Float64()
		for x > share[kind] && kind < 2 {
			x -= share[kind]
			kind++
		}
		made = append(made, kind)
		for _, p := range agrees[kind] {
			switch {
			case rng.Float64() < 0.1:
				pairs = append(pairs, Missing)
			case rng.Float64() < p:
				pairs = append(pairs, Equal)
			default:
				pairs = append(pairs, Far)
			}
		}
	}
	patterns := NewPatterns(4, pairs)
	m := Fit(t.Context(), patterns, 2)
	if len(m.Share) != 3 {
		t.Fatalf("%d kinds, want 3: %v", len(m.Share), m.Share)
	}
	// The most frequent kind comes first, so the kinds are those drawn in reverse order.
	for kind := range 3 {
		for f, want := range agrees[2-kind] {
			if got := m.Agreement(kind, f); got < want-0.03 || got > want+0.03 {
				t.Errorf("kind %d agrees in column %d in %.3f of the pairs, want %.2f", kind, f, got, want)
			}
		}
	}
	right := 0
	for i, of := range patterns.Posterior(m) {
		if of[2-made[i]] > 0.5 {
			right++
		}
	}
	if right < 18_500 {
		t.Errorf("%d of 20000 pairs are told apart, want 18500 or more", right)
	}
}

// TestFitOfOneKind finds no kinds in pairs whose columns are independent.
func TestFitOfOneKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := make([]uint8, 3*5000)
	for i := range pairs {
		pairs[i] = Far + uint8(rng.IntN(3))
	}
	if m := Fit(t.Context(), NewPatterns(3, pairs), 2); len(m.Share) != 1 {
		t.Errorf("%d kinds, want 1", len(m.Share))
	}
}

// TestFitEnds ends before it begins.
func TestFitEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m := Fit(ctx, NewPatterns(1, []uint8{Far, Equal, Equal}), 2); m != nil {
		t.Errorf("%v, want nothing", m)
	}
}

// TestFitFindsRareKinds has people who have moved: one pair in a hundred agrees in name and birth, and by chance in the home.
func TestFitFindsRareKinds(t *testing.T) {
	const person, home = 3, 5
	of := func(share, first, last, born, same float64) (float64, []float64) {
		return share, []float64{first, last, born, same, same, same, same, same}
	}
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var shares []float64
		var kinds [][]float64
		for _, k := range [][5]float64{
			{0.5, 0.02, 0.03, 0.01, 0.05}, {0.2, 0.05, 0.1, 0.01, 0.97}, {0.12, 0.02, 0.98, 0.01, 0.05},
			{0.1, 0.98, 0.02, 0.01, 0.05}, {0.05, 0.02, 0.95, 0.01, 0.98}, {0.02, 0.95, 0.95, 0.95, 0.95}, {0.01, 0.95, 0.95, 0.95, 0.05},
		} {
			share, agrees := of(k[0], k[1], k[2], k[3], k[4])
			shares, kinds = append(shares, share), append(kinds, agrees)
		}
		var pairs []uint8
		for range 30_000 {
			k, x := 0, rng.Float64()
			for x > shares[k] && k < len(shares)-1 {
				x -= shares[k]
				k++
			}
			for _, p := range kinds[k] {
				grade := uint8(Far)
				if rng.Float64() < p {
					grade = Equal - uint8(rng.IntN(2))
				}
				pairs = append(pairs, grade)
			}
		}
		m := Fit(t.Context(), NewPatterns(person+home, pairs), 2)
		if one := Fit(t.Context(), NewPatterns(person+home, pairs), 1); !reflect.DeepEqual(m, one) {
			t.Errorf("seed %d: two threads find %v, one %v", seed, m, one)
		}
		found := false
		for k := range m.Share {
			moved := true
			for f := range person + home {
				moved = moved && (f < person) == (m.Agreement(k, f) > 0.5)
			}
			found = found || moved && m.Share[k] < 0.02
		}
		if !found {
			t.Errorf("seed %d: who has moved is no kind of its own: %.2f", seed, m.Share)
		}
	}
}
