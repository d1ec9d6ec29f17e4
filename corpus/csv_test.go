package corpus

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCSVRecords(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       []string // text, or ! for a record that is skipped, with its line
	}{
		{"plain", "text,n\na,1\nb,2\n", []string{"a", "b"}},
		{"no line end at the end", "text,n\na,1\nb,2", []string{"a", "b"}},
		{"CRLF", "text,n\r\na,1\r\n\"b\",\"2\"\r\n", []string{"a", "b"}},
		{"CR at the end of the file", "text,n\na,1\r", []string{"a"}},
		{"quoted commas, line ends and quotes", "n,text\n1,\"a,\n\"\"b\"\"\r\n\"\n2,\"\"\n", []string{"a,\n\"b\"\r\n", ""}},
		{"blank lines are no records", "\n\r\ntext\n\na\n\r\n", []string{"a"}},
		{"a quote inside an unquoted field costs its line", "text,n\na\"b,1\nc,2\n", []string{"!1", "c"}},
		{"text behind a closing quote costs its line", "text,n\n\"a\"b,1\nc,2\n", []string{"!1", "c"}},
		{"a quote that is not closed costs its line", "text,n\n\"a,1\nb,2\nc,3\n", []string{"!1", "b", "c"}},
		{"a quote that another record closes costs its line", "text,n\n\"a,1\n\"b\",2\nc,3\n", []string{"!1", "b", "c"}},
		{"a quote open at the end of the file", "text,n\na,1\n\"b", []string{"a", "!2"}},
		{"too few and too many fields", "text,n\na\nb,1,2\nc,3\n", []string{"!1", "!2", "c"}},
		{"a malformed record after one with line ends", "text,n\n\"a\nb\",1\n\"c\" ,2\nd,3\n", []string{"a\nb", "!3", "d"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sourceOf(t, "a.csv", []byte(tt.data))
			for _, size := range []int{1, 5, 1 << 20} {
				have, err := readAll(t, s, Options{BlockSize: size}, 2)
				must(t, err)
				var list []string
				for _, g := range have {
					if g.Bad {
						g.Text = fmt.Sprintf("!%d", g.Line)
					}
					list = append(list, g.Text)
				}
				if fmt.Sprintf("%q", list) != fmt.Sprintf("%q", tt.want) {
					t.Errorf("block %d: have %q, want %q", size, list, tt.want)
				}
			}
		})
	}
}

