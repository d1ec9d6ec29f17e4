package dedup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/recipe"
)

// retainMax is the number of features up to which a run keeps all feature sets
// unasked (32 MiB): a collection that small is joined exactly, and its texts are
// not read again to verify a pair.
const retainMax = 4 << 20

// segmentBytes is what a segment holds before the next one is begun, within a
// block if need be: a MiB of lines of three words makes 20 MiB of documents. It is
// so much that files of one document each do not make a segment each.
const segmentBytes = 256 << 10

// endOfFile is the number of a block that stands for the end of a file: whether
// it breaks off. It has no documents, and its row is the number of blocks before it.
const endOfFile = math.MaxInt64

// reader is the first stage: every record becomes a document with a digest,
// band keys and, where wanted, signature and feature set.
type reader struct {
	config   *Config
	work     *workspace
	recipe   recipe.Recipe
	feeder   *feeder
	sources  []corpus.Source
	layouts  *layouts
	keepSigs bool
	meter    *meter // nil: nothing is measured
	keepSets atomic.Bool
	keepAll  bool         // feature sets of any size
	features atomic.Int64 // read so far, with repeats
	items    atomic.Int64
	bytes    atomic.Int64
	resume   *resumedParts // what an earlier process has read; nil: nothing
	parts    *partLog      // where finished parts are noted; nil: nowhere

	mu       sync.Mutex
	t        *table
	held     int64    // bytes of the segments in memory
	spilling bool     // memory is full: segments go to disk at once
	cutoff   position // with OnErrorFail: nothing behind it is worth reading
}

// position orders blocks, and their pieces, as the input does.
type position struct {
	file  int
	seq   int64
	piece int32
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.seq, q.seq), cmp.Compare(p.piece, q.piece))
}

var endOfInput = position{file: math.MaxInt}

// read runs the stage over all sources with config.Threads workers.
func (r *reader) read(ctx context.Context, refSources, leftFiles int) (*table, error) {
	r.t = &table{sources: r.sources, refSources: refSources, leftFiles: leftFiles, bands: r.recipe.Keys(), hasSets: r.keepSets.Load()}
	if r.keepSigs {
		r.t.k = r.recipe.Words()
	}
	if err := r.restore(); err != nil {
		return r.t, err
	}
	opener := newOpener(ctx, r.sources, r.config.Corpus, r.work.share(8), r.resume.wanted)
	r.feeder = newFeeder(r.sources, opener, r.layouts, r.resume.wanted, r.resume.done)
	defer r.feeder.close()
	r.cutoff = endOfInput
	group, ctx := errgroup.WithContext(ctx)
	for worker := range r.config.Threads {
		group.Go(func() error { return r.run(ctx, worker) })
	}
	if err := group.Wait(); err != nil {
		return r.t, err
	}
	r.t.hasSets, r.t.features = r.keepSets.Load(), r.features.Load()
	return r.t, r.t.number()
}

// run is one worker.
func (r *reader) run(ctx context.Context, worker int) error {
	w := newSketchWorker(r)
	w.watch = startWatch(r.meter)
	defer func() { w.watch.stop(r.meter, worker) }()
	err := w.read(ctx)
	if err == nil {
		err = w.finish()
	}
	if w.part != nil { // of a run that ends, or of one that nobody goes on with
		err = errors.Join(err, w.part.close())
	}
	return err
}

