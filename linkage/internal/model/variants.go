package model

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Products come in sizes and colours, films in parts. Their names differ in one word each, and a fit of few columns takes all that
// have a name in common for one thing. The words show it: one that many records have stands in place of another one, and each of them
// in place of several. In copies a word is missing, or has an error that no other record has.

// mostExchanged is the largest share of the matches in one table in which a common word of a column may stand in place of another
// one: 0.83 and more where variants of products are matches, 0.52 and less in tables of copies.
const mostExchanged = 0.65

// followUnexchanged puts a fit in dispute of whose matches most have other words in each other's place, and replaces it by one to the
// others.
func (f *Fitted) followUnexchanged(ctx context.Context, c *compare.Comparison, o *Options) {
	if o.Around.Exchanged == nil {
		return
	}
	some := matchesOf(f.Probability)
	pairs := make([]compare.Pair, len(some))
	for k, i := range some {
		pairs[k] = c.Pairs[i]
	}
	likely := make([]float64, len(c.Pairs))
	for _, i := range some {
		likely[i] = f.Probability[i]
	}
	for column, worded := range o.Around.Worded {
		if !worded {
			continue
		}
		exchanged, there := o.Around.Exchanged(column, pairs)
		n := 0
		for _, is := range exchanged {
			if is {
				n++
			}
		}
		if float64(there) < fewThere*float64(len(some)) || float64(n) <= mostExchanged*float64(there) {
			continue
		}
		f.Differing = append(f.Differing, column)
		for k, is := range exchanged {
			if is {
				likely[some[k]] = 0
			}
		}
	}
	if f.Differing != nil {
		f.Dispute = OverWider
		f.follow(ctx, c, o, distil(ctx, c, likely, freely))
	}
}
