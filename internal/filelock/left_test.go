package filelock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// leaving names the place of a file and a folder that a process of this test begins. Then it waits until it is killed.
const leaving = "ALIKE_TEST_LEAVING"

func TestMain(m *testing.M) {
	if dir := os.Getenv(leaving); dir != "" {
		f, err := Create(vfs.OS, filepath.Join(dir, "out"))
		if err == nil {
			_, err = f.Write([]byte("half"))
		}
		folder, failed := MakeFolder(dir, "0123-verify-7")
		if failed == nil {
			failed = os.WriteFile(filepath.Join(folder.Path, "rows"), []byte("rows"), 0o600)
		}
		fmt.Println(errors.Join(err, failed))
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// begin starts a process that has begun a file and a folder in dir.
func begin(t *testing.T, dir string) (kill func()) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), leaving+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 100)
	if n, err := out.Read(said); err != nil || !bytes.Equal(said[:n], []byte("<nil>\n")) {
		t.Fatalf("%q, %v", said[:n], err)
	}
	kill = func() {
		_ = child.Process.Kill()
		_ = child.Wait()
		_ = in.Close()
	}
	t.Cleanup(kill)
	return kill
}

// names returns the names in a folder, those of locks as "lock", of unfinished files as "tmp", of folders as "folder".
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasSuffix(name, lockSuffix):
			name = "lock"
		case strings.HasSuffix(name, tempSuffix):
			name = "tmp"
		case e.IsDir():
			name = "folder"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func create(t *testing.T, path string) *File {
	t.Helper()
	f, err := Create(vfs.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Abort)
	return f
}

func TestProcessesThatMakeOneFileAtOnceLeaveEachOthersAlone(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // two that made the same file at once
		t.Cleanup(begin(t, dir))
	}
	if got := names(t, dir); got != "lock tmp lock tmp folder lock folder lock" {
		t.Fatalf("two processes have %s", got)
	}
	f, folder := create(t, filepath.Join(dir, "out")), makeFolder(t, dir)
	if got := names(t, dir); got != "lock tmp lock tmp lock tmp folder lock folder lock folder lock" {
		t.Fatalf("a third one has removed what others use: %s", got)
	}
	f.Abort()
	if err := folder.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "lock tmp lock tmp folder lock folder lock" {
		t.Fatalf("it leaves %s", got)
	}
}

func makeFolder(t *testing.T, parent string) *Folder {
	t.Helper()
	folder, err := MakeFolder(parent, "")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestWhatKilledProcessesLeaveIsRemovedByTheNext(t *testing.T) {
	dir := t.TempDir()
	first, second := begin(t, dir), begin(t, dir)
	first()
	second()
	for _, name := range []string{"alike-mine", "alike-x-y.lock", ".alike-mine.tmp", ".alike-a-b-0.lock"} { // not made by these functions
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, folder := create(t, filepath.Join(dir, "out")), makeFolder(t, dir)
	if _, err := f.Write([]byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Commit(), folder.Remove()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "lock tmp alike-mine lock out" {
		t.Errorf("left: %s", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "out")); string(data) != "whole" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

func TestRemovingWhatIsLeftSparesOthers(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir)()
	living := create(t, filepath.Join(dir, "living"))
	if err := RemoveLeft(vfs.OS, dir, func(hash string) bool { return hash == Hash("another") }); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); strings.Count(got, "tmp") != 2 {
		t.Errorf("what is no result was removed: %s", got)
	}
	if err := RemoveLeft(vfs.OS, dir, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "lock tmp folder lock" {
		t.Errorf("left are %s", got)
	}
	if err := living.Commit(); err != nil {
		t.Fatal(err)
	}
}

// What others plant under the names of locks and folders is neither followed nor removed.
func TestLinksInPlaceOfFoldersAndLocksAreLeft(t *testing.T) {
	dir, mine := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(mine, "document"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	stem := filepath.Join(dir, folderPrefix+machine()+"-"+padded(7))
	other := filepath.Join(dir, folderPrefix+machine()+"-"+padded(8))
	for _, link := range [][2]string{
		{mine, stem}, {filepath.Join(mine, "document"), other + lockSuffix}, {mine, filepath.Join(dir, stemOf("out", 0)+lockSuffix)},
		{mine, filepath.Join(dir, stemOf("out", 1)+tempSuffix)},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Skip(err)
		}
	}
	if err := errors.Join(os.WriteFile(stem+lockSuffix, nil, 0o600), os.Mkdir(other, 0o700)); err != nil {
		t.Fatal(err)
	}
	f, folder := create(t, filepath.Join(dir, "out")), makeFolder(t, dir)
	if err := errors.Join(f.Commit(), folder.Remove()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(mine, "document")); string(data) != "mine" {
		t.Errorf("the file behind the links holds %q, %v", data, err)
	}
	for _, path := range []string{stem, other, other + lockSuffix} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}

func TestAFileOfAnotherMachineIsLeftToRemoveLeft(t *testing.T) {
	dir := t.TempDir()
	stem := filepath.Join(dir, strings.Replace(stemOf("out", 0), machine(), padded(1), 1))
	for _, suffix := range []string{lockSuffix, tempSuffix} {
		if err := os.WriteFile(stem+suffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(t, filepath.Join(dir, "out")).Commit(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "lock tmp out" {
		t.Errorf("left are %s", got)
	}
	if err := RemoveLeft(vfs.OS, dir, func(hash string) bool { return hash == Hash("out") }); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "out" {
		t.Errorf("left are %s", got)
	}
}

// Without locks nothing is found again, and nothing is removed.
func TestAFileSystemWithoutLocksHasFilesAllTheSame(t *testing.T) {
	on := noLocks{vfstest.NewMem()}
	f, err := Create(on, "out/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := on.List("out"); len(got) != 1 || got[0] != "a" {
		t.Errorf("the folder has %q, %v", got, err)
	}
}

// noLocks is a file system that has no locks.
type noLocks struct{ vfs.FS }

func (noLocks) Lock(string) (io.Closer, error) { return nil, errors.ErrUnsupported }
