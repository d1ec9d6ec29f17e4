package corpus

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample makes a file of a format with about so many records, odd ones among
// them.
func sample(f Format, records int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(records)))
	var b strings.Builder
	word := func() string {
		return []string{"alpha", "βήτα", "語", "\U0001F600", "x\u00e9", "\xff\xfe", "a b c", ""}[r.IntN(8)]
	}
	words := func() string {
		var w strings.Builder
		for range r.IntN(30) {
			w.WriteString(word() + " ")
		}
		return w.String()
	}
	end := func() string { return []string{"\n", "\r\n"}[r.IntN(2)] }
	switch f {
	case JSONL:
		b.WriteString("\ufeff")
		for i := range records {
			switch r.IntN(12) {
			case 0:
				b.WriteString([]string{"", "  ", "{", `{"text":1}`, `{"id":3}`, `{"text":null}`, "[]", `{"text":"a"} x`, `{"text":"a\q"}`, "{\"text\":\"\x01\"}"}[r.IntN(10)])
			case 1:
				fmt.Fprintf(&b, `{"text": "a\n\"\u00e9\ud83d\ude00\ud800x\\%s", "n": -1.5e3, "id": null, "id": "%d\t"}`, word(), i)
			case 2:
				fmt.Fprintf(&b, ` { "id" : %d , "meta":{"text":"no","a":[1,{},[]]}, "n":true,"text":"" } `, i)
			default:
				fmt.Fprintf(&b, `{"id":"%d","text":"%s","n":%d}`, i, words(), r.IntN(100))
			}
			b.WriteString(end())
		}
	case CSV, TSV:
		b.WriteString("\ufeff\r\nid,text,n\r\n")
		for i := range records {
			switch r.IntN(12) {
			case 0:
				b.WriteString([]string{"", "a,b", "\"a", "a,\"b\"c,d", "a\"b,c,d", ",,", "a,b,c,d", "\"\n,\",,"}[r.IntN(8)])
			case 1:
				fmt.Fprintf(&b, "%d,\"%s\n\"\"%s\"\"\n\n\",\"x\"", i, words(), word())
			default:
				fmt.Fprintf(&b, "%d,%s,%d", i, words(), r.IntN(100))
			}
			b.WriteString(end())
		}
	default:
		for range records {
			b.WriteString(words() + end())
		}
	}
	data := b.String()
	if f == TSV {
		data = strings.ReplaceAll(data, ",", "\t")
	}
	return []byte(data)
}

func TestLinesAroundTheLimitReadAsTheTwin(t *testing.T) {
	writers := map[Compression]func([]byte) Source{}
	for c := range suffix {
		writers[c] = rewriter(t, "a"+suffix[c])
	}
	rapid.Check(t, func(rt *rapid.T) {
		var data []byte
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 20).Draw(rt, "lengths") {
			data = append(append(data, strings.Repeat("x", n)...), '\n')
		}
		data = data[:max(0, len(data)-rapid.IntRange(0, 3).Draw(rt, "cut off"))]
		o := Options{
			MaxRecord: rapid.Int64Range(4, 70).Draw(rt, "limit"),
			BlockSize: rapid.IntRange(1, 100).Draw(rt, "block"),
		}
		c := rapid.SampledFrom([]Compression{Plain, Plain, Gzip, Zstd, Bzip2, Xz}).Draw(rt, "compression")
		s := writers[c](pack(t, c, data, rapid.IntRange(1, 5).Draw(rt, "parts")))
		s.Format = Lines
		have, err := readAll(t, s, o, rapid.IntRange(1, 3).Draw(rt, "workers"))
		must(t, err)
		compare(rt, fmt.Sprintf("%q %+v", c, o), have, twin(data, Lines, o))
	})
}

