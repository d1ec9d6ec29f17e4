package durable

import (
	"testing"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func TestWithoutSyncFilesDoNotSurviveTheSystem(t *testing.T) {
	for _, sync := range []bool{true, false} {
		disk := vfstest.NewCrashable()
		var on vfs.FS = disk
		if !sync {
			on = Unsynced(disk)
		}
		to, err := Create(on, "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte("text")); err != nil {
			t.Fatal(err)
		}
		if err := to.Commit(); err != nil {
			t.Fatal(err)
		}
		if info, err := on.Stat("a"); err != nil || info.Size() != 4 {
			t.Errorf("sync %v: the file is not whole: %v", sync, err)
		}
		after := disk.CrashClone(vfstest.CrashCloneCfg{})
		if _, err := after.Stat("a"); (err == nil) != sync {
			t.Errorf("sync %v: after a failure of the power: %v", sync, err)
		}
	}
}
