package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus/internal/patience"
	"github.com/alike-dev/alike/corpus/internal/ranges"
	"github.com/alike-dev/alike/internal/fault"
)

func noise(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(data) // never fails
	return data
}

// findOne finds the source of a URL.
func findOne(t testing.TB, url string, o Options) Source {
	t.Helper()
	sources, skipped, err := Find(t.Context(), []string{url}, o)
	must(t, err)
	if len(sources) != 1 || len(skipped) != 0 {
		t.Fatalf("%s: sources %v, skipped %v", url, sources, skipped)
	}
	return sources[0]
}

func TestObjectIsReadWholeWhateverBreaks(t *testing.T) {
	impatient(t)
	rapid.Check(t, func(t *rapid.T) {
		data := noise(rapid.IntRange(0, 1<<20).Draw(t, "size"))
		b := newMemBucket()
		b.put("k", data)
		breaks := rapid.SliceOfN(rapid.IntRange(0, patience.Usual.Tries-1), 7, 7).Draw(t, "breaks of a range")
		broken := map[int64]int{} // by the end of the range, which stays when it is continued
		b.fault = func(request int, offset, length int64) (int64, error) {
			end := offset + length
			if broken[end] == breaks[end%int64(len(breaks))] {
				return 0, nil
			}
			broken[end]++
			return length * int64(request%4) / 4, errors.New("connection reset")
		}
		r := ranges.NewReader(t.Context(), b.bytes("k"), rapid.IntRange(1<<10, 4<<20).Draw(t, "read-ahead"))
		defer r.Close()
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes, want %d; error %v", len(got), len(data), err)
		}
	})
}

func TestEveryFormatAndCompressionReadsFromAnObjectAsFromAFile(t *testing.T) {
	for _, f := range []Format{JSONL, CSV, TSV, Lines, Text} {
		for _, c := range append([]Compression{Plain}, compressions...) {
			name := "a." + string(f) + suffix[c]
			data := pack(t, c, sample(f, 1000), 3)
			o := Options{Format: f, BlockSize: 8_000, ReadAhead: 16_000}
			file := sourceOf(t, name, data)
			file.Format = f
			want, err := readAll(t, file, o, 1)
			must(t, err)
			b := newMemBucket()
			b.put("p/"+name, data)
			o = b.options(o)
			s := findOne(t, "s3://bucket/p/"+name, o)
			if s.InPlace() {
				t.Error("an object is not read in place")
			}
			for range 2 { // as often as one wants
				got, err := readAll(t, s, o, 3)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %d records, want %d; error %v", name, len(got), len(want), err)
				}
			}
		}
	}
}

func TestHeaderOfATableCostsOneSmallRequest(t *testing.T) {
	b := newMemBucket()
	b.put("a.csv", append([]byte("id,text\n"), bytes.Repeat([]byte("1,some text\n"), 1<<18)...))
	o := b.options(Options{})
	f, err := Open(t.Context(), findOne(t, "s3://b/a.csv", o), o)
	must(t, err)
	if got := strings.Join(f.Columns(), " "); got != "id text" {
		t.Errorf("columns %s", got)
	}
	must(t, f.Close())
	if b.requests != 1 || b.asked != 256<<10 {
		t.Errorf("%d requests for %d bytes", b.requests, b.asked)
	}
}

// broken reads a bucket's object lines.jsonl of 2000 records with the fault from
// byte 50 000 on, and returns how many records came and the error.
func broken(t *testing.T, name string, c Compression, fault func(b *memBucket) error) (int, error) {
	b := newMemBucket()
	data := pack(t, c, small(2000), 4)
	b.put(name, data)
	o := b.options(Options{ReadAhead: 8000, BlockSize: 4000})
	s := findOne(t, "s3://b/"+name, o)
	b.fault = func(_ int, offset, length int64) (int64, error) {
		if offset+length < int64(len(data))/2 {
			return 0, nil
		}
		return 0, fault(b)
	}
	got, err := readAll(t, s, o, 2)
	return len(got), err
}

