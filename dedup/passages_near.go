package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/passages"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
)

// findNear finds the pieces that go if those that are similar count as one.
func findNear(ctx context.Context, j *job, p *passages.Job, o Passages, d *passages.Documents, all *extsort.Sorted) (g *passages.Groups, err error) {
	name := j.space.Unique("units", ".part")
	file, err := j.space.Create(name)
	if err != nil {
		return nil, err
	}
	units, err := passages.Unite(ctx, p, d, all, file)
	defer func() { err = errors.Join(err, units.Close()) }()
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	path, err := j.space.PathOf(name)
	if err != nil {
		return nil, err
	}
	like, err := compareUnits(ctx, j, o, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.space.Release(like)) }()
	if err := j.space.Remove(name); err != nil {
		return nil, scratch.Error(err)
	}
	return passages.GroupNear(ctx, p, units, all, like)
}

// compareUnits returns, of each unit that joins an earlier one, the number of that one: number → number.
func compareUnits(ctx context.Context, j *job, o Passages, units string) (like *extsort.Sorted, err error) {
	out, err := j.space.PathOf(j.space.Unique("near", ".part"))
	if err != nil {
		return nil, err
	}
	c := Config{Inputs: []string{units}, Output: out, Threads: j.Threads, Progress: j.Progress, fs: j.fs, limits: j.limits}
	if j.Memory > 0 { // half of what is for data is left by the other stages: see CutPassages
		c.Memory = j.Memory/2 + scratch.Outside(j.Threads)
	}
	return j.space.Sorted(ctx, j.space.Sorting("like", 8, 32), func(to *extsort.Appender) error {
		return SimilarUnits(ctx, c, o, to.Add)
	})
}
