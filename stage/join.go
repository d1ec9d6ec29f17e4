package stage

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
)

// A Join without a Rule finds all pairs of a left and a right record that reach a similarity:
//
//	records → count → weigh → bands → meet → vectors → score → write
//	          df      weights keys    pairs  records   links
//
// The links are those of package linkage with a threshold, the match rule all and candidates by lsh.

// countTokens counts, for each token, the records of the task and the values of each column that have it.
// The counts of records have the number of one more column, behind the last one.
func countTokens(t *task) error {
	c := newRowCutter(t.plan.Join)
	whole := len(t.plan.Join.Columns)
	filled := make([]uint64, whole+1+tables)
	rows := map[uint64]uint64{} // of each file
	sorted, err := t.sort("tokens", 2, func(to *extsort.Appender) error {
		n, err := t.eachRecord(c, everything, func(d *Document, r *tableRow) error {
			rows[d.Position>>32]++
			for f, tokens := range r.columns {
				if r.values[f] {
					filled[f]++
				}
				for _, token := range tokens {
					if err := to.Add(token, uint64(f)); err != nil {
						return err
					}
				}
			}
			for _, token := range r.all {
				if err := to.Add(token, uint64(whole)); err != nil {
					return err
				}
			}
			if len(r.all) > 0 {
				filled[whole]++
			}
			filled[whole+1+t.plan.tableOf(t.number)] += uint64(len(r.all))
			return nil
		})
		return errors.Join(err, t.count(CountRead, n.Read), t.count(CountSkipped, n.Skipped))
	})
	if err != nil {
		return err
	}
	if err = sendTableRows(t, rows); err == nil {
		err = sendFilled(t, filled)
	}
	if err != nil {
		return err
	}
	return sendCounts(t, sorted)
}

