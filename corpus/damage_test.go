package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// small is a jsonl file with records of a few dozen bytes that do not compress
// to nothing.
func small(records int) []byte {
	var b bytes.Buffer
	for i := range records {
		fmt.Fprintf(&b, `{"id":%d,"text":"%x"}`+"\n", i, uint64(i)*uint64(i)*2654435761)
	}
	return b.Bytes()
}

// damaged returns a function that reads a source whose bytes may be damaged, the
// error of Open included.
func damaged(t *testing.T, c Compression) func(data []byte) ([]got, error) {
	write := rewriter(t, "a.jsonl"+suffix[c])
	return func(data []byte) ([]got, error) { return readAll(t, write(data), Options{BlockSize: 200}, 3) }
}

func TestTruncatedArchiveGivesWholeRecordsAndOneError(t *testing.T) {
	data := small(12)
	want := twin(data, JSONL, Options{})
	for _, c := range compressions {
		for _, parts := range []int{1, 3} {
			packed := pack(t, c, data, parts)
			boundary := map[int]bool{}
			for i := 1; i < parts; i++ { // where a shorter file is a whole one
				step := (len(data) + parts - 1) / parts
				boundary[len(pack(t, c, data[:i*step], i))] = true
			}
			read := damaged(t, c)
			for n := range packed {
				have, err := read(packed[:n])
				what := fmt.Sprintf("%s of %d parts cut at byte %d of %d", c, parts, n, len(packed))
				if boundary[n] {
					continue
				}
				var p *Problem
				if !errors.As(err, &p) || !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s: error %v", what, err)
				}
				if int(p.Line) != len(have) {
					t.Fatalf("%s: %d records, but %v", what, len(have), err)
				}
				if n > 0 && !strings.Contains(err.Error(), "a.jsonl"+suffix[c]) {
					t.Fatalf("%s: the error does not name the file: %v", what, err)
				}
				compare(t, what, have, want[:min(len(have), len(want))])
			}
		}
	}
}

func TestCutArchiveGivesWhatStandsBeforeTheCut(t *testing.T) {
	data := benchLines(300<<10, 500)
	want := twin(data, JSONL, Options{})
	for _, c := range compressions {
		packed := pack(t, c, data, map[Compression]int{Gzip: 1, Zstd: 1, Bzip2: 5, Xz: 1}[c])
		have, err := damaged(t, c)(packed[:len(packed)*2/3])
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("%s: error %v", c, err)
		}
		compare(t, string(c), have, want[:len(have)])
		if len(have) < len(want)/5 {
			t.Errorf("%s: only %d of %d records before the cut at two thirds", c, len(have), len(want))
		}
	}
}

func TestFlippedByteIsAnErrorOrChangesNothing(t *testing.T) {
	data := small(4)
	want := twin(data, JSONL, Options{})
	for _, c := range compressions {
		packed := pack(t, c, data, 2)
		read := damaged(t, c)
		for i := range packed {
			for _, flip := range []byte{1, 0x80} {
				bad := bytes.Clone(packed)
				bad[i] ^= flip
				have, err := read(bad)
				if err == nil {
					compare(t, fmt.Sprintf("%s byte %d ^ %#x", c, i, flip), have, want)
				}
			}
		}
	}
}

func TestGarbageAfterAnArchiveIsAnError(t *testing.T) {
	data := small(5)
	for _, c := range compressions {
		have, err := damaged(t, c)(append(pack(t, c, data, 1), "garbage that is no archive"...))
		if err == nil {
			t.Errorf("%s: no error", c)
		}
		compare(t, string(c), have, twin(data, JSONL, Options{}))
	}
}

func TestEmptyFileHasNoRecordsButAnEmptyArchiveIsTruncated(t *testing.T) {
	for _, f := range []Format{JSONL, CSV, TSV, Lines, Text} {
		for _, c := range append([]Compression{Plain}, compressions...) {
			want := 0
			if f == Text {
				want = 1 // an empty document
			}
			s := sourceOf(t, "a"+suffix[c], pack(t, c, nil, 1))
			s.Format = f
			have, err := readAll(t, s, Options{}, 2)
			if err != nil || len(have) != want {
				t.Errorf("%s %s: %d records of an empty file, %v", f, c, len(have), err)
			}
			if c == Plain {
				continue
			}
			s = sourceOf(t, "a"+suffix[c], nil)
			s.Format = f
			if _, err := readAll(t, s, Options{}, 2); !errors.Is(err, ErrTruncated) {
				t.Errorf("%s %s: a file of no bytes gives %v", f, c, err)
			}
		}
	}
}

