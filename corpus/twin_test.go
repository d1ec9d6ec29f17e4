package corpus

import (
	"bytes"
	"compress/bzip2"
	stdgzip "compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// got is a record with everything that shall not depend on how it was read.
type got struct {
	Line, Offset int64 // in the file
	Raw          string
	Text, ID     string
	Fields       string
	Bad          bool
}

func (g got) String() string {
	return fmt.Sprintf("line %d offset %d raw %.60q text %.60q id %q fields %s bad %v", g.Line, g.Offset, g.Raw, g.Text, g.ID, g.Fields, g.Bad)
}

// validUTF8 makes each invalid byte U+FFFD, as encoding/json does and corpus does
// not.
func validUTF8(s string) string { return string([]rune(s)) }

func showFields(fields [][]byte) string {
	var b strings.Builder
	for _, f := range fields {
		if f == nil {
			b.WriteString("<nil>,")
		} else {
			fmt.Fprintf(&b, "%q,", f)
		}
	}
	return b.String()
}

// readAll reads a source with so many workers and puts the records in order.
// The second result is the error of Next other than io.EOF.
func readAll(t testing.TB, s Source, o Options, workers int) ([]got, error) {
	t.Helper()
	f, err := Open(t.Context(), s, o)
	if err != nil {
		return nil, err
	}
	return readOpen(t, f, o, workers)
}

// readOpen is readAll for an open file, which it closes.
func readOpen(t testing.TB, f *File, o Options, workers int) ([]got, error) {
	t.Helper()
	defer f.Close()
	type piece struct {
		seq, lines int64
		records    []got
	}
	var (
		mu     sync.Mutex
		pieces []piece
		failed []error
		wg     sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			var b Block
			var r, again Record
			p, raw, other := NewParser(o), NewParser(o), NewParser(o)
			for {
				err := f.Next(&b)
				if err == io.EOF {
					return
				}
				if err != nil {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
					continue
				}
				pc := piece{seq: b.Seq, lines: b.Lines}
				p.Start(f, &b)
				raw.Start(f, &b)
				for p.Next(&r) {
					if !raw.NextRaw(&again) || string(again.Raw) != string(r.Raw) || again.Offset != r.Offset || again.Line != r.Line {
						t.Errorf("NextRaw differs from Next: %+v, %+v", again, r)
					}
					g := got{Line: r.Line, Offset: r.Offset, Raw: string(r.Raw), Bad: r.Err != nil}
					if r.Err == nil {
						g.Text, g.ID, g.Fields = string(r.Text), string(r.ID), showFields(r.Fields)
						again = Record{}
						other.ParseRaw(f.Layout(), []byte(g.Raw), &again)
						if again.Err != nil || string(again.Text) != g.Text || string(again.ID) != g.ID || showFields(again.Fields) != g.Fields {
							t.Errorf("ParseRaw differs from Next: %+v, %v", again, g)
						}
					}
					if f.src.Format == JSONL {
						g.Text, g.ID = validUTF8(g.Text), validUTF8(g.ID)
						g.Fields = strings.NewReplacer(`\xff`, "\ufffd", `\xfe`, "\ufffd").Replace(g.Fields)
					}
					pc.records = append(pc.records, g)
				}
				if raw.NextRaw(&again) {
					t.Errorf("NextRaw has one record more: %+v", again)
				}
				mu.Lock()
				pieces = append(pieces, pc)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(pieces, func(a, b piece) int { return int(a.seq - b.seq) })
	var all []got
	var lines int64
	for i, pc := range pieces {
		// Other workers may read on behind a block that could not be read.
		if pc.seq != int64(i) && len(failed) == 0 {
			t.Fatalf("block %d has number %d", i, pc.seq)
		}
		for _, g := range pc.records {
			g.Line += lines
			all = append(all, g)
		}
		lines += pc.lines
	}
	if len(failed) > 1 {
		t.Errorf("%d errors of one file: %v", len(failed), failed)
	}
	return all, errors.Join(failed...)
}

// twin reads the whole data at once with the standard library.
func twin(data []byte, f Format, o Options) []got {
	o = o.withDefaults()
	switch f {
	case Text:
		return twinText(data, o)
	case CSV:
		return twinCSV(data, o)
	}
	var out []got
	var header []string
	var offset int64
	if f == JSONL || f == Lines {
		all := len(data)
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		offset = int64(all - len(data))
	}
	for line := int64(0); len(data) > 0; line++ {
		raw, rest, found := bytes.Cut(data, []byte("\n"))
		if found {
			raw = data[:len(raw)+1]
		}
		data = rest
		g := got{Line: line, Offset: offset, Raw: string(raw)}
		offset += int64(len(raw))
		content := strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
		bare := strings.TrimPrefix(content, "\ufeff")
		if f == JSONL && strings.Trim(bare, " \t\r") == "" || f == TSV && (content == "" || bare == "" && header == nil) {
			continue
		}
		if f == TSV && header == nil {
			header = strings.Split(strings.TrimPrefix(content, "\ufeff"), "\t")
			continue
		}
		switch {
		case int64(len(raw)) > o.MaxRecord:
			g.Raw, g.Bad = "", true
		case f == Lines:
			g.Text = strings.TrimPrefix(content, "\ufeff")
			g.Fields = showFields(make([][]byte, len(o.Fields)))
		case f == TSV:
			g.row(header, strings.Split(content, "\t"), o)
		default:
			g.object(strings.TrimPrefix(content, "\ufeff"), o)
		}
		out = append(out, g)
	}
	return out
}

func twinText(data []byte, o Options) []got {
	g := got{Raw: string(data), Text: strings.TrimPrefix(string(data), "\ufeff"), Fields: showFields(make([][]byte, len(o.Fields)))}
	if int64(len(data)) > o.MaxRecord {
		g = got{Bad: true}
	}
	return []got{g}
}

// object parses a JSON object with encoding/json.
func (g *got) object(content string, o Options) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(content), &m) != nil || m == nil {
		g.Bad = true
		return
	}
	value := func(name string) ([]byte, bool) {
		v, ok := m[name]
		if !ok || string(v) == "null" {
			return nil, false
		}
		if v[0] == '"' {
			var s string
			if err := json.Unmarshal(v, &s); err != nil {
				panic(err)
			}
			return []byte(s), true
		}
		return v, false
	}
	text, isString := value(o.TextField)
	if !isString {
		g.Bad = true
		return
	}
	g.Text = string(text)
	id, _ := value(o.IDField)
	g.ID = string(id)
	var fields [][]byte
	for _, name := range o.Fields {
		v, _ := value(name)
		fields = append(fields, v)
	}
	g.Fields = showFields(fields)
}

func (g *got) row(header, cells []string, o Options) {
	if len(header) != len(cells) {
		g.Bad = true
		return
	}
	value := func(name string) []byte {
		if i := slices.Index(header, name); i >= 0 {
			return []byte(cells[i])
		}
		return nil
	}
	g.Text, g.ID = string(value(o.TextField)), string(value(o.IDField))
	var fields [][]byte
	for _, name := range o.Fields {
		fields = append(fields, value(name))
	}
	g.Fields = showFields(fields)
}

// twinCSV tries to read one record with encoding/csv from each place; what it
// refuses costs one line. It knows no limit on records.
func twinCSV(data []byte, o Options) []got {
	var out []got
	var header []string
	var offset, line int64
	for len(data) > 0 {
		first, _, _ := bytes.Cut(data, []byte("\n"))
		n := min(len(first)+1, len(data))
		if content := strings.TrimSuffix(string(first), "\r"); content == "" {
			data, offset, line = data[n:], offset+int64(n), line+1
			continue
		}
		// encoding/csv drops CR before LF inside quotes; a byte that stands for it
		// keeps it.
		r := csv.NewReader(bytes.NewReader(data))
		if header == nil {
			r = csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
		}
		r.FieldsPerRecord = -1
		cells, err := r.Read()
		g := got{Line: line, Offset: offset, Bad: err != nil}
		if err == nil {
			n = int(r.InputOffset())
			if header == nil {
				n += len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
			}
		}
		g.Raw = string(data[:n])
		data, offset = data[n:], offset+int64(n)
		line += int64(max(1, strings.Count(g.Raw, "\n")))
		switch {
		case header == nil:
			header = cells
			continue
		case err == nil:
			g.row(header, cells, o)
		}
		out = append(out, g)
	}
	return out
}

// pack compresses data, in so many independent parts.
func pack(t testing.TB, c Compression, data []byte, parts int) []byte {
	t.Helper()
	var out bytes.Buffer
	step := max(1, (len(data)+parts-1)/parts)
	for first := true; first || len(data) > 0; first = false {
		piece := data[:min(step, len(data))]
		data = data[len(piece):]
		switch c {
		case Plain:
			out.Write(piece)
		case Gzip:
			w := stdgzip.NewWriter(&out)
			w.Write(piece)
			w.Close()
		case Zstd:
			w, err := zstd.NewWriter(&out, zstd.WithZeroFrames(true))
			if err != nil {
				t.Fatal(err)
			}
			w.Write(piece)
			w.Close()
		case Bzip2:
			b, err := compressed(Bzip2, piece)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(b)
		case Xz:
			b, err := compressed(Xz, piece)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(b)
		}
	}
	return out.Bytes()
}

// unpack is the decoder of the standard library.
func unpack(t testing.TB, c Compression, data []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(data)
	var err error
	switch c {
	case Gzip:
		r, err = stdgzip.NewReader(r)
	case Zstd:
		r, err = zstd.NewReader(r)
	case Bzip2:
		r = bzip2.NewReader(r)
	case Xz: // not the decoder that files are read by
		r, err = xz.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sourceOf writes a file and finds it.
func sourceOf(t testing.TB, name string, data []byte) Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return mustFind(t, path)
}

func mustFind(t testing.TB, path string) Source {
	t.Helper()
	sources, skipped, err := Find(t.Context(), []string{path}, Options{})
	if err != nil || len(skipped) > 0 || len(sources) != 1 {
		t.Fatalf("Find(%s) = %v, %v, %v", path, sources, skipped, err)
	}
	return sources[0]
}

// compare fails when records differ from those of the twin.
func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, have, want []got) {
	t.Helper()
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			t.Fatalf("%s: record %d\nhave %v\nwant %v", what, i, have[i], want[i])
		}
	}
	if len(have) != len(want) {
		t.Fatalf("%s: %d records, want %d; the first that differs: %v", what, len(have), len(want), append(have, want...)[min(len(have), len(want))])
	}
}

var suffix = map[Compression]string{Plain: "", Gzip: ".gz", Zstd: ".zst", Bzip2: ".bz2", Xz: ".xz"}

// compressions are all that there are.
var compressions = []Compression{Gzip, Zstd, Bzip2, Xz}
