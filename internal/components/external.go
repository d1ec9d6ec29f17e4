package components

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/extsort"
)

// solver does one call of Components.
//
// A graph is a sequence of x<<32 | y, for every edge in both directions; vertices are renumbered in
// each round (see scramble). Contracting a graph yields a map with the vertex y of the next graph
// as Key and the vertex x that was merged into it as Value. Maps stay in runs, without memory,
// until the labels are carried back.
//
// A label is a vertex of the graph in which its component was found, with the round in the upper
// half, because the same number means different vertices in different rounds.
type solver struct {
	ctx     context.Context
	n       uint64
	o       extsort.Options
	rounds  int
	sorters int
	maps    [][]extsort.Run // by round
}

// Sorters take a quarter of the memory each: no more than three exist at once, and only two while
// labelWhole needs half of the memory.
const sorterShare = 4

func (s *solver) external(edges *extsort.Sorted) (*extsort.Sorted, error) {
	labels, err := s.labelFirst(edges)
	if err != nil {
		return nil, errors.Join(err, s.removeMaps())
	}
	return s.smallest(labels)
}

// labelFirst labels the vertices of the first graph: in the result Key is a label and
// Value a vertex as the caller numbers it.
func (s *solver) labelFirst(edges *extsort.Sorted) (*extsort.Sorted, error) {
	graph, err := s.symmetric(edges)
	if err != nil {
		return nil, err
	}
	for {
		labels, err := s.labelWhole(graph)
		if err != nil {
			return nil, errors.Join(err, graph.Close())
		}
		if labels != nil {
			if err := graph.Close(); err != nil {
				return nil, errors.Join(err, labels.Close())
			}
			return s.labelBack(labels)
		}
		if graph, err = s.contract(graph); err != nil {
			return nil, err
		}
	}
}

// symmetric builds the first graph, with every edge in both directions.
func (s *solver) symmetric(edges *extsort.Sorted) (*extsort.Sorted, error) {
	return s.sort(64, true, func(add adder) error {
		return s.each(edges, func(e extsort.Entry) error {
			a, b, err := s.vertices(e)
			if err != nil {
				return err
			}
			return addBoth(add, scramble(a, 0), scramble(b, 0))
		})
	})
}

