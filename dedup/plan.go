package dedup

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
)

// Plan is the estimated cost of a run, from a sample of its input.
type Plan struct {
	Files         int     `json:"files"`
	InputBytes    int64   `json:"input_bytes"` // of the files in their stored form, with references
	Documents     int64   `json:"documents"`
	Known         int64   `json:"known,omitempty"` // of the documents, those like one of NewTo.Known
	MemoryBytes   int64   `json:"memory_bytes"`    // resident, at most
	CeilingBytes  int64   `json:"ceiling_bytes"`   // Config.Memory
	WorkBytes     int64   `json:"work_bytes"`      // on disk while it runs
	OutputBytes   int64   `json:"output_bytes"`    // of records, if nothing is removed
	Seconds       float64 `json:"seconds"`
	SampledBytes  int64   `json:"sampled_bytes"`
	SampleSeconds float64 `json:"sample_seconds"` // by the clock
	// SampleProcessorSeconds is the processor time of the sample. Systems on which it is not known give SampleSeconds.
	SampleProcessorSeconds float64 `json:"sample_processor_seconds"`
}

// Limits of the sample: the number of files, the number of blocks of each, and the time it takes.
const (
	sampleFiles  = 64
	sampleBlocks = 8
	sampleTime   = 2 * time.Second
)

// restShare is the time of the stages after reading as a share of its time: about half, and half of
// that again if data go to disk on the way.
const (
	restShare  = 0.5
	spillShare = 0.25
)

// sample is the content of the blocks that were read.
type sample struct {
	taken     int64 // bytes of files
	decoded   int64 // bytes of these blocks, decoded
	documents int64
	known     int64
	columns   int64 // bytes of the table
	seconds   float64
	processor float64 // seconds
}

// MakePlan estimates the cost of Run. It makes nothing. It reads a sample for up to two seconds,
// from the front of compressed files and from all parts of plain ones.
func MakePlan(ctx context.Context, config Config) (*Plan, error) {
	c, err := settleRemoval(config)
	if err != nil {
		return nil, err
	}
	j := newJob(c)
	in, err := findInputs(ctx, c, j.account)
	if err != nil {
		return nil, err
	}
	if _, err := beginKnown(ctx, j, in); err != nil {
		return nil, err
	}
	if c.Output != "" {
		out, err := write.Open(ctx, c.fs, c.Output, c.Corpus)
		if err == nil {
			err = out.CheckEmpty(ctx, c.Folder != "")
		}
		if err != nil {
			return nil, err
		}
	}
	var s sample
	step := max(1, len(in.sources)/sampleFiles)
	start := time.Now()
	for i := 0; i < len(in.sources) && time.Since(start) < sampleTime; i += step {
		if in.sources[i].Stream {
			return nil, fmt.Errorf("%s is a stream: what it holds is known only when it is read; put it into a file first", fault.Shown(in.sources[i].Label()))
		}
		if err := s.add(ctx, j, in, i, start); err != nil {
			return nil, err
		}
	}
	return estimate(j, in, &s), ctx.Err()
}

// add reads some blocks of a file. It ignores what cannot be read: the run will report that.
func (s *sample) add(ctx context.Context, j *job, in *inputs, i int, start time.Time) error {
	source := in.sources[i]
	o := j.Corpus
	o.BlockSize = cmp.Or(o.BlockSize, corpus.DefaultBlockSize)
	file, err := corpus.Open(ctx, source, o)
	if err != nil {
		return nil
	}
	defer file.Close()
	if source.InPlace() {
		blocks := max(source.Size/int64(o.BlockSize), 1)
		every := max(blocks/sampleBlocks, 1)
		file.Skip(func(seq int64) bool { return seq%every != 0 })
	}
	runtime.LockOSThread() // for processorTime
	defer runtime.UnlockOSThread()
	n, begun, used := 0, time.Now(), processorTime()
	found, ok, err := read.Sample(ctx, readOptions(j, in, asked(j.settings), &documents{}), i, file, func() bool {
		n++
		return n <= sampleBlocks && time.Since(start) < sampleTime
	})
	if err != nil || !ok {
		return err
	}
	s.seconds += time.Since(begun).Seconds()
	s.processor += (processorTime() - used).Seconds()
	s.documents += found.Documents
	s.known += found.Known
	s.columns += found.Columns
	decoded := found.Decoded
	s.decoded += decoded
	if source.InPlace() {
		s.taken += decoded
	} else {
		s.taken += min(file.BytesRead(), source.Size)
	}
	return nil
}

// estimate scales a sample to the whole input.
func estimate(j *job, in *inputs, s *sample) *Plan {
	e := &Plan{
		Files: len(in.sources), InputBytes: in.bytes(), CeilingBytes: j.Memory,
		SampledBytes: s.taken, SampleSeconds: s.seconds, SampleProcessorSeconds: s.processor,
	}
	for _, source := range in.own() {
		if source.Format != corpus.Text && !j.IDsOnly {
			e.OutputBytes += source.Size
		}
	}
	if s.taken == 0 {
		e.MemoryBytes = scratch.ProgramBytes
		return e
	}
	scale := float64(e.InputBytes) / float64(s.taken)
	scaled := func(n int64) int64 { return int64(math.Round(float64(n) * scale)) }
	e.Documents, e.Known = scaled(s.documents), scaled(s.known)
	table := scaled(s.columns)
	// A band's keys are sorted, then votes and rims; each entry exists twice while it is sorted.
	const entry = 16
	sorting := e.Documents * entry * 3
	threads := float64(j.Threads)
	e.Seconds = s.seconds * scale / threads * (1 + restShare)
	e.MemoryBytes = scratch.ProgramBytes + int64(j.Threads)*scratch.WorkerBytes + table + sorting
	if j.Known != nil {
		e.MemoryBytes += j.Known.Memory()
	}
	if limit := j.space.Share(2); limit > 0 && table > limit {
		e.MemoryBytes = min(e.MemoryBytes, j.Memory)
		e.WorkBytes = table + sorting
		e.Seconds *= 1 + spillShare
	} else if j.Folder != "" {
		e.WorkBytes = table
	}
	if keepsDecoded(j, &j.recipe, in, nil) {
		held, onDisk := reread.NewKept(j.space).Expect(scaled(s.decoded))
		e.MemoryBytes += held
		if e.WorkBytes += onDisk; j.Memory > 0 {
			e.MemoryBytes = min(e.MemoryBytes, j.Memory)
		}
	}
	return e
}
