package corpus

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
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
