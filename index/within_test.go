package index

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// valued is a document with its value.
type valued struct {
	id, text string
	value    []byte
}

// valuedTexts are texts that stand in several values; nil and "" are one.
func valuedTexts(seed uint64, n int) (docs []valued) {
	rng, texts := rand.New(rand.NewPCG(seed, 4)), newTexter(seed)
	values := [][]byte{nil, []byte("x"), []byte("y"), []byte("x"), {}, []byte("a | \"b\"")}
	for i := range n {
		text := texts.next()
		for k := range 1 + rng.IntN(3) {
			docs = append(docs, valued{fmt.Sprintf("%d-%d", i, k), text, values[rng.IntN(len(values))]})
		}
	}
	return docs
}

// verdicts checks documents in batches, and returns a line for each.
func verdicts(t *testing.T, o Options, docs []valued) (lines []string) {
	x := made(t, o)
	b := x.NewCheck()
	for part := range slices.Chunk(docs, 7) {
		b.Reset()
		for _, d := range part {
			b.Add(Document{ID: []byte(d.id), Text: []byte(d.text), Columns: o.ColumnsWithin(d.value)})
		}
		got, err := x.Check(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			lines = append(lines, fmt.Sprintf("%s %v %s %.6f", part[i].id, v.New, v.Of, v.Similarity))
		}
	}
	return lines
}

func TestAnIndexDecidesWithinValuesAsOneIndexForEachWould(t *testing.T) {
	for name, options := range map[string]recipe.Options{
		"sets":     {Threshold: threshold(t, "jaccard>=0.6")},
		"estimate": {Threshold: threshold(t, "jaccard>=0.6"), Verify: recipe.Sketch},
		"distance": {Sketch: recipe.SimHash(simhash.Default()), Distance: new(5)},
	} {
		options.Features = shingle.Options{N: 2}
		docs := valuedTexts(1, 150)
		of := func(within string) Options {
			options.Within = within
			r, err := recipe.New(options)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Recipe: r, BucketCap: 20}
			if within != "" {
				o.Columns = []string{"n", within}
			}
			return o
		}
		got := verdicts(t, of("lang"), docs)
		var want []string
		for _, value := range []string{"", "x", "y", "a | \"b\""} {
			some := slices.DeleteFunc(slices.Clone(docs), func(d valued) bool { return string(d.value) != value })
			want = append(want, verdicts(t, of(""), some)...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: other verdicts than of one index for each value", name)
		}
	}
}

func TestAnIndexIsSearchedWithinValues(t *testing.T) {
	docs := valuedTexts(2, 80)
	for _, where := range []Keys{KeysInMemory, KeysOnDisk} {
		r, err := recipe.New(recipe.Options{Features: shingle.Options{N: 2}, Threshold: threshold(t, "jaccard>=0.6"), Within: "lang"})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Recipe: r, Columns: []string{"lang"}, Keys: where, Containment: 1, ByID: true}
		dir := filepath.Join(t.TempDir(), "x")
		b, err := NewBuilder(dir, BuildOptions{Options: o})
		if err != nil {
			t.Fatal(err)
		}
		batch := b.NewBatch()
		for _, d := range docs {
			batch.Add(Document{ID: []byte(d.id), Text: []byte(d.text), Columns: [][]byte{d.value}})
		}
		if err := b.Add(batch); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		x, err := Open(dir, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Verify(t.Context(), func(d Damage) { t.Errorf("damage: %v", d) }); err != nil {
			t.Error(err)
		}
		s := x.NewSearcher()
		if _, err := s.Search([]byte("some words"), SearchOptions{}); err == nil {
			t.Error("a search without a value is answered")
		}
		if _, err := s.Neighbours([]byte("some words"), SearchOptions{}); err == nil {
			t.Error("neighbours without a value are answered")
		}
		inside, err := measure.ParseThreshold("containment>=0.6")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			within := append([]byte{}, d.value...)
			for _, how := range []SearchOptions{{}, {Exact: true}, {Threshold: inside}} {
				how.Within = within
				found, err := s.Search([]byte(d.text), how)
				if err != nil {
					t.Fatal(err)
				}
				itself := false
				for _, m := range found {
					itself = itself || string(m.ID) == d.id
					if string(m.Columns[0]) != string(d.value) {
						t.Fatalf("%+v: %s of %q is found within %q", how, m.ID, m.Columns[0], d.value)
					}
				}
				if d.text != "" && !itself {
					t.Fatalf("%+v: %s does not find itself", how, d.id)
				}
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnIndexWithinAFieldMustStoreIt(t *testing.T) {
	r, err := recipe.New(recipe.Options{Threshold: threshold(t, "jaccard>=0.6"), Within: "lang"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Recipe: r, Columns: []string{"title"}}); err == nil {
		t.Error("an index without the column is made")
	}
}
