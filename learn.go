package alike

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alike-dev/alike/linkage"
)

// JoinModel is what was learned from labels; it serves as JoinConfig.Model.
type JoinModel = linkage.Model

// LearnJoin learns a model from labels about the tables of a configuration. The result says how
// the tables were read; it has no links. See linkage.Learner.
func LearnJoin(ctx context.Context, config JoinConfig, labels linkage.Labels) (*JoinModel, *JoinResult, error) {
	l, err := linkage.NewLearner(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	m, err := l.Fit(labels)
	return m, l.Result(), err
}

// ReadJoinModel reads a model that was written as JSON.
func ReadJoinModel(path string) (*JoinModel, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := linkage.ReadModel(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// A Verdict is what somebody has said of a pair: whether its records belong together, or that
// they were not sure.
type Verdict struct {
	A, B   string
	Match  bool
	Unsure bool
}

// verdicts are the words of a third column.
var verdicts = map[string]Verdict{
	"1": {Match: true}, "y": {Match: true}, "yes": {Match: true}, "true": {Match: true},
	"0": {}, "n": {}, "no": {}, "false": {},
	"u": {Unsure: true}, "unsure": {Unsure: true}, "?": {Unsure: true},
}

func verdictOf(row []string) (v Verdict, ok bool) {
	if len(row) > 2 {
		v, ok = verdicts[strings.ToLower(strings.TrimSpace(row[2]))]
		v.A, v.B = row[0], row[1]
	}
	return v, ok
}

// ReadVerdicts reads pairs of ids with a third column that says whether they belong together:
// 1, y, yes or true; 0, n, no or false; u or unsure. The file is CSV; a first row whose third
// column is none of these is a header. labelled is false, without an error, if the file has no
// such column: if no row but the first says a verdict.
func ReadVerdicts(path string) (pairs []Verdict, labelled bool, err error) {
	r, err := readRows(path)
	if err != nil {
		return nil, false, err
	}
	pairs, labelled, err = r.verdicts()
	return pairs, labelled, err
}

func (r *rows) verdicts() (pairs []Verdict, labelled bool, err error) {
	isVerdict := func(row []string) bool { _, ok := verdictOf(row); return ok }
	if !slices.ContainsFunc(r.rows, isVerdict) {
		header := len(r.rows) == 1 && len(r.rows[0]) > 2
		return nil, header && slices.Contains([]string{"match", "label"}, strings.ToLower(r.rows[0][2])), nil
	}
	for i, row := range r.rows {
		v, ok := verdictOf(row)
		switch {
		case ok:
			pairs = append(pairs, v)
		case i > 0:
			return nil, true, fmt.Errorf("%s: row %d does not say whether the pair is a match: write 1, 0 or u into the third column", r.path, i+1)
		}
	}
	return pairs, true, nil
}

// ReadLabels reads what models are learned from: a file as ReadVerdicts does, or else one of
// pairs of ids, all of them matches, and all matches of the records that they name.
func ReadLabels(path string, options ...ScoreOption) (labels linkage.Labels, err error) {
	said, labelled, err := readSaid(path, func() *rows { return &rows{} }, options)
	if err != nil {
		return labels, err
	}
	for _, v := range said {
		if !v.Unsure {
			labels.Pairs = append(labels.Pairs, linkage.Label{A: v.A, B: v.B, Match: v.Match})
		}
	}
	labels.Complete = !labelled
	return labels, nil
}

// readSaid reads what a file says of pairs: their verdicts, or, if it has none, that all of them
// are matches. found returns other pairs of such ids, by which a first row is taken for a header.
func readSaid(path string, found func() *rows, options []ScoreOption) (said []Verdict, labelled bool, err error) {
	r, err := readRows(path)
	if err != nil {
		return nil, false, err
	}
	if said, labelled, err = r.verdicts(); err != nil || labelled {
		return said, labelled, err
	}
	if newScoring(options).isHeader(r, found()) {
		r.rows = r.rows[1:]
	}
	if err := r.check(); err != nil {
		return nil, false, err
	}
	for _, row := range r.rows {
		said = append(said, Verdict{A: row[0], B: row[1], Match: true})
	}
	return said, false, nil
}
