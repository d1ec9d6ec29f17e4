// Package stream drops near-duplicates from a stream of records: it drops a record that is similar to a kept one
// in the window of an index, and writes all others at once, byte for byte, in order.
//
//	in → blocks → parse, signature, candidates → decision → out → index
//	              any number of goroutines       in order
//
// # Restart
//
// A kept record is written before the index stores it. So if a process is killed at any moment, no kept
// record is missing in the output. Records that the index had not stored yet, at most those since the
// last Sync, are written again when the input is replayed.
//
// The input of a process may begin anywhere in the input of an earlier one: with index.Options.History
// the index remembers a hash of each record, also of dropped ones. If an input begins with records that
// are consecutive in this history, they are skipped, even if the window has forgotten them since. A
// replay that begins before the history is not recognised.
package stream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/internal/intake"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/tagging"
)

// DefaultSyncEvery is Config.SyncEvery if that is 0.
const DefaultSyncEvery = 50 * time.Millisecond

// Config is the input of Run. Index and Out must be set.
type Config struct {
	Index  *index.Index
	Source corpus.Source  // standard input, or a file
	Corpus corpus.Options // how to read it
	// TimeField is the field with the time of an event; "": records have none. See ParseTime.
	TimeField string

	Out        io.Writer // kept records, and the header of a table
	Duplicates io.Writer // if set: a line with a JSON object for each dropped or tagged record
	// Tag writes duplicates, which must be JSON, with two more fields, duplicate_of and similarity, instead of
	// dropping them. TagPrefix stands before both names. A record that has a field of such a name is skipped: nobody
	// could tell whose field it is.
	Tag       bool
	TagPrefix string

	// OnSkip, if set, receives every record that cannot be read, in order. Such a record is not written. If OnSkip
	// returns an error, Run returns that error.
	OnSkip  func(*corpus.Problem) error
	Counts  *Counts // if set: counts while the stream runs
	Threads int     // 0: all processors
	// SyncEvery is how often kept records are made durable; 0: DefaultSyncEvery. Records that are written
	// but not durable span at most two such intervals: if the disk takes longer, the stream waits for it.
	SyncEvery time.Duration
}

// Summary counts records. Read = Kept + Dropped + Tagged + Skipped + Replayed.
type Summary struct {
	Read, Kept, Dropped, Tagged, Skipped int64
	Late                                 int64 // of those kept: came too late to be added to the index
	Replayed                             int64 // were read by an earlier process
}

// blockSize is how much is read at once from a stream that never pauses: one goroutine handles it before
// others see its result.
const blockSize = 128 << 10

// Run handles the stream until it ends, or ctx does. It does not wait for a read that is then under way.
func Run(ctx context.Context, c Config) (s Summary, err error) {
	c.Corpus.AtOnce = true
	if c.Corpus.BlockSize == 0 {
		c.Corpus.BlockSize = blockSize
	}
	if within := c.Index.Options().Recipe.Within(); within != "" {
		c.Corpus.Fields = []string{within}
	}
	if c.TimeField != "" {
		c.Corpus.Fields = append(c.Corpus.Fields[:len(c.Corpus.Fields):len(c.Corpus.Fields)], c.TimeField)
	}
	if c.Tag && c.Source.Format != corpus.JSONL {
		return s, errors.New("stream: only records of JSON can be tagged")
	}
	if c.Source.Format == corpus.Parquet || c.Source.Format == corpus.Text {
		return s, fmt.Errorf("stream: %s is no format of a stream: take jsonl, csv, tsv or lines", c.Source.Format)
	}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	c.SyncEvery = cmp.Or(c.SyncEvery, DefaultSyncEvery)
	r := &run{Config: &c, begun: time.Now(), remembers: c.Index.Options().History > 0, within: c.Index.Options().WithinAt() >= 0, tags: tagging.New(c.TagPrefix, "duplicate_of", "similarity")}
	if r.remembers {
		if r.replay, err = newReplay(c.Index); err != nil {
			return s, err
		}
		r.replays.Store(r.replay != nil)
	}
	workers := make([]intake.Worker, c.Threads)
	for i := range workers {
		workers[i] = &worker{run: r, parser: corpus.NewParser(c.Corpus), batch: c.Index.NewCheck(), timeAt: len(c.Corpus.Fields) - 1}
	}
	syncing, stop := context.WithCancel(ctx)
	synced := make(chan error, 1)
	go func() { synced <- r.syncEvery(syncing, stop) }()
	err = intake.Read(syncing, []corpus.Source{c.Source}, c.Corpus, r.begin, workers)
	stop()
	c.Counts.replay(r.summary.Replayed)
	if e := <-synced; e != nil {
		err = e
	}
	if err == nil || errors.Is(err, context.Canceled) {
		err = errors.Join(err, c.Index.Sync())
	}
	return r.summary, err
}

