package dedup

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/vfs/vfstest"
)

func TestNoSyncWaitsForNoFileAndGivesTheSame(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	inputs, references := troubleCorpus(t, 1)
	for _, v := range variants(t) {
		for _, command := range v.commands() {
			want := command.undisturbed(t, v.config(inputs, references))
			c := v.config(inputs, references)
			c.Work = Unsynced{}
			var syncs atomic.Int64
			on := newTracedFS(vfstest.NewMem(), func(o operation) error {
				if o.Kind == "sync" {
					syncs.Add(1)
				}
				return nil
			})
			got, err := command.on(t, context.Background(), on, c)
			if err != nil {
				t.Fatalf("%s, %s: %v", v.name, command.name, err)
			}
			if d := got.differsFrom(want); d != "" || syncs.Load() > 0 {
				t.Errorf("%s, %s: %d syncs, %s", v.name, command.name, syncs.Load(), d)
			}
		}
	}
}
