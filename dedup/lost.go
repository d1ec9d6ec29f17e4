package dedup

import (
	"cmp"
	"errors"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/sorting"
)

// The first pass reads only some columns of a Parquet file, and the last one copies all of them:
// only then damage in the others is found. The rows before it are whole; the others cannot be kept,
// and so no document may be removed in favour of one of them. They are treated as skipped, and
// everything after the first pass is done once more without them: another round.

// mayLoseRows tells whether another round may be needed.
func mayLoseRows(j *job, in *inputs) bool {
	return !j.IDsOnly && slices.ContainsFunc(in.own(), func(s corpus.Source) bool { return s.Format == corpus.Parquet })
}

// restoreLost leaves out the rows that earlier processes have found to be lost.
func restoreLost(j *job, in *inputs, docs *documents) error {
	for lost, err := range resume.All[[]write.LostRows](j.log, resume.Lost) {
		if err != nil {
			return err
		}
		j.log.NextRound()
		if err := leaveOut(j.account, in, docs, lost); err != nil {
			return err
		}
	}
	return nil
}

// anotherRound prepares a round without the lost rows. It releases what was found.
func anotherRound(j *job, in *inputs, f *found, lost []write.LostRows) error {
	err := f.release()
	j.account.again()
	return errors.Join(err, skipLost(j, in, f.docs, lost))
}

// skipLost leaves lost rows out of the rounds to come, of other processes too.
func skipLost(j *job, in *inputs, docs *documents, lost []write.LostRows) error {
	sorting.Func(lost, func(a, b write.LostRows) int { return cmp.Compare(a.File, b.File) })
	if j.OnError == OnErrorFail {
		return lostProblem(in, &lost[0])
	}
	err := j.log.Note(resume.Lost, lost)
	j.log.NextRound()
	return errors.Join(err, leaveOut(j.account, in, docs, lost))
}

// leaveOut marks the documents of lost rows as skipped, reports each file, and counts again.
func leaveOut(a *account, in *inputs, docs *documents, lost []write.LostRows) error {
	t := docs.table
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
		if err := a.skip(lostProblem(in, l), false); err != nil {
			return err
		}
	}
	_, err := docs.count(a)
	return errors.Join(c.Err, err)
}

func lostProblem(in *inputs, l *write.LostRows) *corpus.Problem {
	return &corpus.Problem{Path: in.sources[l.File].Label(), Line: l.Line, Err: doctable.RestoredError(l.Kind, l.Text)}
}
