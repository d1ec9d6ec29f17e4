// Package grow adds the new documents of a corpus to an index: dedup.Run, with a Collection as
// its Config.Known, removes documents that are like one of the index and adds those that it
// keeps.
//
//	inputs → dedup.Run ── Look ──→ index as it was     like something: removed
//	             │
//	             └─ output on disk → Keep → index      the rest, in order, with a note of how far
//	                               → output in place
//
// # A run that is killed
//
// Each batch of documents goes into the index together with a note: which run it is, which slot was
// the first one, and how many documents it has added. A run that is repeated looks into the index
// as it was before that slot, so that it comes to the same output, and adds what is missing. When
// all is added and the output was not in its place yet, or is removed again, the same run
// makes the same output and adds nothing.
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

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/internal/intake"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/recipe"
)

// ErrUnfinished says that the index has a part of what another run keeps. Errors of this kind
// name it.
var ErrUnfinished = errors.New("a run has not ended")

// ErrOtherInput says that a run that is repeated does not keep what it kept before.
var ErrOtherInput = errors.New("the input is not the one that it was")

// Options say how an index grows. Index.Recipe must be set.
type Options struct {
	Index index.OpenOptions // how it is opened or, where there is none, made; with ByID, which is set
	What  string            // the run, in words for whoever has to repeat it
	Fresh bool              // undo what another run has added that did not end
	// DryRun leaves the folder as it is: an index that is not there is an empty one.
	DryRun bool
}

// A Collection is an index in a folder that grows by what runs keep.
type Collection struct {
	dir     string
	options Options
	x       *index.Index // nil: not begun
	run     progress
	added   func(*index.Index) error // called after each batch; nil but in tests
}

// noteName is the name of the note of the last run.
const noteName = "dedup"

// progress is how far a run is, as it stands in the note.
type progress struct {
	Run   string      `json:"run"`
	What  string      `json:"what"`
	First uint64      `json:"first"` // slot of the first document that is not there before the run
	Added int64       `json:"added"` // documents
	Sum   uint32      `json:"sum"`   // checksum of these
	Slots [][2]uint64 `json:"slots"` // of these: from, to
	Whole bool        `json:"whole"` // there are no more
}

// New returns the collection of the index in a folder. A run opens it; close it then.
func New(dir string, o Options) *Collection {
	o.Index.ByID = true
	return &Collection{dir: dir, options: o}
}

// Index returns the index, nil before a run has begun.
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

// open opens the index, or makes it.
func (c *Collection) open() (err error) {
	o := c.options.Index
	o.Beside = leastRun + scratch.Outside(c.threads())
	o.ReadOnly = c.options.DryRun
	if !o.ReadOnly {
		c.x, err = index.OpenOrCreate(c.dir, o)
	} else if c.x, err = index.Open(c.dir, o); errors.Is(err, fs.ErrNotExist) {
		c.x, err = index.New(o.Options)
	}
	if errors.Is(err, index.ErrOther) {
		err = fmt.Errorf("%w; take the settings with which %s was made, or another folder", err, c.dir)
	}
	if err == nil && !c.x.Options().ByID {
		err = fmt.Errorf("%s does not know its documents by their ids, as the state of a stream: take an index that alike index build has made", c.dir)
	}
	return err
}

// leastRun is how many bytes a run needs for its data at least, beside what Outside says.
const leastRun = 32 << 20

func (c *Collection) threads() int { return cmp.Or(c.options.Index.Threads, runtime.GOMAXPROCS(0)) }

// Begin implements dedup.Known. It opens the index, and changes nothing but with Options.Fresh.
func (c *Collection) Begin(run string) (state string, err error) {
	if err := c.open(); err != nil {
		return "", err
	}
	note, err := c.x.Note(noteName)
	if err != nil {
		return "", err
	}
	var before progress
	if note != nil {
		if err := json.Unmarshal(note, &before); err != nil {
			return "", fmt.Errorf("grow: note of the last run: %w: %w", index.ErrDamaged, err)
		}
	}
	switch {
	case before.Run == run && (before.Whole || before.Added > 0):
		c.run = before
		return c.state(), nil
	case note != nil && !before.Whole && before.Added > 0:
		if c.options.DryRun {
			break
		}
		if !c.options.Fresh {
			return "", setting.Errorf("%w: the index has %d documents of a run that was killed; repeat that (%s), or undo it with %s", ErrUnfinished, before.Added, before.What, setting.Fresh)
		}
		for _, slots := range before.Slots {
			if _, err := c.x.DeleteSlots(slots[0], slots[1]); err != nil {
				return "", err
			}
		}
		before.Added, before.Slots = 0, nil
		if err := c.note(&before); err != nil {
			return "", err
		}
	}
	c.run = progress{Run: run, What: c.options.What, First: c.x.Stats().Next}
	return c.state(), nil
}

func (c *Collection) state() string { return fmt.Sprintf("slots before %d", c.run.First) }

// Memory implements dedup.Known.
func (c *Collection) Memory() int64 { return c.x.Memory() }

// NewLooker implements dedup.Known.
func (c *Collection) NewLooker() dedup.Looker { return c.x.NewLooker(c.run.First) }

// Has implements dedup.Known.
func (c *Collection) Has(name []byte) (bool, error) { return c.x.Has(name, c.run.First) }

// note stores how far a run is, without documents.
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

// Keep implements dedup.Known.
func (c *Collection) Keep(ctx context.Context, kept *dedup.Kept) error {
	if c.run.Whole {
		return nil
	}
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
	c.run.Whole = true
	return c.note(&c.run)
}

// keeping is what the goroutines share that add documents; they use it in their turn only.
type keeping struct {
	*Collection
	before  progress       // what another process has added
	numbers map[string]int // of the sources, by their paths
	n       int64          // documents so far
	sum     uint32         // of these
}

// worker handles blocks. It belongs to one goroutine.
type worker struct {
	*keeping
	parser *corpus.Parser
	kept   *dedup.KeptReader
	batch  *index.Batch
	sums   []uint32 // of the batch's documents
}

func (w *worker) Prepare(f *corpus.File, b *corpus.Block, _ int64) error {
	w.batch.Reset()
	w.sums = w.sums[:0]
	w.kept.Block(w.numbers[f.Source().Path], b.Seq)
	w.parser.Start(f, b)
	for r := (corpus.Record{}); w.parser.Next(&r); {
		if r.Err != nil {
			continue // the run has told
		}
		name, kept, err := w.kept.Record(r.Offset)
		if err != nil {
			return err
		}
		if kept {
			w.sums = append(w.sums, durable.Checksum(durable.Checksum(0, name), r.Text))
			w.batch.Add(index.Document{ID: name, Text: r.Text})
		}
	}
	w.parser.Trim()
	return nil
}

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
		w.run.Added, w.run.Sum = w.n, w.sum
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

// Damaged implements intake.Worker: the run has told of it.
func (w *worker) Damaged(*corpus.Problem) error { return nil }
