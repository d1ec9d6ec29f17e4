package corpus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestPrefixHoldsWhatIsUploaded(t *testing.T) {
	for _, tt := range []struct{ url, key, shown string }{
		{"s3://b/out", "out/kept/a", "s3://b/out/kept/a"},
		{"s3://b/out/", "out/kept/a", "s3://b/out/kept/a"},
		{"s3://b?region=x", "kept/a", "s3://b/kept/a"},
	} {
		ctx := t.Context()
		b := newMemBucket("outside", "output/x")
		if !strings.Contains(tt.url, "/out") {
			b = newMemBucket()
		}
		others := b.keys()
		p, err := OpenPrefix(ctx, tt.url, b.options(Options{}))
		must(t, err)
		if first, err := p.First(ctx); first != "" || err != nil {
			t.Errorf("%s: holds %q, error %v", tt.url, first, err)
		}
		must(t, p.Upload(ctx, "kept/a", bytes.NewReader([]byte("data")), 4))
		if string(b.objects[tt.key]) != "data" || p.URL("kept/a") != tt.shown {
			t.Errorf("%s: keys %v, URL %s", tt.url, b.keys(), p.URL("kept/a"))
		}
		if first, err := p.First(ctx); first != "kept/a" || err != nil {
			t.Errorf("%s: holds %q, error %v", tt.url, first, err)
		}
		must(t, p.List(ctx, func(name string, size int64) error {
			if name != "kept/a" || size != 4 {
				t.Errorf("%s: %s of %d bytes", tt.url, name, size)
			}
			return nil
		}))
		must(t, p.Remove(ctx, "kept/a"))
		if !slices.Equal(b.keys(), others) {
			t.Errorf("%s: left %v", tt.url, b.keys())
		}
	}
}

func TestMarkOfAFolderLeavesItEmpty(t *testing.T) {
	b := newMemBucket()
	b.put("out/", nil)
	p, err := OpenPrefix(t.Context(), "s3://b/out", b.options(Options{}))
	must(t, err)
	if first, err := p.First(t.Context()); first != "" || err != nil {
		t.Errorf("holds %q, error %v", first, err)
	}
}

// readOnly hides what a bucket can besides being read.
type readOnly struct{ Bucket }

func TestPlacesThatCannotBeWrittenTo(t *testing.T) {
	b := newMemBucket()
	ctx, o := t.Context(), b.options(Options{})
	if _, err := OpenPrefix(ctx, "a/b", o); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a path: %v", err)
	}
	for _, url := range []string{"s3://b", "s3://b/", "s3://b/a/"} {
		if _, err := CreateObject(ctx, url, o, 1); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", url, err)
		}
	}
	o.Buckets = func(context.Context, string) (Bucket, error) { return readOnly{b}, nil }
	if _, err := OpenPrefix(ctx, "s3://b/a", o); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a bucket to read from: %v", err)
	}
}

func TestWriterToAnObjectMakesTheBytesOfAFile(t *testing.T) {
	for _, name := range []string{"x", "x.gz", "x.zst", "x.bz2", "x.xz"} {
		_, c, _ := NameFormat(name)
		b := newMemBucket()
		o := b.options(Options{})
		data := sample(JSONL, 1000)
		w, err := CreateObject(t.Context(), "s3://b/"+name+"?region=x", o, 2)
		must(t, err)
		_, err = w.Write(data)
		must(t, err)
		if len(b.objects) != 0 {
			t.Error("it is there before Commit")
		}
		must(t, w.Commit())
		if !bytes.Equal(unpack(t, c, b.objects[name]), data) {
			t.Errorf("%q: not what was written", c)
		}
	}
}

func TestFolderIsUploadedWithOneFileLast(t *testing.T) {
	on := vfs.NewMem()
	for path, data := range map[string]string{"out/kept/a/x.jsonl": "x", "out/kept/y.jsonl": "yy", "out/removed.csv": "", "out/summary.json": "{}"} {
		must(t, on.MkdirAll(on.PathDir(path), 0o777))
		f, err := on.Create(path, vfs.WriteCategoryUnspecified)
		must(t, err)
		_, err = f.Write([]byte(data))
		must(t, errors.Join(err, f.Close()))
	}
	b := &recordingBucket{memBucket: newMemBucket("p/other")}
	o := Options{Buckets: func(context.Context, string) (Bucket, error) { return b, nil }}
	p, err := OpenPrefix(t.Context(), "s3://b/p", o)
	must(t, err)
	must(t, p.UploadFolder(t.Context(), on, "out", "summary.json"))
	want := []string{"p/kept/a/x.jsonl", "p/kept/y.jsonl", "p/other", "p/removed.csv", "p/summary.json"}
	if !slices.Equal(b.keys(), want) || string(b.objects["p/kept/y.jsonl"]) != "yy" {
		t.Errorf("keys %v, want %v", b.keys(), want)
	}
	if last := b.uploads[len(b.uploads)-1]; last != "p/summary.json" {
		t.Errorf("the last one is %s", last)
	}
	must(t, p.RemoveFolder(t.Context(), on, "out"))
	if !slices.Equal(b.keys(), []string{"p/other"}) {
		t.Errorf("left %v", b.keys())
	}
	b.fail = "p/removed.csv"
	if err := p.UploadFolder(t.Context(), on, "out", "summary.json"); err == nil || err.Error() != "s3://b/p/removed.csv: full" {
		t.Errorf("error %v", err)
	}
	if _, there := b.objects["p/summary.json"]; there {
		t.Error("the last one is there, though not all others are")
	}
}

// recordingBucket notes the order of uploads, and fails one.
type recordingBucket struct {
	*memBucket
	fail string

	mu      sync.Mutex
	uploads []string
}

func (b *recordingBucket) Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error {
	b.mu.Lock()
	b.uploads = append(b.uploads, key)
	b.mu.Unlock()
	if key == b.fail {
		return errors.New("full")
	}
	return b.memBucket.Upload(ctx, key, r, size)
}
