package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/fault"
)

func TestFindInObjectStores(t *testing.T) {
	keys := []string{
		"data/", "data/b.jsonl", "data/a/z.txt", "data/a.csv.gz", "data/readme", "data/x/", "data/x/1.jsonl", "data/x/2.jsonl",
		"database.jsonl", "both", "both/c.jsonl", "odd/na[1]me.jsonl", "odd/../../up.jsonl", "odd//double.jsonl", "odd/nul\x00.jsonl", "marks/",
	}
	for _, tt := range []struct {
		name   string
		tree   []string
		inputs []string
		o      Options
		want   []string // path name format compression
	}{
		{
			name:   "a prefix gives what lies below it in byte order, as a folder does",
			inputs: []string{"s3://bucket/data"},
			want: []string{
				"s3://bucket/data/a.csv.gz a.csv.gz csv gzip", "s3://bucket/data/a/z.txt a/z.txt text ", "s3://bucket/data/b.jsonl b.jsonl jsonl ",
				"s3://bucket/data/readme readme text ", "s3://bucket/data/x/1.jsonl x/1.jsonl jsonl ", "s3://bucket/data/x/2.jsonl x/2.jsonl jsonl ",
			},
		},
		{
			name:   "an object of that very key comes before what lies below it",
			inputs: []string{"gs://bucket/both"},
			want:   []string{"gs://bucket/both both text "},
		},
		{
			name:   "a slash at the end asks for what lies below",
			inputs: []string{"s3://bucket/both/"},
			want:   []string{"s3://bucket/both/c.jsonl c.jsonl jsonl "},
		},
		{
			name:   "a glob matches objects and folders, within one level",
			inputs: []string{"s3://bucket/data/?", "s3://bucket/d*.jsonl"},
			want: []string{
				"s3://bucket/data/a/z.txt data/a/z.txt text ", "s3://bucket/data/x/1.jsonl data/x/1.jsonl jsonl ",
				"s3://bucket/data/x/2.jsonl data/x/2.jsonl jsonl ", "s3://bucket/database.jsonl database.jsonl jsonl ",
			},
		},
		{
			name:   "two stars match objects and folders on any level",
			inputs: []string{"s3://bucket/data/**/*.jsonl", "gs://bucket/**/a"},
			want: []string{
				"s3://bucket/data/b.jsonl s3/bucket/data/b.jsonl jsonl ",
				"s3://bucket/data/x/1.jsonl s3/bucket/data/x/1.jsonl jsonl ", "s3://bucket/data/x/2.jsonl s3/bucket/data/x/2.jsonl jsonl ",
				"gs://bucket/data/a/z.txt gs/bucket/data/a/z.txt text ",
			},
		},
		{
			name:   "a key with the signs of a glob is found by itself",
			inputs: []string{"s3://bucket/odd/na[1]me.jsonl"},
			want:   []string{"s3://bucket/odd/na[1]me.jsonl na[1]me.jsonl jsonl "},
		},
		{
			name:   "what inputs share is read once, at its first place",
			inputs: []string{"s3://bucket/data/x/2.jsonl", "s3://bucket/data/x", "s3://bucket/data/x/*"},
			want:   []string{"s3://bucket/data/x/2.jsonl 2.jsonl jsonl ", "s3://bucket/data/x/1.jsonl 1.jsonl jsonl "},
		},
		{
			name:   "a query belongs to the bucket, not to the key",
			inputs: []string{"s3://bucket/data/b.jsonl?region=eu-west-1&anonymous=true"},
			want:   []string{"s3://bucket/data/b.jsonl b.jsonl jsonl "},
		},
		{
			name:   "names that a file cannot have, or that lead out of a folder, are changed",
			inputs: []string{"s3://bucket/odd"},
			want: []string{
				"s3://bucket/odd/../../up.jsonl __/__/up.jsonl jsonl ", "s3://bucket/odd//double.jsonl _/double.jsonl jsonl ",
				"s3://bucket/odd/na[1]me.jsonl na[1]me.jsonl jsonl ", "s3://bucket/odd/nul\x00.jsonl nul_.jsonl jsonl ",
			},
		},
		{
			name:   "buckets and files mix, with names from where they part",
			inputs: []string{"s3://bucket/data/x/1.jsonl", "gs://bucket/data/x/1.jsonl"},
			want:   []string{"s3://bucket/data/x/1.jsonl s3/bucket/data/x/1.jsonl jsonl ", "gs://bucket/data/x/1.jsonl gs/bucket/data/x/1.jsonl jsonl "},
		},
		{
			name:   "a format that is asked for overrides names",
			inputs: []string{"s3://bucket/data/a/"},
			o:      Options{Format: Lines},
			want:   []string{"s3://bucket/data/a/z.txt z.txt lines "},
		},
	} {
		b := newMemBucket(keys...)
		for _, mark := range []string{"data/", "data/x/", "marks/"} {
			b.put(mark, nil)
		}
		sources, skipped, err := Find(t.Context(), tt.inputs, b.options(tt.o))
		if err != nil || len(skipped) > 0 {
			t.Errorf("%s: skipped %v, error %v", tt.name, skipped, err)
		}
		var got []string
		for _, s := range sources {
			got = append(got, fmt.Sprintf("%s %s %s %s", s.Path, s.Name, s.Format, s.Compression))
			if s.Stream || s.Version != "1" && s.Version != "2" || s.ModTime.IsZero() || s.Label() != s.Path {
				t.Errorf("%s: %+v", tt.name, s)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestBucketsAndFilesMix(t *testing.T) {
	tree(t, "local/a.jsonl")
	dir, err := filepath.Abs("local")
	must(t, err)
	b := newMemBucket("p/a.jsonl")
	sources, _, err := Find(t.Context(), []string{"local", "s3://b/p", "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")}, b.options(Options{}))
	must(t, err)
	if len(sources) != 2 || sources[0].Path != filepath.Join("local", "a.jsonl") || sources[1].Name != "s3/b/p/a.jsonl" {
		t.Errorf("%+v", sources)
	}
}

func TestFindInObjectStoresRefuses(t *testing.T) {
	b := newMemBucket("a/b.jsonl")
	b.put("marks/", nil)
	for input, want := range map[string]struct {
		kind error
		text string
	}{
		"s3://bucket/none":    {fs.ErrNotExist, "s3://bucket/none: no such object, and none below it; check the name"},
		"s3://bucket/none/":   {ErrNoFiles, "s3://bucket/none/: no objects there; name a prefix that has some"},
		"s3://bucket/marks":   {fs.ErrNotExist, "s3://bucket/marks: no such object"},
		"s3://bucket/*.jsonl": {fs.ErrNotExist, "s3://bucket/*.jsonl: the pattern matches no object; check it"},
		"s3:///a":             {fs.ErrInvalid, "s3:///a: no bucket in the URL; write it as s3://bucket/prefix"},
	} {
		_, _, err := Find(t.Context(), []string{input}, b.options(Options{}))
		var p *Problem
		if !errors.As(err, &p) || !errors.Is(err, want.kind) || !strings.HasPrefix(err.Error(), want.text) {
			t.Errorf("%s: %v, want %s", input, err, want.text)
		}
	}
	if _, _, err := Find(t.Context(), []string{"s3://b/c"}, Options{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("without buckets: %v", err)
	}
	o := Options{Buckets: func(context.Context, string) (Bucket, error) {
		return nil, fault.Because(fs.ErrPermission, "no credentials; set some")
	}}
	if _, _, err := Find(t.Context(), []string{"s3://b/c"}, o); !errors.Is(err, fs.ErrPermission) || err.Error() != "s3://b/c: no credentials; set some" {
		t.Errorf("without credentials: %v", err)
	}
}

// closedBucket forbids to look for a key, as for those who may only list, and
// maybe to list.
type closedBucket struct {
	*memBucket
	list bool
}

func (b closedBucket) Stat(context.Context, string) (Object, error) {
	return Object{}, fault.Because(fs.ErrPermission, "access denied to the key")
}

func (b closedBucket) List(ctx context.Context, prefix string, each func(Object) error) error {
	if !b.list {
		return fault.Because(fs.ErrPermission, "access denied to the list")
	}
	return b.memBucket.List(ctx, prefix, each)
}

func TestAccessDeniedToOneKeyLeavesTheList(t *testing.T) {
	b := closedBucket{newMemBucket("a/b.jsonl"), true}
	o := Options{Buckets: func(context.Context, string) (Bucket, error) { return b, nil }}
	if s := findOne(t, "s3://b/a", o); s.Path != "s3://b/a/b.jsonl" {
		t.Errorf("%+v", s)
	}
	if _, _, err := Find(t.Context(), []string{"s3://b/none"}, o); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("nothing below: %v", err)
	}
	b.list = false
	if _, _, err := Find(t.Context(), []string{"s3://b/a"}, o); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "list") {
		t.Errorf("no list: %v", err)
	}
}

func TestObjectNamedLikeAFolderIsAProblem(t *testing.T) {
	b := newMemBucket("a/b.jsonl", "a/c/")
	sources, skipped, err := Find(t.Context(), []string{"s3://b/a"}, b.options(Options{}))
	must(t, err)
	if len(sources) != 1 || len(skipped) != 1 || skipped[0].Path != "s3://b/a/c/" || !errors.Is(&skipped[0], ErrNotRegular) {
		t.Errorf("sources %v, skipped %v", sources, skipped)
	}
}

func TestChangedObjectHasAnotherVersion(t *testing.T) {
	b := newMemBucket("a.txt")
	o := b.options(Options{})
	before := findOne(t, "s3://b/a.txt", o)
	b.put("a.txt", []byte("b.txt"))
	if after := findOne(t, "s3://b/a.txt", o); after.Version == before.Version || after.Size != before.Size {
		t.Errorf("%+v and %+v", before, after)
	}
	f, err := Open(t.Context(), before, o)
	must(t, err)
	defer f.Close()
	var block Block
	if err := f.Next(&block); !errors.Is(err, ErrChanged) {
		t.Errorf("reading the version before: %v", err)
	}
}
