package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/ordered"
)

// machine is the collections of a store as a state machine of a log. All but atomics and the store belongs to the
// goroutine that applies entries.
type machine struct {
	store   *store
	log     ordered.Log
	replica *ordered.Replica
	rules   []decidingRule
	clock   atomic.Int64 // the time of the last entry, in nanoseconds

	temporary *filelock.Folder // of the snapshots, to be removed; nil: it stays
}

// now is the time of the entry that is being applied.
func (m *machine) now() time.Time { return time.Unix(0, m.clock.Load()) }

// outcome is what an operation has done.
type outcome struct {
	err      error
	verdicts []index.Verdict
	replaced bool
	removed  int
	made     bool
}

// appendSum appends what all replicas must agree on.
func (o *outcome) appendSum(dst []byte) []byte {
	for _, is := range []bool{o.err != nil, o.replaced, o.made} { // versions may word an error differently
		dst = append(dst, flagByte(is))
	}
	return binary.AppendUvarint(dst, uint64(o.removed))
}

func flagByte(is bool) byte {
	if is {
		return 1
	}
	return 0
}

func appendVerdict(dst []byte, v *index.Verdict) []byte {
	dst = append(dst, flagByte(v.New), flagByte(v.Late), flagByte(v.Known))
	dst = binary.LittleEndian.AppendUint64(dst, v.Slot)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Similarity))
	return append(dst, v.Of...)
}

// Apply implements ordered.Machine.
func (m *machine) Apply(e *ordered.Entry, sum []byte) (outcomes []any, _ []byte, err error) {
	m.clock.Store(e.Now.UnixNano())
	for ops := e.Ops; len(ops) > 0; {
		var done []outcome
		if len(ops[0]) > 0 && ops[0][0] == opCheck {
			done, sum, err = m.check(e, ops[:alikeOps(ops)], sum)
		} else {
			var out outcome
			out, err = m.one(e, ops[0])
			done, sum = append(done, out), out.appendSum(sum)
		}
		if err != nil {
			return nil, sum, err
		}
		if e.Own {
			for _, out := range done {
				outcomes = append(outcomes, out)
			}
		}
		ops = ops[len(done):]
	}
	return outcomes, sum, nil
}

// alikeOps returns how many operations are checks of the same collection as the first.
func alikeOps(ops [][]byte) int {
	_, rest, ok := targetOf(ops[0])
	if !ok {
		return 1
	}
	head := ops[0][:len(ops[0])-len(rest)]
	n := 1
	for n < len(ops) && len(ops[n]) >= len(head) && string(ops[n][:len(head)]) == string(head) {
		n++
	}
	return n
}

// collectionOf returns the collection of an operation on documents.
func (m *machine) collectionOf(op []byte) (c *collection, rest []byte, err error) {
	to, rest, ok := targetOf(op)
	if !ok {
		return nil, nil, errMalformed
	}
	c = m.store.get(to.Name)
	switch {
	case c == nil:
		return nil, nil, errNoCollection
	case c.log.epoch != to.Epoch:
		return nil, nil, errSucceeded
	}
	return c, rest, nil
}

// check applies checks of documents of one collection, as one batch.
func (m *machine) check(e *ordered.Entry, ops [][]byte, sum []byte) (outcomes []outcome, _ []byte, err error) {
	outcomes = make([]outcome, len(ops))
	c, _, err := m.collectionOf(ops[0])
	if err != nil {
		for i := range outcomes {
			outcomes[i].err = err
			sum = outcomes[i].appendSum(sum)
		}
		return outcomes, sum, nil
	}
	ends, all := make([]int, len(ops)), 0 // of the documents of each, and bytes of all
	b := c.log.batch(c.index)
	b.Reset()
	for _, op := range ops {
		_, documents, _ := targetOf(op)
		all += bytesOf(documents)
	}
	b.Grow(all)
	for i, op := range ops {
		_, documents, _ := targetOf(op)
		if err := addDocuments(c, b, documents); err != nil {
			return nil, sum, fmt.Errorf("%w: a document: %w", errMalformed, err)
		}
		ends[i] = b.Len()
	}
	c.log.bring(c.index, e.Number)
	verdicts, err := c.index.Check(b, nil)
	if err != nil {
		return nil, sum, err
	}
	from := 0
	for i, end := range ends {
		for j := from; j < end; j++ {
			sum = appendVerdict(sum, &verdicts[j])
		}
		sum = outcomes[i].appendSum(sum)
		if e.Own {
			outcomes[i].verdicts = cloned(verdicts[from:end])
		}
		from = end
	}
	return outcomes, sum, nil
}

// cloned returns verdicts that stay valid.
func cloned(verdicts []index.Verdict) []index.Verdict {
	all := append([]index.Verdict{}, verdicts...)
	for i := range all {
		v := &all[i]
		v.Of = append([]byte(nil), v.Of...)
		v.Columns = append([][]byte(nil), v.Columns[:min(len(v.Columns), digestColumn+1)]...)
		for j := range v.Columns {
			v.Columns[j] = append([]byte(nil), v.Columns[j]...)
		}
	}
	return all
}

// bytesOf returns how many bytes of a batch the documents of an operation take.
func bytesOf(documents []byte) (n int) {
	for len(documents) > 0 {
		_, entry, rest, ok := nextDocument(documents)
		if !ok {
			return n
		}
		n += index.EntryBytes(entry)
		documents = rest
	}
	return n
}

