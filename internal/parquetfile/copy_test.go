package parquetfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/testsize"
)

// copied copies a file with Copy.
func copied(t testing.TB, data []byte, threads int, keep func(row int64) bool) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, open(t, data).Copy(context.Background(), &b, threads, 0, nil, keep, nil))
	return b.Bytes()
}

// keepers are ways to choose rows.
func keepers() map[string]func(row int64) bool {
	scattered := func(share float64) func(int64) bool {
		return func(row int64) bool { return rand.New(rand.NewPCG(uint64(row), 7)).Float64() < share }
	}
	return map[string]func(int64) bool{
		"all":            func(int64) bool { return true },
		"none":           func(int64) bool { return false },
		"the first one":  func(row int64) bool { return row == 0 },
		"the last one":   func(row int64) bool { return row == 399 },
		"one in the mid": func(row int64) bool { return row == 233 },
		"most":           scattered(0.95),
		"half":           scattered(0.5),
		"few":            scattered(0.03),
		"a whole group":  func(row int64) bool { return row >= 150 && row < 300 || row%50 == 3 },
		"a run":          func(row int64) bool { return row > 100 && row < 330 },
	}
}

func TestCopyHasTheRowsThatAreKeptAndEverythingElse(t *testing.T) {
	rows := entries(400, 5)
	for i, l := range layouts() {
		data := write(t, l, rows, parquet.BloomFilters(parquet.SplitBlockFilter(10, "lang")))
		all := readRows[entry](t, data)
		for k, name := range slices.Sorted(maps.Keys(keepers())) {
			if k%5 != i%5 || testsize.Small() && i%4 > 0 { // a few of them for each layout
				continue
			}
			keep := keepers()[name]
			what := fmt.Sprintf("%v, %s kept", l, name)
			out := copied(t, data, 3, keep)
			if again := copied(t, data, 1, keep); !bytes.Equal(out, again) {
				t.Fatalf("%s: other bytes with one thread", what)
			}
			var want []entry
			for i := range all {
				if keep(int64(i)) {
					want = append(want, all[i])
				}
			}
			if len(want) == len(all) && !bytes.Equal(out, data) {
				t.Errorf("%s: the copy is not the file", what)
			}
			have := readRows[entry](t, out)
			if len(have) != len(want) {
				t.Fatalf("%s: %d rows, want %d", what, len(have), len(want))
			}
			for i := range have {
				if !reflect.DeepEqual(have[i], want[i]) {
					t.Fatalf("%s: row %d is\n%+v, want\n%+v", what, i, have[i], want[i])
				}
			}
			checkMetadata(t, what, data, out, keep)
			checkIndex(t, what, out)
		}
	}
}

func openGo(t testing.TB, data []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	return f
}

// checkMetadata checks that a copy has the metadata of its source, where that
// does not tell of rows, and row groups where there are rows.
func checkMetadata(t *testing.T, what string, data, out []byte, keep func(int64) bool) {
	t.Helper()
	from, to := open(t, data), open(t, out)
	for _, id := range [...]int16{1, fileSchema, 5, 6, 7} {
		if a, b := from.meta.find(id), to.meta.find(id); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: field %d of the footer is %v, was %v", what, id, b, a)
		}
	}
	var want []int64
	for _, g := range from.groups {
		n := int64(0)
		for i := range g.rows {
			if keep(g.first + i) {
				n++
			}
		}
		if n > 0 {
			want = append(want, n)
		}
	}
	var have []int64
	for _, g := range to.groups {
		have = append(have, g.rows)
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%s: row groups of %v rows, want %v", what, have, want)
	}
	for g := range to.groups {
		for i := range to.Leaves {
			c, err := to.chunk(g, i)
			must(t, err)
			was, err := from.chunk(0, i)
			must(t, err)
			if c.codec != was.codec {
				t.Errorf("%s: codec %v, was %v", what, c.codec, was.codec)
			}
		}
	}
}

// checkIndex checks statistics, page index and Bloom filters of a file against
// its values.
func checkIndex(t *testing.T, what string, data []byte) {
	t.Helper()
	f := openGo(t, data)
	for _, g := range f.RowGroups() {
		for i, c := range g.ColumnChunks() {
			chunk := c.(*parquet.FileColumnChunk)
			name := fmt.Sprintf("%s: %s", what, chunk.Node().(*parquet.Column).Path())
			meta := f.Metadata().RowGroups[indexOf(f, g)].Columns[i].MetaData
			checkChunk(t, name, chunk, &meta)
			if bloom := c.BloomFilter(); bloom != nil {
				for _, v := range valuesOf(t, c) {
					if ok, err := bloom.Check(v); !ok || err != nil {
						t.Fatalf("%s: the Bloom filter lacks %v (%v)", name, v, err)
					}
				}
			} else if chunk.Node().(*parquet.Column).Name() == "lang" {
				t.Errorf("%s: the Bloom filter is lost", name)
			}
		}
	}
}

