package stage

import (
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
)

// members sends every document of a cluster to the task of the cluster, with all that the choice of
// the kept document needs.
func members(t *task) (err error) {
	labels, err := t.sorted(8, Labels)
	if err != nil {
		return err
	}
	reps, err := t.representatives()
	if err != nil {
		return errors.Join(err, labels.Close())
	}
	sets, err := t.shelved(0, 4, OwnSets)
	if err != nil {
		return errors.Join(err, labels.Close(), reps.Close())
	}
	label, rep, at := extsort.NewLookup(labels), extsort.NewLookup(reps), extsort.NewLookup(sets.sorted)
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
		payload = append(append(payload[:0], r.payload...), set...)
		return t.out.add(Members, t.plan.hashed(l), payload, l, position, of, r.words[1], r.words[2])
	})
	for _, l := range []extsort.Lookup{label, rep, at} {
		err = errors.Join(err, l.Close())
	}
	return errors.Join(err, labels.Close(), reps.Close(), sets.close())
}

// representatives returns the representatives of copies. Key: the copy, Value: its representative.
func (t *task) representatives() (*extsort.Sorted, error) {
	return t.space.Sorted(t.ctx, t.space.Sorting("copies", 8, 64), func(to *extsort.Appender) error {
		return t.each(Copies, func(r row) error { return to.Add(r.words[1], r.words[0]) })
	})
}

// member is a row of Members.
type member struct {
	position, rep uint64
	meta          cluster.Meta
	name, set     []byte
}

func readMember(r row) (m member, err error) {
	m.position, m.rep = r.words[1], r.words[2]
	m.meta.Length, m.meta.HasValue = int64(r.words[3]), r.words[4]&cardHasField != 0
	var field []byte
	if m.name, m.set, err = cutPart(r.payload); err == nil {
		field, m.set, err = cutPart(m.set)
		m.meta.Value = string(field)
	}
	return m, err
}

// clusters decides which document each cluster keeps, and how similar the others are to it.
func clusters(t *task) error {
	shelf, err := t.shelved(0, 4, Members)
	if err != nil {
		return err
	}
	compare := newComparer(t.plan.recipe, true)
	found := int64(0)
	err = shelf.eachGroup(func(_ uint64, rows []uint64) error {
		found++
		return t.cluster(shelf, rows, compare)
	})
	return errors.Join(err, shelf.close(), t.count(CountClusters, found))
}

// eachMember calls visit for the members of a cluster, in ascending order of position, as long as it returns true and no
// error. i counts them from 0 on.
func eachMember(shelf *shelf, rows []uint64, visit func(i int, m member) (more bool, err error)) error {
	for i, at := range rows {
		r, err := shelf.row(at)
		if err != nil {
			return err
		}
		m, err := readMember(r)
		if err != nil {
			return err
		}
		if more, err := visit(i, m); err != nil || !more {
			return err
		}
	}
	return nil
}

// kept is the member that a cluster keeps.
type kept struct {
	i     int    // its number
	rep   uint64 // its representative
	name  []byte
	first []byte // name of the first member
}

// keep chooses the member of a cluster that is kept.
func (t *task) keep(shelf *shelf, rows []uint64) (k kept, err error) {
	of := cluster.Meta{}
	err = eachMember(shelf, rows, func(i int, m member) (bool, error) {
		if i == 0 {
			k.first = slices.Clone(m.name)
		}
		if i == 0 || t.plan.keep.Prefer(uint32(i), uint32(k.i), m.meta, of) {
			of, k.i, k.rep, k.name = m.meta, i, m.rep, append(k.name[:0], m.name...)
		}
		return true, nil
	})
	return k, err
}

// cluster decides about one cluster.
func (t *task) cluster(shelf *shelf, rows []uint64, compare *comparer) error {
	k, err := t.keep(shelf, rows)
	if err != nil {
		return err
	}
	err = eachMember(shelf, rows, func(_ int, m member) (more bool, err error) {
		if m.position != k.rep {
			return true, nil
		}
		compare.load(0, m.set)
		return false, nil
	})
	if err != nil {
		return err
	}
	var reps []uint64 // ascending, as members come
	var similarities []float64
	var payload []byte
	return eachMember(shelf, rows, func(i int, m member) (bool, error) {
		if m.position == m.rep { // a representative comes before its copies
			similarity := 1.0
			if m.rep != k.rep {
				compare.load(1, m.set)
				similarity, _ = compare.compare()
			}
			reps, similarities = append(reps, m.rep), append(similarities, similarity)
		}
		at, known := slices.BinarySearch(reps, m.rep)
		if !known {
			return false, errParts
		}
		removed := uint64(0)
		if i != k.i {
			removed = 1
		}
		payload = appendPart(appendPart(appendPart(payload[:0], m.name), k.first), k.name)
		return true, t.out.add(Fates, t.plan.TaskOf(m.position), payload, m.position, removed, math.Float64bits(similarities[at]))
	})
}

// write makes the lists of a task's documents, and has the kept ones copied to the output.
func write(t *task) error {
	fates, err := t.shelved(0, 4, Fates)
	if err != nil {
		return err
	}
	repeats := int64(0)
	dropped, err := t.space.Sorted(t.ctx, t.space.Sorting("dropped", 8, 64), func(to *extsort.Appender) error {
		if err := t.lists(fates, to); err != nil {
			return err
		}
		err := t.each(Repeats, func(r row) error { repeats++; return to.Add(r.words[0], 0) })
		if err != nil {
			return err
		}
		return t.each(Damaged, func(r row) error { return to.Add(r.words[0], 0) })
	})
	err = errors.Join(err, fates.close(), t.count(CountSkipped, repeats))
	if err != nil {
		return err
	}
	drops := extsort.NewLookup(dropped)
	err = t.in.Keep(t.ctx, func(position uint64) bool { _, dropped := drops.Find(position); return !dropped })
	if err = errors.Join(err, drops.Close()); err == nil {
		err = dropped.Visit(func(e extsort.Entry) error { return t.out.add(Drops, t.number, nil, e.Key) })
	}
	return errors.Join(err, dropped.Close())
}

// lists writes the lines of removed.csv and clusters.csv, and adds the removed documents to a sorter.
func (t *task) lists(fates *shelf, to *extsort.Appender) error {
	removed, all := t.text(RemovedText), t.text(ClustersText)
	n := int64(0)
	var similarity []byte
	err := fates.each(func(position uint64, r row) error {
		name, rest, err := cutPart(r.payload)
		if err != nil {
			return err
		}
		label, rest, err := cutPart(rest)
		if err != nil {
			return err
		}
		kept, _, err := cutPart(rest)
		if err != nil {
			return err
		}
		if err := all.Write([]string{string(name), string(label)}); err != nil || r.words[1] == 0 {
			return err
		}
		n++
		similarity = measure.AppendSimilarity(similarity[:0], math.Float64frombits(r.words[2]))
		if err := removed.Write([]string{string(name), string(kept), string(similarity)}); err != nil {
			return err
		}
		return to.Add(position, 0)
	})
	all.Flush()
	removed.Flush()
	return errors.Join(err, all.Error(), removed.Error(), t.count(CountRemoved, n))
}