func TestTableHeader(t *testing.T) {
	data := "\ufeffid,\"the \"\"text\"\"\",n\r\n1,a,2\r\n"
	for _, f := range []Format{CSV, TSV} {
		for _, c := range append([]Compression{Plain}, compressions...) {
			content, field, header := data, `the "text"`, "\ufeffid,\"the \"\"text\"\"\",n\r\n"
			if f == TSV {
				content, header, field = strings.ReplaceAll(content, ",", "\t"), strings.ReplaceAll(header, ",", "\t"), `"the ""text"""`
			}
			s := sourceOf(t, "a."+string(f)+suffix[c], pack(t, c, []byte(content), 3))
			file, err := Open(t.Context(), s, Options{TextField: field})
			must(t, err)
			if string(file.Header()) != header || fmt.Sprint(file.Columns()) != fmt.Sprint([]string{"id", field, "n"}) {
				t.Errorf("%s %q: header %q columns %q", f, c, file.Header(), file.Columns())
			}
			file.Close()

			_, err = Open(t.Context(), s, Options{})
			if !errors.Is(err, ErrMissingField) || !strings.Contains(err.Error(), "1: no column \"text\", there are: id, "+field+", n; name") {
				t.Errorf("%s %q: error %v", f, c, err)
			}
		}
	}
	s := sourceOf(t, "a.csv", []byte("a,\"b\nc,d\n"))
	if _, err := Open(t.Context(), s, Options{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "malformed header") {
		t.Errorf("unclosed quote in the header: %v", err)
	}
	s = sourceOf(t, "a.csv", []byte(strings.Repeat("a", 2000)+"\n"))
	if _, err := Open(t.Context(), s, Options{MaxRecord: 1000}); !errors.Is(err, ErrMissingField) && !errors.Is(err, ErrMalformed) {
		t.Errorf("header over the limit: %v", err)
	}
}

func TestHeaderOfOddForm(t *testing.T) {
	for _, tt := range []struct{ data, columns string }{
		{"text", "text"},
		{"\ufefftext\r", "text"},
		{"\n\r\n\"te\nxt\",text", "te\nxt text"},
		{"\ufeff", ""},
		{"\n\n", ""},
	} {
		for _, c := range []Compression{Plain, Zstd} {
			f, err := Open(t.Context(), sourceOf(t, "a.csv"+suffix[c], pack(t, c, []byte(tt.data), 2)), Options{BlockSize: 1})
			must(t, err)
			if have := strings.Join(f.Columns(), " "); have != tt.columns || string(f.Header()) != tt.data {
				t.Errorf("%q: columns %q, header %q", tt.data, have, f.Header())
			}
			var b Block
			for err = nil; err == nil; err = f.Next(&b) {
				if len(b.Data()) > 0 {
					t.Errorf("%q: records %q", tt.data, b.Data())
				}
			}
			if err != io.EOF {
				t.Errorf("%q: error %v", tt.data, err)
			}
			f.Close()
		}
	}
}

func TestTheHeaderTellsWhatSeparatesColumns(t *testing.T) {
	for _, tt := range []struct {
		name, data, columns, text string
	}{
		{"semicolons", "id;text\n1;a\n", "id text", "a"},
		{"tabs", "id\ttext\r\n1\ta\r\n", "id text", "a"},
		{"vertical bars", "\ufeff\n\nid|text\n\n1|a", "id text", "a"},
		{"semicolons, quotes and commas in cells", "\"id\";\"te\nxt\";text\n1,5;b;\"a;\"\"\n\"\n", "id te\nxt text", "a;\"\n"},
		{"a header alone", "id;text\n", "id text", ""},
		{"commas, and others in names", "id,te;xt|x,text\n1,2,a\n", "id te;xt|x text", "a"},
		{"others in quotes", "\"id;x\",text\n1,a\n", "id;x text", "a"},
		{"a quoted name alone", "\"te;xt\"\na\n", "te;xt", ""},
		{"a name with a bar, and no column beside it", "te|xt\na\n", "te|xt", ""},
		{"a name with a bar, and records of one cell that come later", "te|xt\n\n\na\nb|c\n", "te|xt", ""},
		{"two kinds", "id;te|xt\n1;a|\n", "id;te|xt", ""},
		{"one column", "text\na;b\n", "text", "a;b"},
		{"a line of a spreadsheet that says it", "sep=;\r\nid;text\r\n1;a\r\n", "id text", "a"},
		{"that line in quotes, behind a mark", "\ufeff\"SEP=|\"\n\nid|te,xt|text\n1|2|a", "id te,xt text", "a"},
		{"that line for a character that no other table has", "sep=^\nid^text\n1^a;b\n", "id text", "a;b"},
		{"a name like that line", "sep=a,text\n1,a\n", "sep=a text", "a"},
		{"such a line once", "sep=,\nsep=;\na;b\n", "sep=;", ""},
		{"a first record over the limit", "id;text\n" + strings.Repeat("a", 600) + "\n1;a\n", "id text", "a"},
	} {
		for _, c := range []Compression{Plain, Zstd} {
			for _, size := range []int{1, 1 << 20} {
				o := Options{BlockSize: size, MaxRecord: 500}
				s := sourceOf(t, "a.csv"+suffix[c], pack(t, c, []byte(tt.data), 3))
				f, err := Open(t.Context(), s, Options{NoText: true, MaxRecord: 500, BlockSize: size})
				must(t, err)
				if have := strings.Join(f.Columns(), " "); have != tt.columns {
					t.Errorf("%s: columns %q, want %q", tt.name, have, tt.columns)
				}
				f.Close()
				if tt.text == "" {
					continue
				}
				have, err := readAll(t, s, o, 2)
				must(t, err)
				if last := have[len(have)-1]; last.Bad || last.Text != tt.text {
					t.Errorf("%s: %v, want %q", tt.name, last, tt.text)
				}
			}
		}
	}
}

func TestOtherSeparatorsReadAsCommas(t *testing.T) {
	write := rewriter(t, "a.csv")
	piece := rapid.SampledFrom([]string{",", "\n", "\r\n", `"`, `""`, "a", "b,c\n", `"x,"`, "\"x\ny\",z\n", ";", "|"})
	rapid.Check(t, func(rt *rapid.T) {
		data := "a,b\nx,y\n" + strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(rt, "pieces"), "")
		other := rapid.SampledFrom([]string{";", "|"}).Draw(rt, "separator")
		swap := strings.NewReplacer(",", other, other, ",")
		o := Options{TextField: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "column"), BlockSize: rapid.IntRange(1, 60).Draw(rt, "block")}
		want, err := readAll(t, write([]byte(data)), o, 2)
		must(t, err)
		have, err := readAll(t, write([]byte(swap.Replace(data))), o, 2)
		must(t, err)
		for i := range have {
			have[i].Raw, have[i].Text = swap.Replace(have[i].Raw), swap.Replace(have[i].Text)
		}
		compare(t, fmt.Sprintf("%q by %q", data, other), have, want)
	})
}

