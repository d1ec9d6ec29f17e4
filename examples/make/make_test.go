package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

const root = "../.."

func TestTheShippedCorpusIsWhatTheProgramWrites(t *testing.T) {
	files, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var size int
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatalf("%v: run `go run ./examples/make` in the repository's root", err)
		}
		size += len(got)
		if strings.HasSuffix(name, ".gz") { // compressed bytes differ between versions of Go
			r, err := gzip.NewReader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		// Git may have given the file other line ends.
		if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s is not what the program writes: run `go run ./examples/make` in the repository's root", name)
		}
	}
	if size > 300_000 {
		t.Errorf("the corpus has %d bytes, more than a small one should", size)
	}
	err = filepath.WalkDir(filepath.Join(root, "examples", "corpus"), func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if _, known := files[filepath.ToSlash(name)]; err == nil && !d.IsDir() && !known {
			t.Errorf("%s is not written by the program", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyPlantedTextsAreAlike(t *testing.T) {
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	documents := documents()
	var sets [][]uint64
	for _, d := range documents {
		sets = append(sets, shingle.Set(s.AppendFeatures(nil, []byte(d.text))))
	}
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	for p := range simjoin.SelfJoin(sets, threshold) {
		if a, b := documents[p.A], documents[p.B]; a.family != b.family {
			t.Errorf("nobody copied, and yet %v alike:\n%s\n%s", p.Similarity(measure.Jaccard), a.text, b.text)
		}
	}
}

func TestNoSlotIsLeftOpen(t *testing.T) {
	for _, d := range documents() {
		if strings.ContainsAny(d.title+d.text, "{}~") {
			t.Errorf("%q, %q", d.title, d.text)
		}
	}
}
