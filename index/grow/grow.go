// Package grow adds the new documents of a corpus to an index. A Collection is the NewTo.Known of
// dedup.Run: the run removes documents that are similar to one in the index, and adds the documents that
// it keeps.
//
//	inputs → dedup.Run ── Look ──→ index before the run     a similar document: removed
//	             │
//	             └─ output on disk → Keep → index           kept documents, in order, with a note of the progress
//	                               → output in place
//
// # Killed runs
//
// Each batch of documents is stored together with a note, which names the run, the first slot that it
// filled, and the number of documents that it has added. If the same run is repeated, it searches only the
// slots before that first slot. So it makes the same output, and adds only the documents that are missing.
// If all documents were added already, it makes the output again and adds nothing.
package grow

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/feed"
	"github.com/alike-dev/alike/index/internal/intake"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/recipe"
)

// ErrUnfinished says that the index holds only a part of the documents of another run, which was killed.
// Errors of this kind name that run.
var ErrUnfinished = errors.New("a run has not ended")

// ErrOtherInput says that a repeated run keeps other documents than it kept before it was killed.
var ErrOtherInput = errors.New("the input is not the one that it was")

// Options are the options of New. Index.Recipe must be set.
type Options struct {
	Index index.OpenOptions // for opening the index, or making it if there is none; New sets ByID
	What  string            // describes the run to a user who has to repeat it: see ErrUnfinished
	Fresh bool              // remove the documents of another run that was killed
	// DryRun leaves the folder unchanged. If there is no index, it is taken to be empty.
	DryRun bool
}

// A Collection is an index in a folder, to which runs add the documents that they keep. It serves one run.
type Collection struct {
	dir     string
	options Options
	x       *index.Index // nil before Begin
	run     progress
	streams bool                     // an input can be read only once
	added   func(*index.Index) error // called after each batch; nil except in tests
}

// noteName is the name of the note of the last run.
const noteName = "dedup"

// progress is the content of the note.
type progress struct {
	Run   string      `json:"run"`
	What  string      `json:"what"`
	First uint64      `json:"first"` // next slot of the index when the run began
	Added int64       `json:"added"` // documents that the run has added
	Sum   uint32      `json:"sum"`   // checksum of their names and texts
	Slots [][2]uint64 `json:"slots"` // ranges of their slots: first, next
	Whole bool        `json:"whole"` // all documents of the run are added
	Apart int64       `json:"apart"` // of the documents added: those that were named apart
	Ended bool        `json:"ended"` // with streams: the output is in its place
	Open  bool        `json:"open"`  // the output is not in its place; earlier versions did not say so
}

// unfinished tells whether the index has documents of the run, and its output does not.
func (p *progress) unfinished() bool { return p.Added > 0 && (!p.Whole || p.Open) }

// Unfinished returns an ErrUnfinished if an index has documents of a run that was killed: who adds or deletes others would
// leave it no way to end.
func Unfinished(x *index.Index) error {
	p, err := lastRun(x)
	if err == nil && p.unfinished() {
		err = p.refusal()
	}
	return err
}

func (p *progress) refusal() error {
	return setting.Errorf("%w: the index has %d documents of a run that was killed; repeat that (%s), or undo it by a run with %s",
		ErrUnfinished, p.Added, p.What, setting.Fresh)
}

// New returns the collection of the index in a folder. The index is opened by Begin; close the collection
// after the run.
func New(dir string, o Options) *Collection {
	o.Index.ByID = true
	return &Collection{dir: dir, options: o}
}

// Index returns the index, nil before Begin.
func (c *Collection) Index() *index.Index { return c.x }

// Close closes the index.
func (c *Collection) Close() error {
	if c.x == nil {
		return nil
	}
	return c.x.Close()
}

// Folder implements dedup.Known.
func (c *Collection) Folder() (path string, names []string) { return c.dir, index.FileNames() }

// Recipe implements dedup.Known.
func (c *Collection) Recipe() recipe.Recipe { return c.options.Index.Recipe }

// open opens the index, or makes it if there is none.
func (c *Collection) open(ctx context.Context, inputs []corpus.Source, how corpus.Options) (err error) {
	o := c.options.Index
	o.Beside = leastRun + scratch.Outside(c.threads())
	o.ReadOnly = c.options.DryRun
	c.x, err = index.Open(c.dir, o)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && o.ReadOnly:
		c.x, err = index.New(o.Options)
	case missing:
		c.x, err = create(ctx, c.dir, o, inputs, how)
	case errors.Is(err, index.ErrOther):
		err = fmt.Errorf("%w; take the settings with which %s was made, or another folder", err, c.dir)
	}
	if err == nil && !c.x.Options().ByID {
		err = fmt.Errorf("%s does not know its documents by their ids, as the state of a stream: take an index that alike index build has made", c.dir)
	}
	return err
}

