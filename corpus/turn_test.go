package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus/internal/jsonline"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/internal/turn"
)

// longRecords are short records with long ones between, of 20 to 40 kB.
func longRecords(f Format, n int) []byte {
	var b strings.Builder
	if f == CSV || f == TSV {
		b.WriteString(strings.ReplaceAll("id,text\n", ",", map[Format]string{CSV: ",", TSV: "\t"}[f]))
	}
	for i := range n {
		text := fmt.Sprint("text ", i)
		if i%5 == 2 {
			text = strings.Repeat(fmt.Sprintf("word%d ", i), 4000+i)
		}
		switch f {
		case JSONL:
			fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, text+"\n")
		case CSV:
			fmt.Fprintf(&b, "%d,%s\n", i, text)
		case TSV:
			fmt.Fprintf(&b, "%d\t%s\n", i, text)
		default:
			b.WriteString(text + "\n")
		}
	}
	return []byte(b.String())
}

// In every way of reading there are never two blocks with a long record, and all
// records are read.
func TestOneLongRecordAtATimeIsInMemory(t *testing.T) {
	const long = 16 << 10
	for _, format := range []Format{JSONL, CSV, TSV, Lines, Text} {
		for _, packed := range []Compression{Plain, Gzip, Zstd, Bzip2, Xz} {
			name := fmt.Sprintf("%s %q", format, packed)
			data := longRecords(format, 60)
			o := Options{Format: format, BlockSize: 1 << 10}
			s := sourceOf(t, "a", pack(t, packed, data, 3))
			s.Format, s.Compression = format, packed
			want, err := readAll(t, s, o, 1)
			must(t, err)
			o.Admit = turn.New(long).Take
			got, err := readAll(t, s, o, 4)
			must(t, err)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: the records differ", name)
			}
			largest, most := countLong(t, s, o, long)
			if largest <= long {
				t.Errorf("%s: no block is larger than %d bytes", name, largest)
			}
			// Where a file is decoded in units, these are larger than the records.
			if stream := packed == Plain || packed == Gzip || format == Text; stream && most != 1 {
				t.Errorf("%s: %d long records at a time", name, most)
			}
		}
	}
}

// countLong reads two files of s by four workers. It returns the largest block, and
// how many were larger than long at the same time at most.
func countLong(t *testing.T, s Source, o Options, long int) (largest, most int64) {
	t.Helper()
	var now, peak, size atomic.Int64
	var wait sync.WaitGroup
	for range 2 {
		f, err := Open(t.Context(), s, o)
		must(t, err)
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				var b Block
				defer b.Release()
				for {
					if err := f.Next(&b); err == io.EOF {
						return
					} else if err != nil {
						t.Error(err)
						return
					}
					n := int64(len(b.Data()))
					raise(&size, n)
					if n > int64(long) {
						raise(&peak, now.Add(1))
						time.Sleep(50 * time.Microsecond) // while others may go on
						now.Add(-1)
					}
				}
			})
		}
		wait.Go(func() {
			readers.Wait()
			f.Close()
		})
	}
	wait.Wait()
	return size.Load(), peak.Load()
}

func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
	}
}

func TestWhoWaitsForATurnCanBeCancelled(t *testing.T) {
	for _, packed := range []Compression{Plain, Gzip} {
		ctx, cancel := context.WithCancel(context.Background())
		o := Options{BlockSize: 1 << 10, Admit: turn.New(10 << 10).Take}
		s := sourceOf(t, "a.jsonl", pack(t, packed, longRecords(JSONL, 10), 1))
		s.Format, s.Compression = JSONL, packed
		first, err := Open(ctx, s, o)
		must(t, err)
		second, err := Open(ctx, s, o)
		must(t, err)
		long := func(f *File, b *Block) (err error) {
			for err == nil && len(b.Data()) <= 10<<10 {
				err = f.Next(b)
			}
			return err
		}
		var a, b Block
		must(t, long(first, &a))
		waited := make(chan error)
		go func() { waited <- long(second, &b) }()
		cancel()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", packed, err)
		}
		a.Release()
		must(t, first.Close())
		must(t, second.Close())
	}
}

// A parser that may overwrite what it parses gives the same records, and leaves
// those that follow alone.
func TestOverwritingGivesTheSameRecords(t *testing.T) {
	if testsize.Small() {
		t.Skip("one goroutine does it all")
	}
	var data bytes.Buffer
	for i := range 8 {
		text := strings.Repeat(`a\n \u00e9 \ud83d\ude00 \ud800 \"b\" \\`, 20_000+i)
		fmt.Fprintf(&data, `{"id":"%d\n","text":"%s","n":"\t%d"}`+"\n", i, text, i)
		fmt.Fprintf(&data, `{"text":"short\n%d","id":"s%d"}`+"\n", i, i)
		fmt.Fprintf(&data, `{"text":"%s","text":null}`+"\n", text)
		fmt.Fprintf(&data, `{"text":"%s\q"}`+"\n", text)
	}
	s := sourceOf(t, "a.jsonl", data.Bytes())
	s.Format = JSONL
	o := Options{Fields: []string{"n"}}
	read := func(overwrite bool) (all []string) {
		f, err := Open(t.Context(), s, o)
		must(t, err)
		defer f.Close()
		p := NewParser(o)
		p.Overwrite(overwrite)
		var b Block
		for f.Next(&b) == nil {
			p.Start(f, &b)
			for r := new(Record); p.Next(r); {
				all = append(all, fmt.Sprintf("%d %d %q %q %q %v", r.Offset, len(r.Raw), r.ID, r.Text, r.Fields, r.Err))
			}
			p.Trim()
		}
		return all
	}
	want := read(false)
	if got := read(true); !slices.Equal(got, want) || len(got) != 32 {
		t.Errorf("%d records, want %d; or they differ", len(got), len(want))
	}
	f, err := Open(t.Context(), s, o)
	must(t, err)
	defer f.Close()
	p := NewParser(o)
	p.Overwrite(true)
	var b Block
	must(t, f.Next(&b))
	var r Record
	p.Start(f, &b)
	if p.Next(&r); len(r.Text) < jsonline.LongString || &r.Text[0] != &r.Raw[bytes.Index(r.Raw, []byte(`"text":"`))+len(`"text":"`)] {
		t.Error("a long text is not unescaped where it stands")
	}
}
