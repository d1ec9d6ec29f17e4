package stage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
)

// score compares candidate pairs, and makes a line for each that reaches the threshold.
func score(t *task) error {
	threshold, err := t.plan.Join.threshold()
	if err != nil {
		return err
	}
	records, err := newPayloads(t, Records)
	if err != nil {
		return err
	}
	pairs, err := t.sorted(2, Candidates)
	if err != nil {
		return err
	}
	s := &scorer{t: t, threshold: threshold, records: records}
	s.lines = linklist.New(&s.line, t.plan.Join.Format, t.plan.Join.List())
	compared := int64(0)
	left := uint64(noPosition)
	err = pairs.VisitOnce(func(e extsort.Entry) error { // several tasks of stage meet may have found the same pair
		if e.Key != left {
			if err := s.load(&s.left, e.Key); err != nil {
				return err
			}
			left = e.Key
		}
		compared++
		if err := s.load(&s.right, e.Value); err != nil {
			return err
		}
		return s.pair(e.Key, e.Value)
	})
	return errors.Join(err, t.count(CountCompared, compared))
}

// scorer compares the records of one task.
type scorer struct {
	t           *task
	threshold   measure.Threshold
	records     *payloads
	left, right scored
	line        bytes.Buffer
	lines       linklist.Writer
	row         []string
}

func (s *scorer) load(x *scored, position uint64) error {
	i, found := s.records.find(position)
	if !found {
		return fmt.Errorf("record %#x is a candidate, and is missing: run stage vectors for all tasks", position)
	}
	payload, err := s.records.of(i)
	if err != nil {
		return err
	}
	return x.load(payload, s.t.plan.Join)
}

// pair compares the loaded records, whose positions are given, and emits a link if they reach the threshold.
func (s *scorer) pair(left, right uint64) error {
	scale := s.t.plan.Join.scale()
	a, b := &s.left, &s.right
	common := a.all.common(&b.all, scale)
	if !s.threshold.Reached(common, a.all.size, b.all.size) {
		return nil
	}
	decimals := func(similarity float64) string { return string(measure.AppendSimilarity(nil, similarity)) }
	s.row = append(s.row[:0], string(a.name), string(b.name), decimals(scale.Similarity(common, a.all.size, b.all.size)))
	for f := range a.columns {
		text := ""
		if x, y := &a.columns[f], &b.columns[f]; a.has[f] && b.has[f] {
			text = decimals(scale.Similarity(x.common(y, scale), x.size, y.size))
		}
		s.row = append(s.row, text)
	}
	for i := range a.others {
		s.row = append(s.row, string(a.others[i]), string(b.others[i]))
	}
	s.line.Reset()
	if err := s.lines.Write(s.row); err != nil {
		return err
	}
	if err := s.lines.Flush(); err != nil {
		return err
	}
	return s.t.out.add(Links, s.t.plan.TaskOf(left), s.line.Bytes(), left, right)
}

// weighted is a set of tokens with weights, in ascending order of tokens.
type weighted struct {
	tokens  []uint64
	weights []uint16
	size    uint64 // sum of the masses of all tokens
}

func (w *weighted) reset() { w.tokens, w.weights, w.size = w.tokens[:0], w.weights[:0], 0 }

func (w *weighted) add(token uint64, weight uint16, s weighing.Scale) {
	w.tokens, w.weights = append(w.tokens, token), append(w.weights, weight)
	w.size += s.Mass(weight)
}

// common returns the mass of the tokens that both sets have.
func (w *weighted) common(o *weighted, s weighing.Scale) (sum uint64) {
	for i, k := 0, 0; i < len(w.tokens) && k < len(o.tokens); {
		switch a, b := w.tokens[i], o.tokens[k]; {
		case a < b:
			i++
		case a > b:
			k++
		default:
			sum += s.Mass(w.weights[i])
			i, k = i+1, k+1
		}
	}
	return sum
}

// scored is a record, ready to be compared.
type scored struct {
	name    []byte
	others  [][]byte // values of Tables.Others, copied to the list
	columns []weighted
	has     []bool
	all     weighted
	order   []extsort.Entry // the tokens of all columns, with their weights in all of them
}

// load reads a record that appendRecord wrote.
func (x *scored) load(payload []byte, j *Tables) error {
	name, b, err := cutPart(payload)
	if err != nil {
		return err
	}
	x.name, x.order = append(x.name[:0], name...), x.order[:0]
	if x.columns == nil {
		x.columns, x.has, x.others = make([]weighted, len(j.Columns)), make([]bool, len(j.Columns)), make([][]byte, len(j.Others))
	}
	for i := range x.others {
		var value []byte
		if value, b, err = cutPart(b); err != nil {
			return err
		}
		x.others[i] = append(x.others[i][:0], value...)
	}
	scale := j.scale()
	for f := range x.columns {
		n, at := binary.Uvarint(b)
		if at <= 0 || n > 0 && n-1 > uint64(len(b)-at)/12 {
			return errParts
		}
		b = b[at:]
		x.columns[f].reset()
		if x.has[f] = n > 0; n == 0 {
			continue
		}
		for range n - 1 {
			token := binary.LittleEndian.Uint64(b)
			x.order = append(x.order, extsort.Entry{Key: token, Value: uint64(binary.LittleEndian.Uint16(b[8:]))})
			x.columns[f].add(token, binary.LittleEndian.Uint16(b[10:]), scale)
			b = b[12:]
		}
	}
	slices.SortFunc(x.order, func(a, b extsort.Entry) int { return cmp.Compare(a.Key, b.Key) })
	x.all.reset()
	for i, o := range x.order {
		if i == 0 || o.Key != x.order[i-1].Key {
			x.all.add(o.Key, uint16(o.Value), scale)
		}
	}
	return nil
}
