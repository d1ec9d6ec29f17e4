package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/candidates"
)

// fields are the fields of a person, with the number of values of each in a million records. A
// value is drawn with a skew s: of the values 0 … n−1 number n·uˢ, for uniform u.
var fields = []struct {
	values int
	skew   float64
}{
	{8, 2},         // state
	{30, 4},        // street, place, …
	{400, 1},       // number of the house
	{2500, 2},      // given name
	{2500, 1.3},    // suburb
	{3500, 1.2},    // name of the street
	{40000, 2},     // surname
	{28896, 1},     // day of birth
	{9_000_000, 1}, // number of the insurance
}

// person draws the values of all fields.
func person(r *rand.Rand) (p [9]uint32) {
	for i, f := range fields {
		p[i] = uint32(float64(f.values) * math.Pow(r.Float64(), f.skew))
	}
	return p
}

// changed returns a copy with up to four fields changed.
func changed(r *rand.Rand, p [9]uint32) [9]uint32 {
	other := person(r)
	for range 1 + r.IntN(4) {
		f := r.IntN(len(p))
		p[f] = other[f]
	}
	return p
}

// persons makes one table, or two. Of two, every hundredth record of the larger table, up to the
// size of the smaller one, is a copy of a record of the smaller table.
func persons(left *candidates.Store, size string, second func() *candidates.Store) (right *candidates.Store, err error) {
	first, other, two := strings.Cut(size, "x")
	n, err := strconv.Atoi(first)
	if err != nil {
		return nil, fmt.Errorf("-persons %q: want a number, or LxR", size)
	}
	r := rand.New(rand.NewPCG(1, 2))
	known := make([][9]uint32, 0, min(n, 1<<20))
	var w writer
	for range n {
		p := person(r)
		if !two && r.IntN(5) == 0 && len(known) > 0 {
			p = changed(r, known[r.IntN(len(known))])
		} else if len(known) < cap(known) {
			known = append(known, p)
		}
		if err := w.add(left, p); err != nil {
			return nil, err
		}
	}
	if !two {
		return nil, nil
	}
	m, err := strconv.Atoi(other)
	if err != nil {
		return nil, fmt.Errorf("-persons %q: want a number, or LxR", size)
	}
	right = second()
	for i := range m {
		p := person(r)
		if i%max(m/n, 1) == 0 {
			p = changed(r, known[r.IntN(len(known))])
		}
		if err := w.add(right, p); err != nil {
			return nil, err
		}
	}
	return right, right.Finish()
}

// writer turns persons into vectors.
type writer struct{ features, weights []uint32 }

func (w *writer) add(s *candidates.Store, p [9]uint32) error {
	w.features, w.weights = w.features[:0], w.weights[:0]
	base := uint32(0)
	for i, value := range p {
		w.features = append(w.features, base+value)
		base += uint32(fields[i].values)
		// The share of value v is ((v+1)/n)^(1/skew) − (v/n)^(1/skew).
		n, skew := float64(fields[i].values), 1/fields[i].skew
		share := math.Pow(float64(value+1)/n, skew) - math.Pow(float64(value)/n, skew)
		w.weights = append(w.weights, 1+uint32(-1024*math.Log(min(share, 1))))
	}
	return s.Append(w.features, w.weights)
}

// hostile makes records that are hard for an index.
//
//	equal   all records are equal
//	hot     one feature that all records have, and one that no other record has
//	zipf    twelve features of a Zipf distribution with exponent 1.1 over ten thousand
func hostile(s *candidates.Store, kind, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return fmt.Errorf("-persons %q: want a number", size)
	}
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 1, 9999)
	for i := range n {
		var set []uint32
		switch kind {
		case "equal":
			set = []uint32{1, 2, 3, 4, 5, 6}
		case "hot":
			set = []uint32{0, 1 + uint32(i)}
		case "zipf":
			for range 12 {
				set = append(set, 9999-uint32(zipf.Uint64()))
			}
			slices.Sort(set)
			set = slices.Compact(set)
		default:
			return fmt.Errorf("-hostile %q: want equal, hot or zipf", kind)
		}
		weights := make([]uint32, len(set))
		for k := range weights {
			weights[k] = 1000
			if kind == "zipf" {
				weights[k] = 100 + uint32(1000*math.Log(float64(10001-set[k])))
			}
		}
		if err := s.Append(set, weights); err != nil {
			return err
		}
	}
	return nil
}
