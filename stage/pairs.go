package stage

import (
	"errors"
	"math"

	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// crowd tells whether member i of a class of equal documents belongs to its crowd: if the class is over
// the bucket cap, all but its first members do. Pairs of two documents of crowds are not listed.
func (t *task) crowd(class []uint64, i int) bool {
	limit := t.plan.BucketCap
	return limit > 0 && len(class) > limit && i >= lsh.Hubs
}

// classReader looks up classes of equal documents by representatives that ascend from call to call.
type classReader struct {
	from  *extsort.Reader
	class []uint64
	rep   uint64
}

// of returns the class of a representative. The representative comes first, and may be the only member.
func (c *classReader) of(rep uint64) []uint64 {
	if len(c.class) > 0 && c.rep == rep {
		return c.class
	}
	c.rep, c.class = rep, append(c.class[:0], rep)
	for e, ok := c.from.Peek(); ok && e.Key <= rep; e, ok = c.from.Peek() {
		c.from.Next()
		if e.Key == rep {
			c.class = append(c.class, e.Value)
		}
	}
	return c.class
}

// classed are rows whose first word is a representative, sorted by it, and the classes of equal documents.
type classed struct {
	t      *task
	rows   *shelf
	copies *extsort.Sorted
}

func newClassed(t *task, of ...Stream) (*classed, error) {
	rows, err := t.shelved(0, 4, of...)
	if err != nil {
		return nil, err
	}
	copies, err := t.sortedBy(0, 2, 4, Copies)
	if err != nil {
		return nil, err
	}
	return &classed{t, rows, copies}, nil
}

func (c *classed) each(visit func(class []uint64, r row) error) error {
	classes := classReader{from: c.t.reader(c.copies)}
	return c.rows.each(func(rep uint64, r row) error { return visit(classes.of(rep), r) })
}

// pair emits a pair of documents to the task of the second one: of the later one or, by containment, of the one that
// has the other.
func (t *task) pair(s Stream, a, b, similarity uint64) error {
	if t.plan.edges.Threshold.Measure().Symmetric() {
		a, b = min(a, b), max(a, b)
	}
	return t.out.add(s, t.plan.TaskOf(b), nil, a, b, similarity)
}

// left replaces the first document of each edge by all members of its class, and makes the pairs
// within classes.
func left(t *task) error {
	edges, err := newClassed(t, Edges, when(t.plan.comparesHot(), HotEdges))
	if err != nil {
		return err
	}
	if err := sendCopyPairs(t, edges.copies); err != nil {
		return err
	}
	return edges.each(func(class []uint64, r row) error {
		for i, a := range class {
			crowd := uint64(0)
			if t.crowd(class, i) {
				crowd = 1
			}
			if err := t.out.add(Halves, t.plan.TaskOf(r.words[1]), nil, r.words[1], a, r.words[2], crowd); err != nil {
				return err
			}
		}
		return nil
	})
}

// sendCopyPairs makes the pairs within classes.
func sendCopyPairs(t *task, copies *extsort.Sorted) error {
	of := t.plan.edges.Threshold.Measure()
	sizes, err := t.sorted(8, when(of.IsCount(), Copies))
	if err != nil {
		return err
	}
	size := t.lookup(sizes)
	c := classReader{from: t.reader(copies)}
	for e, ok := c.from.Peek(); ok; e, ok = c.from.Peek() {
		class := c.of(e.Key)
		n, known := size.Find(e.Key)
		if !known {
			n = 1
		}
		similarity := math.Float64bits(engine.OfCopies(of, n))
		for i, a := range class {
			for j := i + 1; j < len(class) && !(t.crowd(class, i) && t.crowd(class, j)); j++ {
				err = errors.Join(err, t.pair(CopyPairs, a, class[j], similarity))
				if !of.Symmetric() {
					err = errors.Join(err, t.pair(CopyPairs, class[j], a, similarity))
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// right replaces the second document of each edge by all members of its class.
func right(t *task) error {
	halves, err := newClassed(t, Halves)
	if err != nil {
		return err
	}
	return halves.each(func(class []uint64, r row) error {
		a, similarity, crowd := r.words[1], r.words[2], r.words[3] == 1
		for i, b := range class {
			if crowd && t.crowd(class, i) {
				break
			}
			if err := t.pair(PairsFound, a, b, similarity); err != nil {
				return err
			}
		}
		return nil
	})
}

// nameReader looks up the names of documents by positions that ascend from call to call.
type nameReader struct {
	plan  *Plan
	cards *shelf
	at    extsort.Lookup
}

func newNameReader(t *task) (*nameReader, error) {
	cards, err := t.shelved(0, 4, Cards)
	if err != nil {
		return nil, err
	}
	return &nameReader{t.plan, cards, t.lookup(cards.sorted)}, nil
}

// of returns the name of a document and its value.
func (n *nameReader) of(position uint64) (name, within []byte, err error) {
	at, ok := n.at.Find(position)
	if !ok {
		return nil, nil, errors.Join(errParts, n.at.Err())
	}
	r, err := n.cards.row(at)
	if err != nil {
		return nil, nil, err
	}
	name, rest, err := cutPart(r.payload)
	if err == nil {
		_, rest, err = cutPart(rest)
	}
	if err == nil {
		within, _, err = n.plan.within().cut(rest)
	}
	return name, within, err
}

// named adds the name of the second document to each pair.
func named(t *task) error {
	names, err := newNameReader(t)
	if err != nil {
		return err
	}
	pairs, err := t.shelved(1, 4, PairsFound, CopyPairs)
	if err != nil {
		return err
	}
	var payload []byte
	return pairs.each(func(b uint64, r row) error {
		name, within, err := names.of(b)
		if err != nil {
			return err
		}
		payload = append(t.plan.within().append(payload[:0], within), name...)
		return t.out.add(NamedPairs, t.plan.TaskOf(r.words[0]), payload, r.words...)
	})
}

// list makes the lines of the list for the pairs whose first document belongs to the task.
func list(t *task) error {
	names, err := newNameReader(t)
	if err != nil {
		return err
	}
	pairs, err := t.shelved(0, 4, NamedPairs)
	if err != nil {
		return err
	}
	repeats := int64(0)
	skipped, err := t.sort("skipped", 8, func(to *extsort.Appender) error {
		return t.each(Repeats, func(r row) error { repeats++; return to.Add(r.words[0], 0) })
	})
	if err == nil {
		err = countValues(t, skipped)
	}
	if err != nil {
		return err
	}
	text, values := t.text(PairsText), newValueCounter(t)
	n := int64(0)
	var similarity []byte
	var last [2]uint64
	err = pairs.each(func(a uint64, r row) error {
		// For each a, the documents b come in ascending order, because stage named sorts by them.
		// Several tasks may have found the same pair.
		if b := r.words[1]; last != [2]uint64{a, b} {
			last = [2]uint64{a, b}
			name, within, err := names.of(a)
			if err != nil {
				return err
			}
			value, other, err := t.plan.within().cut(r.payload)
			if err = errors.Join(err, t.plan.within().same(within, value)); err != nil {
				return err
			}
			if err := values.add(within, 0, 0, 1); err != nil {
				return err
			}
			n++
			similarity = measure.AppendSimilarity(similarity[:0], math.Float64frombits(r.words[2]))
			return text.Write([]string{string(name), string(other), string(similarity)})
		}
		return nil
	})
	text.Flush()
	return errors.Join(err, text.Error(), values.flush(), t.count(CountPairs, n), t.count(CountSkipped, repeats))
}
