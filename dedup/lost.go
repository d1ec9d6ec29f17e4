package dedup

import (
	"cmp"
	"errors"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/resume"
)

// The first pass reads only some columns of a Parquet file, and the last one copies all of them:
// only then damage in the others is found. The rows before it are whole; the others cannot be kept,
// and so no document may be removed in favour of one of them. They are treated as skipped, and
// everything after the first pass is done once more without them: another round.

// mayLoseRows tells whether another round may be needed.
func (r *run) mayLoseRows() bool {
	return !r.config.IDsOnly && slices.ContainsFunc(r.sources[r.refSources:], func(s corpus.Source) bool { return s.Format == corpus.Parquet })
}

// restoreLost leaves out the rows that earlier processes have found to be lost.
func (r *run) restoreLost() error {
	for lost, err := range resume.All[[]write.LostRows](r.log, resume.Lost) {
		if err != nil {
			return err
		}
		r.log.NextRound()
		if err := r.leaveOut(lost); err != nil {
			return err
		}
	}
	return nil
}

// anotherRound prepares a round without the lost rows.
func (r *run) anotherRound(lost []write.LostRows) error {
	slices.SortFunc(lost, func(a, b write.LostRows) int { return cmp.Compare(a.File, b.File) })
	if r.config.OnError == OnErrorFail {
		return r.lostProblem(&lost[0])
	}
	r.records.Close()
	err := r.work.ReleaseAll(r.edges, r.sizes, r.classes.Members)
	r.records, r.edges, r.sizes, r.classes = nil, nil, nil, nil
	s := r.summary
	s.Candidates, s.BucketsCapped, s.LargestClusters = 0, 0, s.LargestClusters[:0]
	if err == nil {
		err = r.log.Note(resume.Lost, lost)
		r.log.NextRound()
	}
	return errors.Join(err, r.leaveOut(lost))
}

// leaveOut marks the documents of lost rows as skipped, reports each file, and counts again.
func (r *run) leaveOut(lost []write.LostRows) error {
	t := r.table
	c := t.Scanner()
	for i := range lost {
		l := &lost[i]
		for doc, end := t.DocsOfFile(l.File); doc < end && c.Err == nil; doc++ {
			if c.Line(doc) > l.Rows {
				t.Skipped.Add(doc)
				if t.Known != nil {
					t.Known.Remove(doc)
				}
			}
		}
		if err := r.skip(r.lostProblem(l), false); err != nil {
			return err
		}
	}
	_, err := r.countDocuments()
	return errors.Join(c.Err, err)
}

func (r *run) lostProblem(l *write.LostRows) *corpus.Problem {
	return &corpus.Problem{Path: r.sources[l.File].Label(), Line: l.Line, Err: table.RestoredError(l.Kind, l.Text)}
}