// create makes an index whose keys are on disk if it is asked for, or memory has no room for those of the inputs.
func create(ctx context.Context, dir string, o index.OpenOptions, inputs []corpus.Source, how corpus.Options) (*index.Index, error) {
	if o.Memory > 0 && o.Keys == index.KeysInMemory {
		e, _, err := feed.Expect(ctx, o.Options, inputs, how)
		if err != nil {
			return nil, err
		}
		o.Keys, _ = e.Where(o)
	}
	return index.Create(dir, o)
}

// leastRun is the least memory, in bytes, that a run needs for its data in addition to scratch.Outside.
const leastRun = 32 << 20

func (c *Collection) threads() int { return cmp.Or(c.options.Index.Threads, runtime.GOMAXPROCS(0)) }

// Begin implements dedup.Known. It opens the index. It changes the index only with Options.Fresh.
func (c *Collection) Begin(ctx context.Context, run string, inputs []corpus.Source, how corpus.Options) (state string, err error) {
	c.streams = slices.ContainsFunc(inputs, func(s corpus.Source) bool { return s.Stream })
	if err := c.open(ctx, inputs, how); err != nil {
		return "", err
	}
	before, err := lastRun(c.x)
	if err != nil {
		return "", err
	}
	same := before.Run == run && !before.Ended
	unfinished := before.unfinished() || before.Added > 0 && same && c.streams
	switch {
	case same && (before.Whole || before.Added > 0) && !(unfinished && c.options.Fresh):
		c.run = before
	default:
		if unfinished && !c.options.DryRun {
			if err := c.undo(&before); err != nil {
				return "", err
			}
		}
		c.run = progress{Run: run, What: c.options.What, First: c.x.Stats().Next, Open: true}
	}
	return fmt.Sprintf("slots before %d", c.run.First), nil
}

// lastRun reads the note; without one its result is zero.
func lastRun(x *index.Index) (p progress, err error) {
	note, err := x.Note(noteName)
	if err != nil || note == nil {
		return p, err
	}
	if err := json.Unmarshal(note, &p); err != nil {
		return p, fmt.Errorf("grow: note of the last run: %w: %w", index.ErrDamaged, err)
	}
	return p, nil
}

// undo removes the documents that a killed run has added, which the user must have asked for by Options.Fresh.
func (c *Collection) undo(killed *progress) error {
	if !c.options.Fresh {
		return killed.refusal()
	}
	for _, slots := range killed.Slots {
		if _, err := c.x.Slots().Delete(slots[0], slots[1]); err != nil {
			return err
		}
	}
	killed.Added, killed.Slots = 0, nil
	return c.note(killed)
}

// Memory implements dedup.Known.
func (c *Collection) Memory() int64 { return c.x.Memory() }

// NewLooker implements dedup.Known.
func (c *Collection) NewLooker() dedup.Looker { return c.x.NewLooker(c.run.First) }

// Has implements dedup.Known.
func (c *Collection) Has(name []byte) (bool, error) { return c.x.Has(name, c.run.First) }

// note stores the progress of a run in a batch of its own, and waits until it is durable.
func (c *Collection) note(p *progress) error {
	b := c.x.NewBatch()
	b.Note(func(_, _ uint64) (string, []byte) { return noteName, p.encode() })
	return errors.Join(c.x.Add(b), c.x.Sync())
}

func (p *progress) encode() []byte {
	note, err := json.Marshal(p)
	if err != nil {
		panic("grow: numbers cannot be written as JSON: " + err.Error())
	}
	return note
}

// Keep implements dedup.Known. It adds the documents that a killed run of the same name has not added yet.
func (c *Collection) Keep(ctx context.Context, kept *dedup.Kept) error {
	defer func() { kept.Apart = c.run.Apart }()
	if c.run.Whole && !c.streams {
		return nil
	}
	err := c.keep(ctx, kept)
	if errors.Is(err, ErrOtherInput) {
		err = setting.Errorf("%w; give it the input that it had, or undo what it has added with %s", err, setting.Fresh)
	}
	return err
}