// syncEvery makes kept records durable at intervals. If that fails, it stops the stream.
func (r *run) syncEvery(ctx context.Context, stop func()) error {
	tick := time.NewTicker(r.SyncEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := r.sync(); err != nil {
				stop()
				return err
			}
		}
	}
}

// sync makes the records durable that were kept before the call.
func (r *run) sync() error {
	now := time.Since(r.begun)
	if err := r.Index.Sync(); err != nil {
		return err
	}
	r.safe.Store(int64(now))
	return nil
}

// keepUp waits if records that were kept two intervals ago are not durable yet. So if the process is
// killed, the records that are written but unknown to the next process span at most this time.
func (r *run) keepUp() error {
	if time.Since(r.begun)-time.Duration(r.safe.Load()) <= 2*r.SyncEvery {
		return nil
	}
	return r.sync()
}

// run is shared by the workers. Only Commit and Damaged change it, which intake calls one at a time.
type run struct {
	*Config
	begun     time.Time
	safe      atomic.Int64 // records kept up to so many nanoseconds after begun are durable
	summary   Summary
	remembers bool
	within    bool // the index compares within values
	tags      *tagging.Fields
	headed    bool        // begin has written what stands before the records
	replay    *replay     // nil: there is no replay, or it has ended
	replays   atomic.Bool // replay is not nil; read by Prepare
}

// begin writes what stands before the records, if it is known already.
func (r *run) begin(f *corpus.File) error {
	r.headed = len(f.Header()) > 0
	return r.head(f.Header())
}

