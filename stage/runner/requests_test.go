package runner

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// counting is a bucket that counts requests.
type counting struct {
	folder
	reads, writes atomic.Int64
}

func (c *counting) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	c.writes.Add(1) // at the price of one
	return c.folder.List(ctx, prefix, each)
}

func (c *counting) Stat(ctx context.Context, key string) (corpus.Object, error) {
	c.reads.Add(1)
	return c.folder.Stat(ctx, key)
}

func (c *counting) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	c.reads.Add(1)
	return c.folder.Read(ctx, o, offset, length)
}

func (c *counting) Create(ctx context.Context, key string) (corpus.Destination, error) {
	c.writes.Add(1)
	return c.folder.Create(ctx, key)
}

// Upload and Remove make it a corpus.BucketWriter: tasks do neither.
func (c *counting) Upload(context.Context, string, io.ReaderAt, int64) error {
	return errors.ErrUnsupported
}

func (c *counting) Remove(context.Context, string) error { return errors.ErrUnsupported }

// The estimate is what a user pays by: tasks ask for no more, and for not much less where most
// partitions have rows.
func TestTasksAskForNoMoreThanTheEstimateSays(t *testing.T) {
	bucket := &counting{folder: folder{root: t.TempDir()}}
	c := dedup.Config{Inputs: []string{hotCorpus(t, 30, 60, 60, 4)}}
	p, err := Make(t.Context(), c, PlanOptions{Command: stage.Dedup, Work: "s3://bucket/work", Output: filepath.Join(t.TempDir(), "out"), Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, p, Options{Buckets: func(context.Context, string) (corpus.Bucket, error) { return bucket, nil }})
	files := int64(0) // are read without the bucket
	for _, s := range p.Stages() {
		if s.Documents {
			files += p.Estimate.InputBytes>>21 + int64(len(p.Files))
		}
	}
	reads, writes := p.Estimate.ReadRequests-files, p.Estimate.WriteRequests
	if got := bucket.reads.Load(); got > reads || got < reads/3 {
		t.Errorf("%d requests to read, the estimate is %d", got, reads)
	}
	if got := bucket.writes.Load(); got > writes || got < writes/2 {
		t.Errorf("%d requests to write and list, the estimate is %d", got, writes)
	}
}

func TestTheEstimateCountsEveryPassOverTheInput(t *testing.T) {
	corpus := hotCorpus(t, 30, 60, 60, 4)
	for command, passes := range map[string]int64{stage.Pairs: 2, stage.Dedup: 3} {
		options := PlanOptions{Command: command, Work: t.TempDir(), Output: filepath.Join(t.TempDir(), "out"), Partitions: 4}
		p, err := Make(t.Context(), dedup.Config{Inputs: []string{corpus}}, options)
		if err != nil {
			t.Fatal(err)
		}
		if e := p.Estimate; e.MovedBytes != passes*e.InputBytes+2*e.WorkBytes+p.bytesOfIndexes() {
			t.Errorf("%s: %d bytes are moved, of %d of input and %d of blocks", command, e.MovedBytes, e.InputBytes, e.WorkBytes)
		}
	}
}

// In a plan of many partitions the indexes of objects are most of what tasks ask for.
func TestTheEstimateCountsReadingTheIndexesOfObjects(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 1)}}
	of := func(partitions int) *Plan {
		return makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: partitions})
	}
	// The beginning of an object, which is read first, holds an index of 4,096 entries. The keys from each task of classes
	// have one for each of group.
	small, large := of(2500), of(5000)
	if got := large.Estimate.ReadRequests - 4*small.Estimate.ReadRequests; got < 5000*5000/2 {
		t.Errorf("twice the partitions take %d requests more than four times as many", got)
	}
	if got := large.bytesOfIndexes() - 4*small.bytesOfIndexes(); got < 5000*5000*20_000/2 {
		t.Errorf("twice the partitions read %d bytes of indexes more than four times as many", got)
	}
	e := large.Estimate
	if e.MovedBytes < large.bytesOfIndexes() {
		t.Errorf("%d bytes are moved, of indexes alone %d", e.MovedBytes, large.bytesOfIndexes())
	}
	if least := float64(large.tasks())*taskSeconds + float64(e.ReadRequests)*readSeconds; e.CPUHours*3600 < least {
		t.Errorf("%v processor hours for %d tasks and %d requests", e.CPUHours, large.tasks(), e.ReadRequests)
	}
}

func TestEveryFileHasAPartitionUpToABound(t *testing.T) {
	for _, c := range []struct {
		files, size, memory int64
		want                int
	}{
		{1, 1 << 10, 1 << 30, 1},
		{4, 66 << 20, 1 << 30, 4}, // 264 MB in 4 files
		{4, 1 << 20, 1 << 30, 1},  // a task would hardly do more than start
		{1000, 1 << 20, 1 << 30, 62},
		{100_000, 1 << 20, 1 << 30, 195},
		{1, 264 << 20, 1 << 30, 1},
		{2, 10 << 30, 1 << 30, 40},
	} {
		p := &Plan{Memory: c.memory, Files: make([]File, c.files)}
		if got := p.partitionsFor(c.files*c.size, c.files*c.size); got != c.want {
			t.Errorf("%d files of %d MiB: %d partitions, want %d", c.files, c.size>>20, got, c.want)
		}
	}
}
