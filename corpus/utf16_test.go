package corpus

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// plainSample is a sample without bytes that are not UTF-8, and without a mark.
func plainSample(f Format, n int) string {
	return strings.ToValidUTF8(strings.TrimPrefix(string(sample(f, n)), "\ufeff"), "\ufffd")
}

// inUTF16 encodes a text with its mark.
func inUTF16(e Encoding, text string) []byte { return e.AppendBack(nil, []byte("\ufeff"+text)) }

func TestUTF16IsReadAsUTF8AndKeptAsItIs(t *testing.T) {
	for _, f := range []Format{JSONL, CSV, TSV, Lines, Text} {
		text := plainSample(f, 20)
		o := Options{Format: f, Fields: []string{"n", "absent", "text"}}
		want := twin([]byte(text), f, o)
		for e, mark := range map[Encoding]string{2: "\xff\xfe", 3: "\xfe\xff"} {
			data := inUTF16(e, text)
			if !strings.HasPrefix(string(data), mark) {
				t.Fatalf("encoding %d begins with %q", e, data[:2])
			}
			for _, c := range append([]Compression{Plain}, compressions...) {
				for _, parts := range []int{1, 7} {
					s := sourceOf(t, "a"+suffix[c], pack(t, c, data, parts))
					s.Format = f
					for _, size := range []int{1, 64, 1000, 1 << 20} {
						o.BlockSize = size
						have, err := readAll(t, s, o, 3)
						must(t, err)
						compareWide(t, fmt.Sprintf("%s %s encoding %d, %d parts, block %d", f, c, e, parts, size), e, data, have, want)
					}
				}
			}
		}
	}
}

// compareWide compares records of a file in UTF-16 with those of its text in UTF-8: their bytes are those of the file.
func compareWide(t *testing.T, what string, e Encoding, data []byte, have, want []got) {
	t.Helper()
	narrow := slices.Clone(have)
	for i := range narrow {
		g := &narrow[i]
		if !g.Bad && !bytes.HasPrefix(data[g.Offset:], []byte(g.Raw)) {
			t.Fatalf("%s: record %d does not stand at %d", what, i, g.Offset)
		}
		g.Raw = strings.TrimPrefix(string(e.Append(nil, []byte(g.Raw))), "\ufeff")
		g.Offset = int64(len(e.Append(nil, data[e.Len():max(g.Offset, int64(e.Len()))])))
	}
	compare(t, what, narrow, want)
}

func TestLongRecordsOfUTF16AreSkipped(t *testing.T) {
	text := "a\n" + strings.Repeat("ऊ\u0a0dx", 500) + "\nb\n" + strings.Repeat("y", 49) + "\n"
	for _, e := range []Encoding{2, 3} {
		for _, size := range []int{1, 7, 64, 1000} {
			s := sourceOf(t, "a.txt", inUTF16(e, text))
			s.Format = Lines
			have, err := readAll(t, s, Options{MaxRecord: 100, BlockSize: size}, 1)
			must(t, err)
			var texts []string
			for _, g := range have {
				texts = append(texts, fmt.Sprint(g.Text, g.Bad))
			}
			if got := strings.Join(texts, " "); got != "afalse true bfalse "+strings.Repeat("y", 49)+"false" {
				t.Errorf("encoding %d, block %d: %q", e, size, got)
			}
		}
	}
}

func TestHalfACharacterAtTheEndOfUTF16IsNotLost(t *testing.T) {
	for _, f := range []Format{JSONL, CSV, TSV, Lines} {
		text := map[Format]string{JSONL: "{\"text\":\"a\"}\n", CSV: "text\na\n", TSV: "text\na\n", Lines: "a\n"}[f]
		s := sourceOf(t, "a", append(inUTF16(2, text), 'x'))
		s.Format = f
		have, err := readAll(t, s, Options{}, 1)
		must(t, err)
		if len(have) != 2 || have[0].Text != "a" || have[1].Raw != "x" {
			t.Errorf("%s: %+v", f, have)
		}
	}
}

func TestByteOrderMarkIsNoPartOfTheFirstRecord(t *testing.T) {
	for _, f := range []Format{JSONL, Lines} {
		for _, e := range []Encoding{1, 2, 3} {
			s := sourceOf(t, "a", inUTF16(e, "{\"text\":\"a\"}\n"))
			s.Format = f
			file, err := Open(t.Context(), s, Options{})
			must(t, err)
			var b Block
			must(t, file.Next(&b))
			if mark := inUTF16(e, ""); !bytes.Equal(file.Header(), mark) || b.Offset != int64(len(mark)) {
				t.Errorf("%s encoding %d: header %q, offset %d", f, e, file.Header(), b.Offset)
			}
			must(t, file.Close())
		}
	}
}
