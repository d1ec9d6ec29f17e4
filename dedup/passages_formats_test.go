package dedup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/corpus"
)

// A row of Parquet whose text is required, optional, or nested.
type (
	flatRow struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text,dict"`
		Size int64  `parquet:"size"`
	}
	optionalRow struct {
		ID   string  `parquet:"id"`
		Text *string `parquet:"text,optional,zstd"`
		Size int64   `parquet:"size"`
	}
	nestedRow struct {
		ID   string `parquet:"id"`
		Meta *struct {
			Lang string  `parquet:"lang"`
			Text *string `parquet:"text,optional"`
		} `parquet:"meta,optional"`
		Size int64 `parquet:"size"`
	}
)

// parquetFile writes rows, a few in each row group.
func parquetFile[T any](t *testing.T, path string, rows []T) {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, parquet.MaxRowsPerRowGroup(4))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, out.Bytes())
}

// parquetSchemas returns functions that write texts as a file of each schema. All but flat begin with a row without text.
func parquetSchemas(texts []string) map[string]func(t *testing.T, path string) {
	return map[string]func(t *testing.T, path string){
		"flat": func(t *testing.T, path string) {
			var rows []flatRow
			for i, text := range texts {
				rows = append(rows, flatRow{fmt.Sprint(i), text, int64(i)})
			}
			parquetFile(t, path, rows)
		},
		"optional": func(t *testing.T, path string) {
			rows := []optionalRow{{"none", nil, 99}}
			for i := range texts {
				rows = append(rows, optionalRow{fmt.Sprint(i), &texts[i], int64(i)})
			}
			parquetFile(t, path, rows)
		},
		"nested": func(t *testing.T, path string) {
			rows := []nestedRow{{ID: "none", Size: 99}}
			for i := range texts {
				r := nestedRow{ID: fmt.Sprint(i), Size: int64(i)}
				r.Meta = &struct {
					Lang string  `parquet:"lang"`
					Text *string `parquet:"text,optional"`
				}{langOf(i), &texts[i]}
				rows = append(rows, r)
			}
			parquetFile(t, path, rows)
		},
	}
}

func langOf(i int) string { return fmt.Sprint("l", i%3) }

// parquetTexts returns the texts of a file of a schema, whose other columns must be as they were written.
func parquetTexts(t *testing.T, path, schema string) (texts []string) {
	t.Helper()
	rows, err := parquet.ReadFile[nestedAny](path)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		text := r.Text
		if schema == "nested" {
			text = r.Meta.Text
			if r.Meta.Lang != langOf(i) {
				t.Errorf("row %d: language %q", i, r.Meta.Lang)
			}
		}
		if r.ID != fmt.Sprint(i) || r.Size != int64(i) {
			t.Errorf("row %d is %+v", i, r)
		}
		texts = append(texts, text)
	}
	return texts
}

// A text is cut in the same way in Parquet files as in JSON, whatever their schema, and the other columns stay.
func TestPassagesAreCutOutOfParquetFiles(t *testing.T) {
	var texts []string
	for i := range 10 {
		texts = append(texts, fmt.Sprintf("Text number %d.\nA notice that all of them have.\nEnd of %d, which nobody has.", i, i))
	}
	texts[4] = "A notice that all of them have.\n"
	for name, write := range parquetSchemas(texts) {
		t.Run(name, func(t *testing.T) {
			path, out := filepath.Join(t.TempDir(), "in.parquet"), filepath.Join(t.TempDir(), "out")
			write(t, path)
			c := Config{Inputs: []string{path}, Output: out, limits: limits{memory: 1}}
			if name == "nested" {
				c.Corpus.TextField = "meta.text"
			}
			summary, err := CutPassages(t.Context(), c, Passages{Unit: UnitLine})
			if err != nil {
				t.Fatal(err)
			}
			if summary.Passages.Changed != 9 || summary.Passages.Emptied != 1 {
				t.Errorf("%+v", summary.Passages)
			}
			want := slices.Clone(texts)
			for i := range want[1:] {
				want[i+1] = strings.Replace(want[i+1], "A notice that all of them have.\n", "", 1)
			}
			if got := parquetTexts(t, filepath.Join(out, KeptFolder, "in.parquet"), name); !slices.Equal(got, want) {
				t.Errorf("texts %q, want %q", got, want)
			}
		})
	}
}

