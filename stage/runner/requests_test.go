package runner

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bucketserver"
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

// The estimate is what a user pays by. It is compared with the log of a server that holds inputs, objects and results.
func TestTasksAskForWhatTheEstimateSays(t *testing.T) {
	for name, c := range map[string]struct {
		command                                   string
		copies, template, near, files, partitions int
	}{
		"few tasks":             {stage.Dedup, 30, 60, 60, 4, 4},
		"few tasks, pairs":      {stage.Pairs, 30, 60, 60, 4, 4},
		"many tasks":            {stage.Dedup, 20, 60, 1000, 16, 16},
		"more files than tasks": {stage.Dedup, 20, 60, 1000, 24, 6},
		"hardly a row for each": {stage.Dedup, 3, 9, 150, 16, 16},
		"joined":                {stage.Dedup, 30, 60, 60, 8, 1},
		"pairs, joined":         {stage.Pairs, 30, 60, 60, 8, 1},
	} {
		t.Run(name, func(t *testing.T) {
			server, store := bucketserver.StartS3(t, "bucket"), &objects.Store{}
			t.Cleanup(func() { _ = store.Close() })
			for name, value := range server.Env() {
				t.Setenv(name, value)
			}
			for name, content := range contents(t, hotCorpus(t, c.copies, c.template, c.near, c.files)) {
				server.Put("bucket", "in/"+name, []byte(content))
			}
			config := dedup.Config{Inputs: []string{"s3://bucket/in/"}}
			config.Corpus.Buckets = store.Bucket
			o := PlanOptions{Command: c.command, Work: "s3://bucket/work", Output: "s3://bucket/out", Partitions: c.partitions}
			if c.command == stage.Pairs {
				o.Output += "/pairs.csv"
			}
			p, err := Make(t.Context(), config, o)
			if err != nil {
				t.Fatal(err)
			}
			server.Traffic.Take()
			runAll(t, p, Options{Buckets: store.Bucket})
			asked := map[bucketserver.Kind]int64{}
			rows := int64(0) // bytes of rows of tables
			for _, r := range server.Traffic.Take() {
				asked[r.Kind]++
				if r.Kind == bucketserver.Read && strings.HasPrefix(r.Key, "work/") && r.Bytes < stage.HeaderBytes {
					rows += r.Bytes
				}
			}
			near := func(what string, got, want int64) {
				t.Helper()
				if float64(got) < 0.8*float64(want) || float64(got) > 1.2*float64(want) {
					t.Errorf("%s: %d, the estimate is %d", what, got, want)
				}
			}
			near("requests to read", asked[bucketserver.Read]+asked[bucketserver.LookUp], p.Estimate.ReadRequests)
			near("requests to write", asked[bucketserver.Write]+asked[bucketserver.List], p.Estimate.WriteRequests)
			near("bytes of tables", rows, p.bytesOfTables()) // of short ranges: some rows are longer
		})
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
		if e := p.Estimate; e.MovedBytes != passes*e.InputBytes+2*e.WorkBytes+p.bytesOfTables() {
			t.Errorf("%s: %d bytes are moved, of %d of input and %d of blocks", command, e.MovedBytes, e.InputBytes, e.WorkBytes)
		}
	}
}

// With P partitions tasks read P² rows of tables, and not P² tables of P rows.
func TestBytesOfTablesGrowWithTheSquareOfPartitions(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 1)}}
	of := func(partitions int) *Plan {
		return makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: partitions})
	}
	small, large := of(2500), of(5000)
	if ratio := float64(large.bytesOfTables()) / float64(small.bytesOfTables()); ratio > 4.1 {
		t.Errorf("twice the partitions read %.2f times the bytes of tables", ratio)
	}
	pairs, bytes := int64(0), int64(0)
	large.eachInput(func(of stage.Stage, by section) {
		pairs += by.pairs(of.Tasks)
		bytes += by.pairs(of.Tasks) * by.rowBytes()
	})
	if bytes > 32*pairs {
		t.Errorf("%d bytes for %d pairs of tasks", bytes, pairs)
	}
	e := large.Estimate
	if e.MovedBytes < large.bytesOfTables() {
		t.Errorf("%d bytes are moved, of tables alone %d", e.MovedBytes, large.bytesOfTables())
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
		{2500, 4 << 30, 1 << 30, 800},    // 10 TB: sorted on disk
		{25_000, 4 << 30, 1 << 30, 3200}, // 100 TB: 8 bytes of memory for each document of a partition
		{25_000, 4 << 30, 8 << 30, 1562},
	} {
		p := &Plan{Memory: c.memory, Files: make([]File, c.files)}
		if got := p.partitionsFor(c.files*c.size, c.files*c.size, c.files*c.size/1000); got != c.want {
			t.Errorf("%d files of %d MiB: %d partitions, want %d", c.files, c.size>>20, got, c.want)
		}
	}
}
