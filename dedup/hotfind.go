package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/dedup/internal/hot"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
)

// withHotPairs returns the pairs that met, with those within the distance that only buckets
// over the cap have. It tells of how many documents pairs may be missing.
func (r *run) withHotPairs(ctx context.Context, met *group.Met) (pairs *extsort.Sorted, err error) {
	missed := int64(0)
	err = r.clock.stage("join", 0, func() (items, bytes int64, err error) {
		if pairs, missed, err = hot.Within(ctx, r.hotOptions(), met.Pairs, met.Hot); err != nil {
			return 0, 0, err
		}
		return pairs.Len(), 0, nil
	})
	if missed > 0 {
		r.config.OnNotice(setting.Textf("documents in buckets of more than %d: %d were not compared with all of their buckets, only with the first %d and some others, "+
			"so pairs of them may be missing; raise %s, or take a smaller %s", r.config.BucketCap, missed, lsh.Hubs, setting.BucketCap, setting.Distance))
	}
	return pairs, err
}

// joinHot joins the documents in buckets over the cap, of members, as far as that is worth
// it. It tells of how many documents pairs may be missing.
func (r *run) joinHot(ctx context.Context, members *extsort.Sorted) (h hot.Joined, err error) {
	if members.Len() == 0 {
		return h, nil
	}
	var levels *extsort.Sorted
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		levels, err = hot.Levels(ctx, r.hotOptions(), members)
		return 0, 0, err
	})
	if err != nil {
		return h, err
	}
	h.Missed = levels.Len()
	if r.recipe.BySets() && (r.recipe.MinKeys() == 1 || r.recipe.Sample().Size > 0) {
		err = r.clock.stage("join", 0, func() (items, bytes int64, err error) {
			if h, err = hot.Join(ctx, r.hotOptions(), levels); err != nil {
				return 0, 0, err
			}
			r.summary.Candidates += h.Edges.Len()
			return h.Edges.Len(), 0, nil
		})
	}
	if err == nil && h.Missed > 0 {
		r.config.OnNotice(setting.Textf("documents in buckets of more than %d: %d were compared with the first %d of their buckets only, "+
			"so pairs of them may be missing; raise %s, or find them with %s exact", r.config.BucketCap, h.Missed, lsh.Hubs, setting.BucketCap, setting.Candidates))
	}
	if err = errors.Join(err, r.work.Release(levels)); err != nil {
		return hot.Joined{}, errors.Join(err, r.work.ReleaseAll(h.Edges))
	}
	return h, nil
}

func (r *run) hotOptions() hot.Options {
	return hot.Options{
		Graph: r.graph(), Sides: &r.sides, Cap: r.config.BucketCap, Log: r.log,
		Join: r.joinOptions(), Forecast: r.forecastOptions(), Budget: r.config.limits.hot,
	}
}
