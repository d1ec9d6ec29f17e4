package alike

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/linkage"
)

// JoinModel is a model learned from labels; it can be JoinConfig.Model.
type JoinModel = linkage.Model

// LearnJoin learns a model from labels of the tables of a configuration. The result says how the
// tables were read; it has no links. See linkage.Learner.
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
	data, _ = bom.Text(data)
	m, err := linkage.ReadModel(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// A Verdict is a person's judgement of a pair: the records belong together, they do not, or the
// person was not sure.
type Verdict struct {
	A, B   string
	Match  bool
	Unsure bool
}

// verdicts maps the words of a third column to verdicts.
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

// ReadVerdicts reads pairs of ids with a third column that says whether they belong together: 1, y,
// yes or true; 0, n, no or false; u or unsure. The file is one for ScorePairs; a first row of CSV whose third column is
// none of these is a header. labelled is false, without an error, if the file has no such column,
// that is if no row after the first has a verdict.
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
	if len(r.rows) > 0 && len(r.rows[0]) > 2 && strings.EqualFold(r.rows[0][2], "similarity") {
		return nil, false, nil // of 1 too
	}
	if r.named && len(r.rows) > 0 {
		r = &rows{path: r.path, rows: r.rows[1:]}
	}
	if !slices.ContainsFunc(r.rows, isVerdict) {
		header := len(r.rows) == 1 && len(r.rows[0]) > 2
		return nil, header && slices.Contains([]string{"match", "label", "same"}, strings.ToLower(r.rows[0][2])), nil
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

// ReadSaid reads what a person has said about pairs, for JoinConfig.Verdicts, from a file for ReadVerdicts. Pairs of which
// the person was not sure are left out.
func ReadSaid(path string) (said []linkage.Label, err error) {
	pairs, labelled, err := ReadVerdicts(path)
	if err == nil && !labelled {
		err = fmt.Errorf("%s has no verdicts: write 1, 0 or u into the third column", path)
	}
	for _, v := range pairs {
		if !v.Unsure {
			said = append(said, linkage.Label{A: v.A, B: v.B, Match: v.Match})
		}
	}
	return said, err
}

// Truth is the content of a file of true pairs or verdicts.
type Truth struct {
	file     *rows
	verdicts []Verdict
	labelled bool // the file has verdicts; otherwise all its pairs are matches
}

// ReadTruth reads a file of true pairs, once: it may be a pipe.
func ReadTruth(path string) (*Truth, error) {
	r, err := readRows(path)
	if err != nil {
		return nil, err
	}
	t := &Truth{file: r}
	if t.verdicts, t.labelled, err = r.verdicts(); err == nil && !t.labelled {
		err = r.check()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// pairs returns the verdicts of the file. found returns other pairs of such ids, which help to judge
// whether the first row is a header.
func (t *Truth) pairs(found func() *rows, options []ScoreOption) []Verdict {
	if t.labelled {
		return t.verdicts
	}
	rows := t.file.rows
	if newScoring(options).isHeader(t.file, found()) {
		rows = rows[1:]
	}
	said := make([]Verdict, 0, len(rows))
	for _, row := range rows {
		said = append(said, Verdict{A: row[0], B: row[1], Match: true})
	}
	return said
}

// ReadLabels reads the labels from which a model is learned. The file is one for ReadVerdicts, or
// holds pairs of ids that are all matches, and are all the matches of the records that they name.
func ReadLabels(path string, options ...ScoreOption) (labels linkage.Labels, err error) {
	truth, err := ReadTruth(path)
	if err != nil {
		return labels, err
	}
	for _, v := range truth.pairs(func() *rows { return &rows{} }, options) {
		if !v.Unsure {
			labels.Pairs = append(labels.Pairs, linkage.Label{A: v.A, B: v.B, Match: v.Match})
		}
	}
	labels.Complete = !truth.labelled
	return labels, nil
}
