package judge

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/memory"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/linkage/internal/steps"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// twice makes an Examiner of a table of people of whom the first ones are there twice. Notes go to tell.
func twice(t *testing.T, people, twice int, tell func(string)) *Examiner {
	t.Helper()
	tables := &held.Tables{Kinds: []record.Kind{record.Text, record.Text, record.Number}}
	tables.Left = record.NewTable(len(tables.Kinds), &tables.Numbering)
	chunk, cutter := record.NewChunk(tables.Kinds), record.NewCutter()
	for i := range people + twice {
		n := i % people * 7919 % 10007
		name, town := fmt.Sprintf("%x name%d", n*n, n%90), fmt.Sprintf("%x town%d", n*31, n%70)
		chunk.Append(cutter, fmt.Append(nil, i), [][]byte{[]byte(name), []byte(town), fmt.Append(nil, 1900+n%97)})
	}
	tables.Left.Add(chunk)
	tables.Numbering.Finish()
	tables.Records[0] = tables.Left.Rows()
	f := &find.Finder{
		Tables: tables, Threads: 1, Method: candidates.Config{Method: candidates.TopK, Measure: measure.Cosine, Both: true, Threads: 1},
		WordsFrom: math.MaxInt, Memory: memory.New(t.TempDir(), 0, 1), Steps: &steps.Keeper{},
	}
	in := &compare.Input{
		Left: tables.Left, Numbering: &tables.Numbering, Kinds: tables.Kinds, Scale: weighing.Scale{Measure: measure.Cosine}, Columns: []float64{1, 1, 1},
		Weigh:   func(df []uint32, n int) (record.Weights, error) { return record.IDF(df, n), nil },
		Threads: 1, Room: math.MaxInt64,
	}
	e, err := New(t.Context(), in, f, Options{Batch: 1 << 10, Own: 100, Strangers: 10_000, Tell: tell})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Memory.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func probable(e *Examiner) (n int) {
	for _, p := range e.Probability {
		if p > 0.5 {
			n++
		}
	}
	return n
}

// TestAModelThatIsNotFiniteIsReplaced has shares of columns that are no numbers, as a fault of the model could have.
func TestAModelThatIsNotFiniteIsReplaced(t *testing.T) {
	var notes []string
	e := twice(t, 300, 39, func(note string) { notes = append(notes, note) })
	judge := func() int {
		if err := e.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !e.Model.Finite() || !model.Finite(e.Probability) {
			t.Error("the model is not finite")
		}
		return probable(e)
	}
	if err := e.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := judge(); n < 39 || n > 60 || len(notes) > 0 {
		t.Errorf("%d likely pairs of 39 records that are there twice; notes %q", n, notes)
	}
	e.shares[1] = math.NaN()
	if err := e.learned("sample-x", func() error { return e.learn(t.Context(), e.Sample.Pairs, 0, false) }); err != nil {
		t.Fatal(err)
	}
	if n := judge(); n < 39 || n > 60 {
		t.Errorf("%d likely pairs by the model in place of one that is not finite", n)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "no model of these tables has finite numbers") {
		t.Errorf("notes %q", notes)
	}
}
