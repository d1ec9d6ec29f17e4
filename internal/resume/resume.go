// Package resume records what a run has finished, so that another process can continue it: finished
// steps, the progress of the others, and the inputs and settings that a run must have in common
// with it. docs/how/formats.md describes the journal.
package resume

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/scratch"
)

// Log is the journal of a resumable run. A nil Log does nothing: then nothing is kept for another
// process.
type Log struct {
	space   *scratch.Space
	journal *journal.Journal

	mu    sync.Mutex
	begun time.Time
	noted time.Time
	notes int         // written by this process
	early func() bool // replaces the clock in tests
	round int         // see NextRound
}

// noteInterval is the least time between two notes on the progress of a stage: a note makes
// finished work durable, which takes some milliseconds. In a long run the interval is 1/noteShare
// of the elapsed time, since every note of a stage makes a run and names all earlier ones.
const (
	noteInterval = 2 * time.Second
	noteShare    = 64
)

// Kinds of notes about the run as a whole. All other kinds belong to one round, see NextRound.
const (
	Spooled   = "spooled"   // a stream that was copied but not used yet
	Part      = "part"      // a part of the read stage
	Lost      = "lost"      // rows that cannot be copied: the end of a round
	Published = "published" // the output is whole and is being moved to its place
	Finished  = "finished"  // all was emitted; the folder is being emptied
)

// Options say which run a folder is for.
type Options struct {
	Folder string // of the journal, and of the folder with the files of the run
	Fresh  bool   // start over, whatever the folder holds
	// Settings are all that the result of the run depends on.
	Settings iter.Seq[journal.Setting]
	Due      func() bool // whether it is time for a note; nil: by the clock
}

// Names are all that a run may have in its work folder.
func Names() []string { return append(slices.Clone(journal.Names), FilesFolder) }

// FilesFolder holds the files of a run in its work folder, next to the journal.
const FilesFolder = "alike.files"

// Open opens the journal of a run, puts the files of space in a folder next to it, and removes
// files that no note names. After an error there is nothing to close.
func Open(ctx context.Context, space *scratch.Space, o Options) (*Log, error) {
	j, err := open(ctx, space, o)
	if err != nil {
		return nil, err
	}
	// The files have a folder of their own: the run removes only its own files, whatever else the
	// user keeps in the work folder.
	if err := space.Keep(filepath.Join(o.Folder, FilesFolder)); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	l := &Log{space: space, journal: j, begun: time.Now(), noted: time.Now(), early: o.Due}
	named := map[string]bool{}
	for record, err := range j.Records() {
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		for _, name := range scratch.NamesIn(string(record.Payload)) {
			named[name] = true
		}
	}
	if err := space.Clean(func(name string) bool { return named[name] }); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return l, nil
}

// LockWait is how long another process may hold the work folder: a killed process may take a moment
// to end.
const LockWait = 2 * time.Second

// open opens the journal of the run in the folder, or begins a new one if that run had ended and
// was killed while it removed its files.
func open(ctx context.Context, space *scratch.Space, o Options) (*journal.Journal, error) {
	j, err := lock(ctx, space, o)
	if err != nil {
		return nil, err
	}
	finished, err := j.Last(Finished, new(bool))
	if err == nil && !finished {
		return j, nil
	}
	if err := errors.Join(err, j.Close()); err != nil {
		return nil, err
	}
	o.Fresh = true
	return lock(ctx, space, o)
}

// InputSetting is the prefix of the names of settings of inputs.
const InputSetting = "input "

func lock(ctx context.Context, space *scratch.Space, o Options) (j *journal.Journal, err error) {
	for wait := time.Duration(0); wait < LockWait; wait += LockWait / 20 {
		j, err = journal.Open(space.FS, o.Folder, o.Settings, o.Fresh)
		var other *journal.MismatchError
		if errors.As(err, &other) && other.Was.Name == other.Is.Name && strings.HasPrefix(other.Is.Name, InputSetting) {
			return nil, fmt.Errorf("%w (a file counts as another one once it was written, replaced, moved, linked, or given other permissions)", err)
		}
		if !errors.Is(err, journal.ErrInUse) {
			return j, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(LockWait / 20):
		}
	}
	return nil, err
}

