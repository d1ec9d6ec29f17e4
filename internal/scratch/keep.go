package scratch

import (
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"github.com/alike-dev/alike/internal/durable"
)

// Keep puts the files in a folder that outlives the run: saved files stay there when they are
// released. It is called before anything else, and makes the folder.
func (s *Space) Keep(path string) error {
	s.path, s.kept = path, true
	err := s.FS.MkdirAll(path, 0o755)
	if err == nil {
		err = durable.CheckDir(s.FS, path)
	}
	if err == nil {
		err = durable.SyncDir(s.FS, filepath.Dir(path))
	}
	return Error(err)
}

// Sync makes the names of all files in the folder durable.
func (s *Space) Sync() error { return Error(durable.SyncDir(s.FS, s.path)) }

// RemoveKept removes the files in the folder that Keep has set, and the folder.
func (s *Space) RemoveKept() error {
	if err := s.Clean(func(string) bool { return false }); err != nil {
		return err
	}
	return s.FS.Remove(s.path)
}

// ownName matches the names of files that a run makes in its work folder, except for the journal
// and unfinished files, which tempName matches. They are compiled when they are used: most runs
// keep nothing.
var (
	ownName  = compiled(`[a-z]+-\d{6,}(-\d{6,}\.run|\.part)|input-\d+|decoded|records(\.index)?`)
	tempName = compiled(`^\.alike-[0-9a-z]+\.tmp$`)
	serial   = compiled(`^[a-z]+-(\d{6,})`)
)

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// NamesIn returns the names of a run's files that occur in a text.
func NamesIn(text string) []string { return ownName().FindAllString(text, -1) }

// Clean removes the files of a run except those to keep, and continues the numbering of files
// behind them.
func (s *Space) Clean(keep func(name string) bool) error {
	names, err := s.FS.List(s.path)
	if err != nil {
		return Error(err)
	}
	for _, name := range names {
		whole := ownName().FindString(name) == name || tempName().MatchString(name)
		if !whole {
			continue
		}
		if !keep(name) {
			if err := s.FS.RemoveAll(filepath.Join(s.path, name)); err != nil { // one may be a folder
				return Error(err)
			}
			continue
		}
		if m := serial().FindStringSubmatch(name); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return err
			}
			s.serial = max(s.serial, n)
		}
	}
	return nil
}
