package corpus

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
)

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
