package corpus

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/alike-dev/alike/internal/bucketurl"
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
	} else if !record {
		if err := unreadable(s.Path); err != nil {
			w.problem(s.Path, err)
			return
		}
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

// deepGlob is a pattern with **.
type deepGlob struct {
	pattern string // as it was given
	folder  string // the part without wildcards
	rest    string // with slashes
}

func newDeepGlob(pattern string) deepGlob {
	folder, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	return deepGlob{pattern, filepath.FromSlash(folder), rest}
}

// has tells whether a path in the folder, or a folder that it lies in, matches.
func (g deepGlob) has(path string) bool {
	rel, err := filepath.Rel(g.folder, path)
	if err != nil {
		return false
	}
	_, ok := bucketurl.MatchDeep(g.rest, filepath.ToSlash(rel))
	return ok
}

// addDeep adds the files that match a pattern with **. They are found by a walk through its folder, which tells of
// folders that cannot be read and of links that lead nowhere: Glob passes over both.
func (w *walk) addDeep(pattern string) error {
	if !doublestar.ValidatePattern(filepath.ToSlash(pattern)) {
		return &Problem{Path: pattern, Err: fault.Because(fs.ErrInvalid, "no pattern; check its brackets")}
	}
	w.deep[w.input] = newDeepGlob(pattern)
	folder := filepath.Clean(w.deep[w.input].folder)
	st, err := os.Stat(folder)
	if err != nil || !st.IsDir() {
		return nil // checkEmpty tells that nothing matches
	}
	real, err := realPath(folder)
	if err != nil {
		return linkError(folder, err)
	}
	w.folder(folder, real, st)
	return nil
}

// wants tells whether a path is part of the current input.
func (w *walk) wants(path string) bool {
	g, deep := w.deep[w.input]
	return !deep || g.has(path)
}

// folderOnce is once for a folder. A pattern takes some of a folder's files, so the folder is
// walked again for another input.
func (w *walk) folderOnce(real string) bool {
	if g, deep := w.deep[w.input]; deep {
		return w.once(real + "\x00" + g.pattern)
	}
	return w.once(real)
}

// realPath returns the absolute path without symbolic links.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// folder adds the contents of a folder; symbolic links are left for later.
func (w *walk) folder(path, real string, st fs.FileInfo) {
	if !w.visit(path, st) {
		return
	}
	if !w.folderOnce(real) {
		w.files[w.input]++ // another input has reached it
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		w.problem(path, openError(path, err))
	}
	for len(entries) > 0 && w.stopped == nil {
		some := entries[:min(len(entries), lookupRound)]
		entries = entries[len(some):]
		for i, at := range w.lookUp(some) {
			e := some[i]
			p, r := filepath.Join(path, e.Name()), filepath.Join(real, e.Name())
			switch {
			case e.IsDir():
				if st, err := e.Info(); err != nil {
					w.problem(p, openError(p, err))
				} else {
					w.folder(p, r, st)
				}
			case e.Type()&fs.ModeSymlink != 0:
				w.links = append(w.links, link{w.input, p, r})
			case !w.wants(p):
			case !e.Type().IsRegular():
				w.problem(p, notRegular(e.Type()))
			case at.err != nil:
				w.problem(p, openError(p, at.err))
			default:
				w.file(p, r, at.info)
			}
		}
	}
}

// lookUp looks up the regular files among entries. This is most of the time of finding
// the files of a large folder, and nearly all of it if the disk has to be read.
func (w *walk) lookUp(entries []fs.DirEntry) []lookup {
	all := make([]lookup, len(entries))
	share := max((len(entries)-1)/max(w.o.Lookups, 1)+1, lookupShare)
	var group sync.WaitGroup
	for first := 0; first < len(entries); first += share {
		group.Go(func() {
			for i, e := range entries[first:min(first+share, len(entries))] {
				if e.Type().IsRegular() {
					at := &all[first+i]
					at.info, at.err = e.Info()
				}
			}
		})
	}
	group.Wait()
	return all
}

// followLinks follows the symbolic links in the order in which they were found, including
// those found on the way.
func (w *walk) followLinks() {
	for i := 0; i < len(w.links) && w.stopped == nil; i++ {
		l := w.links[i]
		w.input = l.input
		st, err := os.Stat(l.path)
		if err != nil {
			w.problem(l.path, linkError(l.path, err))
			continue
		}
		real, err := realPath(l.path)
		if err != nil {
			w.problem(l.path, linkError(l.path, err))
			continue
		}
		switch {
		case st.IsDir() && within(l.real, real):
			w.problem(l.path, fault.Because(ErrLoop, "a symbolic link to the folder that it is in; leave it out"))
		case st.IsDir():
			w.folder(l.path, real, st)
		case !w.wants(l.path):
		case st.Mode().IsRegular():
			w.file(l.path, real, st)
		default:
			w.problem(l.path, notRegular(st.Mode()))
		}
	}
}

// linkError is openError for a path that may be a link to nothing or to itself.
func linkError(path string, err error) error {
	if st, lerr := os.Lstat(path); lerr == nil && st.Mode()&fs.ModeSymlink != 0 {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &Problem{Path: path, Err: fault.Because(fs.ErrNotExist, "a symbolic link to nothing; remove it or restore its target")}
		case !errors.Is(err, fs.ErrPermission):
			return &Problem{Path: path, Err: fault.Because(ErrLoop, "a symbolic link that leads back to itself; remove it")}
		}
	}
	return openError(path, err)
}

const (
	lookupRound = 1 << 14 // entries of a folder that are looked up together
	lookupShare = 1 << 8  // entries for which starting a goroutine pays
)

// within reports whether path lies below folder; both are real paths.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
