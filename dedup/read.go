package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
)

// retainMax is the number of features up to which a run holds all feature sets
// in memory unasked (32 MiB): a collection that small is joined exactly, and
// its texts are not read again to verify a pair.
const retainMax = 4 << 20

// blockResult is what one worker made of one block.
type blockResult struct {
	file        int
	seq         int64
	lines       int64
	docs        []document
	ids         []byte
	values      []byte
	keys        []uint64
	signatures  []uint32
	setFeatures []uint64 // feature sets, one after the other
	setEnds     []uint32 // end of each document's set in setFeatures
	problems    []recordProblem
}

// recordProblem is a record that could not be used. Its line counts from the
// block's start until the blocks before it are known.
type recordProblem struct {
	line int64
	err  error
}

// reader is the first stage: every record becomes a document with a digest,
// band keys and, where wanted, signature and feature set.
type reader struct {
	config   *Config
	banding  lsh.Params
	feeder   *feeder
	sources  []corpus.Source
	keepSigs bool
	keepSets atomic.Bool
	keepAll  bool         // feature sets of any size
	features atomic.Int64 // read so far, with repeats
	items    atomic.Int64
	bytes    atomic.Int64

	mu      sync.Mutex
	results []*blockResult
	cutoff  position // with OnErrorFail: nothing behind it is worth reading
}

// position orders blocks as the input does.
type position struct {
	file int
	seq  int64
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.seq, q.seq))
}

var endOfInput = position{file: math.MaxInt}

