package stage

import (
	"errors"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage"
)

// keepOfRecords decides which record each cluster keeps, as package dedup does with links. A record that has the
// name of another one is in no cluster. It holds 17 bytes for each record, and two names for each cluster.
func keepOfRecords(t *task, r *linkage.Result) error {
	if id := t.plan.Join.Rule.GuessedID; id != "" && len(r.Repeated) > 0 {
		return setting.Errorf("the column %q was taken for the ids, and %s is there more than once: name the column with the ids (%s), or - where there is none",
			id, r.Repeated[0], setting.IDField)
	}
	skipped, err := skippedRows(t, r.Left)
	if err != nil {
		return err
	}
	sets, linked := cluster.New(r.Left), int64(0)
	for c := range r.Connecting() {
		if !skipped[c.A] && !skipped[c.B] {
			sets.Union(c.A, c.B)
			linked++
		}
	}
	k := &keptRecords{
		t: t, similarity: r.Similarity, probability: r.ClusterProbability(),
		label: sets.AppendLabels(nil), size: make([]uint32, r.Left), of: map[uint32]*keptRecord{},
	}
	rule := t.plan.Join.Rule
	if c := rule.config(); !rule.Accept && !c.Decides() && !r.Tells() {
		k.undecided = true
		err = t.count(CountUndecided, 1)
	}
	for _, label := range k.label {
		k.size[label]++
	}
	if err == nil {
		err = k.each(k.choose)
	}
	if err == nil {
		err = k.each(k.decide)
	}
	return errors.Join(err, t.count(CountVerified, linked), t.count(CountClusters, int64(len(k.of))))
}

// skippedRows returns, for each record of the table, whether it is skipped because another one has its name.
func skippedRows(t *task, rows int) ([]bool, error) {
	sorted, err := t.sorted(8, Skips)
	if err != nil {
		return nil, err
	}
	skips, skipped := t.lookup(sorted), make([]bool, 0, rows)
	err = t.eachTableRow(func(r *tableRecord) error {
		_, skip := skips.Find(r.position)
		skipped = append(skipped, skip)
		return nil
	})
	if err == nil && len(skipped) != rows {
		err = errParts
	}
	return skipped, err
}

// keptRecords are the clusters of records. The label of a cluster is the number of its first record.
type keptRecords struct {
	t           *task
	similarity  func(a, b int) float64
	probability func(row uint32) (p float64, known bool) // of a record's cluster; nil: there are none that hold
	undecided   bool                                     // nothing is removed
	label       []uint32                                 // of each record
	size        []uint32                                 // by label
	of          map[uint32]*keptRecord
}

// keptRecord is the record that a cluster keeps.
type keptRecord struct {
	first, name []byte // names of the first member and of the kept record
	row         uint32
	file        uint32 // of it
	meta        cluster.Meta
}

// each visits the records of clusters of two or more, in the order of the table. row is the number of the record.
func (k *keptRecords) each(visit func(row uint32, r *tableRecord) error) error {
	row := uint32(0)
	return k.t.eachTableRow(func(r *tableRecord) error {
		at := row
		if row++; k.size[k.label[at]] == 1 {
			return nil
		}
		return visit(at, r)
	})
}

// choose makes a record the one that its cluster keeps, unless an earlier one is preferred.
func (k *keptRecords) choose(row uint32, r *tableRecord) error {
	of := k.of[k.label[row]]
	if of == nil {
		of = &keptRecord{first: append([]byte(nil), r.name...)}
		k.of[k.label[row]] = of
	} else if !k.t.plan.keep.Prefer(row, of.row, r.meta, of.meta) {
		return nil
	}
	of.name, of.row, of.file, of.meta = append(of.name[:0], r.name...), row, fileOf(r.position), r.meta
	return nil
}

// decide emits whether a record is removed, and its similarity to the kept record.
func (k *keptRecords) decide(row uint32, r *tableRecord) error {
	of := k.of[k.label[row]]
	f := fate{
		position: r.position, size: uint64(k.size[k.label[row]]), removed: row != of.row && !k.undecided, similarity: 1,
		name: r.name, first: of.first, kept: of.name, file: of.file, probability: math.NaN(),
	}
	if k.probability != nil {
		if p, known := k.probability(row); known {
			f.probability = p
		}
	}
	if f.removed {
		f.similarity = k.similarity(int(min(row, of.row)), int(max(row, of.row)))
	}
	_, err := f.send(k.t, nil)
	return err
}
