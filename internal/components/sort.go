package components

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/alike-dev/alike/internal/extsort"
)

// adder adds an entry to a sorter.
type adder func(key, value uint64) error

func (s *solver) options(keyBits int, sum bool) extsort.Options {
	o := s.o
	// The runs of no two sorters may have the same name. Only digits are appended, so that names
	// keep the form of the caller's.
	s.sorters++
	o.Name = fmt.Sprintf("%s%03d", o.Name, s.sorters)
	o.KeyBits, o.Sum, o.Runs = keyBits, sum, nil
	if o.Memory > 0 {
		o.Memory = max(1, o.Memory/sorterShare)
	}
	return o
}

// sort sorts the entries that fill adds; with sum, one entry of each key remains.
func (s *solver) sort(keyBits int, sum bool, fill func(add adder) error) (*extsort.Sorted, error) {
	sorter, err := extsort.New(s.options(keyBits, sum))
	if err != nil {
		return nil, err
	}
	a := sorter.Appender()
	if err = fill(a.Add); err == nil {
		err = a.Flush()
	}
	var sorted *extsort.Sorted
	if err == nil {
		sorted, err = sorter.Sort(s.ctx)
	}
	if err = errors.Join(err, sorter.Close()); err != nil && sorted != nil {
		return nil, errors.Join(err, sorted.Close())
	}
	return sorted, err
}

// checkEvery is how many entries are visited between two checks of the context.
const checkEvery = 1 << 14

// each visits all entries in order.
func (s *solver) each(in *extsort.Sorted, visit func(extsort.Entry) error) error {
	r := in.Reader()
	var err error
	for n := 0; err == nil; n++ {
		if n%checkEvery == 0 {
			if err = s.ctx.Err(); err != nil {
				break
			}
		}
		e, ok := r.Next()
		if !ok {
			break
		}
		err = visit(e)
	}
	return errors.Join(err, r.Close())
}

// vertices splits one of the caller's edges into its vertices.
func (s *solver) vertices(e extsort.Entry) (a, b uint32, err error) {
	a, b = uint32(e.Key>>32), uint32(e.Key)
	if a >= b || uint64(b) >= s.n {
		return 0, 0, fmt.Errorf("edge between %d and %d of %d vertices", a, b, s.n)
	}
	return a, b, nil
}

func (s *solver) vertexBits() int { return max(1, bits.Len64(max(s.n, 1)-1)) }

// addBoth adds an edge in both directions.
func addBoth(add adder, x, y uint32) error {
	if err := add(uint64(x)<<32|uint64(y), 0); err != nil {
		return err
	}
	return add(uint64(y)<<32|uint64(x), 0)
}

// scramble renumbers a vertex for a round: a bijection that gives each round its own, seemingly
// random order.
func scramble(x uint32, round int) uint32 {
	x ^= uint32(round) * 0x9e3779b1
	x ^= x >> 16
	x *= factor1
	x ^= x >> 16
	x *= factor2
	return x ^ x>>16
}

// unscramble inverts scramble: shifting by half of the bits is its own inverse.
func unscramble(x uint32, round int) uint32 {
	x ^= x >> 16
	x *= inverse2
	x ^= x >> 16
	x *= inverse1
	x ^= x >> 16
	return x ^ uint32(round)*0x9e3779b1
}

// The factors are those of MurmurHash3's finalizer (A. Appleby), and their inverses
// modulo 2³².
const (
	factor1, inverse1 = 0x85ebca6b, 0xa5cb9243
	factor2, inverse2 = 0xc2b2ae35, 0x7ed1b41d
)