// sendTableRows sends the number of rows of each file to all tasks that read the same table.
func sendTableRows(t *task, rows map[uint64]uint64) error {
	for _, file := range slices.Sorted(maps.Keys(rows)) {
		for task := range t.plan.FirstFiles {
			if t.plan.tableOf(task) != t.plan.tableOf(t.number) {
				continue
			}
			if err := t.out.add(TableRows, task, nil, file, rows[file]); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendFilled sends the numbers of values to every partition.
func sendFilled(t *task, filled []uint64) error {
	for of, n := range filled {
		for p := 0; n > 0 && p < t.plan.Partitions; p++ {
			if err := t.out.add(Filled, p, nil, uint64(of), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendCounts counts equal entries, and sends each count to the partition of the token.
func sendCounts(t *task, sorted *extsort.Sorted) error {
	last, n := extsort.Entry{}, uint64(0)
	flush := func() error {
		if n == 0 {
			return nil
		}
		return t.out.add(TokenCounts, t.plan.hashed(last.Key), nil, last.Key, last.Value, n, uint64(t.number))
	}
	err := sorted.Visit(func(e extsort.Entry) error {
		if e != last {
			if err := flush(); err != nil {
				return err
			}
			last, n = e, 0
		}
		n++
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// weigh computes the weights of tokens, and sends each to the tasks whose records have the token.
func weigh(t *task) error {
	j := t.plan.Join
	whole := len(j.Columns)
	filled, err := readFilled(t, whole+1+tables)
	if err != nil {
		return err
	}
	small := leftTable // as in package candidates
	if filled[whole+1+rightTable] <= filled[whole+1+leftTable] {
		small = rightTable
	}
	counts, err := t.shelved(0, 4, TokenCounts)
	if err != nil {
		return err
	}
	var payload []byte
	df := make([]uint64, whole+1)
	var tasks []int // that have a token, ascending
	return counts.eachGroup(func(token uint64, rows []uint64) error {
		clear(df)
		tasks = tasks[:0]
		inSmall := false
		for _, at := range rows {
			r, err := counts.row(at)
			if err != nil {
				return err
			}
			if r.words[1] > uint64(whole) || r.words[3] >= uint64(len(t.plan.FirstFiles)) {
				return errParts
			}
			df[r.words[1]] += r.words[2]
			if task := int(r.words[3]); len(tasks) == 0 || tasks[len(tasks)-1] != task { // rows come in the order of tasks
				tasks = append(tasks, task)
				inSmall = inSmall || t.plan.tableOf(task) == small
			}
		}
		payload = payload[:0]
		for f, n := range df[:whole] {
			if n > 0 {
				payload = binary.LittleEndian.AppendUint16(payload, uint16(f))
				payload = binary.LittleEndian.AppendUint16(payload, j.weight(n, filled[f]))
			}
		}
		weight := uint64(j.inColumns(j.weight(df[whole], filled[whole]), df[:whole]))
		if inSmall {
			weight |= weightShared
		}
		for _, task := range tasks {
			flags := weight
			if t.plan.tableOf(task) != small {
				flags |= weightLarge
			}
			if err := t.out.add(TokenWeights, task, payload, token, flags); err != nil {
				return err
			}
		}
		return nil
	})
}

// readFilled adds up what sendFilled of all tasks has sent.
func readFilled(t *task, n int) ([]uint64, error) {
	filled := make([]uint64, n)
	err := t.each(Filled, func(r row) error {
		if r.words[0] >= uint64(len(filled)) {
			return errParts
		}
		filled[r.words[0]] += r.words[1]
		return nil
	})
	return filled, err
}

// inColumns scales a token's weight where columns have different weights: by the heaviest column that
// has the token, as a share of the heaviest column of all.
func (j *Tables) inColumns(weight uint16, df []uint64) uint16 {
	heaviest, own, same := 0.0, 0.0, true
	for f, c := range j.Columns {
		heaviest, same = max(heaviest, c.Weight), same && c.Weight == j.Columns[0].Weight
		if df[f] > 0 {
			own = max(own, c.Weight)
		}
	}
	if same {
		return weight
	}
	return weighing.OfColumn(weight, own/heaviest)
}

// cutBands makes the band keys of records. It leaves out records of the table with more tokens that
// cannot reach the threshold with any record of the other table.
func cutBands(t *task) error {
	j := t.plan.Join
	c := newRowCutter(j)
	weights, err := newTokenWeights(t)
	if err != nil {
		return err
	}
	threshold, err := j.threshold()
	if err != nil {
		return err
	}
	keyer, err := bands.NewKeyer(j.params(), j.Measure == measure.Cosine, 0)
	if err != nil {
		return err
	}
	side := uint64(0)
	if t.plan.tableOf(t.number) == rightTable {
		side = bands.RightBit
	}
	var keys []uint64
	var w []uint32
	_, err = t.eachRecord(c, everything, func(d *Document, r *tableRow) error {
		if len(r.all) == 0 {
			return nil
		}
		w = w[:0]
		shared, size := uint64(0), uint64(0)
		for _, token := range r.all {
			n, err := weights.number(token)
			if err != nil {
				return err
			}
			w = append(w, uint32(weights.record[n]))
			mass := j.scale().Mass(weights.record[n])
			if size += mass; weights.shared[n] {
				shared += mass
			}
		}
		if weights.large && !threshold.Reached(shared, shared, size) {
			return nil
		}
		keys = keyer.AppendKeys(keys[:0], r.all, w)
		for _, key := range keys {
			if err := t.out.add(RowKeys, t.plan.hashed(key), nil, key, side|d.Position); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// meet makes candidate pairs of records that share keys, and asks for both records of each.
func meet(t *task) error {
	keys, err := t.sorted(4, RowKeys)
	if err != nil {
		return err
	}
	found, err := t.sort("candidates", 4, func(to *extsort.Appender) error {
		b := bands.Bucketer{Across: true, Emit: to.Add}
		err := keys.Each(t.ctx, 1, func(_ int, part []extsort.Entry, more bool) error { return b.Part(part, more) })
		return errors.Join(err, t.count(CountCapped, b.Capped))
	})
	if err != nil {
		return err
	}
	wants, err := t.sort("wants", 4, func(to *extsort.Appender) error {
		return found.VisitOnce(func(e extsort.Entry) error { // a pair may share several keys
			task := t.plan.hashed(e.Key)
			return errors.Join(
				t.out.add(Candidates, task, nil, e.Key, e.Value), to.Add(e.Key, uint64(task)), to.Add(e.Value, uint64(task)),
			)
		})
	})
	if err != nil {
		return err
	}
	return t.ask(RowWants, wants)
}

// vectors sends the records of candidate pairs to the tasks that compare them.
func vectors(t *task) error {
	wants, err := newWants(t, 4, RowWants)
	if err != nil {
		return err
	}
	c := newRowCutter(t.plan.Join)
	weights, err := newTokenWeights(t)
	if err != nil {
		return err
	}
	before, err := rowsBefore(t)
	if err != nil {
		return err
	}
	var payload []byte
	_, err = t.eachRecord(c, wants.has, func(d *Document, r *tableRow) error {
		if d.Made {
			d.Name = strconv.AppendUint(nil, before[d.Position>>32]+d.Row, 10)
		}
		others := d.Fields[len(t.plan.Join.Columns):]
		if payload, err = weights.appendRecord(payload[:0], d.Name, others, r); err != nil {
			return err
		}
		return wants.send(Records, d.Position, payload)
	})
	return wants.end(err)
}

// rowsBefore returns, for each file of the task, how many records of its table are in earlier files.
func rowsBefore(t *task) (map[uint64]uint64, error) {
	rows := map[uint64]uint64{}
	if err := t.each(TableRows, func(r row) error { rows[r.words[0]] = r.words[1]; return nil }); err != nil {
		return nil, err
	}
	before, sum := map[uint64]uint64{}, uint64(0)
	for _, file := range slices.Sorted(maps.Keys(rows)) {
		before[file] = sum
		sum += rows[file]
	}
	return before, nil
}

// appendRecord appends a record in the form that stage score reads: its name, the values of the other columns,
// then for each compared column 0 if it is empty, or 1 + the number of its tokens, and each token with its weights.
func (w *tokenWeights) appendRecord(dst, name []byte, others [][]byte, r *tableRow) ([]byte, error) {
	dst = appendPart(dst, name)
	for _, value := range others {
		dst = appendPart(dst, value)
	}
	for f, tokens := range r.columns {
		if !r.values[f] {
			dst = binary.AppendUvarint(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(tokens))+1)
		for _, token := range tokens {
			n, err := w.number(token)
			if err != nil {
				return dst, err
			}
			dst = binary.LittleEndian.AppendUint64(dst, token)
			dst = binary.LittleEndian.AppendUint16(dst, w.record[n])
			dst = binary.LittleEndian.AppendUint16(dst, w.inColumn(n, f))
		}
	}
	return dst, nil
}

// links sorts the lines of links by the left records.
func links(t *task) error {
	found, err := t.shelved(0, 4, Links)
	if err != nil {
		return err
	}
	n := int64(0)
	err = found.each(func(_ uint64, r row) error { // the links of one left record come from one task, in order
		n++
		return t.out.add(LinksText, 0, r.payload)
	})
	return errors.Join(err, t.count(CountPairs, n))
}
