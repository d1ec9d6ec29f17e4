package reread

import (
	"context"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/forecast"
)

// Judged returns representatives in the form that forecasts take.
func (s *Store) Judged(ctx context.Context, docs bitset.Set[uint32]) forecast.Documents {
	return judged{ctx, s, docs}
}

type judged struct {
	ctx     context.Context
	records *Store
	docs    bitset.Set[uint32]
}

// Each implements forecast.Documents.
func (j judged) Each(visit func(d forecast.Document)) error {
	c := j.records.Table.Scanner()
	for doc := range uint32(j.records.Table.Docs) {
		if j.docs.Has(doc) {
			d := c.Doc(doc)
			visit(forecast.Document{Number: doc, Features: d.Features, Digest: d.Digest})
		}
	}
	return c.Err
}

// Sets implements forecast.Documents.
func (j judged) Sets(of []uint32, keep func(uint64) bool, visit func(number uint32, set []uint64)) error {
	wanted := bitset.New[uint32](j.records.Table.Docs)
	for _, doc := range of {
		wanted.Add(doc)
	}
	if err := j.records.PrepareSets(j.ctx, wanted); err != nil {
		return err
	}
	sets := j.records.NewSets(j.ctx)
	defer sets.Close()
	for _, doc := range of {
		set, err := sets.ShareOf(doc, keep)
		if err != nil {
			return err
		}
		visit(doc, set)
	}
	return j.ctx.Err()
}
