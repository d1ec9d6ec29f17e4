package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/internal/testsize"
)

// readColumns reads columns row by row, a missing value as "null".
func readColumns(t testing.TB, f *File, target int, names ...string) [][]string {
	t.Helper()
	var columns []int
	for _, n := range names {
		at := f.Column(n)
		if at < 0 {
			t.Fatalf("no column %q in %v", n, f.Names())
		}
		columns = append(columns, at)
	}
	r, err := f.NewReader(columns, target, 0)
	must(t, err)
	var rows [][]string
	for {
		p, err := r.Next()
		if err == io.EOF {
			if r.Progress() < 0.5 {
				t.Errorf("progress %v at the end", r.Progress())
			}
			return rows
		}
		must(t, err)
		if p.First != int64(len(rows)) {
			t.Fatalf("a piece starts at row %d, want %d", p.First, len(rows))
		}
		n, err := p.Load()
		must(t, err)
		if n != p.Rows || n == 0 {
			t.Fatalf("%d of %d rows", n, p.Rows)
		}
		piece := make([][]string, n)
		for i := range columns {
			cells := p.Cells(i)
			for k := range n {
				v, ok := cells.Next()
				shown := "null"
				if ok {
					shown = string(cells.Leaf.AppendText(nil, v))
				}
				piece[k] = append(piece[k], shown)
			}
		}
		rows = append(rows, piece...)
		p.Release()
	}
}

// show is how AppendText shows a value of parquet-go's, for the types where that
// is fmt's way too.
func show[T any](p *T) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}

func TestColumnsReadAsParquetGoReadsThem(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	names := []string{"id", "text", "title", "lang", "length", "front", "meta.id", "meta.inner.source", "meta.inner.rank",
		"flag", "maybe", "small", "unsigned", "fixed", "uuid", "day", "when", "never"}
	rows := entries(250, 3)
	for i, l := range layouts() {
		data := write(t, l, rows)
		f := open(t, data)
		if f.Rows != int64(len(rows)) {
			t.Fatalf("%v: %d rows", l, f.Rows)
		}
		for _, target := range [][]int{{1}, {500, 1 << 20}}[i%2] {
			have := readColumns(t, f, target, names...)
			if len(have) != len(rows) {
				t.Fatalf("%v: %d rows read", l, len(have))
			}
			for i, e := range readRows[entry](t, data) {
				source, rank := "null", "null"
				if e.Meta.Inner != nil {
					source, rank = show(e.Meta.Inner.Source), show(&e.Meta.Inner.Rank)
				}
				want := []string{show(&e.ID), e.Text, show(e.Title), e.Lang, e.Length, string(e.Front), show(e.Meta.ID), source, rank,
					show(&e.Flag), show(e.MaybeB), show(&e.Small), show(&e.Unsigned), fmt.Sprintf("%x", e.Fixed), e.UUID.String(),
					parquetDate(e.Day), e.When.UTC().Format("2006-01-02T15:04:05.999999Z"), "null"}
				for k := range want {
					if have[i][k] != want[k] {
						t.Fatalf("%v: row %d, %s is %q, want %q", l, i, names[k], have[i][k], want[k])
					}
				}
			}
		}
	}
}

func parquetDate(day int32) string {
	return string((&Leaf{physical: int32s, width: 4, logical: date}).AppendText(nil, []byte{byte(day), byte(day >> 8), byte(day >> 16), byte(day >> 24)}))
}

func TestFileWithoutRowsIsRead(t *testing.T) {
	l := layouts()[0]
	if rows := readColumns(t, open(t, write(t, l, []entry{})), 100, "text"); len(rows) != 0 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestPieceIsNotMuchLargerThanItsTarget(t *testing.T) {
	type row struct {
		Text string `parquet:"text,dict"`
		Long string `parquet:"long,plain"`
	}
	rows := make([]row, 20_000)
	for i := range rows {
		rows[i].Text = string(bytes.Repeat([]byte{'a'}, 10))
		if i%1000 < 500 {
			rows[i].Text = string(bytes.Repeat([]byte{'b'}, 3000)) // 30 MB from a few bytes
		}
		rows[i].Long = fmt.Sprint(i)
	}
	f := open(t, write(t, layout{&parquet.Uncompressed, 2, 4 << 20, 1 << 20, true}, rows))
	r, err := f.NewReader([]int{0, 1}, 64<<10, 0)
	must(t, err)
	for {
		p, err := r.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		n, err := p.Load()
		must(t, err)
		size := 0
		cells := p.Cells(0)
		for range n {
			v, _ := cells.Next()
			size += len(v)
		}
		p.Release()
		if size > 16*64<<10 {
			t.Errorf("a piece of %d rows has %d bytes", n, size)
		}
	}
}
