package judge

import (
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// HoldAll sets the memory that the tables and the data about their values take from now on. It returns an error if there is
// not enough.
func HoldAll(t *find.Finder) error {
	rows := t.Records[0] + t.Records[1]
	b := t.Numbering.Bytes() + t.Sieved.Bytes() + perFound*int64(min(model.MostSampled, 2*find.FirstK*rows)) // candidates to learn from
	for _, table := range t.All() {
		b += table.Bytes() + 8*int64(table.Rows()) // the sizes of records
	}
	items := t.Numbering.Tokens() // and values
	for f := range t.Left.Columns {
		values, tokens := t.Numbering.Column(f).Sizes()
		b += 9*int64(values) + 2*int64(tokens) // rarity and words; weights
		if t.Numbering.Column(f).Points() != nil {
			b += 8 * int64(values) // coordinates
		}
		items += values
	}
	b += 8 * int64(t.Numbering.Tokens()) // weights, and frequencies while weights are made of them
	ofKeys := int64(items) * int64(2+4*len(t.All()))
	if b += ofKeys; t.Right == nil {
		t.Memory.Keys = ofKeys
	}
	return t.Memory.Hold(b, "the tables take")
}

// perFound is the memory of a candidate, without its levels: its records and similarity, and the results of judging
// and deciding.
const perFound = 64

func bytesOf(found *compare.Comparison) int64 {
	return int64(cap(found.Levels)) + perFound*int64(len(found.Pairs))
}

// mayHold returns an error if there is no memory for the candidates found so far, while candidates are read from a sorter, which
// uses up to a quarter of the memory for sorting. Data about keys are no longer needed then.
func (e *Examiner) mayHold() error {
	m := e.finder.Memory
	return m.Check(m.Held-m.Keys+m.Sorting()/4+bytesOf(e.Found), "the tables and their likely matches take")
}
