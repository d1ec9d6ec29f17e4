package dedup

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func TestResultsAreTheSameForAnyThreadsMemoryAndWork(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	inputs, references := troubleCorpus(t, 1)
	for _, v := range variants(t) {
		for _, command := range v.commands() {
			want := command.undisturbed(t, v.config(inputs, references))
			for _, how := range []struct {
				threads int
				small   bool
				work    string
			}{{1, true, ""}, {1, false, workFolder}, {2, true, workFolder}, {2, false, ""}, {7, true, ""}, {7, true, workFolder}} {
				if testsize.Small() && (how.threads == 1 || !how.small) {
					continue
				}
				c := v.config(inputs, references)
				c.Threads, c.Work = how.threads, WorkFolder{Path: how.work}
				if how.small {
					tiny(&c)
				}
				on := newTracedFS(vfstest.NewMem(), nil)
				got, err := command.on(t, context.Background(), on, c)
				if err != nil {
					t.Fatalf("%s, %s, %+v: %v", v.name, command.name, how, err)
				}
				if d := got.differsFrom(want); d != "" {
					t.Errorf("%s, %s, %+v: %s", v.name, command.name, how, d)
				}
				if left := on.Left(); len(left) > 0 {
					t.Errorf("%s, %s, %+v: left open %q", v.name, command.name, how, left)
				}
				if left := memTree(t, on.FS, workFolder); len(left) > 0 {
					t.Errorf("%s, %s, %+v: left in the work folder: %q", v.name, command.name, how, slices.Collect(maps.Keys(left)))
				}
			}
		}
	}
}