// Close ends the use of the journal and of its files. They are removed with discard, or if no other
// process could continue with them.
func (l *Log) Close(discard bool) error {
	switch {
	case l == nil:
		return nil
	case discard || !l.Keeps():
		return errors.Join(l.space.RemoveKept(), l.journal.Remove())
	}
	return l.journal.Close()
}

// Resumed tells whether an earlier process has left something.
func (l *Log) Resumed() bool { return l != nil && l.journal.Resumed() }

// Keeps tells whether there is something that another process can continue with.
func (l *Log) Keeps() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Resumed() || l.notes > 0
}

// Due tells whether it is time for a note.
func (l *Log) Due() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early != nil {
		return l.early()
	}
	return time.Since(l.noted) >= max(noteInterval, time.Since(l.begun)/noteShare)
}

// NextRound begins a round: of an earlier round's work, the next one uses only the parts that were
// read.
func (l *Log) NextRound() {
	if l != nil {
		l.round++
	}
}

// inRound returns the kind of a note with the number of the round.
func (l *Log) inRound(kind string) string {
	switch kind {
	case Part, Lost, Published, Finished:
		return kind
	}
	if l.round == 0 {
		return kind
	}
	return fmt.Sprintf("%s-round-%d", kind, l.round)
}

// Note adds a note. The files that it names must be durable except for their names.
func (l *Log) Note(kind string, v any) error {
	if l == nil {
		return nil
	}
	if err := l.space.Sync(); err != nil {
		return err
	}
	err := l.journal.Append(l.inRound(kind), v)
	l.mu.Lock()
	l.noted = time.Now()
	if kind != Spooled {
		l.notes++
	}
	l.mu.Unlock()
	return err
}

// Last finds the last note of a kind.
func (l *Log) Last(kind string, into any) (bool, error) {
	if !l.Resumed() {
		return false, nil
	}
	return l.journal.Last(l.inRound(kind), into)
}

// All returns all notes of a kind that earlier processes have made, in order.
func All[T any](l *Log, kind string) iter.Seq2[T, error] {
	if !l.Resumed() {
		return func(func(T, error) bool) {}
	}
	return journal.All[T](l.journal, l.inRound(kind))
}

// Stored is a finished step, or its progress so far: sorted entries on disk, and a count made on
// the way.
type Stored struct {
	Runs  [][]extsort.Run
	Count int64
}

// Step returns a step of the run that an earlier process has finished; otherwise it makes the step
// and keeps it for the next process. The options are those of the sorters that make it. The caller
// releases the result.
func (l *Log) Step(ctx context.Context, kind string, make func() ([]*extsort.Sorted, int64, error), options ...extsort.Options) ([]*extsort.Sorted, int64, error) {
	if l == nil {
		return make()
	}
	var s Stored
	if found, err := l.Last(kind, &s); err != nil {
		return nil, 0, err
	} else if found {
		return l.openAll(ctx, s, options)
	}
	made, n, err := make()
	if err != nil {
		return made, n, err
	}
	s.Count = n
	for _, sorted := range made {
		runs, err := sorted.Save(ctx)
		if err != nil {
			return nil, 0, errors.Join(err, l.space.ReleaseAll(made...))
		}
		s.Runs = append(s.Runs, runs)
	}
	if err := l.Note(kind, s); err != nil {
		return nil, 0, errors.Join(err, l.space.ReleaseAll(made...))
	}
	return made, n, nil
}

func (l *Log) openAll(ctx context.Context, s Stored, options []extsort.Options) (opened []*extsort.Sorted, n int64, err error) {
	if len(s.Runs) != len(options) {
		return nil, 0, scratch.ErrDamaged
	}
	for i, o := range options {
		o.Runs = s.Runs[i]
		sorted, err := extsort.Open(ctx, o)
		if err != nil {
			return nil, 0, errors.Join(err, l.space.ReleaseAll(opened...))
		}
		opened = append(opened, sorted)
	}
	return opened, s.Count, nil
}
