package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/alike-dev/alike/candidates"
)

// cut says how to cut a record into features.
type cut struct{ rarest, grams int }

// append adds the features of a cell, which begin with its column.
func (c cut) append(dst []string, column int, cell string) []string {
	prefix := string(rune('A' + column))
	for _, word := range strings.Fields(strings.ToLower(cell)) {
		dst = append(dst, prefix+word)
		for i := 0; c.grams > 0 && i+c.grams <= len(word); i++ {
			dst = append(dst, prefix+"#"+word[i:i+c.grams])
		}
	}
	return dst
}

// fill puts the records of the first table into the left store, and those of the second table, if
// there is one, into the right store. It returns the records' numbers by their ids.
func (j *job) fill(left *candidates.Store, memory int64) (right *candidates.Store, ids map[string]uint32, err error) {
	switch {
	case j.table != "":
		ids, err = j.read(left)
	case j.hostile != "":
		err = hostile(left, j.hostile, j.persons)
	default:
		right, err = persons(left, j.persons, func() *candidates.Store {
			return candidates.NewStore(j.config.Dir, "right", memory)
		})
	}
	if err == nil {
		err = left.Finish()
	}
	return right, ids, err
}

// read puts the records of the table into a store.
func (j *job) read(s *candidates.Store) (map[string]uint32, error) {
	f, err := os.Open(j.table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return nil, err
	}
	ids, numbers := map[string]uint32{}, map[string]uint32{}
	var sets [][]uint32
	var holders []uint32 // by feature
	var cells []string
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		ids[strings.Clone(row[0])] = uint32(len(sets))
		cells = cells[:0]
		for column, cell := range row[1:] {
			cells = j.cut.append(cells, column, cell)
		}
		set := make([]uint32, 0, len(cells))
		for _, c := range cells {
			n, ok := numbers[c]
			if !ok {
				n = uint32(len(numbers))
				numbers[strings.Clone(c)] = n
				holders = append(holders, 0)
			}
			set = append(set, n)
		}
		slices.Sort(set)
		set = slices.Compact(set)
		for _, n := range set {
			holders[n]++
		}
		sets = append(sets, set)
	}
	for _, set := range sets {
		if err := j.cut.add(s, set, holders, len(sets)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// add adds a record, weighted by inverse document frequencies.
func (c cut) add(s *candidates.Store, set, holders []uint32, records int) error {
	if c.rarest > 0 && len(set) > c.rarest {
		slices.SortStableFunc(set, func(a, b uint32) int { return int(holders[a]) - int(holders[b]) })
		set = set[:c.rarest]
		slices.Sort(set)
	}
	features, weights := set[:0], make([]uint32, 0, len(set))
	for _, n := range set {
		if w := weight(holders[n], records); w > 0 {
			features, weights = append(features, n), append(weights, w)
		}
	}
	return s.Append(features, weights)
}

// weight is log(N/(1+holders)) in fixed point, clipped at 0.
func weight(holders uint32, records int) uint32 {
	return uint32(1024 * max(0, math.Log(float64(records)/(1+float64(holders)))))
}

// score prints the number of pairs and their recall.
func (j *job) score(pairs *candidates.Pairs, ids map[string]uint32, records int) error {
	found := map[uint64]bool{}
	n := 0
	for p, err := range pairs.All() {
		if err != nil {
			return err
		}
		if n++; j.truth != "" {
			found[uint64(p.A)<<32|uint64(p.B)] = true
		}
	}
	fmt.Printf("%d pairs, %.2f a record\n", n, float64(n)/float64(records))
	if j.truth == "" {
		return nil
	}
	f, err := os.Open(j.truth)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return err
	}
	hit := 0
	for _, row := range rows[1:] {
		a, b := ids[row[0]], ids[row[1]]
		if found[uint64(min(a, b))<<32|uint64(max(a, b))] {
			hit++
		}
	}
	fmt.Printf("recall %.5f of %d true pairs\n", float64(hit)/float64(len(rows)-1), len(rows)-1)
	return nil
}
