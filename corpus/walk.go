package corpus

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/sorting"
)

// walk is the state of Find.
type walk struct {
	ctx   context.Context
	o     Options
	input int // the current one
	found []reached[Source]
	links []link
	wrong []reached[Problem]
	roots []root
	deep  map[int]deepGlob // by input: those that are patterns with **
	files map[int]int      // by input: files in it, also those that another input has reached first
	stdin bool
	// stopped is the error of Options.Visit or the context: the walk ends.
	stopped error
	// seen has the real path of every file and folder reached so far.
	seen map[string]bool
}

// reached is a source or a problem, with the number of the input that led to it.
type reached[T any] struct {
	input int
	is    T
}

// root is an input, or one match of a glob, that is a folder.
type root struct {
	input int
	path  string
}

// link is a symbolic link. Links are followed after everything that is no link.
type link struct {
	input      int
	path, real string // real: the real path of its folder, joined with its name
}

// once reports whether a real path is reached for the first time.
func (w *walk) once(real string) bool {
	if w.seen[real] {
		return false
	}
	w.seen[real] = true
	return true
}

// visit calls Options.Visit for a file or folder and reports whether to continue.
func (w *walk) visit(path string, st fs.FileInfo) bool {
	if w.stopped == nil {
		w.stopped = w.ctx.Err()
	}
	if w.stopped == nil && w.o.Visit != nil {
		w.stopped = w.o.Visit(path, st)
	}
	return w.stopped == nil
}

func (w *walk) file(path, real string, st fs.FileInfo) {
	if !w.visit(path, st) {
		return
	}
	state := durable.StateOf(st)
	w.regular(Source{Path: path, Size: st.Size(), ModTime: st.ModTime(), inode: state.Inode, changed: state.Changed}, real)
}

// regular adds a file or object, whose format follows from its name.
func (w *walk) regular(s Source, real string) {
	w.files[w.input]++
	if !w.once(real) {
		return
	}
	var record bool
	s.Format, s.Compression, record = NameFormat(s.Path)
	if w.o.Format != ByName {
		s.Format = w.o.Format
	} else if !record && isPacked(s.Path) {
		w.problem(s.Path, errPacked)
		return
	}
	w.found = append(w.found, reached[Source]{w.input, s})
}

func (w *walk) problem(path string, err error) {
	var p *Problem
	if !errors.As(err, &p) {
		p = &Problem{Path: path, Err: err}
	}
	w.wrong = append(w.wrong, reached[Problem]{w.input, *p})
}

// lookup is what the file system says of a regular file.
type lookup struct {
	info fs.FileInfo
	err  error
}

func notRegular(t fs.FileMode) error {
	what := "a device"
	switch {
	case t&fs.ModeNamedPipe != 0:
		what = "a FIFO"
	case t&fs.ModeSocket != 0:
		what = "a socket"
	}
	return fault.Because(ErrNotRegular, "%s, not a file; leave it out", what)
}

func (w *walk) problems() []Problem {
	return inOrder(w.wrong, func(p *Problem) string { return p.Path })
}

// inOrder returns sources or problems sorted by their inputs, then by their paths.
func inOrder[T any](all []reached[T], path func(*T) string) (sorted []T) {
	sorting.Stable(all, func(a, b reached[T]) int {
		return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(filepath.ToSlash(path(&a.is)), filepath.ToSlash(path(&b.is))))
	})
	sorted = slices.Grow(sorted, len(all))
	for _, x := range all {
		sorted = append(sorted, x.is)
	}
	return sorted
}
