package alike

import (
	"context"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/eval"
	"github.com/alike-dev/alike/linkage"
)

// JoinConfig says which tables are joined and how. Its zero value, with Left and Right set,
// means that the data decide everything.
type JoinConfig = linkage.Config

// JoinResult is what a join has found, and what it chose.
type JoinResult = linkage.Result

// Link is a pair of records that belong together.
type Link = linkage.Link

// ReadLinks reads links that there are already, for JoinConfig.Known. See linkage.ReadKnown.
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
	Best     eval.Point   `json:"best"`     // of what the same rule finds, cut by probability where F1 is largest
	Curve    []eval.Point `json:"curve"`
}

// ScoreJoin holds a join against a file of true pairs, which is read as ScorePairs does. The
// join's JoinConfig.Considered must have been set. In one table the order within a pair does
// not matter.
func ScoreJoin(r *JoinResult, truth string, options ...ScoreOption) (*JoinScores, error) {
	s := newScoring(options)
	t, err := readRows(truth)
	if err != nil {
		return nil, err
	}
	found := &rows{path: "the join"}
	for _, l := range r.Considered {
		found.rows = append(found.rows, []string{string(l.A), string(l.B)})
	}
	if s.isHeader(t, found) && len(t.rows) > 0 {
		t.rows = t.rows[1:]
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	normal := func(a, b string) eval.Pair {
		if r.OneTable && a > b {
			a, b = b, a
		}
		return eval.Pair{A: a, B: b}
	}
	isTrue := map[eval.Pair]bool{}
	for _, row := range t.rows {
		isTrue[normal(row[0], row[1])] = true
	}
	var d PairScores
	for _, l := range r.Links {
		if isTrue[normal(string(l.A), string(l.B))] {
			d.TruePositives++
		}
	}
	d.FalsePositives = uint64(len(r.Links)) - d.TruePositives
	d.FalseNegatives = uint64(len(isTrue)) - d.TruePositives
	d.Precision = share(d.TruePositives, uint64(len(r.Links)))
	d.Recall = share(d.TruePositives, uint64(len(isTrue)))
	d.F1 = share(2*d.TruePositives, uint64(len(r.Links)+len(isTrue)))
	scores, right := make([]float64, len(r.Considered)), make([]bool, len(r.Considered))
	for i, l := range r.Considered {
		scores[i], right[i] = l.Probability, isTrue[normal(string(l.A), string(l.B))]
	}
	curve := eval.Curve(scores, right, len(isTrue))
	return &JoinScores{d, eval.Best(curve), curve}, nil
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
