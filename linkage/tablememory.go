package linkage

import (
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// holdAll sets the memory that the tables and the data about their values take from now on.
func (t *tables) holdAll() error {
	rows := t.result.Left + t.result.Right
	b := t.numbering.Bytes() + t.sieved.bytes() + perFound*int64(min(model.MostSampled, 2*firstK*rows)) // candidates to learn from
	for _, table := range t.all() {
		b += table.Bytes() + 8*int64(table.Rows()) // the sizes of records
	}
	items := t.numbering.Tokens() // and values
	for f := range t.left.Columns {
		values, tokens := t.numbering.Column(f).Sizes()
		b += 9*int64(values) + 2*int64(tokens) // rarity and words; weights
		if t.numbering.Column(f).Points() != nil {
			b += 8 * int64(values) // coordinates
		}
		items += values
	}
	b += 8 * int64(t.numbering.Tokens()) // weights, and frequencies while weights are made of them
	ofKeys := int64(items) * int64(2+4*len(t.all()))
	if b += ofKeys; t.right == nil {
		t.memory.keys = ofKeys
	}
	return t.memory.hold(b, "the tables take")
}

// perFound is the memory of a candidate, without its levels: its records and similarity, and the results of judging
// and deciding.
const perFound = 64

func bytesOf(found *compare.Comparison) int64 {
	return int64(cap(found.Levels)) + perFound*int64(len(found.Pairs))
}

// mayHold returns an error if there is no memory for likely candidates, while candidates are read from a sorter, which
// uses up to a quarter of the memory for sorting. Data about keys are no longer needed then.
func (t *tables) mayHold(found *compare.Comparison) error {
	return t.memory.check(t.memory.held-t.memory.keys+t.memory.sorting()/4+bytesOf(found), "the tables and their likely matches take")
}
