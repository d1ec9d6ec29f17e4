package vfstest

import (
	"fmt"
	"sync"
	"testing"
)

// Links and clones come at once, and all of them end: most runs of this test against pebble.MemFS alone never do.
func TestLinksAndClonesAtOnceEnd(t *testing.T) {
	f := NewCrashable()
	file, err := f.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	both.Go(func() {
		for i := range 100000 {
			if err := f.Link("file", fmt.Sprint("link", i%1000)); err != nil && i < 1000 {
				t.Error(err)
			}
		}
	})
	both.Go(func() {
		for range 1000 {
			f.CrashClone(CrashCloneCfg{})
		}
	})
	both.Wait()
}
