package index

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// snapshot is the store of an index as it was at one moment, for who reads it beside a process
// that writes. It is a file system with copies of the small files of Pebble in memory, logs and
// lists of tables, and with the tables, which never change, held open: removed by the
// writer, they stay readable.
//
// Files are not taken at the same moment, but in an order that makes one of it:
//
//  1. The logs. A record that comes later is not seen.
//  2. The list of tables. What has left a log before 1 was copied stands in a table of this list.
//  3. The tables. One that was removed after 2 is missing, which Pebble says: then all is
//     done once more.
//
// So what is seen is all up to some batch after the beginning of 1. A file that grows is read
// from its end to its beginning: whatever is seen of it, all before that was written already.
type snapshot struct {
	vfs.FS // in memory: the small files
	held   map[string]vfs.File
}

// snapshotTries is how often the files are taken anew since the writer has changed them.
const snapshotTries = 50

// errChanging says that files have changed while they were taken.
var errChanging = errors.New("the writer changes files faster than they can be taken: try again")

// takeSnapshot returns the store in a folder as it is now. Close it.
func takeSnapshot(from vfs.FS, dir string) (s *snapshot, err error) {
	s = &snapshot{vfs.NewMem(), map[string]vfs.File{}}
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
			if path := from.PathJoin(dir, name); isTable(name) {
				if s.held[path], err = from.Open(path); err != nil {
					delete(s.held, path)
				}
			} else {
				err = s.copy(from, path)
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

// copyBlock is how much of a growing file is read at once: a page, of which a part that is
// being written can only be at the end.
const copyBlock = 4 << 10

// copy copies a file into memory, from its end to its beginning.
func (s *snapshot) copy(from vfs.FS, path string) error {
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
	out, err := s.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return errors.Join(err, out.Close())
}

// same tells whether the folder has the files that were taken, and no others.
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

// withoutLock sorts names and leaves out that of Pebble's lock, which whoever opens a store makes.
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

func (s *snapshot) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if f, ok := s.held[name]; ok {
		return &heldFile{File: f}, nil
	}
	return s.FS.Open(name, opts...)
}

func (s *snapshot) Stat(name string) (vfs.FileInfo, error) {
	if f, ok := s.held[name]; ok {
		return f.Stat()
	}
	return s.FS.Stat(name)
}

func (s *snapshot) List(dir string) ([]string, error) {
	names, err := s.FS.List(dir)
	for path := range s.held {
		if s.PathDir(path) == strings.TrimSuffix(dir, "/") {
			names = append(names, s.PathBase(path))
		}
	}
	return names, err
}

// heldFile is an opened file that others use too.
type heldFile struct{ vfs.File }

func (*heldFile) Close() error { return nil }
