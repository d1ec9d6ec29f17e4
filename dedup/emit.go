package dedup

import (
	"context"
	"errors"
	"math"

	"github.com/alike-dev/alike/dedup/internal/expand"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
)

// emitPairs emits the pairs of all documents in order.
func (r *run) emitPairs(ctx context.Context, emit func(Pair) error) (items, bytes int64, err error) {
	o := expand.Options{
		Graph: r.graph(), Table: r.table, Sides: &r.sides, Measure: r.threshold.Measure(), Held: r.config.limits.members, Classes: r.classes.Members,
	}
	if r.config.Candidates != CandidatesExact { // who asks for exact wants every pair
		o.Cap = r.config.BucketCap
	}
	pairs, crowds, err := expand.Pairs(ctx, o, r.edges)
	if err != nil {
		return 0, 0, err
	}
	r.tellCrowds(o.Cap, crowds)
	a, b := r.table.Scanner(), r.table.Cursor()
	last := uint64(math.MaxUint64)
	var idA, idB []byte
	var signature []uint32
	comparer := r.recipe.NewComparer(false)
	err = pairs.Visit(func(e extsort.Entry) error {
		p := graph.PairOf(e.Key)
		if uint64(p.A) != last {
			last = uint64(p.A)
			idA = a.AppendID(idA[:0], p.A)
			if r.config.Shared {
				signature = a.Signature(p.A)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		idB = b.AppendID(idB[:0], p.B)
		shared := 0
		if r.config.Shared {
			shared = comparer.Equal(signature, b.Signature(p.B))
		}
		if err := errors.Join(a.Err, b.Err); err != nil {
			return err
		}
		items++
		return emit(Pair{idA, idB, math.Float64frombits(e.Value), shared})
	})
	return items, 0, errors.Join(err, r.work.Release(pairs))
}

// tellCrowds tells of classes with crowds.
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
