package dedup

import (
	"context"

	"github.com/alike-dev/alike/dedup/internal/exact"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/recipe"
)

// exactMost is the number of features up to which a run that may choose considers an exact join
// (its index takes some 30 bytes each): with little memory the join is made by chunks, and every
// chunk costs a pass over all features.
const exactMost = 8 << 20

// exactSpare is by how much more an exact join may cost, in nanoseconds: it misses nothing. exactAgain is which
// part of the cost of bands it must cost if there are too many features to keep sets that are perhaps not needed: it takes
// more memory, and with little memory more time than the forecast says.
const (
	exactSpare = 2e6
	exactAgain = 0.75
)

// chooseExact decides between exact and lsh candidates. Under CandidatesAuto it takes the cheaper
// way according to a forecast. The choice depends only on the corpus and the settings, never on
// threads or memory, so that every run gives the same pairs.
func (r *run) chooseExact(ctx context.Context, sparse bool) (bool, error) {
	c, t := &r.config, r.table
	switch {
	case c.Candidates == CandidatesExact || r.recipe.Keys() == 0:
		return true, nil
	case c.Candidates == CandidatesLSH || !r.recipe.BySets() || r.expected == CandidatesLSH:
		return false, nil
	case r.recipe.Sample().Size > 0: // an index of all features takes many times the memory, and more time
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
		return f.Exact() <= bands+exactSpare, nil
	}
	return f.Exact()+f.Sets() <= exactAgain*bands, nil
}

// setsAgain tells how often the sets of candidate pairs of bands are made again.
func (r *run) setsAgain() forecast.Again {
	switch {
	case r.table.HasSets:
		return forecast.Never
	case verify.SetsFit(int64(r.table.Docs), r.table.Features):
		return forecast.Once
	default:
		return forecast.ForPairs
	}
}

// A join that was not asked for is given up when it has found more edges than edgesMore plus
// edgesEach for each document and, for a list of pairs, edgesOver times the edges of the forecast:
// a large cluster can be known without finding all its pairs.
const (
	edgesEach = 32
	edgesMore = 1 << 20
	edgesOver = 4
)

// Sets of up to shortMost features are short: hashed to 32 bits they take no more room than the
// keys of 16 bands, and no signature is made. The limit is lower if sets that can be similar to short
// ones would have more than nearMost features: at low thresholds most texts could be similar to a
// short one, and all of them would have keys of both kinds. (Reuters' stories at 0.3: three times the
// time of bands alone.)
const (
	shortMost = 32
	nearMost  = 40
)

// shortSets reports which sets the prefix filter finds exactly, by their rarest features; LSH or
// the exact join finds the rest. Callers that ask for bands get only bands.
func (r *run) shortSets() recipe.ShortSets {
	c := &r.config
	most := uint64(shortMost)
	for most > 0 && r.threshold.MaxSize(most) > nearMost {
		most--
	}
	if most == 0 || c.Candidates != CandidatesAuto || !r.recipe.BySets() || c.Shared || c.Known != nil || r.recipe.Keys() == 0 ||
		r.recipe.MinKeys() > 1 || r.recipe.Sample().Size > 0 || r.recipe.Banding().Rows <= 1 {
		return recipe.ShortSets{}
	}
	return recipe.ShortSets{Most: int(most), Near: int(r.threshold.MaxSize(most))}
}

// joinAll is the query for a join of all representatives.
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
	return graph.Edges{Edges: engine.Edges{Threshold: r.threshold, RemovesParts: r.removesParts}, Sides: &r.sides}
}