// head writes what stands before the records.
func (r *run) head(header []byte) error {
	if len(header) == 0 {
		return nil
	}
	if _, err := r.Out.Write(header); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// worker decides about the records of blocks. It belongs to one goroutine.
type worker struct {
	*run
	parser *corpus.Parser
	batch  *index.Batch
	timeAt int // place of the time among the fields

	mark     []byte       // byte order mark that begin did not know
	encoding bom.Encoding // of raw
	records  []recordOf
	raw      []byte // of all records, one after the other
	out      []byte
	dropped  []byte
	id       []byte

	hashes    []uint64         // hash of each readable record, if the index has a history
	documents []index.Document // the readable records, while there may be a replay
	passed    int              // how many of them belong to the replay
}

// recordOf is a record of the block.
type recordOf struct {
	end     int             // of its bytes in raw
	ids     int             // end of its id
	problem *corpus.Problem // if it is to be skipped
}

// Prepare implements intake.Worker. It fills the batch.
func (w *worker) Prepare(f *corpus.File, b *corpus.Block, line int64) error {
	w.batch.Reset()
	w.records, w.raw, w.id = w.records[:0], w.raw[:0], w.id[:0]
	w.hashes, w.documents, w.passed = w.hashes[:0], w.documents[:0], 0
	replays := w.replays.Load()
	w.mark, w.encoding = nil, f.Encoding()
	if b.Seq == 0 && !w.headed {
		w.mark = f.Header()
	}
	w.parser.Start(f, b)
	for r := (corpus.Record{}); w.parser.Next(&r); {
		w.records = append(w.records, w.record(f, &r, line, replays))
	}
	w.parser.Trim()
	return nil
}

func (w *worker) record(f *corpus.File, r *corpus.Record, line int64, replays bool) recordOf {
	problem := func(err error) recordOf {
		return recordOf{end: len(w.raw), ids: len(w.id), problem: f.RecordProblem(line, r, err)}
	}
	if r.Err != nil {
		return problem(r.Err)
	}
	if w.Tag {
		if err := w.tags.FreeObject(w.inUTF8(r.Raw)); err != nil {
			return problem(err)
		}
	}
	d := index.Document{Text: r.Text}
	if w.within {
		d.Columns = w.Index.Options().ColumnsWithin(bytes.Clone(r.Fields[0])) // it may be withheld
	}
	if w.TimeField != "" {
		at, err := ParseTime(r.Fields[w.timeAt])
		if err != nil {
			return problem(fmt.Errorf("field %s: %w", fault.Shown(w.TimeField), err))
		}
		d.Time = at
	}
	from := len(w.id)
	if r.ID != nil {
		w.id = append(w.id, r.ID...)
	} else {
		w.id = f.Source().AppendID(w.id, line+r.Line)
	}
	d.ID = w.id[from:]
	w.batch.Add(d)
	if w.remembers {
		w.hashes = append(w.hashes, hashing.Bytes(r.Raw))
	}
	if replays {
		w.documents = append(w.documents, index.Document{ID: bytes.Clone(d.ID), Text: bytes.Clone(d.Text), Time: d.Time, Columns: d.Columns})
	}
	w.raw = append(w.raw, r.Raw...)
	return recordOf{end: len(w.raw), ids: len(w.id)}
}

// Commit implements intake.Worker. It decides about the records and writes them.
func (w *worker) Commit() error {
	if err := w.head(w.mark); err != nil {
		return err
	}
	for i := range w.records {
		w.summary.Read++
		if p := w.records[i].problem; p != nil {
			if err := w.skip(p); err != nil {
				return err
			}
		}
	}
	if w.replay != nil {
		if err := w.passOver(); err != nil {
			return err
		}
		w.batch.Drop(w.passed)
		w.countReplayed()
	}
	if w.batch.Len() == 0 {
		return nil
	}
	if err := w.keepUp(); err != nil {
		return err
	}
	if w.remembers {
		w.batch.Remember(w.hashes[w.passed:]...)
	}
	var unwritten error // returned as it is: the read-only index is only a consequence
	_, err := w.Index.Check(w.batch, func(verdicts []index.Verdict) error {
		unwritten = w.emit(verdicts)
		return unwritten
	})
	return cmp.Or(unwritten, err)
}

// countReplayed counts the replayed records without those that may turn out to be new.
func (w *worker) countReplayed() {
	n := w.summary.Replayed
	if w.replay != nil {
		n -= int64(len(w.replay.withheld))
	}
	w.Counts.replay(n)
}

// Damaged implements intake.Worker.
func (w *worker) Damaged(p *corpus.Problem) error {
	w.summary.Read++
	return w.skip(p)
}

func (w *worker) skip(p *corpus.Problem) error {
	w.summary.Skipped++
	w.Counts.skip(p)
	if w.OnSkip != nil {
		return w.OnSkip(p)
	}
	return nil
}

// emit writes the records that do not belong to a replay according to their verdicts, with one call for each output.
func (w *worker) emit(verdicts []index.Verdict) error {
	w.out, w.dropped = w.out[:0], w.dropped[:0]
	from, ids, n := 0, 0, 0
	for _, r := range w.records {
		raw, id := w.raw[from:r.end], w.id[ids:r.ids]
		from, ids = r.end, r.ids
		if r.problem != nil {
			continue
		}
		if n >= w.passed {
			w.one(raw, id, &verdicts[n-w.passed])
		}
		n++
	}
	return w.write()
}

// write writes the records that one has appended.
func (w *worker) write() error {
	if len(w.out) > 0 {
		if _, err := w.Out.Write(w.out); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	if w.Duplicates != nil && len(w.dropped) > 0 {
		if _, err := w.Duplicates.Write(w.dropped); err != nil {
			return fmt.Errorf("list of duplicates: %w", err)
		}
	}
	return nil
}

// one appends a record to the outputs according to its verdict, and counts it.
func (w *worker) one(raw, id []byte, v *index.Verdict) {
	switch {
	case v.New:
		w.summary.Kept++
		w.out = append(w.out, raw...)
		if v.Late {
			w.summary.Late++
		}
		return
	case w.Tag:
		w.summary.Tagged++
		w.out = w.appendTagged(w.out, raw, v)
	default:
		w.summary.Dropped++
	}
	if w.Duplicates != nil {
		w.dropped = tagging.AppendJSON(append(w.dropped, `{"id":`...), id)
		w.dropped = tagging.AppendJSON(append(w.dropped, `,"duplicate_of":`...), v.Of)
		w.dropped = append(appendSimilarity(append(w.dropped, `,"similarity":`...), v.Similarity), "}\n"...)
	}
}

// appendTagged appends a record with the tags.
func (w *worker) appendTagged(dst, raw []byte, v *index.Verdict) []byte {
	values := [][]byte{tagging.AppendJSON(nil, v.Of), appendSimilarity(nil, v.Similarity)}
	if !w.encoding.Wide() {
		return w.tags.AppendObject(dst, raw, values)
	}
	return w.encoding.AppendBack(dst, w.tags.AppendObject(nil, w.inUTF8(raw), values))
}

// inUTF8 returns a record in UTF-8.
func (w *worker) inUTF8(raw []byte) []byte {
	if !w.encoding.Wide() {
		return raw
	}
	return w.encoding.Append(nil, raw)
}

func appendSimilarity(dst []byte, s float64) []byte { return strconv.AppendFloat(dst, s, 'f', 6, 64) }

// Counts are what a stream has counted so far, of what its index does not count. Any goroutine may read them while Run
// writes them. The zero value is ready.
type Counts struct {
	skipped  [fault.Kinds]atomic.Int64
	replayed atomic.Int64
}

// Replayed returns how many records were certainly read by an earlier process: it never falls.
func (c *Counts) Replayed() int64 { return c.replayed.Load() }

// Skipped returns, for every kind of problem (see corpus.Problem.Kind), how many records were skipped for it.
func (c *Counts) Skipped() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for i := range c.skipped {
			if !yield(fault.NumberedName(byte(i)), c.skipped[i].Load()) {
				return
			}
		}
	}
}

// skip counts a record that is skipped; nil counts nothing.
func (c *Counts) skip(why error) {
	if c != nil {
		c.skipped[fault.KindNumber(why)].Add(1)
	}
}

// replay sets the number of replayed records.
func (c *Counts) replay(n int64) {
	if c != nil {
		c.replayed.Store(n)
	}
}
