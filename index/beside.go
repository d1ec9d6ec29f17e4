package index

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	pebblefs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/vfs"
)

// snapshot is the store of an index at one moment, for a process that reads it while another one
// writes. It is a file system: small files of Pebble (logs and lists of tables) are copied into
// memory, and tables, which never change, are held open, so that they stay readable when the
// writer removes them.
//
// Files are not read at the same moment, but in an order that gives one consistent state:
//
//  1. The logs. A record that is written later is not seen.
//  2. The list of tables. Records that had left a log before step 1 are in a table of this list.
//  3. The tables. If one was removed after step 2, Pebble reports that it is missing, and all
//     steps are repeated.
//
// So the snapshot has everything up to some batch after the beginning of step 1. A file that grows
// is read from its end to its beginning: everything before a byte that was read had been written
// already.
type snapshot struct {
	pebblefs.FS                     // in memory: the small files
	held        map[string]vfs.File // the tables, by their names in the folder
}

// snapshotTries is how often the files are read again because the writer has changed them.
const snapshotTries = 50

// errChanging says that the files changed while they were read.
var errChanging = errors.New("the writer changes files faster than they can be taken: try again")

// takeSnapshot returns the store in a folder as it is now. The caller closes it.
func takeSnapshot(from vfs.FS, dir string) (s *snapshot, err error) {
	s = &snapshot{pebblefs.NewMem(), map[string]vfs.File{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err = s.MkdirAll(dir, 0o777); err != nil {
		return s, err
	}
	for _, wanted := range []func(name string) bool{isLog, isList, isTable} {
		names, err := from.List(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return s, nil // there is no store yet
		}
		if err != nil {
			return s, err
		}
		slices.Sort(names)
		for _, name := range names {
			if !wanted(name) {
				continue
			}
			if path := filepath.Join(dir, name); isTable(name) {
				if s.held[name], err = from.Open(path); err != nil {
					delete(s.held, name)
				}
			} else {
				err = s.copy(from, path, s.PathJoin(dir, name))
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return s, err
			}
		}
	}
	return s, nil
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}
func isList(name string) bool { return !isLog(name) && !isTable(name) && name != "LOCK" }

// copyBlock is how much of a growing file is read at once: a page. Only the end of a page can be
// missing while it is being written.
const copyBlock = 4 << 10

// copy copies a file into memory, from its end to its beginning.
func (s *snapshot) copy(from vfs.FS, path, inMemory string) error {
	in, err := from.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	content := make([]byte, info.Size())
	for end := len(content); end > 0; {
		start := (end - 1) / copyBlock * copyBlock
		if _, err := in.ReadAt(content[start:end], int64(start)); err != nil && err != io.EOF {
			return err
		}
		end = start
	}
	out, err := s.Create(inMemory, pebblefs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return errors.Join(err, out.Close())
}

// same tells whether the folder has exactly the files of the snapshot.
func (s *snapshot) same(from vfs.FS, dir string) bool {
	names, err := from.List(dir)
	if err != nil {
		return false
	}
	taken, err := s.List(dir)
	if err != nil {
		return false
	}
	return slices.Equal(withoutLock(names), withoutLock(taken))
}

// withoutLock sorts names and leaves out Pebble's lock file, which every process that opens a
// store makes.
func withoutLock(names []string) []string {
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "LOCK" })
}

func (s *snapshot) close() (err error) {
	for _, f := range s.held {
		err = errors.Join(err, f.Close())
	}
	s.held = nil
	return err
}

func (s *snapshot) Open(name string, opts ...pebblefs.OpenOption) (pebblefs.File, error) {
	if f, ok := s.held[filepath.Base(name)]; ok {
		return &heldFile{plainFile{f}}, nil
	}
	return s.FS.Open(name, opts...)
}

func (s *snapshot) Stat(name string) (pebblefs.FileInfo, error) {
	if f, ok := s.held[filepath.Base(name)]; ok {
		return described(f.Stat())
	}
	return s.FS.Stat(name)
}

func (s *snapshot) List(dir string) ([]string, error) {
	names, err := s.FS.List(dir)
	return slices.AppendSeq(names, maps.Keys(s.held)), err
}

// heldFile is an opened file with several users.
type heldFile struct{ plainFile }

func (*heldFile) Close() error { return nil }
