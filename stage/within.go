package stage

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/recipe"
)

// A withinField is the name of the field within whose values a plan compares documents; "": all are compared.
type withinField string

func (p *Plan) within() withinField { return withinField(p.recipe.Within()) }

// of returns the hash of a document's value; 0 if all documents are compared.
func (f withinField) of(d *Document) recipe.Within {
	if f == "" {
		return 0
	}
	return recipe.WithinOf(d.Within)
}

// append appends a document's value to a payload, if documents are compared within values.
func (f withinField) append(dst, value []byte) []byte {
	if f == "" {
		return dst
	}
	return appendPart(dst, value)
}

// cut undoes append.
func (f withinField) cut(b []byte) (value, rest []byte, err error) {
	if f == "" {
		return nil, b, nil
	}
	return cutPart(b)
}

// same is an error if two documents that were found similar have different values: only those with equal hashes
// get so far.
func (f withinField) same(a, b []byte) error {
	if bytes.Equal(a, b) {
		return nil
	}
	return fmt.Errorf("the values %q and %q of the field %q have the same hash, so that documents of both were compared: write one of them in another way", a, b, string(f))
}

// countValues counts the task's documents by their values: those that are not dropped, and those that are removed.
func countValues(t *task, dropped *extsort.Sorted) error {
	if t.plan.within() == "" {
		return nil
	}
	values, drops := newValueCounter(t), t.lookup(dropped)
	err := t.each(Cards, func(r row) error {
		how, drop := drops.Find(r.words[0])
		if drop && how != isRemoved {
			return nil
		}
		_, rest, err := cutPart(r.payload)
		if err == nil {
			_, rest, err = cutPart(rest)
		}
		var value []byte
		if err == nil {
			value, _, err = t.plan.within().cut(rest)
		}
		return errors.Join(err, values.add(value, 1, how, 0))
	})
	return errors.Join(err, values.flush())
}

// A valueCounter adds up rows of ValueCounts, as many as it holds at once.
type valueCounter struct {
	t      *task
	at     map[string]int // in counts
	counts []valueCounts
	bytes  int
}

type valueCounts struct {
	value                     string
	documents, removed, pairs uint64
}

// A valueCounter holds so many values, and bytes of them.
const (
	heldValues     = 10000
	heldValueBytes = 1 << 20
)

func newValueCounter(t *task) *valueCounter { return &valueCounter{t: t, at: map[string]int{}} }

func (c *valueCounter) add(value []byte, documents, removed, pairs uint64) error {
	if c.t.plan.within() == "" {
		return nil
	}
	i, known := c.at[string(value)]
	if !known {
		if len(c.counts) == heldValues || c.bytes > heldValueBytes {
			if err := c.flush(); err != nil {
				return err
			}
		}
		i = len(c.counts)
		c.counts = append(c.counts, valueCounts{value: string(value)})
		c.at[c.counts[i].value], c.bytes = i, c.bytes+len(value)
	}
	of := &c.counts[i]
	of.documents, of.removed, of.pairs = of.documents+documents, of.removed+removed, of.pairs+pairs
	return nil
}

// flush emits what was counted, and begins anew.
func (c *valueCounter) flush() error {
	for _, of := range c.counts {
		if err := c.t.out.add(ValueCounts, 0, []byte(of.value), of.documents, of.removed, of.pairs); err != nil {
			return err
		}
	}
	clear(c.at)
	c.counts, c.bytes = c.counts[:0], 0
	return nil
}
