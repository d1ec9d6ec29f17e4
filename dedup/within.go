package dedup

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/recipe"
)

// Within counts what belongs to each value of Config.Within, or of Config.By.
type Within struct {
	Field string `json:"field"`
	// Values are the first 10,000 values of the input, those with the most documents first.
	Values []ValueCounts `json:"values"`
	// Others are the documents of further values, and of values of more than 256 bytes; nil: there are none.
	Others *ValueCounts `json:"others,omitempty"`

	at map[string]int // in Values
}

// ValueCounts are the documents and pairs of a value.
type ValueCounts struct {
	Value     string `json:"value"`             // empty: records have none
	Documents int64  `json:"documents"`         // usable ones of the inputs
	Removed   int64  `json:"removed,omitempty"` // of them; with Tags, those that would be removed
	Pairs     int64  `json:"pairs,omitempty"`
}

const (
	mostValues = 10000
	mostValue  = 256 // bytes
)

// NewWithin returns counts by a field, of no documents yet.
func NewWithin(field string) *Within {
	return &Within{Field: field, Values: []ValueCounts{}, at: map[string]int{}}
}

func (w *Within) of(value []byte) *ValueCounts {
	if i, ok := w.at[string(value)]; ok {
		return &w.Values[i]
	}
	if len(w.Values) == mostValues || len(value) > mostValue {
		if w.Others == nil {
			w.Others = &ValueCounts{}
		}
		return w.Others
	}
	w.at[string(value)] = len(w.Values)
	w.Values = append(w.Values, ValueCounts{Value: string(value)})
	return &w.Values[len(w.Values)-1]
}

// Add adds documents of the input, removed ones of them, and pairs, of a value that may have others already.
func (w *Within) Add(value []byte, documents, removed, pairs int64) {
	c := w.of(value)
	c.Documents, c.Removed, c.Pairs = c.Documents+documents, c.Removed+removed, c.Pairs+pairs
}

// ByRemoved returns the values with the most removed documents first.
func (w *Within) ByRemoved() []ValueCounts {
	return sorting.Sorted(slices.Values(w.Values), func(a, b ValueCounts) int {
		return cmp.Or(cmp.Compare(b.Removed, a.Removed), cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Value, b.Value))
	})
}

// Order puts the values with the most documents first, after the last call of Add.
func (w *Within) Order() {
	sorting.Func(w.Values, func(a, b ValueCounts) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Value, b.Value))
	})
}

// Counted returns Within or By; nil: documents were not counted by a field.
func (s *Summary) Counted() *Within { return cmp.Or(s.Within, s.By) }

// withinOf returns the hash of a record's value.
func (s *settings) withinOf(record *corpus.Record) recipe.Within {
	if at := s.valueAt; s.Within != "" && at < len(record.Fields) {
		return recipe.WithinOf(record.Fields[at])
	}
	return s.recipe.WithinNone()
}

// Missing tells whether no document has the field, so that it may be another one than its user thinks.
func (w *Within) Missing() bool {
	return len(w.Values) == 1 && w.Values[0].Value == "" && w.Others == nil
}

// MissingNotice says that no document has the field of Config.Within.
func (w *Within) MissingNotice() Notice {
	return setting.Textf("no document has a field %q: %s compares all with each other", w.Field, setting.Within)
}

// countRemoved counts removed documents by value.
func (w *Within) countRemoved(t *doctable.Table, of *clusters.Result) error {
	c := t.Scanner()
	for i := range w.Values {
		w.Values[i].Removed = 0 // of an earlier round
	}
	if w.Others != nil {
		w.Others.Removed = 0
	}
	for doc := range t.Known.All() {
		w.of(c.Within(doc)).Removed++
	}
	err := of.Removed.Visit(func(e extsort.Entry) error {
		w.of(c.Within(uint32(e.Key))).Removed++
		return c.Err
	})
	return cmp.Or(err, c.Err)
}

// countPairs counts pairs by value.
func (w *Within) countPairs(t *doctable.Table, pairs *extsort.Sorted) error {
	c := t.Scanner()
	return pairs.Visit(func(e extsort.Entry) error {
		w.of(c.Within(uint32(e.Key>>32))).Pairs++
		return c.Err
	})
}

// sameValues is an error if two documents that were found equal or similar have different values. Only two values with
// equal hashes get so far.
func (s *search) sameValues(ctx context.Context, found *extsort.Sorted, pairOf func(extsort.Entry) (a, b uint32)) error {
	if s.recipe.Within() == "" {
		return nil
	}
	a, b := s.docs.table.Scanner(), s.docs.table.Cursor()
	return found.Visit(func(e extsort.Entry) error {
		x, y := pairOf(e)
		one, other := a.Within(x), b.Within(y)
		if err := cmp.Or(a.Err, b.Err, ctx.Err()); err != nil {
			return err
		}
		if !bytes.Equal(one, other) {
			return fmt.Errorf("the values %q and %q of the field %q have the same hash, so that documents of both were compared: write one of them in another way", one, other, s.recipe.Within())
		}
		return nil
	})
}