func indexOf(f *parquet.File, g parquet.RowGroup) int {
	for i, other := range f.RowGroups() {
		if other == g {
			return i
		}
	}
	return -1
}

func valuesOf(t *testing.T, c parquet.ColumnChunk) (all []parquet.Value) {
	pages := c.Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if err == io.EOF {
			return all
		}
		must(t, err)
		v := make([]parquet.Value, p.NumValues())
		if n, err := p.Values().ReadValues(v); n != len(v) || err != nil && err != io.EOF {
			t.Fatalf("%d of %d values: %v", n, len(v), err)
		}
		for i := range v {
			all = append(all, v[i].Clone())
		}
	}
}

func checkChunk(t *testing.T, name string, chunk *parquet.FileColumnChunk, meta *format.ColumnMetaData) {
	t.Helper()
	typ := chunk.Type()
	values := valuesOf(t, chunk)
	var least, most parquet.Value
	nulls := 0
	for _, v := range values {
		if v.IsNull() {
			nulls++
			continue
		}
		if least.IsNull() || typ.Compare(v, least) < 0 {
			least = v
		}
		if most.IsNull() || typ.Compare(v, most) > 0 {
			most = v
		}
	}
	if int(meta.NumValues) != len(values) || int(meta.Statistics.NullCount) != nulls {
		t.Errorf("%s: %d values and %d nulls, there are %d and %d", name, meta.NumValues, meta.Statistics.NullCount, len(values), nulls)
	}
	if a, b, ok := chunk.Bounds(); ok && (typ.Compare(a, least) != 0 || typ.Compare(b, most) != 0) {
		t.Errorf("%s: bounds %v and %v, want %v and %v", name, a, b, least, most)
	}
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		return
	}
	columns, err := chunk.ColumnIndex()
	if err != nil {
		return
	}
	pages := chunk.Pages()
	defer pages.Close()
	row := int64(0)
	for i := 0; ; i++ {
		p, err := pages.ReadPage()
		if err == io.EOF {
			if i != offsets.NumPages() || i != columns.NumPages() {
				t.Errorf("%s: %d pages, in the index %d and %d", name, i, offsets.NumPages(), columns.NumPages())
			}
			return
		}
		must(t, err)
		if offsets.FirstRowIndex(i) != row || columns.NullCount(i) != p.NumNulls() || columns.NullPage(i) != (p.NumNulls() == p.NumValues()) {
			t.Errorf("%s: page %d in the index: row %d, %d nulls, only %v; want row %d, %d nulls", name, i,
				offsets.FirstRowIndex(i), columns.NullCount(i), columns.NullPage(i), row, p.NumNulls())
		}
		if a, b, ok := p.Bounds(); ok && !columns.NullPage(i) && (typ.Compare(columns.MinValue(i), a) > 0 ||
			typ.Kind() != parquet.ByteArray && typ.Compare(columns.MaxValue(i), b) < 0) {
			t.Errorf("%s: page %d has bounds %v and %v, in the index %v and %v", name, i, a, b, columns.MinValue(i), columns.MaxValue(i))
		}
		row += p.NumRows()
	}
}

func TestDictionariesLoseTheValuesOfRowsThatGo(t *testing.T) {
	type row struct {
		Text string  `parquet:"text,dict"`
		Lang *string `parquet:"lang,optional,dict"`
	}
	rows := make([]row, 300)
	for i := range rows {
		rows[i].Text = fmt.Sprintf("%s %d", []string{"kept", "gone"}[i%2], i/4)
		if i%6 > 0 {
			rows[i].Lang = pointer([]string{"en", "goner"}[i%2])
		}
	}
	data := write(t, layout{&parquet.Uncompressed, 2, 300, 200, false}, rows, parquet.DataPageStatistics(false),
		parquet.SkipPageBounds("text"), parquet.SkipPageBounds("lang"))
	out := copied(t, data, 2, func(row int64) bool { return row%2 == 0 })
	if !bytes.Contains(data, []byte("gone")) || bytes.Contains(out, []byte("gone")) {
		t.Error("values of rows that are gone are still there")
	}
	for i, r := range readRows[row](t, out) {
		if !reflect.DeepEqual(r, rows[2*i]) {
			t.Fatalf("row %d is %v, want %v", i, r, rows[2*i])
		}
	}
	// Where nothing refers to the dictionary any more it goes altogether.
	chunk := openGo(t, copied(t, data, 2, func(row int64) bool { return row == 0 })).Metadata().RowGroups[0].Columns[1].MetaData
	if chunk.Statistics.NullCount != 1 || chunk.NumValues != 1 {
		t.Errorf("a chunk of one null: %+v", chunk)
	}
}
