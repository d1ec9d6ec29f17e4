package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/expand"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
)

// emitPairs emits the pairs of all documents in order.
func (r *run) emitPairs(ctx context.Context, emit func(Pair) error) (items, bytes int64, err error) {
	o := expand.Options{
		Graph: r.graph(), Table: r.table, Sides: &r.sides, Measure: r.threshold.Measure(), Held: r.config.limits.members, Classes: r.classes.Members,
	}
	if r.config.Candidates != CandidatesExact { // a caller that asks for exact wants every pair
		o.Cap = r.config.BucketCap
	}
	pairs, crowds, err := expand.Pairs(ctx, o, r.edges)
	if err != nil {
		return 0, 0, err
	}
	r.tellCrowds(o.Cap, crowds)
	err = r.eachNamed(ctx, pairs, func(p Pair) error {
		items++
		return emit(p)
	})
	return items, 0, errors.Join(err, r.work.Release(pairs))
}

// tellCrowds reports classes with crowds.
func (r *run) tellCrowds(limit int, crowds int64) {
	if crowds == 0 {
		return
	}
	r.summary.BucketsCapped += crowds
	remedy := setting.Textf("with %s exact all", setting.Candidates)
	if _, hamming := r.recipe.Distance(); hamming {
		remedy = setting.Textf("with a larger %s all", setting.BucketCap)
	}
	r.config.OnNotice(setting.Textf("texts with more than %d copies: %d; of their pairs, those with the first %d copies are listed, %s",
		limit, crowds, lsh.Hubs, remedy))
}