// nestedAny is a row of any of these schemas.
type nestedAny struct {
	ID   string `parquet:"id"`
	Text string `parquet:"text,optional"`
	Meta struct {
		Lang string `parquet:"lang,optional"`
		Text string `parquet:"text,optional"`
	} `parquet:"meta,optional"`
	Size int64 `parquet:"size"`
}

// All formats and compressions lose the same.
func TestPassagesAreCutOutOfEveryFormat(t *testing.T) {
	docs := []testDoc{
		{"a", "One sentence of five words. Another \"one\", which has quotes; and more."},
		{"b", "Something of its own here. One sentence of five words. ANOTHER \"ONE\", which has quotes; and more!"},
		{"c", "One sentence of five words."},
	}
	want := []string{docs[0].text, "Something of its own here. ", ""}
	dir := t.TempDir()
	var table, tabs, jsonl bytes.Buffer
	fmt.Fprintln(&table, `id;"text";more`)
	fmt.Fprint(&tabs, "id\ttext\r\n")
	for _, d := range docs {
		fmt.Fprintf(&table, "%s;\"%s\";x\n", d.id, strings.ReplaceAll(d.text, `"`, `""`))
		fmt.Fprintf(&tabs, "%s\t%s\r\n", d.id, d.text)
		text, _ := json.Marshal(d.text)
		fmt.Fprintf(&jsonl, "{\"id\":%q, \"text\" : %s}\n", d.id, text)
	}
	writeFile(t, filepath.Join(dir, "t.csv"), table.Bytes())
	writeFile(t, filepath.Join(dir, "t.tsv"), tabs.Bytes())
	writeFile(t, filepath.Join(dir, "j.jsonl"), jsonl.Bytes())
	writeJSONL(t, filepath.Join(dir, "g.jsonl.gz"), docs)
	z, err := corpus.Create(filepath.Join(dir, "z.jsonl.zst"), corpus.Zstd, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(jsonl.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Commit(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "wide.jsonl"), utf16LE(jsonl.String()))
	for i, d := range docs {
		writeFile(t, filepath.Join(dir, "texts", fmt.Sprintf("%d.txt", i)), []byte("\ufeff"+d.text))
		writeFile(t, filepath.Join(dir, "wides", fmt.Sprintf("%d.txt", i)), utf16LE(d.text))
	}
	for _, in := range []string{"t.csv", "t.tsv", "j.jsonl", "g.jsonl.gz", "z.jsonl.zst", "wide.jsonl", "texts", "wides"} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := CutPassages(t.Context(), Config{Inputs: []string{filepath.Join(dir, in)}, Output: out}, Passages{Unit: UnitSentence}); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		got := keptTexts(t, filepath.Join(out, KeptFolder))
		if !slices.Equal(got, want) {
			t.Errorf("%s: kept %q, want %q", in, got, want)
		}
	}
}

func utf16LE(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// keptTexts returns the texts of all documents below a folder, in order.
func keptTexts(t *testing.T, folder string) (texts []string) {
	t.Helper()
	sources, _, err := corpus.Find(t.Context(), []string{folder}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		file, err := corpus.Open(t.Context(), source, corpus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b corpus.Block
		parser := corpus.NewParser(corpus.Options{})
		for file.Next(&b) == nil {
			var r corpus.Record
			for parser.Start(file, &b); parser.Next(&r); {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				texts = append(texts, string(r.Text))
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
