package main

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
)

// someLinks draws what a join may have found, with names of columns that are those of the
// output too, and ids that are not UTF-8.
func someLinks(t *rapid.T, with int) (columns []linkage.Column, links []linkage.Link) {
	for range rapid.IntRange(0, 3).Draw(t, "columns") {
		name := rapid.SampledFrom([]string{"name", "similarity", "left_id", "zürich", "a,b", "probability", "left_x"}).Draw(t, "name")
		columns = append(columns, linkage.Column{Field: linkage.Field{Left: name}})
	}
	value := rapid.SampledFrom([]string{"", "1", "a\"b", "x,y", "\n", "é", "\xff\xfe", "0.5"})
	values := func(n int) (all [][]byte) {
		for range n {
			all = append(all, []byte(value.Draw(t, "value")))
		}
		return all
	}
	for range rapid.SampledFrom([]int{0, 1, 5, 1024, 1025}).Draw(t, "links") {
		ids := values(2)
		l := linkage.Link{A: ids[0], B: ids[1], Similarity: rapid.Float64Range(0, 1).Draw(t, "similarity"), Probability: 0.25, WithA: values(with), WithB: values(with)}
		for range columns {
			l.Fields = append(l.Fields, rapid.SampledFrom([]float64{-1, 0, 0.3333333, 1}).Draw(t, "field"))
		}
		links = append(links, l)
	}
	return columns, links
}

// TestAllFormatsHaveTheSameRows reads back what was written.
func TestAllFormatsHaveTheSameRows(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	rapid.Check(t, func(t *rapid.T) {
		with := []string{"x", "y"}[:rapid.IntRange(0, 2).Draw(t, "with")]
		probability := rapid.Bool().Draw(t, "probability")
		columns, links := someLinks(t, len(with))
		var out [3]bytes.Buffer
		for i, format := range []corpus.Format{corpus.CSV, corpus.JSONL, corpus.Parquet} {
			if err := writeLinks(t.Context(), &out[i], slices.Values(links), columns, []string{"left_id", "right_id"}, with, format, probability); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := csv.NewReader(&out[0]).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(links)+1 {
			t.Fatalf("%d rows of %d links", len(rows), len(links))
		}
		fromJSON, fromParquet := readJSON(t, rows[0], out[1].Bytes()), readParquet(t, out[2].Bytes())
		for i, row := range rows {
			if i > 0 && !slices.Equal(row, fromJSON[i-1]) {
				t.Fatalf("row %d is %q in CSV and %q in JSON", i, row, fromJSON[i-1])
			}
			if !slices.Equal(row, fromParquet[i]) {
				t.Fatalf("row %d is %q in CSV and %q in Parquet", i, row, fromParquet[i])
			}
		}
	})
}

func readJSON(t *rapid.T, names []string, data []byte) (rows [][]string) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for d.More() {
		var object map[string]any
		if err := d.Decode(&object); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, name := range names {
			value, there := object[name]
			if !there {
				t.Fatalf("%v has no %q", object, name)
			}
			text := ""
			if value != nil {
				text = fmt.Sprint(value)
			}
			if raw, ok := object[name+"_bytes"]; ok {
				decoded, err := base64.StdEncoding.DecodeString(raw.(string))
				if err != nil {
					t.Fatal(err)
				}
				text = string(decoded)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// readParquet returns the names of the columns, then the rows.
func readParquet(t *rapid.T, data []byte) (rows [][]string) {
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range f.Schema().Fields() {
		names = append(names, field.Name())
	}
	rows = append(rows, names)
	for _, g := range f.RowGroups() {
		reader := g.Rows()
		buffer := make([]parquet.Row, 100)
		for {
			n, err := reader.ReadRows(buffer)
			for _, values := range buffer[:n] {
				row := make([]string, len(names))
				for _, v := range values {
					switch {
					case v.IsNull():
					case v.Kind() == parquet.Double:
						row[v.Column()] = string(measure.AppendSimilarity(nil, v.Double()))
					default:
						row[v.Column()] = string(v.ByteArray())
					}
				}
				rows = append(rows, row)
			}
			if err != nil {
				break
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}
