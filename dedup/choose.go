package dedup

import (
	"context"

	"github.com/alike-dev/alike/dedup/internal/exact"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/recipe"
)

// exactMost is the number of features up to which a run that may choose considers an
// exact join (its index takes some 30 bytes each): with little memory it is made by
// chunks, and every chunk costs a pass over all features.
const exactMost = 8 << 20

// An exact join misses nothing, so where the sets are there it may cost a little more:
// so much for each nanosecond of bands, and a two-hundredth of a second. Where they are not it
// must cost half as much, since little memory makes it dearer than the forecast says.
const (
	exactMargin = 1.2
	exactSpare  = 5e6
	exactAgain  = 0.5
)

// chooseExact decides between exact and lsh candidates. Under CandidatesAuto it takes
// what costs less by a forecast. The choice depends on the corpus and the settings
// alone, never on threads or memory, so that every way of running gives the same pairs.
func (r *run) chooseExact(ctx context.Context, sparse bool) (bool, error) {
	c, t := &r.config, r.table
	switch {
	case c.Candidates == CandidatesExact || r.recipe.Keys() == 0:
		return true, nil
	case c.Candidates == CandidatesLSH || !r.recipe.BySets():
		return false, nil
	case r.recipe.Sample().Size > 0: // an index of all features takes many times the memory, and longer
		return t.HasSets, nil
	case !t.HasSets && t.Features > c.limits.exact && r.recipe.Banding().Rows > 1:
		return false, nil
	}
	f, err := forecast.Of(r.forecastOptions(), r.records.Judged(ctx, r.classes.Representatives))
	if err != nil {
		return false, err
	}
	r.forecastEdges = f.Edges
	bands := f.ByBands(r.recipe.Keys(), sparse, r.setsAgain())
	if t.HasSets {
		return f.Exact(true) <= exactMargin*bands+exactSpare, nil
	}
	return f.Exact(false) <= exactAgain*bands, nil
}

// setsAgain tells how often pairs that bands find have their sets made again.
func (r *run) setsAgain() forecast.Again {
	switch {
	case r.table.HasSets:
		return forecast.Never
	case verify.SetsFit(r.table):
		return forecast.Once
	default:
		return forecast.ForPairs
	}
}

// A join that was not asked for is given up when it has found more edges than edgesEach
// for each document, and some, and for a list of pairs than edgesOver times those of the
// forecast: a large cluster can be known without finding all its pairs.
const (
	edgesEach = 32
	edgesMore = 1 << 20
	edgesOver = 4
)

// Sets of up to shortMost features are short: hashed to 32 bits they take no more room than the
// keys of 16 bands, and no signature is made. Where sets that can be like them have more than
// nearMost features there are none.
const (
	shortMost = 32
	nearMost  = 256
)

// shortSets says which sets are found by their rarest features, exactly, whatever finds the others:
// those few that the prefix filter is good for. Whoever asks for bands gets nothing else.
func (r *run) shortSets() recipe.ShortSets {
	c := &r.config
	near := r.threshold.MaxSize(shortMost)
	if c.Candidates != CandidatesAuto || !r.recipe.BySets() || c.Shared || c.Known != nil || r.recipe.Keys() == 0 ||
		r.recipe.MinKeys() > 1 || r.recipe.Sample().Size > 0 || r.recipe.Banding().Rows <= 1 || near > nearMost {
		return recipe.ShortSets{}
	}
	return recipe.ShortSets{Most: shortMost, Near: int(near)}
}

// joinAll is the join of all representatives.
func (r *run) joinAll(sparse bool) exact.Query {
	what := exact.Query{Docs: r.classes.Representatives, Kind: "joined"}
	if r.config.Candidates == CandidatesAuto && r.recipe.Banding().Rows > 1 {
		what.Limit = edgesEach*int64(r.table.Docs) + edgesMore
		if !sparse {
			what.Limit += int64(edgesOver * r.forecastEdges)
		}
	}
	return what
}

func (r *run) forecastOptions() forecast.Options {
	return forecast.Options{Recipe: r.recipe, Sides: &r.sides, Threshold: r.threshold, Cap: r.config.BucketCap}
}

func (r *run) joinOptions() exact.Options {
	return exact.Options{
		Graph: r.graph(), Records: r.records, Edges: r.edgeRule(),
		IndexMost: r.config.limits.index, Log: r.log, Progress: r.config.Progress,
	}
}

// edgeRule says which edges pairs of sets make.
func (r *run) edgeRule() graph.Edges {
	return graph.Edges{Threshold: r.threshold, Sides: &r.sides, RemovesParts: r.removesParts}
}