// addDocuments adds documents of an operation to a batch.
func addDocuments(c *collection, b *index.Batch, documents []byte) error {
	for len(documents) > 0 {
		filter, entry, rest, ok := nextDocument(documents)
		if !ok {
			return errMalformed
		}
		var accepts func(columns [][]byte) bool
		if len(filter) > 0 {
			var err error
			if accepts, err = c.log.filter(c.settings.Fields, filter); err != nil {
				return err
			}
		}
		if err := b.AddEntry(entry, accepts); err != nil {
			return err
		}
		documents = rest
	}
	return nil
}

// one applies an operation that is not a check.
func (m *machine) one(e *ordered.Entry, op []byte) (out outcome, err error) {
	if len(op) == 0 {
		return outcome{err: errMalformed}, nil
	}
	switch op[0] {
	case opPut, opDelete:
		c, rest, err := m.collectionOf(op)
		if err != nil {
			return outcome{err: err}, nil
		}
		if op[0] == opDelete {
			out.removed, err = applied{c.index}.remove(string(rest))
			return out, err
		}
		return m.put(e, c, rest)
	case opCreate, opDrop, opRule:
		var about aboutCollection
		if err := json.Unmarshal(op[1:], &about); err != nil {
			return outcome{err: errMalformed}, nil
		}
		switch op[0] {
		case opCreate:
			return m.create(e, &about)
		case opRule:
			return m.changeRule(e, &about)
		}
		c := m.store.take(about.Name)
		if c == nil {
			return outcome{err: errNoCollection}, nil
		}
		go c.close()
		return outcome{removed: 1}, nil
	}
	return outcome{err: errMalformed}, nil
}

// put applies a put of one document: its id, the digest of its text, and the document.
func (m *machine) put(e *ordered.Entry, c *collection, op []byte) (out outcome, err error) {
	id, rest, _ := sized(op)
	digest, rest, ok := sized(rest)
	if !ok {
		return outcome{err: errMalformed}, nil
	}
	b := c.index.NewBatch()
	if err := addDocuments(c, b, rest); err != nil || b.Len() != 1 {
		return outcome{err: errMalformed}, nil
	}
	c.log.bring(c.index, e.Number)
	out.replaced, err = applied{c.index}.put(b, string(id), digest)
	if errors.Is(err, errTooOld) {
		out.err, err = err, nil
	}
	return out, err
}

// create makes a collection, by the newest rule that all replicas know.
func (m *machine) create(e *ordered.Entry, about *aboutCollection) (out outcome, err error) {
	at := logPlace{epoch: e.Number, rule: e.Knows, brought: []brought{{0, e.Number}}}
	if at.rule > len(m.rules) {
		return out, unknownRule(at.rule, about.Name)
	}
	settings, err := parseSettings(about.Settings)
	if err == nil {
		settings.rule = m.rules[at.rule-1]
		_, err = m.store.optionsOf(about.Name, settings)
	}
	if err != nil { // its sender has looked at them
		return out, fmt.Errorf("collection %s has settings that this program does not take: %v: %w", about.Name, err, ordered.ErrVersion)
	}
	out.made, out.err = m.store.create(about.Name, settings, &at)
	return out, nil
}

// unknownRule says that a replica must not answer, as it would decide by another rule than the others.
func unknownRule(rule int, collection string) error {
	return fmt.Errorf("collection %s has rule %d, which this program does not know: %w", collection, rule, ordered.ErrVersion)
}

// changeRule has a collection decide by another rule: its documents are added anew, in their order.
func (m *machine) changeRule(e *ordered.Entry, about *aboutCollection) (out outcome, err error) {
	c := m.store.get(about.Name)
	if c == nil || c.log.epoch != about.Epoch || about.Rule <= c.log.rule || !c.canChange() {
		return out, nil // others have proposed the same
	}
	if about.Rule > len(m.rules) {
		return out, unknownRule(about.Rule, about.Name)
	}
	settings := c.settings
	settings.rule = m.rules[about.Rule-1]
	o, err := settings.options(m.now)
	if err != nil {
		return outcome{err: err}, nil // the rule does not suit the settings
	}
	x, err := index.New(o)
	if err == nil {
		err = addAll(x, c.index)
	}
	if err != nil {
		return out, err
	}
	old := m.store.take(c.name)
	at := logPlace{epoch: e.Number, rule: about.Rule, brought: []brought{{0, c.log.needs(c.index)}}}
	m.store.put(c.name, settings, x, &at)
	go old.close()
	return outcome{made: true}, nil
}

// addAll adds all documents of an index to another one, in their order.
func addAll(to, from *index.Index) error {
	b := to.NewBatch()
	slots := from.Slots()
	for slot := slots.First; slot < slots.Next; slot++ {
		id, ok, err := slots.ID(slot)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		d, _, err := from.Get(id)
		if err != nil {
			return err
		}
		b.Add(index.Document{ID: d.ID, Text: d.Text, Time: d.Time, Columns: d.Columns})
		if b.Size() > 1<<20 {
			if err := to.Add(b); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return to.Add(b)
}

// canChange tells whether the rule of a collection can be changed, for which its texts are needed.
func (c *collection) canChange() bool { return c.index.Options().Keep == index.KeepText }

// ruleChanges returns the operations by which collections go on to a rule that all replicas know.
func (m *machine) ruleChanges(knows int) (ops [][]byte) {
	for _, name := range m.store.names() {
		c := m.store.get(name)
		if c == nil || c.log.rule >= knows || !c.canChange() {
			continue
		}
		about := aboutCollection{Name: name, Epoch: c.log.epoch, Rule: knows}
		if op, err := about.op(opRule); err == nil {
			ops = append(ops, op)
		}
	}
	return ops
}
