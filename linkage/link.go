package linkage

import (
	"context"
	"errors"
	"runtime"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
)

// Join finds the links between two tables, or within one. The links are the same for any number of threads.
func Join(ctx context.Context, c Config) (*Result, error) {
	f, r, err := prepare(ctx, &c, true)
	if err != nil {
		return nil, err
	}
	err = link(ctx, &c, f, r)
	if err = errors.Join(err, f.Memory.Close()); err != nil {
		return nil, errors.Join(err, f.Steps.Log.Close(false))
	}
	r.log = f.Steps.Log
	return r, nil
}

// prepare completes a configuration, reads its tables, and begins the result. With keep, finished steps are noted in the
// work folder, if there is one.
func prepare(ctx context.Context, c *Config, keep bool) (*find.Finder, *Result, error) {
	if err := c.complete(); err != nil {
		return nil, nil, err
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Match == "" {
		if c.Match = Mutual; c.Right == "" {
			c.Match = All
		}
	}
	c.limits.complete()
	return openTables(ctx, c, keep)
}

// link finds candidates in the tables of a finder, compares them, and decides.
func link(ctx context.Context, c *Config, f *find.Finder, r *Result) error {
	if f.Empty() {
		return nil
	}
	e, known, err := examineAs(ctx, c, f, r)
	if err != nil {
		return err
	}
	return choose(ctx, c, e, known, f.Tables, r)
}

// choose chooses the links among the candidates of an examiner, and describes them in the result.
func choose(ctx context.Context, c *Config, e *judge.Examiner, known *known, t *held.Tables, r *Result) error {
	var edges []int
	edges, r.Assignment = allowed(e, c.Match, e.Probability, e.Rank)
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.exclusive() && t.Right != nil {
		r.Notes = append(r.Notes, severalPartners(e, edges)...)
	}
	if c.Considered {
		r.Considered = considered(e, t, edges)
	}
	edges, least, err := cut(c, e, edges)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	edges = decide.KeepTop(func(a uint32) int { return known.room(a, c.Top) }, edges, e.Found.Pairs, e.Rank)
	var fewer int
	var within decide.Held
	if e.OnePartner && t.Right != nil {
		fewer = min(t.Records[0], t.Records[1])
	}
	if t.Right == nil {
		clusters, err := clustersOf(ctx, c, e, t.Left.Rows(), edges)
		if err != nil {
			return err
		}
		if within = heldBy(clusters, e, edges); c.Clusters {
			r.Entities = clusters
		}
	}
	r.estimate(decide.Estimate(edges, e.Probability, e.Shed, fewer, within))
	r.Links, r.Linked = linksOf(e, t, edges, len(c.With)), len(edges)
	if c.Evidence > 0 {
		r.Evidence = evidence(c, e, t, r.Columns, edges, least)
	}
	return nil
}
