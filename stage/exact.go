package stage

import (
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// Without keys, all sets are joined. Documents are divided into chunks by hash, and each task joins two chunks, or
// one with itself, in memory:
//
//	chunk   0  1  2
//	    0   0
//	    1   1  2          the number of the task
//	    2   3  4  5
//
// With more partitions a task needs less memory, and more bytes are moved: each set goes to as many tasks as there are
// chunks.

// setJoin joins the sets of one task, by their numbers among those that were sent to it.
type setJoin struct {
	t        *task
	sent     *payloads
	links    *linker
	verified int64
}

// joinAll joins the sets of two chunks, or of one with itself.
func joinAll(t *task) error {
	low, high := t.number, 0
	for low > high {
		high++
		low -= high
	}
	sent, err := newPayloads(t, Sets)
	if err != nil {
		return err
	}
	j := &setJoin{t: t, sent: sent, links: newLinker(t, len(sent.positions))}
	if low == high {
		all, sets, err := j.load(low)
		if err != nil {
			return err
		}
		err = eachMatch(t.ctx, simjoin.NewIndex(sets, t.plan.edges.Threshold), func(m measure.Match) error {
			m.A, m.B = uint64(all[m.A]), uint64(all[m.B])
			return j.add(m)
		})
		if err != nil {
			return err
		}
	} else if err := j.across(low, high); err != nil {
		return err
	}
	return t.count(CountVerified, j.verified)
}

func (j *setJoin) load(chunk int) (numbers []int, sets [][]uint64, err error) {
	for i, position := range j.sent.positions {
		if j.t.plan.chunkOf(position) != chunk {
			continue
		}
		payload, err := j.sent.of(i)
		if err != nil {
			return nil, nil, err
		}
		numbers, sets = append(numbers, i), append(sets, wordsOf(nil, payload))
	}
	return numbers, sets, nil
}

// across joins one chunk with another one.
func (j *setJoin) across(low, high int) error {
	left, sets, err := j.load(low)
	if err != nil || len(sets) == 0 {
		return err
	}
	index := simjoin.NewSearchIndex(sets, j.t.plan.edges.Threshold)
	var p simjoin.Prober
	var set []uint64
	for i, position := range j.sent.positions {
		if j.t.plan.chunkOf(position) != high {
			continue
		}
		payload, err := j.sent.of(i)
		if err != nil {
			return err
		}
		set = wordsOf(set[:0], payload)
		for _, m := range index.Search(&p, set) {
			for _, at := range index.Members(m.Group) {
				match := measure.Match{A: uint64(left[at]), B: uint64(i), Intersection: uint64(m.Intersection), SizeA: uint64(m.Size), SizeB: uint64(len(set))}
				if err := j.add(match); err != nil {
					return err
				}
			}
		}
		if err := j.t.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// add emits the edges of a match between two numbers of sets.
func (j *setJoin) add(m measure.Match) error {
	if m.A > m.B {
		m = engine.Turned(m)
	}
	i, k := int(m.A), int(m.B)
	m.A, m.B = j.sent.positions[i], j.sent.positions[k]
	if !j.t.plan.meet(m.A, m.B) {
		return nil
	}
	edges, n := j.t.plan.edges.Of(m, j.t.plan.reference(m.A))
	j.verified += int64(n)
	for _, e := range edges[:n] {
		if err := j.links.add(e, i, k); err != nil {
			return err
		}
	}
	return nil
}