func (w *sketchWorker) read(ctx context.Context) error {
	var b corpus.Block
	defer b.Release()
	var file *openFile
	for ctx.Err() == nil {
		var err error
		w.watch.lap(stepParse)
		file, err = w.r.feeder.take(file, &b)
		w.watch.lap(stepFiles)
		if err == io.EOF {
			return nil
		}
		if err := ctx.Err(); err != nil { // perhaps while it waited for its turn
			return err
		}
		if errors.Is(err, corpus.ErrUnavailable) { // not a property of the file: nothing of it may be taken for its end
			return err
		}
		var goOn bool
		if err == nil {
			goOn, err = w.sketchBlock(file, &b)
		} else {
			end := block{file: int32(file.index), seq: endOfFile, row: uint32(file.blocks.Load() + w.r.resume.count(file.index))}
			if err != errFileEnd {
				// It cannot be opened or breaks off; what was read of it counts.
				end.problems = appendProblem(nil, problemLine(err), problemCause(err))
			}
			file = nil
			goOn, err = w.add(&end)
		}
		if err != nil || !goOn {
			return err
		}
		if err := w.sealParts(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// problemLine returns the line to keep of an error that has a place of its own:
// negative, to tell it from a line within a block.
func problemLine(err error) int64 {
	var p *corpus.Problem
	if errors.As(err, &p) {
		return ^p.Line
	}
	return ^int64(0)
}

func problemCause(err error) error {
	var p *corpus.Problem
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// sketchWorker owns the scratch memory of one goroutine, the segment that it
// fills and the part that it writes.
type sketchWorker struct {
	r      *reader
	parser *corpus.Parser
	maker  *recipe.Maker
	watch  stopwatch

	segment  *segment
	blocks   []block // of the segment, not yet in the table
	problems int64   // bytes of these blocks' problems
	last     *segment
	part     *partWriter
	number   int32 // of the part in the table
	taken    int64 // bytes of input since the part was begun
	gained   int64 // features since the last segment was written
}

func newSketchWorker(r *reader) *sketchWorker {
	w := &sketchWorker{r: r, parser: corpus.NewParser(r.config.Corpus), last: &segment{}}
	w.parser.Overwrite(true) // of a record only what it is made into is used
	o := recipe.MakerOptions{Signature: r.keepSigs, Long: r.config.limits.text, Whole: r.wantsWhole}
	if r.meter != nil {
		o.Lap = func(step recipe.Step) { w.watch.lap(stepOf[step]) }
	}
	w.maker = r.recipe.NewMaker(o)
	w.newSegment()
	return w
}

// newSegment begins a segment with room for as much as the last one held, so
// that its slices are not grown step by step.
func (w *sketchWorker) newSegment() {
	room := func(n int) int { return n + n/8 }
	w.segment = &segment{
		part: -1, resident: true,
		docs: make([]document, 0, room(len(w.last.docs))),
		ids:  make([]byte, 0, room(len(w.last.ids))),
		keys: make([]uint64, 0, room(len(w.last.keys))),
	}
	w.blocks, w.problems = w.blocks[:0], 0
}

// sketchBlock turns a block into documents of the segment, and of those after it
// when that is full. Memory is allocated for a segment, not for each document.
func (w *sketchWorker) sketchBlock(file *openFile, b *corpus.Block) (goOn bool, err error) {
	var record corpus.Record
	piece := block{file: int32(file.index), seq: b.Seq, row: uint32(len(w.segment.docs))}
	defer w.trim()
	w.parser.Start(file.File, b)
	for w.parser.Next(&record) {
		if record.Err != nil {
			piece.problems = appendProblem(piece.problems, record.Line, record.Err)
		} else {
			w.addDocument(&record)
		}
		if w.full(int64(len(piece.problems))) {
			if goOn, err := w.addPiece(&piece); err != nil || !goOn {
				return goOn, err
			}
			piece = block{file: piece.file, seq: piece.seq, piece: piece.piece + 1, row: uint32(len(w.segment.docs))}
		}
	}
	// Lines are counted within the block: the next block's begin behind its last piece.
	piece.lines = b.Lines
	w.taken += int64(len(b.Data()))
	goOn, err = w.addPiece(&piece)
	w.r.config.Progress.Advance(0, file.advance())
	return goOn, err
}

// addPiece keeps what was read of a block.
func (w *sketchWorker) addPiece(piece *block) (goOn bool, err error) {
	piece.docs = uint32(len(w.segment.docs)) - piece.row
	var bytes, features int64
	for i := range w.segment.docs[piece.row:] {
		d := &w.segment.docs[int(piece.row)+i]
		bytes += int64(d.length)
		features += int64(d.features)
	}
	r := w.r
	if total := r.features.Add(features); total > r.config.limits.retain && !r.keepAll {
		r.keepSets.Store(false)
	}
	w.gained += features
	if err := checkDocuments(r.items.Add(int64(piece.docs))); err != nil {
		return false, err
	}
	r.bytes.Add(bytes)
	r.config.Progress.Advance(int64(piece.docs), 0)
	return w.add(piece)
}

func (w *sketchWorker) addDocument(record *corpus.Record) {
	s, r := w.segment, w.r
	w.watch.lap(stepParse)
	made := w.maker.Make(record.Text)
	s.ids = append(s.ids, record.ID...)
	hasValue := len(record.Fields) > 0 && record.Fields[0] != nil
	if hasValue {
		s.values = append(s.values, record.Fields[0]...)
	}
	d := document{
		digest:   made.Digest,
		offset:   record.Offset,
		idHash:   hashID(record.ID),
		idEnd:    uint32(len(s.ids)),
		valueEnd: uint32(len(s.values)),
		length:   uint32(len(record.Raw)),
		textSize: uint32(len(record.Text)),
		features: uint32(made.Features),
		line:     uint32(record.Line),
		hasValue: hasValue,
	}
	w.watch.lap(stepParse)
	s.keys = w.maker.AppendKeys(s.keys)
	w.watch.lap(stepSketch)
	if r.keepSigs {
		s.signatures = append(s.signatures, w.maker.Signature()...)
	}
	if r.keepSets.Load() {
		s.features = append(s.features, w.maker.Set()...)
	}
	d.setEnd = uint32(len(s.features))
	s.docs = append(s.docs, d)
}

// wantsWhole tells whether the features of a long text are kept as a whole, where they are
// so many. If not, no sets are kept, as addPiece will find.
func (r *reader) wantsWhole(features int) bool {
	keep := r.keepSets.Load() && (r.keepAll || int64(features) <= r.config.limits.retain)
	if !keep && !r.keepAll {
		r.keepSets.Store(false)
	}
	return keep
}

// trim gives back the memory that an uncommonly long text has left.
func (w *sketchWorker) trim() {
	w.parser.Trim()
	w.maker.Trim()
}

// add keeps a block. It reports whether the worker should go on: under
// OnErrorFail everything before the first problem is still read, so that the
// problem reported is the first one for any number of threads.
func (w *sketchWorker) add(b *block) (goOn bool, err error) {
	r := w.r
	r.mu.Lock()
	beyond := b.position().compare(r.cutoff) > 0
	if !beyond && len(b.problems) > 0 && r.config.OnError == OnErrorFail {
		r.cutoff = b.position()
		r.feeder.stop(r.cutoff.file)
	}
	r.mu.Unlock()
	if beyond {
		if b.seq != endOfFile {
			w.segment.docs = w.segment.docs[:b.row] // what other columns have behind them does no harm
		}
		return false, nil
	}
	w.blocks = append(w.blocks, *b)
	w.problems += int64(len(b.problems))
	if !w.full(0) {
		return true, nil
	}
	return true, w.seal()
}

// full tells whether the segment holds enough, with so many bytes of problems that
// are not its blocks' yet.
func (w *sketchWorker) full(problems int64) bool {
	return w.segment.filled()+w.problems+problems >= w.r.config.limits.segment
}

// seal hands the segment over to the table, and writes it to the worker's part
// when memory is full or finished parts are to survive.
func (w *sketchWorker) seal() error {
	if len(w.blocks) == 0 {
		return nil
	}
	r, s := w.r, w.segment
	w.last = &segment{docs: s.docs, ids: s.ids, keys: s.keys} // for its sizes
	s.seal(r.t.bands)
	full, first := r.admit(s.size() + w.problems)
	if first {
		if err := w.evict(); err != nil {
			return err
		}
	}
	if full || r.parts != nil {
		if err := w.store(s, w.blocks); err != nil {
			return err
		}
	}
	r.keep(s, w.blocks, full)
	w.newSegment()
	return nil
}

// sealParts ends the worker's part when it is large enough. That is done between
// blocks: what a part names of a block is all of it.
func (w *sketchWorker) sealParts() error {
	if w.r.parts == nil || w.taken < w.r.parts.every {
		return nil
	}
	if err := w.seal(); err != nil {
		return err
	}
	return w.sealPart()
}

// admit tells whether a segment of a size has no room in memory any more, and
// whether it is the first one. Once one goes to disk alone, all do.
func (r *reader) admit(size int64) (full, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held += size
	limit := r.work.share(2)
	if !r.spilling && limit > 0 && r.held > limit {
		r.spilling, first = true, true
	}
	return r.spilling, first
}

// keep puts a segment and its blocks into the table. Its columns leave memory
// when that is full: then they are in a part.
func (r *reader) keep(s *segment, blocks []block, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.firstBlock, s.blockCount = len(r.t.blocks), len(blocks)
	for _, b := range blocks {
		b.segment = int32(len(r.t.segments))
		r.t.blocks = append(r.t.blocks, b)
	}
	r.t.segments = append(r.t.segments, s)
	if full {
		r.drop(s)
	}
}

// drop gives back the memory of a segment that is in a part. r.mu is held.
func (r *reader) drop(s *segment) {
	r.work.Spilled(s.layout.end() - s.layout.offset)
	s.drop()
	for i := range s.blockCount {
		r.t.blocks[s.firstBlock+i].problems = nil
	}
}

// evict takes the segments in memory out of it.
func (w *sketchWorker) evict() error {
	r := w.r
	r.mu.Lock()
	segments := slices.Clone(r.t.segments)
	r.mu.Unlock()
	for _, s := range segments {
		if s.resident && s.part < 0 {
			r.mu.Lock()
			blocks := slices.Clone(r.t.blocks[s.firstBlock : s.firstBlock+s.blockCount])
			r.mu.Unlock()
			if err := w.store(s, blocks); err != nil {
				return err
			}
			r.mu.Lock()
			for i, b := range blocks {
				r.t.blocks[s.firstBlock+i].problemsAt, r.t.blocks[s.firstBlock+i].problemsLen = b.problemsAt, b.problemsLen
			}
			r.mu.Unlock()
		}
		if s.resident {
			r.mu.Lock()
			r.drop(s)
			r.mu.Unlock()
		}
	}
	return nil
}

// store writes a segment to the worker's part and notes where it and the
// problems of its blocks lie.
func (w *sketchWorker) store(s *segment, blocks []block) error {
	r := w.r
	if w.part == nil {
		part, err := r.work.createPart()
		if err != nil {
			return err
		}
		r.mu.Lock()
		w.part, w.number = part, int32(len(r.t.parts))
		r.t.parts = append(r.t.parts, part.part)
		r.mu.Unlock()
	}
	w.part.features += w.gained
	w.gained = 0
	if err := w.part.add(s, blocks, r.t.bands, r.t.k, r.keepSets.Load()); err != nil {
		return err
	}
	s.part = w.number
	return nil
}

// sealPart ends the worker's part and notes it, so that it is not made again.
func (w *sketchWorker) sealPart() error {
	part := w.part
	w.part, w.taken = nil, 0
	if part == nil {
		return nil
	}
	if err := part.seal(); err != nil {
		return errors.Join(err, part.close())
	}
	return w.r.parts.add(part.part.partName)
}

// finish hands over what the worker still has at the end of the input.
func (w *sketchWorker) finish() error {
	if err := w.seal(); err != nil {
		return err
	}
	if w.r.parts != nil {
		return w.sealPart()
	}
	return nil
}
