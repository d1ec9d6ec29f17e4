package dedup

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/resume"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/setting"
)

// Of a Parquet file the first pass reads the columns that it needs, and the last
// one copies all of them: only then damage in the others is met. The rows before it
// are whole; the others cannot be kept, and so no document may be removed in favour
// of one of them. They are taken for skipped, and what follows the first pass is
// done once more without them: another round.

// lostRows are the rows of a file from one on, which cannot be copied.
type lostRows struct {
	File int
	Rows int64 // whole ones, before them
	Line int64 // of the problem
	Kind byte
	Text string // by setting.Mark
}

// mayLoseRows tells whether another round may be needed.
func (r *run) mayLoseRows() bool {
	return !r.config.IDsOnly && slices.ContainsFunc(r.sources[r.refSources:], func(s corpus.Source) bool { return s.Format == corpus.Parquet })
}

// restoreLost leaves out what earlier processes have found to be lost.
func (r *run) restoreLost() error {
	for lost, err := range resume.All[[]lostRows](r.log, resume.Lost) {
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

// anotherRound makes ready for a round without rows that are lost.
func (r *run) anotherRound(lost []lostRows) error {
	slices.SortFunc(lost, func(a, b lostRows) int { return cmp.Compare(a.File, b.File) })
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

// leaveOut marks the documents of lost rows as skipped, tells of each file, and
// counts again.
func (r *run) leaveOut(lost []lostRows) error {
	t := r.table
	c := t.Scanner()
	for i := range lost {
		l := &lost[i]
		for doc, end := t.DocsOfFile(l.File); doc < end && c.Err == nil; doc++ {
			if c.Line(doc) > l.Rows {
				t.Skipped.Add(doc)
			}
		}
		r.config.OnSkip(r.lostProblem(l))
		r.summary.Skipped++
	}
	_, err := r.countDocuments()
	return errors.Join(c.Err, err)
}

func (r *run) lostProblem(l *lostRows) *corpus.Problem {
	return &corpus.Problem{Path: r.sources[l.File].Label(), Line: l.Line, Err: table.RestoredError(l.Kind, l.Text)}
}

// cannotCopy decides what becomes of a Parquet file whose rows could not be copied,
// for a reason that lies in the file.
func (k *keptWriter) cannotCopy(ctx context.Context, file int, path string, reason *corpus.Problem) error {
	if err := k.out.drop(ctx, KeptFolder+"/"+k.r.sources[file].Name, path); err != nil {
		return err
	}
	most, err := k.rowBehind(file)
	if err != nil || most == 0 {
		return err // what is known of the file already is all that there is
	}
	rows, damage, err := corpus.WholeRows(ctx, k.r.sources[file], k.r.config.Corpus)
	if err != nil {
		return err
	}
	if damage == nil || rows >= most { // no other rows would do
		rows, damage = 0, reason
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = append(k.lost, lostRows{File: file, Rows: rows, Line: damage.Line, Kind: table.KindOf(damage.Err), Text: setting.Mark(damage.Err)})
	return nil
}

// rowBehind returns the row behind the last document of a file that is not skipped,
// 0 if there is none.
func (k *keptWriter) rowBehind(file int) (int64, error) {
	t := k.r.table
	c := t.Cursor()
	first, end := t.DocsOfFile(file)
	for doc := end; doc > first; doc-- {
		if !t.Skipped.Has(doc - 1) {
			return c.Line(doc - 1), c.Err
		}
	}
	return 0, nil
}

// isLost tells whether an error of copying rows lies in the file, and stays there:
// it is neither an outage nor a change.
func isLost(err error) bool {
	return !errors.Is(err, corpus.ErrUnavailable) &&
		(errors.Is(err, corpus.ErrCorrupt) || errors.Is(err, corpus.ErrTruncated) || errors.Is(err, corpus.ErrUnsupported))
}

// drop removes an output file that an earlier round may have written.
func (o *outputDir) drop(ctx context.Context, name, path string) error {
	err := o.fs.Remove(path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	o.mu.Lock()
	uploaded := slices.Contains(o.uploaded, name)
	o.mu.Unlock()
	if uploaded {
		err = errors.Join(err, o.remote.Remove(ctx, name))
	}
	if err != nil {
		return outputError(err)
	}
	return nil
}