func TestRecordOverTheLimitIsSkippedAlone(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, f := range []Format{JSONL, Lines, TSV, CSV} {
		var b strings.Builder
		if f == TSV || f == CSV {
			b.WriteString("text\n")
		}
		for i := range 50 {
			text := "short"
			if i%7 == 3 || i == 49 {
				text = long
			}
			if f == JSONL {
				text = `{"text":"` + text + `"}`
			}
			b.WriteString(text + "\n")
		}
		data := []byte(b.String())
		for _, c := range append([]Compression{Plain}, compressions...) {
			s := sourceOf(t, "a"+suffix[c], pack(t, c, data, 9))
			s.Format = f
			for _, size := range []int{1, 50, 700, 1 << 20} {
				have, err := readAll(t, s, Options{MaxRecord: 1000, BlockSize: size}, 3)
				if err != nil {
					t.Fatal(err)
				}
				if len(have) != 50 {
					t.Fatalf("%s %s block %d: %d records", f, c, size, len(have))
				}
				for i, g := range have {
					header := int64(strings.Count(b.String()[:5], "\n"))
					if g.Bad != (i%7 == 3 || i == 49) || g.Line != int64(i)+header {
						t.Fatalf("%s %s block %d: record %d is %v", f, c, size, i, g)
					}
				}
			}
		}
	}
}

func TestTextOverTheLimitIsSkipped(t *testing.T) {
	for _, c := range append([]Compression{Plain}, compressions...) {
		for size, bad := range map[int]bool{1000: false, 1001: true} {
			s := sourceOf(t, "a.txt"+suffix[c], pack(t, c, bytes.Repeat([]byte("x"), size), 1))
			have, err := readAll(t, s, Options{MaxRecord: 1000, BlockSize: 100}, 2)
			if err != nil || len(have) != 1 || have[0].Bad != bad {
				t.Errorf("%q of %d bytes: %v, %v", c, size, have, err)
			}
		}
	}
}

func TestLineOverTheLimitTakesNoMemory(t *testing.T) {
	path := t.TempDir() + "/a.jsonl"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	// A sparse file: one line of 80 MB.
	f.WriteString("{\"text\":\"a\"}\n{\"text\":\"")
	f.WriteAt([]byte("\"}\n{\"text\":\"b\"}\n"), 80<<20)
	f.Close()
	s := mustFind(t, path)
	o := Options{BlockSize: 64 << 10, MaxRecord: 32 << 20}
	file, err := Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b Block
	var r Record
	p := NewParser(o)
	var texts string
	skipped := 0
	for {
		err := file.Next(&b)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if have := cap(b.buf) + cap(b.scratch); have > 1<<20 {
			t.Fatalf("%d bytes of memory at byte %d", have, b.Offset)
		}
		p.Start(file, &b)
		for p.Next(&r) {
			texts += string(r.Text)
			if r.Err != nil {
				skipped++
			}
		}
	}
	if texts != "ab" || skipped != 1 {
		t.Errorf("texts %q, %d skipped", texts, skipped)
	}
}

func TestFileThatBecomesShorterIsAnError(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.csv", "a.txt", "a.jsonl.zst", "a.jsonl.bz2", "a.jsonl.gz"} {
		_, c, _ := NameFormat(name)
		s := sourceOf(t, name, pack(t, c, append([]byte("text\n"), small(200)...), 1))
		f, err := Open(t.Context(), s, Options{BlockSize: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(s.Path, 20); err != nil {
			t.Fatal(err)
		}
		var b Block
		failures := 0
		for err = nil; err != io.EOF; {
			if err = f.Next(&b); err != nil && err != io.EOF {
				failures++
				if c == Plain && !errors.Is(err, ErrChanged) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		f.Close()
		if failures != 1 && c != Gzip { // gzip had read all of it already
			t.Errorf("%s: %d errors", name, failures)
		}
	}
}

func TestFileClosedHalfWayLeavesNothingBehind(t *testing.T) {
	data := benchLines(300<<10, 100)
	for _, c := range append([]Compression{Plain}, compressions...) {
		s := sourceOf(t, "a.jsonl"+suffix[c], pack(t, c, data, 3))
		f, err := Open(t.Context(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b Block
		if err := f.Next(&b); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Next(&b); err != io.EOF {
			t.Errorf("Next after Close: %v", err)
		}
	} // goleak looks for goroutines after all tests
}

// failing returns a stream of data that breaks at its end.
func failing(data string) io.Reader {
	return io.MultiReader(strings.NewReader(data), iotest.ErrReader(errors.New("the cable is cut")))
}

func TestStandardInputThatBreaksGivesWholeRecords(t *testing.T) {
	data := append(small(10), `{"text":"hal`...)
	o := Options{Stdin: failing(string(data)), BlockSize: 64}
	s := mustFind(t, "-")
	have, err := readAll(t, s, o, 2)
	if err == nil || !strings.Contains(err.Error(), "after line 10") || !strings.Contains(err.Error(), "the cable is cut") {
		t.Errorf("error %v", err)
	}
	compare(t, "stdin", have, twin(small(10), JSONL, o))
}