func TestErrorOfATableRow(t *testing.T) {
	s := sourceOf(t, "a.csv", []byte("text,n\n"))
	f, err := Open(t.Context(), s, Options{})
	must(t, err)
	defer f.Close()
	if r := parseLine(f, Options{}, "a,b,c\n"); !errors.Is(r.Err, ErrFieldCount) || !strings.Contains(r.Err.Error(), "3 fields where the header has 2") {
		t.Error(r.Err)
	}
	if r := parseLine(f, Options{}, "\"a\n"); !errors.Is(r.Err, ErrMalformed) {
		t.Error(r.Err)
	}
}

func TestUnclosedQuoteCostsOneLineAlsoWhenTheRestIsOverTheLimit(t *testing.T) {
	data := []byte("text,n\n\"a,0\n" + strings.Repeat("b,1\n", 500) + "\"c\",2\n")
	for _, c := range []Compression{Plain, Zstd} {
		for _, size := range []int{1, 100, 1 << 20} {
			s := sourceOf(t, "a.csv"+suffix[c], pack(t, c, data, 20))
			have, err := readAll(t, s, Options{MaxRecord: 300, BlockSize: size}, 3)
			must(t, err)
			if len(have) != 502 || !have[0].Bad || have[1].Text != "b" || have[501].Text != "c" || have[501].Line != 502 {
				t.Fatalf("%q block %d: %d records, %v … %v", c, size, len(have), have[0], have[len(have)-1])
			}
		}
	}
}

// checkTable holds the reading of a table to its twin.
func checkTable(t testing.TB, write func([]byte) Source, f Format, data []byte, size int) {
	o := Options{TextField: "a", Fields: []string{"b"}, BlockSize: size}
	header := map[Format]string{CSV: "a,b\n", TSV: "a\tb\n"}[f]
	data = append([]byte(header), data...)
	s := write(data)
	s.Format = f
	have, err := readAll(t, s, o, 2)
	must(t, err)
	// encoding/csv makes LF of CRLF inside quotes.
	if f == CSV {
		for i := range have {
			have[i].Text = strings.ReplaceAll(have[i].Text, "\r\n", "\n")
			have[i].Fields = strings.ReplaceAll(have[i].Fields, `\r\n`, `\n`)
		}
	}
	compare(t, fmt.Sprintf("%q block %d", data, size), have, twin(data, f, o))
}

func TestTablesOfMadePiecesReadAsTheTwin(t *testing.T) {
	write := rewriter(t, "a.csv")
	piece := rapid.SampledFrom([]string{",", "\t", "\n", "\r\n", "\r", `"`, `""`, "a", "b,c\n", "a\tb\n", `"x"`, "\"x\ny\",z\n", "", "\xff"})
	rapid.Check(t, func(rt *rapid.T) {
		data := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(rt, "pieces"), "")
		f := rapid.SampledFrom([]Format{CSV, TSV}).Draw(rt, "format")
		checkTable(t, write, f, []byte(data), rapid.SampledFrom([]int{1, 3, 10, 1 << 16}).Draw(rt, "block"))
	})
}

func TestWhatEncodingCSVWritesIsReadBack(t *testing.T) {
	write := rewriter(t, "a.csv")
	rapid.Check(t, func(rt *rapid.T) {
		cell := rapid.StringMatching(`[a",\n ;é]{0,9}`)
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, 2, 2), 0, 10).Draw(rt, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(rt, "crlf")
		w.WriteAll(append([][]string{{"text", "b"}}, rows...))
		have, err := readAll(t, write(b.Bytes()), Options{Fields: []string{"b"}, BlockSize: 7}, 2)
		must(t, err)
		if len(have) != len(rows) {
			rt.Fatalf("%d records of %d", len(have), len(rows))
		}
		for i, row := range rows {
			if have[i].Text = strings.ReplaceAll(have[i].Text, "\r\n", "\n"); have[i].Bad || have[i].Text != row[0] {
				rt.Fatalf("record %d: %v, want %q", i, have[i], row)
			}
		}
	})
}

// rewriter returns a function that writes the same file again and again.
func rewriter(t testing.TB, name string) func(data []byte) Source {
	s := sourceOf(t, name, nil)
	return func(data []byte) Source {
		if err := os.WriteFile(s.Path, data, 0o666); err != nil {
			panic(err)
		}
		st, err := os.Stat(s.Path)
		if err != nil {
			panic(err)
		}
		s.Size, s.ModTime = st.Size(), st.ModTime()
		return s
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"x,y\n", "\"x\n\",y\r\n\n", "\"x\"z,\n\"", "a\"b,c\r", "\"\"\"\",\"\n"} {
		f.Add([]byte(s), uint8(3))
	}
	write := rewriter(f, "a.csv")
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		// encoding/csv reads CR CR LF in its own way.
		if bytes.Contains(data, []byte("\r\r")) {
			return
		}
		checkTable(t, write, CSV, data, int(size)+1)
	})
}

func TestReadingStopsWhenAReaderGivesNothing(t *testing.T) {
	s := mustFind(t, "-")
	_, err := readAll(t, s, Options{Stdin: idle{}}, 1)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }
