package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// parquetRow is a row of the test files.
type parquetRow struct {
	ID   *int64      `parquet:"id,optional"`
	Text *string     `parquet:"text,optional"`
	Meta parquetMeta `parquet:"meta"`
	Tags []string    `parquet:"tags,list"`
	N    float64     `parquet:"n"`
	Flag bool        `parquet:"flag"`
}

type parquetMeta struct {
	ID   string  `parquet:"id,dict"`
	Lang *string `parquet:"lang,optional,dict"`
}

func someParquetRows(n int) []parquetRow {
	rows := make([]parquetRow, n)
	for i := range rows {
		r := &rows[i]
		id, text, lang := int64(i)*7, fmt.Sprintf("text %d é %s", i, strings.Repeat("x", i%50)), "en"
		r.Meta.ID, r.N, r.Flag, r.Tags = fmt.Sprint("m", i%10), float64(i)/4, i%3 == 0, make([]string, i%4)
		if i%11 > 0 {
			r.ID = &id
		}
		if i%13 > 0 {
			r.Text = &text
		}
		if i%5 > 0 {
			r.Meta.Lang = &lang
		}
	}
	return rows
}

// parquetFile makes a file with several row groups and pages.
func parquetFileOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, append([]parquet.WriterOption{
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(300), parquet.PageBufferSize(2000)}, options...)...)
	for part := range slices.Chunk(rows, 50) {
		_, err := w.Write(part)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// twinParquet is what a reader delivers of rows.
func twinParquet(rows []parquetRow, fields func(r *parquetRow) string) []got {
	var out []got
	for i := range rows {
		g := got{Line: int64(i), Bad: rows[i].Text == nil}
		if !g.Bad {
			g.Text, g.Fields = *rows[i].Text, fields(&rows[i])
			if rows[i].ID != nil {
				g.ID = fmt.Sprint(*rows[i].ID)
			}
		}
		out = append(out, g)
	}
	return out
}

// withoutPlaces takes out what is a form of the reader's own.
func withoutPlaces(all []got) []got {
	all = slices.Clone(all)
	for i := range all {
		all[i].Offset, all[i].Raw = 0, ""
	}
	return all
}

func TestParquetRowsAreRecordsForAnyWorkersAndBlocks(t *testing.T) {
	rows := someParquetRows(1000)
	s := sourceOf(t, "a.parquet", parquetFileOf(t, rows))
	o := Options{Fields: []string{"meta.id", "meta.lang", "n", "absent", "flag", "text"}}
	want := twinParquet(rows, func(r *parquetRow) string {
		lang := []byte(nil)
		if r.Meta.Lang != nil {
			lang = []byte(*r.Meta.Lang)
		}
		return showFields([][]byte{[]byte(r.Meta.ID), lang, fmt.Append(nil, r.N), nil, fmt.Append(nil, r.Flag), []byte(*r.Text)})
	})
	var first []got
	for _, size := range []int{0, 1, 700, 20_000} {
		for _, workers := range []int{1, 8} {
			o.BlockSize = size
			have, err := readAll(t, s, o, workers)
			must(t, err)
			compare(t, fmt.Sprintf("blocks of %d, %d workers", size, workers), withoutPlaces(have), want)
			if workers == 1 {
				first = have
			} else if !slices.Equal(have, first) {
				t.Errorf("blocks of %d: other places with 8 workers", size)
			}
			for i := 1; i < len(have); i++ {
				if have[i].Offset <= have[i-1].Offset {
					t.Fatalf("record %d lies at %d, the one before at %d", i, have[i].Offset, have[i-1].Offset)
				}
			}
		}
	}
}

func TestParquetRecordIsFoundInItsBlockAgain(t *testing.T) {
	s := sourceOf(t, "a.parquet", parquetFileOf(t, someParquetRows(700)))
	o := Options{BlockSize: 3000}
	f, err := Open(t.Context(), s, o)
	must(t, err)
	defer f.Close()
	if f.ReaderAt() != nil || s.InPlace() || f.Header() != nil {
		t.Error("records of a Parquet file are said to stand in it")
	}
	if have := strings.Join(f.Columns(), " "); have != "id text meta.id meta.lang tags.list.element n flag" {
		t.Errorf("columns %s", have)
	}
	p, again := NewParser(o), NewParser(o)
	var b Block
	var r, other Record
	size := int64(0)
	for {
		err := f.Next(&b)
		if err == io.EOF {
			break
		}
		must(t, err)
		if have := f.BytesRead(); have < size || have > s.Size {
			t.Errorf("%d bytes read, then %d of %d", size, have, s.Size)
		} else {
			size = have
		}
		p.Start(f, &b)
		for p.Next(&r) {
			at := r.Offset - b.Offset
			again.ParseRaw(f.Layout(), b.Data()[at:at+int64(len(r.Raw))], &other)
			if r.Err == nil && (string(other.Text) != string(r.Text) || string(other.ID) != string(r.ID)) || (r.Err == nil) != (other.Err == nil) {
				t.Fatalf("%+v is read again as %+v", r, other)
			}
		}
	}
	if size != s.Size {
		t.Errorf("%d bytes read at the end, want %d", size, s.Size)
	}
}

func TestParquetRowsThatAreSkipped(t *testing.T) {
	type row struct {
		ID   string  `parquet:"id"`
		Text *string `parquet:"text,optional"`
	}
	text, long := "short", strings.Repeat("long ", 10)
	s := sourceOf(t, "a.parquet", parquetFileOf(t, []row{{"a", &text}, {"b", nil}, {"c", &long}, {strings.Repeat("d", 30), &text}, {"e", &text}}))
	o := Options{MaxRecord: 20}
	f, err := Open(t.Context(), s, o)
	must(t, err)
	defer f.Close()
	var b Block
	must(t, f.Next(&b))
	p := NewParser(o)
	p.Start(f, &b)
	want := []struct {
		id   string
		kind error
		says string
	}{
		{"a", nil, ""},
		{"", ErrMissingField, `column "text" is null; give it a text or remove the row`},
		{"", ErrTooLong, "longer than 20 bytes; raise the limit"},
		{"", ErrTooLong, "longer than 20 bytes; raise the limit"},
		{"e", nil, ""},
	}
	var r Record
	for i, w := range want {
		if !p.Next(&r) {
			t.Fatalf("row %d is lost", i)
		}
		if r.Line != int64(i) || w.kind == nil && (r.Err != nil || string(r.ID) != w.id) ||
			w.kind != nil && (!errors.Is(r.Err, w.kind) || !strings.Contains(r.Err.Error(), w.says)) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if p.Next(&r) || b.Lines != 5 {
		t.Errorf("%d lines, then %+v", b.Lines, r)
	}
	if have := string(s.AppendID(nil, 4)); !strings.HasSuffix(have, "a.parquet:5") {
		t.Errorf("the last row is named %s", have)
	}
}

func TestParquetFilesThatCannotBeRead(t *testing.T) {
	sound := parquetFileOf(t, someParquetRows(20))
	key := []byte("0123456789abcdef")
	secret := func(footer bool) []byte {
		return parquetFileOf(t, someParquetRows(20), parquet.WithEncryption(&parquet.EncryptionConfig{FooterKey: key, EncryptedFooter: footer}))
	}
	for name, tt := range map[string]struct {
		data []byte
		o    Options
		kind error
		says string
	}{
		"a missing column":        {sound, Options{TextField: "body"}, ErrMissingField, `no column "body", there are: id, text, meta.id, meta.lang, tags.list.element, n, flag; name the column with the text (TextField)`},
		"a group":                 {sound, Options{TextField: "meta"}, ErrNotString, `column "meta" is a group of columns: meta.id, meta.lang; name one of them`},
		"an id that is a group":   {sound, Options{IDField: "meta"}, ErrNotString, `column "meta" is a group`},
		"a list":                  {sound, Options{TextField: "tags.list.element"}, ErrNotString, `column "tags.list.element" is a list of BYTE_ARRAY; name a column with one value a row`},
		"a number":                {sound, Options{TextField: "n"}, ErrNotString, `column "n" is DOUBLE, not a string`},
		"nothing":                 {nil, Options{}, ErrCorrupt, "not a Parquet file: it has 0 bytes; check its name, or give Format"},
		"something else":          {[]byte(`{"text":"a"}{"text":"b"}`), Options{}, ErrCorrupt, "not a Parquet file: it starts with"},
		"a file without its end":  {sound[:len(sound)/2], Options{}, ErrTruncated, "a Parquet file without its end; get a whole copy of the file"},
		"an encrypted file":       {secret(true), Options{}, ErrUnsupported, "encrypted Parquet file; decrypt it"},
		"encrypted columns":       {secret(false), Options{}, ErrUnsupported, "encrypted Parquet file; decrypt it"},
		"a footer that is broken": {append(bytes.Repeat([]byte("PAR1"), 20), "\x20\x00\x00\x00PAR1"...), Options{}, ErrCorrupt, "get a whole copy"},
	} {
		s := sourceOf(t, "a.parquet", tt.data)
		_, err := Open(t.Context(), s, tt.o)
		var p *Problem
		if !errors.As(err, &p) || !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "a.parquet: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	packed := sourceOf(t, "a.gz", pack(t, Gzip, sound, 1))
	packed.Format = Parquet
	if _, err := Open(t.Context(), packed, Options{}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "a compressed Parquet file") {
		t.Errorf("compressed: %v", err)
	}
	if _, err := Open(t.Context(), Source{Path: "-", Name: "stdin.parquet", Format: Parquet, Stream: true, Size: -1}, Options{Stdin: bytes.NewReader(sound)}); !errors.Is(err, ErrUnsupported) ||
		!strings.Contains(err.Error(), "stdin.parquet: a Parquet file cannot be read from a stream") {
		t.Errorf("a stream: %v", err)
	}
}

func TestParquetFromStandardInputIsReadFromItsCopy(t *testing.T) {
	rows := someParquetRows(100)
	o := Options{Format: Parquet, Stdin: bytes.NewReader(parquetFileOf(t, rows))}
	sources, _, err := Find(t.Context(), []string{"-"}, o)
	must(t, err)
	if sources[0].Name != "stdin.parquet" {
		t.Errorf("named %s", sources[0].Name)
	}
	data, err := io.ReadAll(o.Stdin)
	must(t, err)
	path := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(path, data, 0o666))
	s := sources[0].WithCopy(int64(len(data)), "", func() (RandomAccess, error) { return Source{Path: path}.openFile() })
	for range 2 {
		have, err := readAll(t, s, o, 2)
		must(t, err)
		compare(t, "copied", withoutPlaces(have), twinParquet(rows, func(*parquetRow) string { return "" }))
	}
}

func TestParquetInAnObjectStoreIsReadByRanges(t *testing.T) {
	rows := someParquetRows(500)
	data := parquetFileOf(t, rows)
	b := newMemBucket()
	b.put("p/a.parquet", data)
	o := b.options(Options{BlockSize: 5000})
	s := findOne(t, "s3://bucket/p/a.parquet", o)
	have, err := readAll(t, s, o, 3)
	must(t, err)
	compare(t, "object", withoutPlaces(have), twinParquet(rows, func(*parquetRow) string { return "" }))
	mem := vfstest.NewMem()
	must(t, copyRows(context.Background(), s, o, mem, "out.parquet", func(row int64) bool { return row%2 == 0 }))

	impatient(t)
	b.fault = func(int, int64, int64) (int64, error) { return 0, errors.New("connection refused") }
	if _, err := Open(t.Context(), s, o); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "p/a.parquet: the object storage does not deliver") {
		t.Errorf("a store that is down: %v", err)
	}
	if err := copyRows(context.Background(), s, o, mem, "out.parquet", func(int64) bool { return true }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a store that is down: %v", err)
	}
}

func TestBlocksOfParquetThatWereReadAreLeftOut(t *testing.T) {
	s := sourceOf(t, "a.parquet", parquetFileOf(t, someParquetRows(1000)))
	f, err := Open(t.Context(), s, Options{BlockSize: 1500})
	must(t, err)
	defer f.Close()
	f.Skip(func(seq int64) bool { return seq != 3 })
	var b Block
	must(t, f.Next(&b))
	if b.Seq != 3 || b.Lines == 0 || len(b.Data()) == 0 {
		t.Errorf("block %d of %d lines", b.Seq, b.Lines)
	}
	if err := f.Next(&b); err != io.EOF {
		t.Errorf("block %d, %v", b.Seq, err)
	}
}

func TestDamageInParquetEndsTheFileAtTheSameRowForAnyWorkers(t *testing.T) {
	rows := someParquetRows(1000)
	data := parquetFileOf(t, rows)
	want := twinParquet(rows, func(*parquetRow) string { return "" })
	write := rewriter(t, "a.parquet")
	// Wherever a byte is changed, what is read before it is right: pages have
	// checksums. Descriptions have none, so only bytes before the first of
	// them are changed.
	found := 0
	for at := 50; at < len(data)*2/3; at += 997 {
		bad := bytes.Clone(data)
		bad[at] ^= 0x55
		s := write(bad)
		have, err := readAll(t, s, Options{BlockSize: 900}, 1)
		again, err2 := readAll(t, s, Options{BlockSize: 900}, 8)
		if !slices.Equal(have, again) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("byte %d: %d rows and %v with one worker, %d rows and %v with 8", at, len(have), err, len(again), err2)
		}
		if err == nil {
			continue
		}
		found++
		compare(t, fmt.Sprintf("byte %d", at), withoutPlaces(have), want[:len(have)])
		var p *Problem
		if !errors.As(err, &p) || int(p.Line) != len(have) || !strings.Contains(err.Error(), "of its records is read") && !strings.Contains(err.Error(), fmt.Sprintf("records after row %d are lost", len(have))) {
			t.Fatalf("byte %d: %d rows, then %v", at, len(have), err)
		}
	}
	if found < 5 {
		t.Errorf("only %d errors", found)
	}
}

func TestParsingParquetAllocatesNothing(t *testing.T) {
	rows := someParquetRows(300)
	for i := range rows {
		rows[i].Text = &rows[i].Meta.ID
	}
	o := Options{Fields: []string{"n", "meta.id"}}
	f, err := Open(t.Context(), sourceOf(t, "a.parquet", parquetFileOf(t, rows)), o)
	must(t, err)
	defer f.Close()
	var b Block
	var r Record
	must(t, f.Next(&b))
	p := NewParser(o)
	if n := testing.AllocsPerRun(10, func() {
		p.Start(f, &b)
		for p.Next(&r) {
		}
	}); n != 0 {
		t.Errorf("%.1f allocations to parse a block", n)
	}
}

// FuzzParquet reads and copies files of any bytes.
func FuzzParquet(f *testing.F) {
	f.Add(parquetFileOf(f, someParquetRows(5)))
	f.Add(parquetFileOf(f, someParquetRows(40), parquet.DataPageVersion(1), parquet.Compression(&parquet.Uncompressed)))
	write := rewriter(f, "a.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		s := write(data)
		o := Options{Fields: []string{"n", "meta.lang"}, BlockSize: 300}
		_, err := readAll(t, s, o, 2)
		var p *Problem
		if err != nil && !errors.As(err, &p) {
			t.Fatalf("no Problem: %v", err)
		}
		err = copyRows(context.Background(), s, o, vfstest.NewMem(), "a", func(row int64) bool { return row%3 != 1 })
		if err != nil && !errors.As(err, &p) {
			t.Fatalf("no Problem: %v", err)
		}
	})
}

func TestCopyOfRowsIsReadAsTheRowsThatWereKept(t *testing.T) {
	rows := someParquetRows(1000)
	data := parquetFileOf(t, rows)
	s := sourceOf(t, "a.parquet", data)
	all, err := readAll(t, s, Options{}, 1)
	must(t, err)
	dir := t.TempDir()
	for name, keep := range map[string]func(row int64) bool{
		"two thirds": func(row int64) bool { return row%3 > 0 },
		"none":       func(int64) bool { return false },
		"all":        func(int64) bool { return true },
	} {
		path := filepath.Join(dir, "sub", name+".parquet")
		must(t, copyRows(context.Background(), s, Options{}, vfs.OS, path, keep))
		have, err := readAll(t, mustFind(t, path), Options{}, 2)
		must(t, err)
		var want []got
		for _, g := range withoutPlaces(all) {
			if keep(g.Line) {
				g.Line = int64(len(want))
				want = append(want, g)
			}
		}
		compare(t, name, withoutPlaces(have), want)
		if copied, err := os.ReadFile(path); name == "all" && (err != nil || !bytes.Equal(copied, data)) {
			t.Errorf("a copy of all rows is another file (%v)", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "sub", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCopyOfRowsThatFailsLeavesNothing(t *testing.T) {
	data := parquetFileOf(t, someParquetRows(1000))
	s := sourceOf(t, "a.parquet", data)
	half := func(row int64) bool { return row%2 == 0 }
	ctx, cancel := context.WithCancel(context.Background())
	bad := bytes.Clone(data)
	bad[len(bad)/3] ^= 1
	lines := s
	lines.Format = Lines
	for name, tt := range map[string]struct {
		s    Source
		ctx  context.Context
		keep func(int64) bool
		says string
	}{
		"damage":              {sourceOf(t, "b.parquet", bad), context.Background(), half, "b.parquet: rows cannot be copied: column "},
		"no Parquet file":     {sourceOf(t, "c.parquet", data[:100]), context.Background(), half, "c.parquet: a Parquet file without its end"},
		"another format":      {lines, context.Background(), half, "its format is lines"},
		"a cancelled run":     {s, ctx, func(row int64) bool { cancel(); return half(row) }, "context canceled"},
		"a file that is gone": {Source{Path: filepath.Join(t.TempDir(), "d.parquet"), Format: Parquet}, context.Background(), half, "no such file"},
	} {
		mem := vfstest.NewMem()
		err := copyRows(tt.ctx, tt.s, Options{}, mem, "out.parquet", tt.keep)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := mem.List(""); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
}

func TestCopyOfRowsTellsOfADiskThatFails(t *testing.T) {
	s := sourceOf(t, "a.parquet", parquetFileOf(t, someParquetRows(600)))
	full := errors.New("disk full")
	for fail := 0; ; fail++ {
		mem, seen, renamed := vfstest.NewMem(), 0, false
		on := vfstest.Inject(mem, func(op vfstest.Op) error {
			if !op.Kind.Writes() || seen > fail {
				return nil
			}
			if seen++; seen > fail {
				return full
			}
			renamed = renamed || op.Kind == vfstest.OpRename
			return nil
		})
		err := copyRows(context.Background(), s, Options{}, on, "out.parquet", func(row int64) bool { return row%2 == 0 })
		if seen <= fail { // all of them went well
			must(t, err)
			if fail < 4 {
				t.Errorf("only %d write operations", fail)
			}
			return
		}
		left, lerr := mem.List("")
		must(t, lerr)
		if !errors.Is(err, full) || len(left) > 0 && !renamed {
			t.Errorf("write operation %d fails: %v, left %v", fail, err, left)
		}
	}
}

// dictionaryRow has its text in a dictionary.
type dictionaryRow struct {
	ID   int64  `parquet:"id,delta"`
	Text string `parquet:"text,dict"`
}

func TestParquetThatRepeatsALongValueIsABomb(t *testing.T) {
	rows := make([]dictionaryRow, 40_000)
	long := strings.Repeat("all of it is one word ", 64<<10/22)
	for i := range rows {
		rows[i] = dictionaryRow{int64(i), long}
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[dictionaryRow](&file, parquet.Compression(&parquet.Zstd), parquet.SkipPageBounds("text"))
	_, err := w.Write(rows)
	must(t, errors.Join(err, w.Close()))
	s := sourceOf(t, "a.parquet", file.Bytes())
	if s.Size > 400_000 { // statistics hold the value four times
		t.Fatalf("%d bytes", s.Size)
	}
	var first int64
	for _, skip := range []bool{false, true} {
		f, err := Open(t.Context(), s, Options{})
		must(t, err)
		if skip {
			f.Skip(func(seq int64) bool { return seq%2 == 0 })
		}
		var b Block
		rows := int64(0)
		for err = f.Next(&b); err == nil; err = f.Next(&b) {
			rows += b.Lines
		}
		var p *Problem
		if !errors.Is(err, ErrBomb) || !errors.As(err, &p) || p.Line > 36_000 || first > 0 && p.Line != first {
			t.Errorf("%d rows of 64 KiB, %d before: %v", rows, first, err)
			continue
		}
		first = p.Line
		must(t, f.Close())
	}
	for i := range rows {
		rows[i].Text = fmt.Sprintf("one of %d labels", i%7)
	}
	if lines, err := blocksOf(t, sourceOf(t, "b.parquet", parquetFileOf(t, rows)), Options{}); err != nil || lines != 40_000 {
		t.Errorf("%d rows of few short texts: %v", lines, err)
	}
}

// copyRows copies rows to a file, by two threads.
func copyRows(ctx context.Context, s Source, o Options, on vfs.FS, path string, keep func(row int64) bool) error {
	w, err := create(on, path, Plain, 1, codec.PartSize)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := CopyRows(ctx, w, s, o, RowCopy{Threads: 2}, keep); err != nil {
		return err
	}
	return w.Commit()
}
