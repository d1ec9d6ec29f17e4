package serve

import (
	"errors"
	"io"
	"testing"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// left returns what a failure of the power would leave of a file.
func left(t *testing.T, on *vfstest.Mem, name string) string {
	t.Helper()
	f, err := on.CrashClone(vfstest.CrashCloneCfg{}).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func create(t *testing.T, on vfs.FS, name, content string) vfs.File {
	t.Helper()
	f, err := on.Create(name)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil {
		err = f.SyncData()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestALogIsSyncedLaterAndOtherFilesAtOnce(t *testing.T) {
	disk := vfstest.NewCrashable()
	lazy := newLazyFS(disk)
	log, other, closed := create(t, lazy, "a.log", "log"), create(t, lazy, "a.sst", "other"), create(t, lazy, "b.log", "closed")
	dir, err := disk.OpenDir("")
	if err = errors.Join(err, dir.Sync(), dir.Close(), closed.Close()); err != nil { // names are not what this is about
		t.Fatal(err)
	}
	if got := left(t, disk, "a.log") + "," + left(t, disk, "a.sst") + "," + left(t, disk, "b.log"); got != ",other,closed" {
		t.Errorf("at once a failure leaves %q", got)
	}
	lazy.syncAll()
	if got := left(t, disk, "a.log"); got != "log" {
		t.Errorf("later a failure leaves %q", got)
	}
	if err := errors.Join(log.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}
