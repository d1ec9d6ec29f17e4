package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/vfs/vfstest"
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
		p, err := Open(ctx, tt.url, opens(b))
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
	p, err := Open(t.Context(), "s3://b/out", opens(b))
	must(t, err)
	if first, err := p.First(t.Context()); first != "" || err != nil {
		t.Errorf("holds %q, error %v", first, err)
	}
}

// readOnly hides what a bucket can besides being read.
type readOnly struct{ corpus.Bucket }

func TestPlacesThatCannotBeWrittenTo(t *testing.T) {
	b := newMemBucket()
	ctx, buckets := t.Context(), opens(b)
	if _, err := Open(ctx, "a/b", buckets); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a path: %v", err)
	}
	for _, url := range []string{"s3://b", "s3://b/", "s3://b/a/"} {
		if _, err := Create(ctx, url, buckets, 1); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := Open(ctx, "s3://b/a", opens(readOnly{b})); !errors.Is(err, corpus.ErrUnsupported) {
		t.Errorf("a bucket to read from: %v", err)
	}
}

func TestWriterToAnObjectMakesTheBytesOfAFile(t *testing.T) {
	for _, name := range []string{"x", "x.gz", "x.zst", "x.bz2", "x.xz"} {
		_, c, _ := corpus.NameFormat(name)
		b := newMemBucket()
		data := bytes.Repeat([]byte("some records\n"), 1000)
		w, err := Create(t.Context(), "s3://b/"+name+"?region=x", opens(b), 2)
		must(t, err)
		_, err = w.Write(data)
		must(t, err)
		if len(b.objects) != 0 {
			t.Error("it is there before Commit")
		}
		must(t, w.Commit())
		path := filepath.Join(t.TempDir(), name)
		file, err := corpus.Create(path, c, 1)
		must(t, err)
		_, err = file.Write(data)
		must(t, errors.Join(err, file.Commit()))
		want, err := os.ReadFile(path)
		must(t, err)
		if !bytes.Equal(b.objects[name], want) {
			t.Errorf("%q: not the bytes of a file", c)
		}
	}
}

func TestFolderIsUploadedWithOneFileLast(t *testing.T) {
	on := vfstest.NewMem()
	for path, data := range map[string]string{"out/kept/a/x.jsonl": "x", "out/kept/y.jsonl": "yy", "out/removed.csv": "", "out/summary.json": "{}"} {
		must(t, on.MkdirAll(filepath.Dir(path), 0o777))
		f, err := on.Create(path)
		must(t, err)
		_, err = f.Write([]byte(data))
		must(t, errors.Join(err, f.Close()))
	}
	b := &recordingBucket{memBucket: newMemBucket("p/other")}
	p, err := Open(t.Context(), "s3://b/p", opens(b))
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opens returns what opens a bucket, whatever the URL.
func opens(b corpus.Bucket) Buckets {
	return func(context.Context, string) (corpus.Bucket, error) { return b, nil }
}

// memBucket is a bucket in memory to be written to.
type memBucket struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func newMemBucket(keys ...string) *memBucket {
	b := &memBucket{objects: map[string][]byte{}}
	for _, key := range keys {
		b.put(key, []byte(key))
	}
	return b
}

func (b *memBucket) put(key string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[key] = data
}

func (b *memBucket) keys() []string { return slices.Sorted(maps.Keys(b.objects)) }

func (b *memBucket) List(_ context.Context, prefix string, each func(corpus.Object) error) error {
	for _, key := range b.keys() {
		if strings.HasPrefix(key, prefix) {
			if err := each(corpus.Object{Key: key, Size: int64(len(b.objects[key]))}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *memBucket) Stat(context.Context, string) (corpus.Object, error) {
	return corpus.Object{}, errors.ErrUnsupported
}

func (b *memBucket) Read(context.Context, corpus.Object, int64, int64) (io.ReadCloser, error) {
	return nil, errors.ErrUnsupported
}

func (b *memBucket) Upload(_ context.Context, key string, r io.ReaderAt, size int64) error {
	data := make([]byte, size)
	if _, err := r.ReadAt(data, 0); err != nil && err != io.EOF {
		return err
	}
	b.put(key, data)
	return nil
}

func (b *memBucket) Create(_ context.Context, key string) (corpus.Destination, error) {
	return &memDestination{b: b, key: key}, nil
}

func (b *memBucket) Remove(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return nil
}

type memDestination struct {
	bytes.Buffer
	b   *memBucket
	key string
}

func (d *memDestination) Commit() error {
	d.b.put(d.key, d.Bytes())
	return nil
}

func (d *memDestination) Abort() {}

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
