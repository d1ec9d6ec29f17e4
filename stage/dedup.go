package stage

import (
	"errors"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
)

// members sends every document of a cluster to the task of the cluster, with all that the choice of
// the kept document needs.
func members(t *task) error {
	labels, err := t.sorted(8, Labels)
	if err != nil {
		return err
	}
	reps, err := t.sortedBy(2, 0, 8, Copies)
	if err != nil {
		return err
	}
	sets, err := t.shelved(0, 4, OwnSets)
	if err != nil {
		return err
	}
	label, rep, at := t.lookup(labels), t.lookup(reps), t.lookup(sets.sorted)
	renames, err := t.sorted(8, when(t.plan.References > 0, Renames))
	if err != nil {
		return err
	}
	renamed := t.lookup(renames)
	var payload []byte
	err = t.each(Cards, func(r row) error {
		position := r.words[0]
		l, ok := label.Find(position)
		if !ok {
			return nil
		}
		of, copied := rep.Find(position)
		if !copied {
			of = position
		}
		var set []byte
		if offset, ok := at.Find(position); ok {
			found, err := sets.row(offset)
			if err != nil {
				return err
			}
			set = found.payload
		}
		_, other := renamed.Find(position)
		if payload, err = appendCard(t, payload[:0], r.payload, other); err != nil {
			return err
		}
		return t.out.add(Members, t.plan.hashed(l), append(payload, set...), l, position, of, r.words[1], r.words[2])
	})
	if err == nil && t.plan.Star {
		err = sendStarEdges(t, labels)
	}
	return err
}

// appendCard appends the name, field and value of a card; of a reference, the other one of its two names if that is wanted.
func appendCard(t *task, dst, card []byte, other bool) ([]byte, error) {
	if !t.ofReferences() {
		return append(dst, card...), nil
	}
	name, rest, err := cutPart(card)
	if err != nil {
		return dst, err
	}
	field, rest, err := cutPart(rest)
	if err != nil {
		return dst, err
	}
	place, rest, err := cutPart(rest)
	if other {
		name = place
	}
	return append(appendPart(appendPart(dst, name), field), rest...), err
}

// sendStarEdges sends the edges whose first document belongs to the task to the task of their cluster.
func sendStarEdges(t *task, labels *extsort.Sorted) error {
	edges, err := t.sorted(4, edgeStreams(t.plan)...)
	if err != nil {
		return err
	}
	label := t.lookup(labels)
	return edges.Visit(func(e extsort.Entry) error {
		l, ok := label.Find(e.Key)
		if !ok {
			return errors.Join(errParts, label.Err())
		}
		return t.out.add(StarEdges, t.plan.hashed(l), nil, l, e.Key, e.Value)
	})
}

// member is a row of Members.
type member struct {
	position, rep uint64
	meta          cluster.Meta
	name, set     []byte
	within        []byte
}

func readMember(p *Plan, r row) (m member, err error) {
	m.position, m.rep = r.words[1], r.words[2]
	m.meta.Length, m.meta.HasValue = int64(r.words[3]), r.words[4]&cardHasField != 0
	var field []byte
	if m.name, m.set, err = cutPart(r.payload); err == nil {
		field, m.set, err = cutPart(m.set)
		m.meta.Value = string(field)
	}
	if err == nil {
		m.within, m.set, err = p.within().cut(m.set)
	}
	return m, err
}

// write makes the lists of a task's documents, and has the kept ones copied to the output.
func write(t *task) error {
	fates, err := t.shelved(0, 4, Fates)
	if err != nil {
		return err
	}
	repeats := int64(0)
	dropped, err := t.sort("dropped", 8, func(to *extsort.Appender) error {
		if err := writeLists(t, fates, to); err != nil {
			return err
		}
		err := t.each(Repeats, func(r row) error { repeats++; return to.Add(r.words[0], 0) })
		if err != nil {
			return err
		}
		return t.each(Damaged, func(r row) error { return to.Add(r.words[0], 0) })
	})
	skipped := CountSkipped
	if t.ofReferences() {
		skipped = CountReferencesSkipped
	}
	err = errors.Join(err, t.count(skipped, repeats))
	if err == nil && !t.ofReferences() {
		err = countValues(t, dropped)
	}
	if err == nil && !t.ofReferences() {
		err = keepRecords(t, fates, dropped)
	}
	if err == nil {
		err = writeKeptList(t, dropped)
	}
	if err != nil {
		return err
	}
	return dropped.Visit(func(e extsort.Entry) error {
		if t.plan.Tags.tagged(e.Value) {
			return nil
		}
		return t.out.add(Drops, t.number, nil, e.Key)
	})
}

// keepRecords has the records copied that are not dropped, with tags if they are wanted.
func keepRecords(t *task, fates *shelf, dropped *extsort.Sorted) error {
	drops := t.lookup(dropped)
	keeps := func(position uint64) bool {
		how, dropped := drops.Find(position)
		return !dropped || t.plan.Tags.tagged(how)
	}
	if t.plan.Tags == nil {
		return t.in.Keep(t.ctx, keeps, Edits{})
	}
	tags, err := newTagger(t, fates)
	if err != nil {
		return err
	}
	if t.plan.Tags.Rows {
		return tags.send(t, keeps)
	}
	return t.in.Keep(t.ctx, keeps, Edits{Tag: tags.of})
}

// writeKeptList writes the names of kept documents that are files of their own.
func writeKeptList(t *task, dropped *extsort.Sorted) error {
	if !t.plan.Listed || t.ofReferences() {
		return nil
	}
	drops := t.lookup(dropped)
	var line []byte
	return t.each(Cards, func(r row) error {
		if _, drop := drops.Find(r.words[0]); drop || r.words[2]&cardWhole == 0 {
			return nil
		}
		name, _, err := cutPart(r.payload)
		line = append(engine.AppendLineName(line[:0], name), '\n')
		return errors.Join(err, t.out.add(KeptText, 0, line))
	})
}

// writeLists writes the lines of removed.csv and clusters.csv, and adds the removed documents to a sorter.
func writeLists(t *task, fates *shelf, to *extsort.Appender) error {
	removed, all := t.text(RemovedText), t.text(ClustersText)
	n := int64(0)
	var similarity []byte
	err := fates.each(func(position uint64, r row) error {
		f, err := readFate(r)
		if err != nil {
			return err
		}
		member := []string{string(f.name), string(f.first)}
		if t.plan.Join != nil {
			member = append(member, f.shownProbability())
		}
		if err := all.Write(member); err != nil || !f.removed {
			return err
		}
		if n++; t.plan.Tags != nil { // nothing is removed
			return to.Add(position, isRemoved)
		}
		similarity = measure.AppendSimilarity(similarity[:0], f.similarity)
		if err := removed.Write([]string{string(f.name), string(f.kept), string(similarity)}); err != nil {
			return err
		}
		return to.Add(position, isRemoved)
	})
	all.Flush()
	removed.Flush()
	return errors.Join(err, all.Error(), removed.Error(), t.count(CountRemoved, n))
}
