package filelock

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// Folder is a folder for the temporary files of one process. Beside it stands a lock file, for as long as the process
// lives:
//
//	alike-LABEL-MACHINE-RANDOM   alike-LABEL-MACHINE-RANDOM.lock
//
// The next process on the machine that makes such a folder in the same place removes what is not locked, whatever its
// label.
type Folder struct {
	Path string
	lock *Lock // nil: there are no locks here, so that nobody removes what stays
}

const folderPrefix = "alike-"

// MakeFolder makes a folder below parent, which exists, and that only this user can read. The label, "" for none, tells
// people whose folder it is.
func MakeFolder(parent, label string) (*Folder, error) {
	clearFolders(parent)
	begin := folderPrefix
	if label != "" {
		begin += label + "-"
	}
	for range tries {
		path := filepath.Join(parent, begin+machine()+"-"+padded(rand.Uint64()))
		lock, err := Take(vfs.OS, path+lockSuffix)
		if err != nil {
			break
		}
		if err = os.Mkdir(path, 0o700); err == nil {
			return &Folder{path, lock}, nil
		}
		_ = lock.Release()
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	path, err := os.MkdirTemp(parent, begin)
	return &Folder{Path: path}, err
}

// Remove removes the folder with its content.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	if f.lock != nil && err == nil {
		err = f.lock.Release()
	}
	return err
}

// clearFolders removes the folders of killed processes. It leaves what it cannot lock or remove: the next process tries again.
func clearFolders(parent string) {
	dir, err := os.Open(parent)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		stem, isLock := strings.CutSuffix(name, lockSuffix)
		if !isLock || !isFolder(stem) {
			continue
		}
		path := filepath.Join(parent, stem)
		lock, err := Take(vfs.OS, path+lockSuffix)
		if err != nil {
			continue
		}
		if durable.CheckDir(vfs.OS, path) == nil {
			err = os.RemoveAll(path)
		}
		lock.end(err == nil)
	}
}

// isFolder tells whether a name is that of a Folder of this machine.
func isFolder(name string) bool {
	parts := strings.Split(name, "-")
	n := len(parts)
	return n >= 3 && parts[0]+"-" == folderPrefix && parts[n-2] == machine() && len(parts[n-1]) == shortLength
}
