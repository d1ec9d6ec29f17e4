package stage

import (
	"errors"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/recipe"
)

// joinsHot tells whether hot documents are joined by their sets. Pairs that need several keys, or that are compared by
// signatures, are found by bands only.
func joinsHot(r recipe.Recipe) bool {
	return r.BySets() && (r.MinKeys() == 1 || r.Sample().Size > 0)
}

// hotBuckets collects the buckets over the cap of a task.
type hotBuckets struct {
	t       *task
	members *extsort.Appender // Key: a member, Value: the bucket's number
	levels  []uint8           // of the buckets
}

// withHot calls find with the buckets over the cap that it fills, counts them and, if it is needed, emits for each
// document of one the level of the smallest such bucket that contains it.
func (t *task) withHot(find func(h *hotBuckets) error) error {
	h := &hotBuckets{t: t}
	members, err := t.sort("hot", 8, func(to *extsort.Appender) error {
		h.members = to
		return find(h)
	})
	if err != nil {
		return err
	}
	last, level := uint64(0), uint8(forecast.HotLevels)
	flush := func() error {
		if level == forecast.HotLevels {
			return nil
		}
		return t.out.add(Hot, t.plan.TaskOf(last), nil, last, uint64(level))
	}
	err = members.Visit(func(e extsort.Entry) error {
		if e.Key != last {
			if err := flush(); err != nil {
				return err
			}
			last, level = e.Key, forecast.HotLevels
		}
		level = min(level, h.levels[e.Value])
		return nil
	})
	return errors.Join(err, flush(), t.count(CountCapped, int64(len(h.levels))))
}

func (h *hotBuckets) add(key, position uint64) error {
	if !h.t.plan.comparesHot() {
		return nil
	}
	if _, hamming := h.t.plan.recipe.Distance(); hamming {
		if err := h.t.out.add(HotMembers, 0, nil, key, position); err != nil {
			return err
		}
	}
	return h.members.Add(position, uint64(len(h.levels)))
}

func (h *hotBuckets) end(size int64) {
	h.levels = append(h.levels, uint8(forecast.HotLevel(size, h.t.plan.BucketCap)))
}