func (c *Collection) keep(ctx context.Context, kept *dedup.Kept) error {
	if err := c.x.FitsBeside(kept.Documents-c.run.Added, kept.Memory); err != nil {
		return err
	}
	k := &keeping{Collection: c, before: c.run, numbers: map[string]int{}}
	for i := range kept.Sources {
		k.numbers[kept.Sources[i].Path] = i
	}
	workers := make([]intake.Worker, c.threads())
	for i := range workers {
		workers[i] = &worker{keeping: k, parser: corpus.NewParser(kept.Corpus), kept: kept.NewReader(), batch: c.x.NewBatch()}
	}
	if err := intake.Read(ctx, kept.Sources, kept.Corpus, nil, workers); err != nil {
		return err
	}
	if k.n != kept.Documents || k.n < k.before.Added {
		return fmt.Errorf("%w: %d documents are kept, and %d were", ErrOtherInput, k.n, max(kept.Documents, k.before.Added))
	}
	if c.run.Whole {
		return nil
	}
	c.run.Whole = true
	return c.note(&c.run)
}

// End implements dedup.Known. It stores that the output is in its place. Which run has read a stream cannot be told from its
// name: the next one with this name adds its documents.
func (c *Collection) End() error {
	if !c.streams && !c.run.Open {
		return nil
	}
	c.run.Ended, c.run.Open = c.streams, false
	return c.note(&c.run)
}

// keeping is shared by the workers. Only Commit changes it, which intake calls for one worker at a time.
type keeping struct {
	*Collection
	before  progress       // of the killed run, if this run repeats it
	numbers map[string]int // numbers of the sources by path
	n       int64          // kept documents in the blocks so far
	sum     uint32         // their checksum: see progress.Sum
}

// worker adds the kept documents of blocks. It belongs to one goroutine.
type worker struct {
	*keeping
	parser *corpus.Parser
	kept   *dedup.KeptReader
	batch  *index.Batch
	sums   []uint32 // checksum of each document in the batch
}

// Prepare implements intake.Worker. It fills the batch with the kept documents of the block.
func (w *worker) Prepare(f *corpus.File, b *corpus.Block, _ int64) error {
	w.batch.Reset()
	w.sums = w.sums[:0]
	w.kept.Block(w.numbers[f.Source().Path], b.Seq)
	w.parser.Start(f, b)
	for r := (corpus.Record{}); w.parser.Next(&r); {
		if r.Err != nil {
			continue // dedup.Run has reported it
		}
		name, made, kept, err := w.kept.Record(r.Offset)
		if err != nil {
			return err
		}
		if kept {
			w.sums = append(w.sums, durable.Checksum(durable.Checksum(0, name), r.Text))
			w.batch.Add(index.Document{ID: name, Made: made, Text: r.Text, Encoding: r.Encoding, Columns: w.columns(&r)})
		}
	}
	w.parser.Trim()
	return nil
}

func (w *worker) columns(r *corpus.Record) [][]byte {
	if len(r.Fields) == 0 {
		return w.x.Options().ColumnsWithin(nil)
	}
	return w.x.Options().ColumnsWithin(r.Fields[0]) // the first record is kept, which needs no other field
}

// Commit implements intake.Worker. It adds the batch with a note, unless the killed run has added it.
func (w *worker) Commit() error {
	w.n += int64(len(w.sums))
	for _, sum := range w.sums {
		w.sum = durable.Checksum(w.sum, binary.LittleEndian.AppendUint32(nil, sum))
	}
	switch {
	case len(w.sums) == 0:
		return nil
	case w.n < w.before.Added:
		return nil
	case w.n == w.before.Added:
		if w.sum != w.before.Sum {
			return fmt.Errorf("%w: other documents are kept than the run has added that was killed", ErrOtherInput)
		}
		return nil
	case w.n-int64(len(w.sums)) < w.before.Added:
		return fmt.Errorf("%w: its blocks end elsewhere", ErrOtherInput)
	}
	w.batch.Note(func(first, next uint64) (string, []byte) {
		w.run.Added, w.run.Sum, w.run.Apart = w.n, w.sum, w.run.Apart+w.batch.Apart()
		if last := len(w.run.Slots) - 1; last >= 0 && w.run.Slots[last][1] == first {
			w.run.Slots[last][1] = next
		} else {
			w.run.Slots = append(w.run.Slots, [2]uint64{first, next})
		}
		return noteName, w.run.encode()
	})
	if err := w.x.Add(w.batch); err != nil || w.added == nil {
		return err
	}
	return w.added(w.x)
}

// Damaged implements intake.Worker. dedup.Run has reported the damage.
func (w *worker) Damaged(*corpus.Problem) error { return nil }
