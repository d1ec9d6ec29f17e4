// Package durable provides files that survive a kill of the process at any instant and a power
// failure, and that are safe against anything that others put under their names.
//
//   - Create writes a file under a temporary name, and renames it when it is whole
//     and on disk.
//   - SyncDir and MkdirAll make the names in folders durable.
//   - OpenOwn and CheckDir accept only what this program has made, never the target
//     of a link.
//   - Checksum and NewID detect damage, and tell one file from another.
//   - Pool reads many files while few of them are open.
//
// Use it for every file that this program makes in a folder of its own. A file that the user names
// and that is only read is opened with package os.
package durable

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/alike-dev/alike/vfs"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ChecksumSize is the size of a Checksum in a file, in bytes.
const ChecksumSize = crc32.Size

// Checksum is the CRC-32C (Castagnoli) of b, begun with seed. With seed 0 it is the plain checksum;
// with the checksum of the bytes before b it is the checksum of both. Equal bytes have equal
// checksums only under equal seeds.
func Checksum(seed uint32, b []byte) uint32 { return crc32.Update(seed, castagnoli, b) }

// NewID returns a random number that tells a file from every other one.
func NewID() uint64 { return rand.Uint64() }

// SyncDir makes the names in a folder durable. File systems that cannot sync a folder
// answer EINVAL or ENOTSUP; there it does nothing.
func SyncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// MkdirAll makes a folder and its parents. It returns the folders that it made, the topmost last.
// Their names are not durable yet: see SyncNames.
func MkdirAll(fsys vfs.FS, dir string, perm fs.FileMode) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := fsys.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		made = append(made, at)
	}
	return made, fsys.MkdirAll(dir, perm)
}

// SyncNames makes the names of folders durable, each in its parent.
func SyncNames(fsys vfs.FS, dirs []string) error {
	for _, dir := range dirs {
		if err := SyncDir(fsys, filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// ErrForeign says that the name of a file of this program belongs to something that this program
// has not made: a link, a device, a file that also has other names.
var ErrForeign = errors.New("not made by this program")

// OpenOwn opens a file that an earlier process has made, for reading and writing. A link, anything
// but a regular file, and a file with a second name (hard link) are ErrForeign: writing would
// change something elsewhere. A file that does not exist is fs.ErrNotExist.
func OpenOwn(fsys vfs.FS, path string) (vfs.File, error) {
	before, err := lookUp(fsys, path)
	if err != nil {
		return nil, err
	}
	f, err := fsys.OpenReadWrite(path)
	return stillThat(fsys, path, before, f, err)
}

// OpenPlain opens a file for reading. A link and anything but a regular file are ErrForeign; a
// second name does no harm to a file that is only read.
func OpenPlain(fsys vfs.FS, path string) (vfs.File, error) {
	before, err := Lstat(fsys, path)
	if err == nil {
		err = CheckRegular(path, before)
	}
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	return stillThat(fsys, path, before, f, err)
}

// stillThat checks that a file that was opened, or not, is the one that was looked at before.
func stillThat(fsys vfs.FS, path string, before fs.FileInfo, f vfs.File, err error) (vfs.File, error) {
	if err != nil || !OnSystem(fsys) {
		return f, err
	}
	after, err := f.Stat()
	if err == nil && !SameFile(before, after) {
		err = foreign(path, "replaced while it was opened")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lookUp refuses everything that OpenOwn must not open.
func lookUp(fsys vfs.FS, path string) (fs.FileInfo, error) {
	info, err := Lstat(fsys, path)
	if err == nil {
		err = CheckRegular(path, info)
	}
	if err == nil && linkCount(info) > 1 {
		err = foreign(path, "a file with a second name (hard link)")
	}
	return info, err
}

// IsOwn tells whether OpenOwn would open path.
func IsOwn(fsys vfs.FS, path string) bool {
	_, err := lookUp(fsys, path)
	return err == nil
}

// CheckDir checks that path is itself a folder: a link to a folder is ErrForeign, because the
// program would make and remove things elsewhere.
func CheckDir(fsys vfs.FS, path string) error {
	info, err := Lstat(fsys, path)
	switch {
	case err != nil:
		return err
	case IsLink(info):
		return foreign(path, "a symbolic link")
	case !info.IsDir():
		return foreign(path, "not a folder")
	}
	return nil
}

// CheckRegular returns ErrForeign if info, as Lstat has returned it, is not of a regular file.
func CheckRegular(path string, info fs.FileInfo) error {
	switch {
	case IsLink(info):
		return foreign(path, "a symbolic link")
	case !info.Mode().IsRegular():
		return foreign(path, "not a regular file")
	}
	return nil
}

// CheckEmpty returns ErrForeign if info, as Lstat has returned it, is not of a regular file or the
// file has content: files of this kind stay empty.
func CheckEmpty(path string, info fs.FileInfo) error {
	if err := CheckRegular(path, info); err != nil {
		return err
	}
	if info.Size() > 0 {
		return foreign(path, "a file that is not empty")
	}
	return nil
}

func foreign(path, what string) error {
	return fmt.Errorf("%s: %s, %w; remove it", path, what, ErrForeign)
}

// Lstat describes a name itself, not the target of a link. File systems in memory have no links.
func Lstat(fsys vfs.FS, path string) (fs.FileInfo, error) {
	if OnSystem(fsys) {
		return os.Lstat(path)
	}
	return fsys.Stat(path)
}

// OnSystem tells whether paths are those of the operating system.
func OnSystem(fsys vfs.FS) bool { return vfs.Root(fsys) == vfs.OS }

// IsLink tells whether info, as Lstat has returned it, is of a symbolic link.
func IsLink(info fs.FileInfo) bool { return info.Mode()&fs.ModeSymlink != 0 }

// State identifies a state of a file's bytes: size, time of modification and, where the system has
// them, the number of the file (inode) and the time of the last change of its status. No program
// can set that time. It also changes with the file's name, links, owner and permissions.
type State struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Inode    uint64
	Changed  int64 // nanoseconds since 1970; 0: unknown
}

func StateOf(info fs.FileInfo) State {
	s := State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.Inode, s.Changed = status(info)
	return s
}

// SameFile tells whether a and b describe one file, even if its bytes have changed in between.
// Where files have no numbers it is always true.
func SameFile(a, b fs.FileInfo) bool {
	deviceA, inodeA := number(a)
	deviceB, inodeB := number(b)
	return deviceA == deviceB && inodeA == inodeB
}
