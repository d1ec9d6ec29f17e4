package runner

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

func TestTasksThatAreNotThereAreRefused(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 1)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 1})
	for name, task := range map[string]int{stage.Publish: 7, "sketch": 1, "group": -1, "soup": 0} {
		if _, err := Run(t.Context(), p, name, task, Options{}); !errors.Is(err, stage.ErrStage) {
			t.Errorf("task %d of stage %s: %v", task, name, err)
		}
	}
	engine := makePlan(t, dedup.Config{}, PlanOptions{Command: stage.Dedup, Engine: []int{2}})
	if _, err := Run(t.Context(), engine, "sketch", 0, Options{}); !errors.Is(err, dedup.ErrUsage) {
		t.Errorf("a plan for an engine: %v", err)
	}
}

func TestForeignFilesAmongObjectsAreLeftAlone(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 1)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 1})
	stages := filepath.Dir(objectPath(p, "sketch", 0))
	if err := os.MkdirAll(stages, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"-00005", "000001", "0", "notes"} {
		if err := os.WriteFile(filepath.Join(stages, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runAll(t, p, Options{})
	same(t, output(t, p.Output), plainDedup(t, c))
}

func TestATaskHoldsNoPlacesOfOtherPartitions(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 2)}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 5})
	runAll(t, p, Options{})
	st, err := openStore(t.Context(), p, nil, "group", 3)
	if err != nil {
		t.Fatal(err)
	}
	in := &input{plan: p, number: 3, store: st, o: &Options{}}
	if err := in.Blocks(t.Context(), stage.Keys, func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, o := range st.stages["classes"] {
		for _, e := range o.blocks {
			if held++; e.partition != 3 {
				t.Errorf("%s: blocks of partition %d", o.Key, e.partition)
			}
		}
	}
	if held == 0 {
		t.Error("nothing was read")
	}
}

// replaced is a bucket in which an object is replaced while it is read.
type replaced struct {
	counting
	key string
}

func (b *replaced) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	r, err := b.counting.Read(ctx, o, offset, length)
	if err != nil || !strings.HasSuffix(o.Key, b.key) {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(r, 100), failing{}), r}, nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, corpus.ErrChanged }

func TestAnInputThatIsReplacedWhileItIsCopiedEndsTheTask(t *testing.T) {
	root := t.TempDir()
	if err := os.Rename(hotCorpus(t, 3, 6, 6, 2), filepath.Join(root, "in")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	bucket := &replaced{counting: counting{folder: folder{root: root}}, key: "nothing"}
	o := Options{Buckets: func(context.Context, string) (corpus.Bucket, error) { return bucket, nil }}
	c := dedup.Config{Inputs: []string{"s3://bucket/in/"}}
	c.Corpus.Buckets = o.Buckets
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: out, Partitions: 1})
	for _, s := range p.Stages() {
		if s.Name == stage.Write {
			break
		}
		for task := range s.Tasks {
			if _, err := Run(t.Context(), p, s.Name, task, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	bucket.key = "part-0.jsonl"
	if _, err := Run(t.Context(), p, stage.Write, 0, o); !errors.Is(err, corpus.ErrChanged) {
		t.Errorf("an object is replaced: %v", err)
	}
	if _, err := os.Stat(filepath.Join(out, dedup.KeptFolder, "part-0.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of the kept records is there: %v", err)
	}
}
