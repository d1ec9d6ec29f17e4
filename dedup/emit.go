package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/expand"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
)

// emitPairs emits the pairs of all documents in order.
func emitPairs(ctx context.Context, j *job, f *found, emit func(Pair) error) error {
	return j.account.stage("emit", 0, func() (items, bytes int64, err error) {
		o := expand.Options{
			Graph: f.graph(), Table: f.docs.table, Sides: &f.sides, Measure: j.threshold.Measure(), Held: j.limits.members, Classes: f.classes.Members,
		}
		if j.Method != MethodExact { // a caller that asks for exact wants every pair
			o.Cap = j.BucketCap
		}
		pairs, crowds, err := expand.Pairs(ctx, o, f.edges)
		if err != nil {
			return 0, 0, err
		}
		tellCrowds(j.account, o.Cap, crowds, f.byDistance())
		if w := j.account.Within; w != nil {
			if err := w.countPairs(f.docs.table, pairs); err != nil {
				return 0, 0, errors.Join(err, j.space.Release(pairs))
			}
		}
		n := &naming{table: f.docs.table, threads: j.space.Threads, places: j.Places}
		if j.Shared {
			n.recipe = &f.how.recipe
		}
		err = n.each(ctx, pairs, func(p Pair) error {
			items++
			return emit(p)
		})
		return items, 0, errors.Join(err, j.space.Release(pairs))
	})
}

// tellCrowds reports classes with crowds.
func tellCrowds(a *account, limit int, crowds int64, byDistance bool) {
	if crowds == 0 {
		return
	}
	a.BucketsCapped += crowds
	remedy := setting.Textf("with %s exact all", setting.Candidates)
	if byDistance {
		remedy = setting.Textf("with a larger %s all", setting.BucketCap)
	}
	a.settings.OnNotice(setting.Textf("texts with more than %d copies: %d; of their pairs, those with the first %d copies are listed, %s",
		limit, crowds, lsh.Hubs, remedy))
}

// emitSketches emits the signatures of all documents in order.
func emitSketches(ctx context.Context, j *job, docs *documents, emit func(Fingerprint) error) error {
	return j.account.stage("emit", 0, func() (items, bytes int64, err error) {
		t := docs.table
		c := t.Scanner()
		var id, packed []byte
		for i := range t.Docs {
			doc := uint32(i)
			if t.Skipped.Has(doc) {
				continue
			}
			id = c.AppendID(id[:0], doc)
			features := int(c.Doc(doc).Features)
			signature := c.Signature(doc)
			if err := errors.Join(c.Err, ctx.Err()); err != nil {
				return items, 0, err
			}
			packed = j.recipe.AppendBinary(packed[:0], signature)
			f := Fingerprint{ID: id, Packed: packed, Features: features}
			if j.Texts == nil {
				f.Signature = signature
			}
			if err := emit(f); err != nil {
				return items, 0, err
			}
			items++
		}
		return items, 0, nil
	})
}
