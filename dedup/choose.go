package dedup

import (
	"context"

	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/dedup/internal/verify"
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

// joining says whether all sets are joined exactly.
type joining struct {
	exact bool
	limit int64 // of edges, more than which are found in vain; 0: none
}

// chooseExact decides between exact and lsh candidates. Under CandidatesAuto it takes the cheaper
// way according to a forecast. The choice depends only on the corpus and the settings, never on
// threads or memory, so that every run gives the same pairs.
func chooseExact(ctx context.Context, s *search) (joining, error) {
	t, r := s.docs.table, &s.how.recipe
	switch {
	case s.Method == MethodExact || r.Keys() == 0:
		return s.joining(0), nil
	case s.Method == MethodLSH || !r.BySets() || s.how.expected == MethodLSH:
		return joining{}, nil
	case r.Sample().Size > 0: // an index of all features takes many times the memory, and more time
		if t.HasSets {
			return s.joining(0), nil
		}
		return joining{}, nil
	case !t.HasSets && t.Features > s.limits.exact && r.Banding().Rows > 1:
		return joining{}, nil
	}
	f, err := forecast.Of(s.forecastOptions(), s.records.Judged(ctx, s.classes.Representatives))
	if err != nil {
		return joining{}, err
	}
	bands := f.ByBands(r.Keys(), s.sparse, setsAgain(t))
	cheaper := f.Exact()+f.Sets() <= exactAgain*bands
	if t.HasSets {
		cheaper = f.Exact() <= bands+exactSpare
	}
	if !cheaper {
		return joining{}, nil
	}
	return s.joining(f.Edges), nil
}

// joining is an exact join, for which the forecast is so many edges; 0: there is none.
func (s *search) joining(edges float64) joining {
	j := joining{exact: true}
	if s.Method == methodAuto && s.how.recipe.Banding().Rows > 1 {
		j.limit = edgesEach*int64(s.docs.table.Docs) + edgesMore
		if !s.sparse {
			j.limit += int64(edgesOver * edges)
		}
	}
	return j
}

// setsAgain tells how often the sets of candidate pairs of bands are made again.
func setsAgain(t *table.Table) forecast.Again {
	switch {
	case t.HasSets:
		return forecast.Never
	case verify.SetsFit(int64(t.Docs), t.Features):
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
func shortSets(c *settings, r *recipe.Recipe) recipe.ShortSets {
	most := uint64(shortMost)
	for most > 0 && c.threshold.MaxSize(most) > nearMost {
		most--
	}
	if most == 0 || c.Method != methodAuto || !r.BySets() || c.Shared || c.Known != nil || r.Keys() == 0 ||
		r.MinKeys() > 1 || r.Sample().Size > 0 || r.Banding().Rows <= 1 {
		return recipe.ShortSets{}
	}
	return recipe.ShortSets{Most: int(most), Near: int(c.threshold.MaxSize(most))}
}
