package dedup

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/recipe"
)

// ErrKnownName says that a document has the name of one in NewTo.Known, and is not like any there. It is skipped.
var ErrKnownName = fault.ErrKnownName

// beginKnown tells the collection that the run begins. It returns the state of the collection.
func beginKnown(ctx context.Context, j *job, in *inputs) (state string, err error) {
	known := j.Known
	if known == nil {
		return "", nil
	}
	if mine, its := j.recipe.String(), known.Recipe().String(); mine != its {
		return "", fmt.Errorf("%w: the index has the recipe\n  %s\nand the run\n  %s\ntake the settings with which the index was made", ErrUsage, its, mine)
	}
	sum := sha256.New()
	for s := range identity(j.settings, "dedup", in, "") {
		fmt.Fprintln(sum, s)
	}
	if state, err = known.Begin(ctx, hex.EncodeToString(sum.Sum(nil)[:16]), in.own(), j.Corpus); err == nil {
		j.space.Leave(known.Memory())
	}
	return state, err
}

// look returns the look-ups of the read stage for each document of the inputs; nil: none.
func look(known Known) func() read.Look {
	if known == nil {
		return nil
	}
	return func() read.Look {
		l := known.NewLooker()
		var note []byte
		return func(m *recipe.Maker, made recipe.Made, text, within []byte) ([]byte, error) {
			name, similarity, found, err := l.Look(m, made, text, within)
			if err != nil || !found {
				return nil, err
			}
			note = binary.LittleEndian.AppendUint64(note[:0], math.Float64bits(similarity))
			note = append(note, name...)
			return note, nil
		}
	}
}

// markKnown marks documents that are like one of the collection, and skips others whose name a
// document of the collection has.
func markKnown(ctx context.Context, j *job, t *doctable.Table) error {
	known := j.Known
	if known == nil {
		return nil
	}
	t.Known = bitset.New[uint32](t.Docs)
	taken := bitset.New[uint32](t.Docs)
	cursors := make([]*doctable.Cursor, j.Threads)
	names := make([][]byte, j.Threads)
	err := t.EachDocument(ctx, j.Threads, func(worker int, _ *doctable.Block, doc uint32, d *doctable.Document) error {
		switch {
		case int(doc) < t.References:
			return nil
		case d.HasValue():
			t.Known.AddShared(doc)
			return nil
		}
		if cursors[worker] == nil {
			cursors[worker] = t.Scanner()
		}
		c := cursors[worker]
		names[worker] = c.AppendID(names[worker][:0], doc)
		if c.Err != nil {
			return c.Err
		}
		if c.Made(doc) && c.Source(doc).MakesIDs() {
			return nil // Keep names it apart
		}
		has, err := known.Has(names[worker])
		if has {
			taken.AddShared(doc)
		}
		return err
	})
	if err != nil {
		return err
	}
	return skipTaken(j.account, t, taken)
}

// skipTaken skips documents whose names are taken.
func skipTaken(a *account, t *doctable.Table, taken bitset.Set[uint32]) error {
	c := t.Scanner()
	for i := t.References; i < t.Docs; i++ {
		doc := uint32(i)
		if !taken.Has(doc) {
			continue
		}
		t.Skipped.Add(doc)
		p := &corpus.Problem{Path: c.Label(doc), Line: c.Line(doc), Offset: c.Doc(doc).Offset()}
		remedy := "make ids unique"
		if c.Made(doc) {
			remedy = "give the file another name"
		} else {
			p.ID = c.ID(doc)
		}
		p.Err = fault.Because(ErrKnownName, "its name %s is that of a document in the index, which is not like it; %s", fault.Shown(c.ID(doc)), remedy)
		if c.Err != nil {
			return c.Err
		}
		if err := a.skip(p, false); err != nil {
			return err
		}
	}
	return nil
}

// tableMemory returns how many bytes of memory the table takes at most.
func tableMemory(j *job, t *doctable.Table) int64 {
	const row = 80 // of a document: its columns without keys, and an id
	n := int64(t.Docs) * int64(row+8*j.recipe.Keys())
	if share := j.space.Share(2); share > 0 {
		n = min(n, share)
	}
	return n
}

// addKept adds the kept documents to the collection.
func addKept(ctx context.Context, j *job, in *inputs, t *doctable.Table, removed bitset.Set[uint32]) error {
	if j.Known == nil {
		return nil
	}
	return j.account.stage("index", in.bytes(), func() (int64, int64, error) {
		kept := &Kept{
			Documents: j.account.Kept, Memory: tableMemory(j, t), Sources: in.own(), Corpus: j.Corpus, table: t, removed: removed,
		}
		kept.Corpus.Admit = nil
		err := j.Known.Keep(ctx, kept)
		j.account.Apart = kept.Apart
		return kept.Documents, 0, err
	})
}

// removedSet returns the documents that are removed in favour of another one of the run.
func removedSet(t *doctable.Table, c *clusters.Result) (bitset.Set[uint32], error) {
	removed := bitset.New[uint32](t.Docs)
	err := c.Removed.Visit(func(e extsort.Entry) error {
		removed.Add(uint32(e.Key))
		return nil
	})
	return removed, err
}
