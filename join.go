package alike

import (
	"context"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/eval"
	"github.com/alike-dev/alike/linkage"
)

// JoinConfig says which tables are joined and how. With its zero value and Left and Right set, the
// data decide everything.
type JoinConfig = linkage.Config

// JoinResult is the result of a join, with the choices that it made.
type JoinResult = linkage.Result

// Link is a pair of records that belong together.
type Link = linkage.Link

// ReadLinks reads existing links, for JoinConfig.Known. See linkage.ReadKnown.
func ReadLinks(ctx context.Context, path string, o corpus.Options) ([]linkage.Known, error) {
	return linkage.ReadKnown(ctx, path, o)
}

// Join finds the records of two tables, or of one, that belong together. See linkage.Join.
func Join(ctx context.Context, config JoinConfig) (*JoinResult, error) {
	return linkage.Join(ctx, config)
}

// JoinScores is how well a join agrees with the truth.
type JoinScores struct {
	Decision PairScores   `json:"decision"` // of the links
	Best     eval.Point   `json:"best"`     // of the same rule's matches, cut at the probability with the largest F1
	Curve    []eval.Point `json:"curve"`
}

// ScoreJoin compares a join with true pairs. If their file has a third column of verdicts, pairs
// whose verdict is unsure are left out, also of the pairs found. All other pairs that are not true
// are no matches. The join's JoinConfig.Considered must have been set. In one table the order
// within a pair does not matter.
func ScoreJoin(r *JoinResult, truth *Truth, options ...ScoreOption) *JoinScores {
	said := saidOf(r, truth, options)
	all := uint64(0)
	for _, v := range said {
		if v.Match {
			all++
		}
	}
	var d PairScores
	for l := range r.Links.All() {
		switch v := said[unordered(r, string(l.A), string(l.B))]; {
		case v.Match:
			d.TruePositives++
		case !v.Unsure:
			d.FalsePositives++
		}
	}
	d.FalseNegatives = all - d.TruePositives
	d.Precision = share(d.TruePositives, d.TruePositives+d.FalsePositives)
	d.Recall = share(d.TruePositives, all)
	d.F1 = share(2*d.TruePositives, d.TruePositives+d.FalsePositives+all)
	var scores []float64
	var right []bool
	for _, l := range r.Considered {
		if v := said[unordered(r, string(l.A), string(l.B))]; !v.Unsure {
			scores, right = append(scores, l.Probability), append(right, v.Match)
		}
	}
	curve := eval.Curve(scores, right, int(all))
	return &JoinScores{d, eval.Best(curve), curve}
}

// saidOf returns the verdicts of pairs. If a pair has several, the last one counts.
func saidOf(r *JoinResult, truth *Truth, options []ScoreOption) map[eval.Pair]Verdict {
	found := func() *rows {
		considered := &rows{path: "the join"}
		for _, l := range r.Considered {
			considered.rows = append(considered.rows, []string{string(l.A), string(l.B)})
		}
		return considered
	}
	verdicts := truth.pairs(found, options)
	said := make(map[eval.Pair]Verdict, len(verdicts))
	for _, v := range verdicts {
		said[unordered(r, v.A, v.B)] = v
	}
	return said
}

// unordered returns a pair of ids in a fixed order if the join is of one table, where order does
// not matter.
func unordered(r *JoinResult, a, b string) eval.Pair {
	if r.OneTable && a > b {
		a, b = b, a
	}
	return eval.Pair{A: a, B: b}
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
