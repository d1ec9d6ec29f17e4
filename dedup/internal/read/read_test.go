package read

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// someOptions are those of a run over sources with bands.
func someOptions(t testing.TB, sources []corpus.Source) Options {
	t.Helper()
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: threshold})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Recipe: r, Layouts: &feed.Layouts{}, Progress: silent{},
		Table: doctable.Options{
			Sources: sources, Keys: r.Keys(), MostSetFeatures: 1 << 20, SegmentBytes: 1 << 18,
			Space: scratch.New(scratch.Options{Threads: 2}),
		},
	}
}

type silent struct{}

func (silent) Advance(int64, int64) {}

func TestRecordsBecomeDocumentsInTheOrderOfTheInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	var lines, texts []string
	for i := range 100 {
		text := fmt.Sprintf("this is the text of number %d of all", i)
		texts = append(texts, text)
		lines = append(lines, fmt.Sprintf("{\"id\":\"%d\",\"text\":%q}", i, text))
	}
	lines = slices.Insert(lines, 50, "no record")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	o := corpus.Options{BlockSize: 512}
	sources, _, err := corpus.Find(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	options := someOptions(t, sources)
	options.Corpus, options.Table.SegmentBytes = o, 1000
	made, counts, err := Records(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if made.Docs != len(texts) || counts.Documents != int64(len(texts)) {
		t.Fatalf("%d documents, %d counted, want %d", made.Docs, counts.Documents, len(texts))
	}
	c, sets := made.Cursor(), options.Recipe.NewSetMaker()
	for i, text := range texts {
		doc := uint32(i)
		if id, set := c.ID(doc), sets.AppendSet(nil, []byte(text)); id != fmt.Sprint(i) || !slices.Equal(c.Set(doc), set) {
			t.Errorf("document %d is %s with features %x, want %x", i, id, c.Set(doc), set)
		}
	}
	problems := 0
	err = made.EachProblem(func(_ int, line int64, p *corpus.Problem) error {
		if problems++; line != 51 || !errors.Is(p, corpus.ErrMalformed) {
			t.Errorf("line %d: %v", line, p)
		}
		return nil
	})
	if err != nil || problems != 1 || c.Err != nil {
		t.Errorf("%d problems, %v, %v", problems, err, c.Err)
	}
}

func TestADocumentAllocatesNothing(t *testing.T) {
	w := newReader(someOptions(t, nil)).newWorker()
	text := strings.Repeat("the text of a document, with Übergrößen 日本語のテキスト ", 40)
	record := &corpus.Record{Text: []byte(text), ID: []byte("id"), Raw: make([]byte, 3000)}
	all := w.rows.Begin(0, 0, 0)
	reset := func() { w.rows.Drop(&all) }
	addText(w, record)
	if n := testing.AllocsPerRun(100, func() { reset(); addText(w, record) }); n != 0 {
		t.Errorf("%v allocations a document", n)
	}
}

// A worker that reads one document too many ends the run, so that hours of reading are
// not in vain.
func TestReadingEndsWhereDocumentsCannotBeNumbered(t *testing.T) {
	r := newReader(someOptions(t, nil))
	w := r.newWorker()
	r.items.Store(doctable.MaxDocuments)
	addText(w, &corpus.Record{Text: []byte("a text of some words"), Raw: make([]byte, 20)})
	if _, err := w.endPiece(&doctable.Block{}); err == nil || !strings.Contains(err.Error(), "split the input") {
		t.Errorf("error %v", err)
	}
}

// A part may hold the end of a file of which another worker's part, with the blocks
// before it, was lost. The end is then read again with those, into a third part, and
// whoever goes on after that finds two.
func TestTheEndOfAFileThatWasReadTwiceCountsOnce(t *testing.T) {
	w := scratch.New(scratch.Options{FS: vfstest.NewMem(), Threads: 1, Scheme: "signatures"})
	var log *resume.Log
	for range 2 { // the journal knows what was there when it was opened
		var err error
		log, err = resume.Open(t.Context(), w, resume.Options{Folder: "work", Settings: func(func(journal.Setting) bool) {}})
		if err != nil {
			t.Fatal(err)
		}
		if log.Resumed() {
			break
		}
		parts := doctable.NewBuilder(doctable.Options{Sources: make([]corpus.Source, 1), Space: w, Log: log})
		for seq := range int64(2) {
			f := parts.NewFiller()
			b, end := f.Begin(0, seq, 0), doctable.EndBlock(0, 2)
			end.AddProblem(^int64(7), nil, corpus.ErrTruncated)
			f.End(&b)
			if err := errors.Join(f.Keep(&b), f.Keep(&end), f.Finish()); err != nil {
				t.Fatal(err)
			}
		}
		parts.Close()
		if err := log.Close(false); err != nil {
			t.Fatal(err)
		}
	}
	defer log.Close(false)
	r := newReader(Options{Table: doctable.Options{Sources: make([]corpus.Source, 1), Space: w, Log: log}})
	defer r.table.Close()
	if err := r.restore(); err != nil {
		t.Fatal(err)
	}
	made, err := r.table.Table()
	if err != nil {
		t.Fatal(err)
	}
	if blocks := made.Blocks; len(blocks) != 3 || r.before.wanted(0) {
		t.Errorf("%d blocks: %+v", len(blocks), blocks)
	}
}

// BenchmarkSketch turns records into digests and band keys: what the first stage
// does with a block once it is read and parsed.
func BenchmarkSketch(b *testing.B) {
	w := newReader(someOptions(b, nil)).newWorker()
	all := w.rows.Begin(0, 0, 0)
	for _, words := range []int{20, 200, 2000, 20_000} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(3, 4))
			var text strings.Builder
			for range words {
				text.WriteString("wordsoflength"[:1+rng.IntN(10)])
				text.WriteByte(' ')
			}
			record := &corpus.Record{Text: []byte(text.String()), Raw: []byte(text.String())}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				w.rows.Drop(&all)
				addText(w, record)
			}
		})
	}
}

// addText adds the document of a text.
func addText(w *worker, record *corpus.Record) {
	made, _ := w.make(record)
	_ = w.addDocument(0, record, made)
}
