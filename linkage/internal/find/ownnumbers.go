package find

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-dev/alike/candidates"
)

// ownNumbers renumber the items of some records of a table, in the order of these records. Then the choice among
// equally rare items for keys does not depend on the other records that are held.
type ownNumbers struct {
	numbers []uint32 // for each item of the vocabulary; count−1: none of the records has it
	count   int
}

// numberOwn numbers the items of some records. count is the number of items of the vocabulary; hashes has the hash
// of each token, which orders the items of a record.
func numberOwn(count int, some candidates.Items, hashes []uint64) *ownNumbers {
	o := &ownNumbers{numbers: make([]uint32, count)}
	var of []uint32
	for i := range some.Len() {
		of = some.Append(of[:0], i)
		slices.SortFunc(of, func(x, y uint32) int {
			if int(max(x, y)) < len(hashes) {
				return cmp.Compare(hashes[x], hashes[y])
			}
			return cmp.Compare(x, y)
		})
		for _, x := range of {
			if o.numbers[x] == 0 {
				o.count++
				o.numbers[x] = uint32(o.count)
			}
		}
	}
	for x, number := range o.numbers {
		o.numbers[x] = number - 1
		if number == 0 {
			o.numbers[x] = uint32(o.count)
		}
	}
	o.count++
	return o
}

// frequencies returns frequencies of items by their new numbers.
func (o *ownNumbers) frequencies(of []uint32) []uint32 {
	df := make([]uint32, o.count)
	for x, n := range of {
		df[o.numbers[x]] = n
	}
	df[o.count-1] = 0
	return df
}

// renumber replaces items by their new numbers.
func (o *ownNumbers) renumber(items []uint32) {
	for i, x := range items {
		items[i] = o.numbers[x]
	}
}

func (o *ownNumbers) of(records candidates.Items) candidates.Items {
	if s, ok := records.(candidates.Streamed); ok {
		return &renumberedStream{renumbered{records, o}, s}
	}
	return &renumbered{records, o}
}

// renumbered are records with renumbered items.
type renumbered struct {
	candidates.Items
	own *ownNumbers
}

func (r *renumbered) Append(dst []uint32, i int) []uint32 {
	start := len(dst)
	dst = r.Items.Append(dst, i)
	r.own.renumber(dst[start:])
	return dst
}

// renumberedStream is the same for records that are read from front to back.
type renumberedStream struct {
	renumbered
	stream candidates.Streamed
}

func (r *renumberedStream) Each(ctx context.Context, threads int, newVisit candidates.NewVisit) error {
	return r.stream.Each(ctx, threads, func() (func(int, []uint32) error, func() error) {
		visit, end := newVisit()
		return func(i int, items []uint32) error {
			r.own.renumber(items)
			slices.Sort(items)
			return visit(i, slices.Compact(items))
		}, end
	})
}