func TestEveryFormatAndCompressionReadsAsTheTwin(t *testing.T) {
	for _, f := range []Format{JSONL, CSV, TSV, Lines, Text} {
		for _, c := range append([]Compression{Plain}, compressions...) {
			for _, ending := range []string{"", "x", "\r"} {
				data := append(sample(f, 20), ending...)
				o := Options{Format: f, Fields: []string{"n", "absent", "text"}}
				want := twin(data, f, o)
				for _, parts := range []int{1, 7} {
					s := sourceOf(t, "a"+suffix[c], pack(t, c, data, parts))
					s.Format = f
					for _, size := range []int{1, 2, 7, 64, 1000, 1 << 20} {
						for _, workers := range []int{1, 8} {
							if c != Plain && size > 1 && size < 1000 && f != CSV {
								continue
							}
							o.BlockSize = size
							have, err := readAll(t, s, o, workers)
							what := fmt.Sprintf("%s %s, ending %q, %d parts, block %d, %d workers", f, c, ending, parts, size, workers)
							if err != nil {
								t.Fatalf("%s: %v", what, err)
							}
							compare(t, what, have, want)
						}
					}
				}
			}
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	for _, o := range []Options{{Format: "xml"}, {MaxRecord: -1}, {BlockSize: -1}, {TextField: NoID}} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
		if _, err := Open(t.Context(), Source{Path: "-"}, o); err == nil {
			t.Errorf("Open accepts %+v", o)
		}
	}
}

func TestPlainFileGivesRandomAccessAndProgress(t *testing.T) {
	data := small(100)
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.jsonl.bz2"} {
		_, c, _ := NameFormat(name)
		packed := pack(t, c, data, 2)
		f, err := Open(t.Context(), sourceOf(t, name, packed), Options{BlockSize: 500})
		must(t, err)
		var b Block
		var r Record
		p := NewParser(Options{})
		must(t, f.Next(&b))
		p.Start(f, &b)
		for p.Next(&r) {
			if at := f.ReaderAt(); (at == nil) != (c != Plain) {
				t.Errorf("%s: random access %v", name, at)
			} else if at != nil {
				raw := make([]byte, len(r.Raw))
				if _, err := at.ReadAt(raw, r.Offset); err != nil || string(raw) != string(r.Raw) {
					t.Errorf("%s: %q at %d, want %q", name, raw, r.Offset, r.Raw)
				}
			}
		}
		for f.Next(&b) == nil {
		}
		if have := f.BytesRead(); have < int64(len(packed))*9/10 || have > int64(len(packed))*11/10 {
			t.Errorf("%s: %d bytes read of %d", name, have, len(packed))
		}
		must(t, f.Close())
	}
}

func TestMemoryOfAnUncommonRecordIsGivenBack(t *testing.T) {
	data := append(small(10), `{"text":"`+strings.Repeat("x", 8<<20)+`"}`+"\n"...)
	data = append(data, small(10)...)
	f, err := Open(t.Context(), sourceOf(t, "a.jsonl", data), Options{BlockSize: 1000})
	must(t, err)
	defer f.Close()
	var b Block
	most := 0
	for f.Next(&b) == nil {
		most = max(most, cap(b.buf))
	}
	if most < 8<<20 || cap(b.buf) > 1<<20 {
		t.Errorf("at most %d bytes, %d at the end", most, cap(b.buf))
	}
}

func TestSkippedBlocksAreLeftOutAndTheOthersKeepTheirNumbers(t *testing.T) {
	type key struct {
		seq, offset, lines int64
		data               string
	}
	blocks := func(s Source, o Options, done func(int64) bool) (all []key) {
		f, err := Open(t.Context(), s, o)
		must(t, err)
		defer f.Close()
		if done != nil {
			f.Skip(done)
		}
		var b Block
		for f.Next(&b) == nil {
			all = append(all, key{b.Seq, b.Offset, b.Lines, string(b.Data())})
		}
		return all
	}
	for _, f := range []Format{JSONL, CSV, TSV, Lines, Text} {
		data := sample(f, 60)
		for c, suffix := range suffix {
			s := sourceOf(t, "a"+suffix, pack(t, c, data, 5))
			s.Format = f
			o := Options{BlockSize: 300}
			all := blocks(s, o, nil)
			for name, done := range map[string]func(int64) bool{
				"odd blocks":    func(seq int64) bool { return seq%2 == 1 },
				"the first two": func(seq int64) bool { return seq < 2 },
				"all but one":   func(seq int64) bool { return seq != 3 },
				"all":           func(int64) bool { return true },
				"none":          func(int64) bool { return false },
			} {
				var want []key
				for _, k := range all {
					if !done(k.seq) {
						want = append(want, k)
					}
				}
				if have := blocks(s, o, done); !slices.Equal(have, want) {
					t.Errorf("%s %s without %s: %d blocks, want %d", f, c, name, len(have), len(want))
				}
			}
		}
	}
}

func TestSkippedBlocksOfAPlainFileAreNotRead(t *testing.T) {
	s := sourceOf(t, "a.jsonl", small(1000))
	f, err := Open(t.Context(), s, Options{BlockSize: 1000})
	must(t, err)
	defer f.Close()
	counted := &countedReads{RandomAccess: f.file}
	f.file = counted
	f.Skip(func(seq int64) bool { return seq != 7 })
	var b Block
	must(t, f.Next(&b))
	if err := f.Next(&b); err != io.EOF || counted.reads != 1 {
		t.Errorf("%d reads for one block, then %v", counted.reads, err)
	}
}

type countedReads struct {
	RandomAccess
	reads int
}

func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.RandomAccess.ReadAt(p, off)
}
