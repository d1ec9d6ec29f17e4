package filelock

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// File is a durable.File whose temporary name follows from its own, so that what a killed process has left of it is
// found again. Beside it stands a lock file, for as long as its process lives:
//
//	.alike-FILE-MACHINE-N.tmp   .alike-FILE-MACHINE-N.lock
//
// FILE and MACHINE are hashes of the names of both. The next process on that machine that makes the same file removes
// what is not locked, and RemoveLeft does so for all machines. Processes that make the same file at once take different
// N; the last one to commit wins.
type File struct {
	*durable.File
	fs   vfs.FS
	lock *Lock    // nil: there are no locks here
	made []string // folders that Create has made
}

// writers is how many processes of a machine can make one file at a time under names that are found again: a scheduler
// runs a task twice at most, or once more while one hangs.
const writers = 4

// Create begins a file, as durable.Create does. Where files cannot be locked it is just that.
func Create(fsys vfs.FS, path string) (*File, error) {
	dir := filepath.Dir(path)
	made, err := durable.MkdirAll(fsys, dir, 0o777)
	if err != nil {
		return nil, err
	}
	f := &File{fs: fsys, made: made}
	temp := ""
	for n := range writers {
		stem := stemOf(filepath.Base(path), n)
		if f.lock != nil {
			removeLeft(fsys, filepath.Join(dir, stem))
		} else if f.lock, err = Take(fsys, filepath.Join(dir, stem+lockSuffix)); err == nil {
			temp = stem + tempSuffix
		}
	}
	if f.lock == nil {
		f.File, err = durable.Create(fsys, path)
	} else {
		f.File, err = durable.CreateAs(fsys, path, temp)
	}
	if err != nil {
		f.unlock()
		return nil, err
	}
	return f, nil
}

// Commit is that of durable.File.
func (f *File) Commit() error {
	err := f.File.Commit()
	if err == nil && !f.Volatile {
		err = durable.SyncNames(f.fs, f.made)
	}
	if err == nil {
		f.unlock()
	}
	return err
}

// Abort is that of durable.File.
func (f *File) Abort() {
	f.File.Abort()
	f.unlock()
}

func (f *File) unlock() {
	if f.lock != nil {
		_ = f.lock.Release() // an empty file that stays does no harm
		f.lock = nil
	}
}

const (
	stemPrefix = ".alike-"
	tempSuffix = ".tmp"
	lockSuffix = ".lock"
)

// stemOf returns the temporary names of a file, without what they end in. The name itself is not part of them: it may
// already have the maximal length.
func stemOf(name string, n int) string {
	return fmt.Sprintf("%s%s-%s-%d", stemPrefix, short(name), machine(), n)
}

// machine returns a name for this machine. Locks of a file system that machines share may hold on one of them only, so
// a process does not touch what belongs to another machine.
func machine() string {
	name, _ := os.Hostname() // without a name all is as on one machine
	return short(name)
}

// short returns a hash of a name, as 13 digits and letters.
func short(name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return padded(h.Sum64())
}

// shortLength is the length of the largest number of 64 bits with digits and letters.
const shortLength = 13

func padded(n uint64) string {
	digits := strconv.FormatUint(n, 36)
	return strings.Repeat("0", shortLength-len(digits)) + digits
}

// removeLeft removes the file with a stem and its lock file, if there is one and no process holds it.
func removeLeft(fsys vfs.FS, stem string) {
	if _, err := durable.Lstat(fsys, stem+lockSuffix); err != nil {
		return
	}
	lock, err := Take(fsys, stem+lockSuffix)
	if err != nil {
		return
	}
	err = fsys.Remove(stem + tempSuffix)
	lock.end(err == nil || errors.Is(err, fs.ErrNotExist))
}

// end releases a lock on what a killed process has left. The lock file stays if that could not be removed, so that
// another process tries again.
func (l *Lock) end(removed bool) {
	if removed {
		_ = l.Release()
	} else {
		_ = l.held.Close()
	}
}

// RemoveLeft removes from a folder what killed processes of any machine have left of files that they made by Create:
// of those for which of returns true, given the hash of a name by Hash. What a living process holds stays.
func RemoveLeft(fsys vfs.FS, dir string, of func(hash string) bool) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		stem, isLock := strings.CutSuffix(name, lockSuffix)
		parts := strings.Split(strings.TrimPrefix(stem, stemPrefix), "-")
		if isLock && strings.HasPrefix(stem, stemPrefix) && len(parts) == 3 && len(parts[0]) == shortLength && len(parts[1]) == shortLength && of(parts[0]) {
			removeLeft(fsys, filepath.Join(dir, stem))
		}
	}
	return nil
}

// Hash returns the hash of the name of a file, for RemoveLeft.
func Hash(name string) string { return short(name) }