// labelWhole labels a graph whose vertices fit in memory, 8 bytes each. It returns nil if the graph
// has more vertices.
func (s *solver) labelWhole(graph *extsort.Sorted) (*extsort.Sorted, error) {
	limit := s.o.Memory / 2 / 8
	ids := make([]uint32, 0, min(limit, graph.Len())) // ascending
	err := s.each(graph, func(e extsort.Entry) error {
		if x := uint32(e.Key >> 32); len(ids) == 0 || ids[len(ids)-1] != x {
			if int64(len(ids)) == limit {
				return errTooMany
			}
			ids = append(ids, x)
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u := cluster.New(len(ids))
	at := 0
	err = s.each(graph, func(e extsort.Entry) error {
		x, y := uint32(e.Key>>32), uint32(e.Key)
		for ids[at] != x {
			at++
		}
		if x < y {
			to, _ := slices.BinarySearch(ids, y)
			u.Union(uint32(at), uint32(to))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.sortLabels(s.rounds, func(add adder) error {
		for i, x := range ids {
			if err := add(uint64(x), s.label(s.rounds, ids[u.Find(uint32(i))])); err != nil {
				return err
			}
		}
		return nil
	})
}

var errTooMany = errors.New("too many vertices")

// contract makes the next graph and its map, and closes the graph.
//
// The first entry of x says which vertex x is merged into: its smallest neighbour or itself. One
// pass renames one end of each edge and sorts by the other end; a second pass over the graph
// renames that end.
func (s *solver) contract(graph *extsort.Sorted) (next *extsort.Sorted, err error) {
	var joined *extsort.Sorted
	half, err := s.sort(64, true, func(addHalf adder) error {
		joined, err = s.sort(32, false, func(addMap adder) error {
			return s.eachJoined(graph, func(x, y, to uint32, first bool) error {
				if first {
					if err := addMap(uint64(scramble(to, s.rounds+1)), uint64(x)); err != nil {
						return err
					}
				}
				if x < y {
					return addHalf(uint64(y)<<32|uint64(to), 0)
				}
				return nil
			})
		})
		return err
	})
	if joined != nil {
		err = errors.Join(err, s.putAway(joined))
	}
	if err == nil {
		next, err = s.sort(64, true, func(add adder) error { return s.renameOtherEnd(graph, half, add) })
	}
	if half != nil {
		err = errors.Join(err, half.Close())
	}
	if err = errors.Join(err, graph.Close()); err != nil {
		if next != nil {
			err = errors.Join(err, next.Close())
		}
		return nil, err
	}
	s.rounds++
	return next, nil
}

// renameOtherEnd adds the edges y<<32 | to of half to the next graph, with y renamed too.
func (s *solver) renameOtherEnd(graph, half *extsort.Sorted, add adder) error {
	edges := half.Reader()
	err := s.eachJoined(graph, func(y, _, toY uint32, first bool) error {
		if !first {
			return nil
		}
		for e, ok := edges.Peek(); ok && uint32(e.Key>>32) == y; e, ok = edges.Peek() {
			_, _ = edges.Next()
			if toX := uint32(e.Key); toX != toY {
				if err := addBoth(add, scramble(toX, s.rounds+1), scramble(toY, s.rounds+1)); err != nil {
					return err
				}
			}
		}
		return edges.Err()
	})
	return errors.Join(err, edges.Close())
}

// eachJoined visits every edge from x to y of a graph, with the vertex that x is merged into, and
// says whether it is the first edge of x.
func (s *solver) eachJoined(graph *extsort.Sorted, visit func(x, y, to uint32, first bool) error) error {
	var last, to uint32
	begun := false
	return s.each(graph, func(e extsort.Entry) error {
		x, y := uint32(e.Key>>32), uint32(e.Key)
		first := !begun || x != last
		if first {
			begun, last, to = true, x, min(x, y)
		}
		return visit(x, y, to, first)
	})
}

// labelBack carries the labels of the last graph back through all maps.
func (s *solver) labelBack(labels *extsort.Sorted) (*extsort.Sorted, error) {
	for round := s.rounds - 1; round >= 0; round-- {
		joined, err := s.takeBack(round)
		if err != nil {
			return nil, errors.Join(err, labels.Close())
		}
		before, err := s.sortLabels(round, func(add adder) error { return s.labelThrough(round, joined, labels, add) })
		if err = errors.Join(err, joined.Close(), labels.Close()); err != nil {
			if before != nil {
				err = errors.Join(err, before.Close())
			}
			return nil, err
		}
		labels = before
	}
	return labels, nil
}

// labelThrough labels the vertices of a graph from the labels of the next graph and the map. A
// vertex that has lost all its edges is not among the labels: its component is complete.
func (s *solver) labelThrough(round int, joined, labels *extsort.Sorted, add adder) error {
	known := labels.Reader()
	err := s.each(joined, func(e extsort.Entry) error {
		l, ok := known.Peek()
		for ; ok && l.Key < e.Key; l, ok = known.Peek() {
			_, _ = known.Next()
		}
		label := s.label(round+1, uint32(e.Key))
		if ok && l.Key == e.Key {
			label = l.Value
		}
		if err := known.Err(); err != nil {
			return err
		}
		return add(e.Value, label)
	})
	return errors.Join(err, known.Close())
}

func (s *solver) label(round int, x uint32) uint64 { return uint64(round)<<32 | uint64(x) }

// sortLabels sorts pairs of a vertex of a graph and its label by vertex, for labelThrough, or those
// of the first graph by label, for smallest.
func (s *solver) sortLabels(round int, fill func(add adder) error) (*extsort.Sorted, error) {
	if round > 0 {
		return s.sort(32, false, fill)
	}
	return s.sort(32+bits.Len(uint(s.rounds)), false, func(add adder) error {
		return fill(func(x, label uint64) error { return add(label, uint64(unscramble(uint32(x), 0))) })
	})
}

// smallest makes the result from vertices sorted by label, and closes labels.
func (s *solver) smallest(labels *extsort.Sorted) (*extsort.Sorted, error) {
	result, err := s.sort(s.vertexBits(), false, func(add adder) error {
		var last extsort.Entry // the first entry of its label
		begun := false
		return s.each(labels, func(e extsort.Entry) error {
			if !begun || e.Key != last.Key {
				begun, last = true, e
			}
			return add(e.Value, last.Value)
		})
	})
	if err = errors.Join(err, labels.Close()); err != nil && result != nil {
		return nil, errors.Join(err, result.Close())
	}
	return result, err
}

// putAway frees the memory of the current round's map, and keeps its runs.
func (s *solver) putAway(joined *extsort.Sorted) error {
	runs, err := joined.Save(s.ctx)
	if err != nil {
		return errors.Join(err, joined.Close())
	}
	s.maps = append(s.maps, runs)
	return joined.Detach()
}

// takeBack opens the map of the last round that has one.
func (s *solver) takeBack(round int) (*extsort.Sorted, error) {
	o := s.options(32, false)
	o.Runs = s.maps[round]
	joined, err := extsort.Open(s.ctx, o)
	if err == nil {
		s.maps = s.maps[:round]
	}
	return joined, err
}

// removeMaps removes the maps that are put away, after an error.
func (s *solver) removeMaps() error {
	var errs []error
	for _, runs := range s.maps {
		for _, run := range runs {
			errs = append(errs, s.o.Dir.Remove(run.Name))
		}
	}
	return errors.Join(errs...)
}
