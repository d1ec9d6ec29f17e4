package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
)

// job is what all steps of a run share. Its fields are set when the run begins, and stay.
type job struct {
	*settings
	account *account
	space   *scratch.Space // memory, and files beyond it
	log     *resume.Log    // nil: nothing is kept for another process
	ending  *[]func() error
}

// newJob returns a job without a journal.
func newJob(s *settings) *job {
	return &job{settings: s, account: newAccount(s), space: newSpace(s), ending: new([]func() error)}
}

// newSpace returns the run's memory and folder. The parts of the table begin with the line on how
// signatures are made.
func newSpace(s *settings) *scratch.Space {
	return scratch.New(scratch.Options{
		FS: s.fs, Threads: s.Threads, Ceiling: s.Memory, Scheme: s.recipe.Signature(), Memory: s.limits.memory, Record: s.limits.record,
	})
}

// open returns the job with its journal, and with turns for long records. known is the state of
// NewTo.Known.
func (j *job) open(ctx context.Context, command string, in *inputs, known string) (*job, error) {
	opened, s := *j, *j.settings
	opened.settings = &s
	if j.space.Turn != nil {
		s.Corpus.Admit = j.space.Turn.Take
	}
	if s.Folder == "" {
		return &opened, nil
	}
	var err error
	opened.log, err = resume.Open(ctx, j.space, resume.Options{
		Folder: s.Folder, Fresh: s.Fresh, Settings: identity(&s, command, in, known), Due: s.limits.due,
	})
	if opened.log.Resumed() {
		s.OnNotice(setting.Textf("continuing the run in %s", s.Folder))
	}
	return &opened, err
}

// atEnd has f called when the job is closed, before its files are removed.
func (j *job) atEnd(f func() error) { *j.ending = append(*j.ending, f) }

// close releases the run's files. They are removed if the run has succeeded, or no other process
// can continue it.
func (j *job) close(succeeded bool) error {
	var err error
	for _, f := range *j.ending {
		err = errors.Join(err, f())
	}
	err = errors.Join(err, j.space.Close(), j.log.Close(succeeded))
	if succeeded && err != nil { // the results are complete
		j.OnNotice(setting.Textf("the work folder is not empty: %v; remove it", err))
		return nil
	}
	return err
}

// emitted ends a run whose results were emitted: from here on its files are no longer needed.
func (j *job) emitted() error {
	if err := j.Commit(); err != nil {
		return err
	}
	return j.log.Note(resume.Finished, true)
}