// read runs the stage over all sources with config.Threads workers.
func (r *reader) read(ctx context.Context) ([]*blockResult, error) {
	r.feeder = newFeeder(r.sources, r.config.Corpus, nil)
	defer r.feeder.close()
	r.cutoff = endOfInput
	group, ctx := errgroup.WithContext(ctx)
	for range r.config.Threads {
		group.Go(func() error { return r.work(ctx) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(r.results, func(a, b *blockResult) int {
		return position{a.file, a.seq}.compare(position{b.file, b.seq})
	})
	return r.results, nil
}

func (r *reader) work(ctx context.Context) error {
	w, err := newSketchWorker(r)
	if err != nil {
		return err
	}
	var b corpus.Block
	var file *openFile
	for ctx.Err() == nil {
		file, err = r.feeder.take(file, &b)
		if err == io.EOF {
			return nil
		}
		var result *blockResult
		if err != nil {
			// The file cannot be opened or breaks off; what was read of it counts.
			result = &blockResult{file: file.index, seq: math.MaxInt64, problems: []recordProblem{{err: err}}}
			file = nil
		} else {
			result = w.sketchBlock(file, &b)
		}
		if !r.add(result) {
			return nil
		}
	}
	return ctx.Err()
}

// add keeps a result. It reports whether the worker should go on: under
// OnErrorFail everything before the first problem is still read, so that the
// problem reported is the first one for any number of threads.
func (r *reader) add(result *blockResult) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := position{result.file, result.seq}
	if at.compare(r.cutoff) > 0 {
		return false
	}
	r.results = append(r.results, result)
	if len(result.problems) > 0 && r.config.OnError == OnErrorFail {
		r.cutoff = at
		r.feeder.stop(at.file)
	}
	return true
}

// sketchWorker owns the scratch memory of one goroutine.
type sketchWorker struct {
	r         *reader
	parser    *corpus.Parser
	shingler  *shingle.Shingler
	sketcher  minhash.Sketcher
	features  []uint64
	signature []uint32
	last      *blockResult // the block before, whose sizes the next one's resemble
}

func newSketchWorker(r *reader) (*sketchWorker, error) {
	shingler, err := shingle.New(r.config.Features)
	if err != nil {
		return nil, err
	}
	return &sketchWorker{
		r:         r,
		parser:    corpus.NewParser(r.config.Corpus),
		shingler:  shingler,
		sketcher:  r.config.Sketch.NewSketcher(),
		signature: make([]uint32, r.config.Sketch.K()),
		last:      &blockResult{},
	}, nil
}

// newResult returns an empty result with room for a block like the last one, so
// that its slices are not grown step by step.
func (w *sketchWorker) newResult(file int, b *corpus.Block) *blockResult {
	room := func(n int) int { return n + n/8 }
	result := &blockResult{
		file: file, seq: b.Seq, lines: b.Lines,
		docs: make([]document, 0, room(len(w.last.docs))),
		ids:  make([]byte, 0, room(len(w.last.ids))),
		keys: make([]uint64, 0, room(len(w.last.keys))),
	}
	w.last = result
	return result
}

// sketchBlock turns a block into documents. Memory is allocated for the block's
// result, not for each document.
func (w *sketchWorker) sketchBlock(file *openFile, b *corpus.Block) *blockResult {
	result := w.newResult(file.index, b)
	var record corpus.Record
	var bytes, features int64
	w.parser.Start(file.File, b)
	for w.parser.Next(&record) {
		if record.Err != nil {
			result.problems = append(result.problems, recordProblem{record.Line, record.Err})
			continue
		}
		w.addDocument(result, &record)
		bytes += int64(len(record.Raw))
		features += int64(len(w.features))
	}
	r := w.r
	if total := r.features.Add(features); total > retainMax && !r.keepAll {
		r.keepSets.Store(false)
	}
	r.items.Add(int64(len(result.docs)))
	r.bytes.Add(bytes)
	r.config.Progress.Advance(int64(len(result.docs)), file.advance())
	return result
}

func (w *sketchWorker) addDocument(result *blockResult, record *corpus.Record) {
	w.features = w.shingler.AppendFeatures(w.features[:0], record.Text)
	result.ids = append(result.ids, record.ID...)
	hasValue := len(record.Fields) > 0 && record.Fields[0] != nil
	if hasValue {
		result.values = append(result.values, record.Fields[0]...)
	}
	result.docs = append(result.docs, document{
		digest:   digest(w.features),
		offset:   record.Offset,
		idEnd:    uint64(len(result.ids)),
		valueEnd: uint64(len(result.values)),
		length:   uint32(len(record.Raw)),
		textSize: uint32(len(record.Text)),
		features: uint32(len(w.features)),
		line:     uint32(record.Line),
		hasValue: hasValue,
	})
	r := w.r
	if r.keepSigs || r.banding.Bands > 0 {
		w.sketcher.Sketch(w.signature, w.features)
	}
	if r.banding.Bands > 0 {
		result.keys = r.banding.AppendKeys(result.keys, w.signature)
	}
	if r.keepSigs {
		result.signatures = append(result.signatures, w.signature...)
	}
	if r.keepSets.Load() {
		result.setFeatures = append(result.setFeatures, shingle.Set(w.features)...)
		result.setEnds = append(result.setEnds, uint32(len(result.setFeatures)))
	}
}

// digest sums up a document's features so that equal digests mean equal
// features: two sums over 64-bit hashes, the second of a product that is not
// linear in them. Order does not count, repeats do.
func digest(features []uint64) (d [2]uint64) {
	for _, f := range features {
		d[0] += f
		d[1] += (f >> 32) * (f & math.MaxUint32)
	}
	return d
}

// merge puts the results together into one table and resolves line numbers.
// It returns what could not be read, in input order.
func (r *reader) merge(results []*blockResult, refSources int) (*table, []placed, error) {
	docs := 0
	for _, result := range results {
		docs += len(result.docs)
	}
	if docs > math.MaxUint32 {
		return nil, nil, fmt.Errorf("%d documents are more than the 4294967295 that one run can number: split the input", docs)
	}
	t := &table{
		sources: r.sources, refSources: refSources, bands: r.banding.Bands, k: r.config.Sketch.K(),
		docs: make([]document, 0, docs),
	}
	haveSets := r.keepSets.Load()
	var problems []placed
	lines, file := int64(0), -1
	for i, result := range results {
		if result.file != file {
			lines, file = 0, result.file
		}
		for _, p := range result.problems {
			problems = append(problems, t.problem(result, lines, p))
		}
		if result.file < refSources {
			t.refs += len(result.docs)
		}
		t.append(result, lines, haveSets)
		lines += result.lines
		results[i] = nil // its memory can go
	}
	return t, problems, nil
}

// problem names file and line of a bad record, unless its error does already:
// that of a file that breaks off comes after all its records.
func (t *table) problem(result *blockResult, firstLine int64, p recordProblem) placed {
	var whole *corpus.Problem
	if errors.As(p.err, &whole) {
		return placed{result.file, math.MaxInt64, whole}
	}
	line := firstLine + p.line + 1
	return placed{result.file, line, &corpus.Problem{Path: t.sources[result.file].Label(), Line: line, Err: p.err}}
}

func (t *table) append(result *blockResult, firstLine int64, haveSets bool) {
	if len(result.docs) == 0 {
		return
	}
	number, ids, values := uint32(len(t.blocks)), uint64(len(t.ids)), uint64(len(t.values))
	t.blocks = append(t.blocks, block{
		seq: result.seq, file: int32(result.file), firstDoc: uint32(len(t.docs)), firstLine: firstLine,
		keys: result.keys, signatures: result.signatures,
	})
	for _, d := range result.docs {
		d.block = number
		d.idEnd += ids
		d.valueEnd += values
		t.docs = append(t.docs, d)
	}
	t.ids = append(t.ids, result.ids...)
	t.values = append(t.values, result.values...)
	if haveSets {
		start := uint32(0)
		for _, end := range result.setEnds {
			t.sets = append(t.sets, result.setFeatures[start:end:end])
			start = end
		}
	}
}
