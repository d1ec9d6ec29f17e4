package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/weighing"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// TestExchangedWordsAreTheCommonOnesThatEitherTextHasAlone compares random texts of few words, some of which are rare, with what maps
// of their words tell.
func TestExchangedWordsAreTheCommonOnesThatEitherTextHasAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var texts [][]string
	records := map[string]int{}
	for range 60 {
		var words []string
		for range 1 + random.IntN(5) {
			word := fmt.Sprintf("word%d", random.IntN(8))
			if random.IntN(5) == 0 {
				word = fmt.Sprintf("rare%d", random.IntN(40))
			}
			if !slices.Contains(words, word) {
				words = append(words, word)
				records[word]++
			}
		}
		texts = append(texts, words)
	}
	c, cells := columnOf(t, texts)
	if !c.Worded() {
		t.Fatal("texts of several words have no words")
	}
	own := func(a, b []string) (n int) {
		for _, word := range a {
			if records[word] >= commonWord && !slices.Contains(b, word) {
				n++
			}
		}
		return n
	}
	seen := map[bool]int{}
	for i, a := range texts {
		for j, b := range texts {
			x, y := cells[i], cells[j]
			want := own(a, b) > 0 && own(b, a) > 0
			seen[want]++
			if got := c.exchanged(x, y); got != want {
				t.Errorf("%q and %q: exchanged %v, want %v", a, b, got, want)
			}
			if got := len(c.OwnWords(nil, x, y)); got != own(a, b) {
				t.Errorf("%q has %d common words that %q has not, want %d", a, got, b, own(a, b))
			}
			if x == y {
				continue
			}
			l := c.level(x, y, c.Common(x, y))
			if plain := LevelOf(c.Similarity(x, y)); unexchanged(l) != plain || (l >= firstExchanged) != (want && plain >= leastExchanged) {
				t.Errorf("%q and %q, exchanged %v: level %d, want that of %d", a, b, want, l, plain)
			}
		}
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("%v: too few of either", seen)
	}
}

func TestColumnsOfOneWordHaveNoExchanges(t *testing.T) {
	var texts [][]string
	for i := range 40 {
		texts = append(texts, []string{fmt.Sprintf("word%d", i%4)})
	}
	if c, _ := columnOf(t, texts); c.Worded() || c.exchanged(0, 1) || c.OwnWords(nil, 0, 1) != nil {
		t.Error("single words stand in each other's place")
	}
}

// columnOf returns a column of words, each text of which is a row, and the value of each.
func columnOf(t *testing.T, texts [][]string) (c *column, values []uint32) {
	t.Helper()
	comparer := comparerOf(t, texts, nil)
	for row := range texts {
		values = append(values, comparer.Left.Cells(row)[0]-1)
	}
	return &comparer.Columns[0], values
}

// comparerOf returns what compares texts of words in one column.
func comparerOf(t *testing.T, texts [][]string, passing [][]uint64) *Comparer {
	t.Helper()
	var numbering record.Numbering
	kinds := []record.Kind{record.Words}
	table, chunk := record.NewTable(1, &numbering), record.NewChunk(kinds)
	for row, words := range texts {
		chunk.Append(record.NewCutter(), fmt.Append(nil, row), [][]byte{[]byte(strings.Join(words, " "))})
	}
	table.Add(chunk)
	numbering.Finish()
	comparer, err := NewComparer(t.Context(), &Input{
		Left: table, Numbering: &numbering, Kinds: kinds, Columns: []float64{1}, Passing: passing, Threads: 1, Scale: weighing.Scale{Measure: measure.Cosine},
		Weigh: func(df []uint32, n int) (record.Weights, error) { return record.IDF(df, n), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return comparer
}

func TestEveryLevelStandsForWhatItIs(t *testing.T) {
	for l := leastExchanged; l < Equal; l++ {
		x := exchanged(l)
		switch {
		case unexchanged(x) != l || int(x) >= Levels:
			t.Errorf("level %d becomes %d and %d", l, x, unexchanged(x))
		case Alike(x) != Alike(l) || Agrees(x) != Agrees(l) || Agrees(l) != (l >= Near):
			t.Errorf("level %d of exchanged words is %v alike and agrees: %v", l, Alike(x), Agrees(x))
		case IsClose(x, 1) || IsEqual(x) || Told(x) != 0:
			t.Errorf("level %d of exchanged words is close or equal", x)
		}
	}
	earlier := make([]float64, firstExchanged)
	for l := range earlier {
		earlier[l] = float64(l)
	}
	all := WithExchanged(earlier)
	for l := range Level(Levels) {
		if all[l] != float64(unexchanged(l)) {
			t.Errorf("evidence of level %d is that of %v", l, all[l])
		}
	}
	if again := WithExchanged(all); len(again) != Levels {
		t.Errorf("%d levels, want %d", len(again), Levels)
	}
}

func TestRunsHaveEachLevelOnceAndRareWordsAddNothingInEarlierModels(t *testing.T) {
	for _, whole := range []bool{false, true} {
		next := Level(1)
		for _, run := range Runs(whole) {
			if run.From != next || run.Texts < run.From || run.Texts > run.To || int(run.To) > Levels || run.Below >= run.From {
				t.Errorf("run %+v of whole records: %v begins not at %d", run, whole, next)
			}
			next = run.To
		}
		if !whole && next != Level(Levels) {
			t.Errorf("the runs end at %d, want %d", next, Levels)
		}
	}
	earlier := make([]float64, Levels)
	for l := range earlier {
		earlier[l] = float64(l)
	}
	all := WithRare(earlier)
	for s := 0.0; s <= 1; s += 0.01 {
		if plain, rare := wholeLevel(s, false), wholeLevel(s, true); all[plain] != float64(plain) || all[rare] != all[plain] {
			t.Errorf("similarity %.2f has the evidence %v, with a rare word %v, want %d", s, all[plain], all[rare], plain)
		}
	}
}