func TestObjectThatBreaksOffGivesItsRecordsAndOneErrorWithAWayOut(t *testing.T) {
	impatient(t)
	ranges.Idle = 20 * time.Millisecond
	for name, tt := range map[string]struct {
		fault error
		kind  error
		text  string
	}{
		"the network is down":   {errors.New("connection refused"), ErrUnavailable, "the object storage does not deliver (connection refused; tried 8 times); check the network and run again (after line "},
		"the server hangs":      {errHang, ErrUnavailable, "no data for too long; tried 8 times); check the network"},
		"the object is another": {fault.Because(ErrChanged, "the object was changed; run again"), ErrChanged, "the object was changed; run again (after line "},
		"access ends":           {fault.Because(fs.ErrPermission, "access denied; check the credentials"), fs.ErrPermission, "access denied; check the credentials (after line "},
		"the object is gone":    {fault.Because(fs.ErrNotExist, "no such object any more"), fs.ErrNotExist, "no such object any more (after line "},
	} {
		for _, c := range append([]Compression{Plain}, compressions...) {
			file := "lines.jsonl" + suffix[c]
			n, err := broken(t, file, c, func(*memBucket) error { return tt.fault })
			var p *Problem
			if !errors.As(err, &p) || p.Path != "s3://b/"+file || p.Line == 0 {
				t.Errorf("%s, %s: %v", name, file, err)
				continue
			}
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s, %s: %v, want %q", name, file, err, tt.text)
			}
			if outage := tt.kind == ErrUnavailable || tt.kind == fs.ErrPermission; errors.Is(err, ErrUnavailable) != outage {
				t.Errorf("%s, %s: an outage: %v", name, file, errors.Is(err, ErrUnavailable))
			}
			if n == 0 || n > 1900 {
				t.Errorf("%s, %s: %d records", name, file, n)
			}
		}
	}
}

func TestWhatIsFinalIsNotTriedAgain(t *testing.T) {
	for _, fault := range []error{fs.ErrNotExist, fs.ErrPermission, fs.ErrInvalid, ErrChanged} {
		b := newMemBucket("k")
		b.fault = func(int, int64, int64) (int64, error) { return 0, fmt.Errorf("no: %w", fault) }
		f := b.bytes("k")
		if err := f.Fetch(t.Context(), 0, make([]byte, 1)); !errors.Is(err, fault) || b.requests != 1 {
			t.Errorf("%d requests, error %v", b.requests, err)
		}
	}
}

func TestReadingEndsWithItsContextAndWithClose(t *testing.T) {
	b := newMemBucket("k.txt")
	b.fault = func(int, int64, int64) (int64, error) { return 0, errHang }
	o := b.options(Options{})
	s := findOne(t, "s3://b/k.txt", o)

	ctx, cancel := context.WithCancel(t.Context())
	f, err := Open(ctx, s, o)
	must(t, err)
	time.AfterFunc(10*time.Millisecond, cancel)
	var block Block
	if err := f.Next(&block); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("after the end of the context: %v", err)
	}
	must(t, f.Close())

	f, err = Open(t.Context(), s, o)
	must(t, err)
	must(t, f.Close()) // with a request under way; the leak test sees its goroutine
}

func TestRandomAccessReadsAsTheObject(t *testing.T) {
	impatient(t)
	data := noise(20<<20 + 12345)
	b := newMemBucket()
	b.put("k", data)
	b.fault = func(request int, _, length int64) (int64, error) {
		if request%3 == 0 {
			return length / 2, io.ErrUnexpectedEOF
		}
		return 0, nil
	}
	o := b.options(Options{})
	r, err := findOne(t, "s3://b/k", o).OpenAt(t.Context(), o)
	must(t, err)
	defer r.Close()
	if r.Size() != int64(len(data)) {
		t.Errorf("size %d", r.Size())
	}
	twin := bytes.NewReader(data)
	rapid.Check(t, func(t *rapid.T) {
		off := rapid.Int64Range(0, int64(len(data))+10).Draw(t, "offset")
		size := rapid.OneOf(rapid.IntRange(0, 5000), rapid.IntRange(0, 3<<20)).Draw(t, "size")
		got, want := make([]byte, size), make([]byte, size)
		n, err := r.ReadAt(got, off)
		m, werr := twin.ReadAt(want, off)
		if n != m || size > 0 && (err == nil) != (werr == nil) || !bytes.Equal(got[:n], want[:m]) {
			t.Fatalf("%d bytes, want %d; error %v, want %v", n, m, err, werr)
		}
	})
}

func TestPageThatFailedIsTriedAgainByTheNextRead(t *testing.T) {
	impatient(t)
	b := newMemBucket("key")
	down := true
	b.fault = func(int, int64, int64) (int64, error) {
		if down {
			return 0, errors.New("down")
		}
		return 0, nil
	}
	r := ranges.NewPages(t.Context(), b.bytes("key"))
	defer r.Close()
	var p [3]byte
	if _, err := r.ReadAt(p[:], 0); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	b.mu.Lock()
	down = false
	b.mu.Unlock()
	if _, err := r.ReadAt(p[:], 0); err != nil || string(p[:]) != "key" {
		t.Errorf("%q, error %v", p, err)
	}
}

func TestFilesGiveRandomAccessToo(t *testing.T) {
	tree(t, "a/b.txt")
	s := mustFind(t, "a/b.txt")
	r, err := s.OpenAt(t.Context(), Options{})
	must(t, err)
	defer r.Close()
	p := make([]byte, 3)
	if _, err := r.ReadAt(p, 4); err != nil || string(p) != "txt" || r.Size() != 7 {
		t.Errorf("%q of %d, error %v", p, r.Size(), err)
	}
	s.Stream = true
	if _, err := s.OpenAt(t.Context(), Options{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("stream: %v", err)
	}
}
