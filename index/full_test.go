package index

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/vfs/vfstest"
)

// A disk that is full, or does not sync, makes an index read-only and says why; it is searched
// as before, and nothing that was not acknowledged is counted on.
func TestAFullDiskMakesAnIndexReadOnly(t *testing.T) {
	for name, kinds := range map[string][]vfstest.OpKind{
		"full":       {vfstest.OpFileWrite, vfstest.OpCreate},
		"sync fails": {vfstest.OpFileSync, vfstest.OpFileSyncData},
	} {
		t.Run(name, func(t *testing.T) {
			var full atomic.Bool
			fs := vfstest.Inject(vfstest.NewMem(), func(op vfstest.Op) error {
				for _, kind := range kinds {
					if full.Load() && op.Kind == kind {
						return syscall.ENOSPC
					}
				}
				return nil
			})
			x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"]}, FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			add := func(i int) error {
				if _, err := x.CheckOne(Document{ID: fmt.Append(nil, i), Text: fmt.Appendf(nil, "a%d b%d c%d d%d", i, i, i, i)}); err != nil {
					return err
				}
				return x.Sync()
			}
			for i := range 5 {
				if err := add(i); err != nil {
					t.Fatal(err)
				}
			}
			full.Store(true)
			for range 2 {
				if err := add(7); !errors.Is(err, ErrReadOnly) || !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("%v", err)
				}
			}
			matches, err := x.NewSearcher().Search([]byte("a3 b3 c3 d3"), SearchOptions{})
			if err != nil || len(matches) != 1 || string(matches[0].ID) != "3" {
				t.Errorf("%v, %v", matches, err)
			}
			if s := x.Stats(); s.Next < 5 {
				t.Errorf("%+v", s)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
