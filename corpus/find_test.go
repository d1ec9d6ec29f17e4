package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tree makes files (content = their path), folders (path with a slash at the
// end) and symbolic links ("path -> target") below a new folder, and makes it the
// working directory.
func tree(t *testing.T, paths ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, p := range paths {
		if link, target, ok := strings.Cut(p, " -> "); ok {
			must(t, os.MkdirAll(filepath.Dir(link), 0o777))
			if err := os.Symlink(target, link); err != nil {
				t.Skip(err)
			}
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(p), 0o777))
		if !strings.HasSuffix(p, "/") {
			must(t, os.WriteFile(p, []byte(p), 0o666))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tree    []string
		inputs  []string
		o       Options
		want    []string // path name format compression
		skipped []string // path: part of the reason
	}{
		{
			name:   "a folder gives its files in byte order, records by their names and all else as texts",
			tree:   []string{"d/b.jsonl", "d/a/z.txt", "d/a.csv.gz", "d/B.NDJSON.zst", "d/x.tsv.bz2", "d/readme", "d/.hidden", "d/y.json.gz", "d/empty/"},
			inputs: []string{"d"},
			want: []string{
				"d/.hidden .hidden text ", "d/B.NDJSON.zst B.NDJSON.zst jsonl zstd", "d/a.csv.gz a.csv.gz csv gzip", "d/a/z.txt a/z.txt text ",
				"d/b.jsonl b.jsonl jsonl ", "d/readme readme text ", "d/x.tsv.bz2 x.tsv.bz2 tsv bzip2", "d/y.json.gz y.json.gz text gzip",
			},
		},
		{
			name:   "a format that is asked for overrides names",
			tree:   []string{"d/a.jsonl.gz", "d/b.txt"},
			inputs: []string{"d", "-"},
			o:      Options{Format: Lines},
			want:   []string{"d/a.jsonl.gz a.jsonl.gz lines gzip", "d/b.txt b.txt lines ", "- stdin.txt lines "},
		},
		{
			name:   "two stars stand for any number of folders, and a folder that matches for what is below it",
			tree:   []string{"d/a.md", "d/x/a.md", "d/x/y/b.md", "d/x/y/b.txt", "d/x/z.md/c.txt", "e/a.md"},
			inputs: []string{"./d/**/*.md"},
			want:   []string{"d/a.md a.md text ", "d/x/a.md x/a.md text ", "d/x/y/b.md x/y/b.md text ", "d/x/z.md/c.txt x/z.md/c.txt text "},
		},
		{
			name:   "a slash at the end of a pattern asks for what lies below folders",
			tree:   []string{"d/x/a.md", "d/y/x/b.md", "d/z/x"},
			inputs: []string{"d/**/x/"},
			want:   []string{"d/x/a.md x/a.md text ", "d/y/x/b.md y/x/b.md text "},
		},
		{
			name:   "a pattern takes nothing from the inputs after it",
			tree:   []string{"d/x/a.md", "d/x/b.txt", "d/y/c.md"},
			inputs: []string{"**/x/*.md", "d"},
			want:   []string{"d/x/a.md x/a.md text ", "d/x/b.txt x/b.txt text ", "d/y/c.md y/c.md text "},
		},
		{
			name:   "one file is named by its last name",
			tree:   []string{"x/y/a.jsonl"},
			inputs: []string{"x/y/a.jsonl"},
			want:   []string{"x/y/a.jsonl a.jsonl jsonl "},
		},
		{
			name:   "names are relative to the common parent of all inputs, in the order of the inputs",
			tree:   []string{"x/b/1.jsonl", "x/a/1.jsonl", "x/c.csv"},
			inputs: []string{"./x/b", "x/a/1.jsonl", "-", "x/c.csv"},
			want:   []string{"x/b/1.jsonl b/1.jsonl jsonl ", "x/a/1.jsonl a/1.jsonl jsonl ", "- stdin.jsonl jsonl ", "x/c.csv c.csv csv "},
		},
		{
			name:   "a glob matches files and folders, empty ones too",
			tree:   []string{"p0/", "p1/a.jsonl", "p2/b.jsonl", "p3.jsonl", "q/c.jsonl"},
			inputs: []string{"p*"},
			want:   []string{"p1/a.jsonl p1/a.jsonl jsonl ", "p2/b.jsonl p2/b.jsonl jsonl ", "p3.jsonl p3.jsonl jsonl "},
		},
		{
			name:   "a file that exists wins over the pattern that its name is",
			tree:   []string{"a[1].jsonl", "a1.jsonl"},
			inputs: []string{"a[1].jsonl"},
			want:   []string{"a[1].jsonl a[1].jsonl jsonl "},
		},
		{
			name:   "overlapping inputs are read once, at the first place",
			tree:   []string{"d/a.jsonl", "d/b.jsonl"},
			inputs: []string{"d/b.jsonl", "d", "d/a.jsonl", "d"},
			want:   []string{"d/b.jsonl b.jsonl jsonl ", "d/a.jsonl a.jsonl jsonl "},
		},
		{
			name:   "links are followed, and what is there without them is read under its own name",
			tree:   []string{"d/a -> z", "d/z/1.txt", "d/b.txt -> z/1.txt", "d/out -> ../else", "else/2.txt", "d/deep/3.txt -> ../../else/2.txt"},
			inputs: []string{"d"},
			want:   []string{"d/deep/3.txt deep/3.txt text ", "d/z/1.txt z/1.txt text "},
		},
		{
			name:    "loops and dangling links are skipped and told",
			tree:    []string{"d/a.txt", "d/up -> ..", "d/self -> self", "d/here -> .", "d/none -> nothing", "d/s/back -> ../../d"},
			inputs:  []string{"d"},
			want:    []string{"d/a.txt a.txt text "},
			skipped: []string{"d/here: a symbolic link to the folder that it is in", "d/none: a symbolic link to nothing", "d/s/back: a symbolic link to the folder", "d/self: a symbolic link that leads back to itself", "d/up: a symbolic link to the folder"},
		},
		{
			name:    "a parquet file is one of records, and skipped when it is compressed",
			tree:    []string{"d/a.txt", "d/b.PARQUET", "d/c.parquet.gz"},
			inputs:  []string{"d"},
			want:    []string{"d/a.txt a.txt text ", "d/b.PARQUET b.PARQUET parquet "},
			skipped: []string{"d/c.parquet.gz: a compressed Parquet file; decompress it"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree(t, tt.tree...)
			sources, skipped, err := Find(t.Context(), tt.inputs, tt.o)
			must(t, err)
			var have []string
			for _, s := range sources {
				have = append(have, filepath.ToSlash(s.Path)+" "+s.Name+" "+string(s.Format)+" "+string(s.Compression))
				if st, err := os.Stat(s.Path); err == nil && (s.Size != st.Size() || !s.ModTime.Equal(st.ModTime())) {
					t.Errorf("%s: size %d, time %v", s.Path, s.Size, s.ModTime)
				}
			}
			if !slices.Equal(have, tt.want) {
				t.Errorf("have %q\nwant %q", have, tt.want)
			}
			if len(skipped) != len(tt.skipped) {
				t.Fatalf("skipped %v, want %v", skipped, tt.skipped)
			}
			for i, p := range skipped {
				if !strings.HasPrefix(filepath.ToSlash(p.Error()), tt.skipped[i]) {
					t.Errorf("skipped %q, want %q", p.Error(), tt.skipped[i])
				}
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		inputs []string
		kind   error
		says   string
	}{
		{"a file that is not there", []string{"d", "none.jsonl"}, fs.ErrNotExist, "none.jsonl: no such file or folder; check the name"},
		{"an empty name", []string{""}, fs.ErrNotExist, "no such file"},
		{"a pattern without a match", []string{"*.none"}, fs.ErrNotExist, "*.none: the pattern matches no file; check it"},
		{"a pattern of several levels without a match", []string{"d", "d/**/*.none"}, fs.ErrNotExist, "d/**/*.none: the pattern matches no file; check it"},
		{"a pattern in no folder", []string{"none/**"}, fs.ErrNotExist, "none/**: the pattern matches no file; check it"},
		{"a folder without files", []string{"d", "empty"}, ErrNoFiles, "empty: no files in the folder"},
		{"a link to nothing that was named", []string{"dangling"}, fs.ErrNotExist, "dangling: a symbolic link to nothing"},
		{"no inputs", nil, ErrNoFiles, "no input"},
		{"a compressed parquet file that was named", []string{"a.parquet.zst"}, ErrUnsupported, "a.parquet.zst: a compressed Parquet file; decompress it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree(t, "d/a.txt", "empty/sub/", "a.parquet.zst", "dangling -> nothing")
			_, _, err := Find(t.Context(), tt.inputs, Options{})
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, _, err := Find(t.Context(), []string{"-"}, Options{Format: "xml"}); err == nil {
		t.Error("unknown format accepted")
	}
}

func TestNamesAreUnique(t *testing.T) {
	tree(t, "d/stdin.jsonl", "d/stdin-1.jsonl")
	sources, _, err := Find(t.Context(), []string{"d", "-"}, Options{})
	must(t, err)
	if have := sources[2].Name; have != "stdin-2.jsonl" {
		t.Errorf("standard input is named %s", have)
	}
}

func TestNamesThatDifferByCaseAreOneWhereFileSystemsThinkSo(t *testing.T) {
	defer func(before bool) { foldNames = before }(foldNames)
	for fold, want := range map[bool]string{false: "A.JSONL", true: "A-1.JSONL"} {
		foldNames = fold
		used := map[string]bool{}
		unique("a.jsonl", used)
		if have := unique("A.JSONL", used); have != want {
			t.Errorf("%s, want %s", have, want)
		}
	}
}

func TestIDOfARecordWithoutOne(t *testing.T) {
	for want, s := range map[string]Source{
		"d/a.txt":       {Path: filepath.Join("d", "a.txt"), Name: "a.txt", Format: Text},
		"d/a.jsonl:3":   {Path: filepath.Join("d", "a.jsonl"), Name: "a.jsonl", Format: JSONL},
		"stdin.jsonl:3": {Path: "-", Name: "stdin.jsonl", Format: JSONL},
	} {
		if have := string(s.AppendID(nil, 2)); have != want {
			t.Errorf("have %s, want %s", have, want)
		}
	}
}

func TestUnreadableFolderAndFileAreToldAndCanBeAvoided(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	tree(t, "d/a.txt", "d/secret/b.txt", "d/c.txt")
	must(t, os.Chmod("d/secret", 0))
	must(t, os.Chmod("d/c.txt", 0))
	defer os.Chmod("d/secret", 0o777)
	sources, skipped, err := Find(t.Context(), []string{"d"}, Options{})
	must(t, err)
	if len(sources) != 2 || len(skipped) != 1 || !errors.Is(&skipped[0], fs.ErrPermission) {
		t.Fatalf("%v, skipped %v", sources, skipped)
	}
	var p *Problem
	if _, err := Open(t.Context(), sources[1], Options{}); !errors.As(err, &p) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Open: %v", err)
	}
}

func TestManyLookupsAtOnceFindTheSame(t *testing.T) {
	dir := t.TempDir()
	for i := range 700 {
		name := filepath.Join(dir, fmt.Sprintf("%03d.txt", i*11%700))
		switch {
		case i%100 == 50:
			must(t, os.Mkdir(name, 0o700))
			must(t, os.WriteFile(filepath.Join(name, "deep"), make([]byte, i), 0o600))
		case i%100 == 60:
			must(t, os.Symlink("nowhere", name))
		default:
			must(t, os.WriteFile(name, make([]byte, i), 0o600))
		}
	}
	want, wrong, err := Find(t.Context(), []string{dir}, Options{})
	must(t, err)
	if len(want) != 693 || len(wrong) != 7 {
		t.Errorf("%d files and %d problems", len(want), len(wrong))
	}
	for _, n := range []int{1, 2, 3, 16} {
		sources, problems, err := Find(t.Context(), []string{dir}, Options{Lookups: n})
		must(t, err)
		if !reflect.DeepEqual(sources, want) || !reflect.DeepEqual(problems, wrong) {
			t.Errorf("%d at once: %d files and %d problems, or others", n, len(sources), len(problems))
		}
	}
}
