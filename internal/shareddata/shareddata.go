// Package shareddata finds the real data sets that lie next to a checkout (../shared/data from the
// repository's root). They are too large or not free enough to ship, so a test that needs one skips
// where it is absent.
package shareddata

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Path returns the path of a file or folder below ../shared/data and skips the
// test when it does not exist.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Skip(err)
	}
	p := filepath.Join(append([]string{root, "..", "shared", "data"}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("real data not there: %v", err)
	}
	return p
}

// Open opens a file below ../shared/data until the test ends, decoded if its name
// ends in .zst. It skips the test as Path does.
func Open(t testing.TB, elem ...string) io.Reader {
	t.Helper()
	path := Path(t, elem...)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(path, ".zst") {
		return f
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(1<<27)) // as of --long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.Close)
	return z
}

// Doc is a document of a data set.
type Doc struct{ ID, Text string }

// Docs returns the first documents of a file of JSON lines whose texts together have about limit
// bytes; 0 returns all. It skips the test as Path does.
func Docs(t testing.TB, limit int, elem ...string) []Doc {
	t.Helper()
	in := json.NewDecoder(Open(t, elem...))
	var docs []Doc
	for size := 0; limit == 0 || size < limit; {
		var doc Doc
		if err := in.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
		size += len(doc.Text)
	}
	return docs
}

func Texts(t testing.TB, limit int, elem ...string) [][]byte {
	t.Helper()
	var texts [][]byte
	for _, doc := range Docs(t, limit, elem...) {
		texts = append(texts, []byte(doc.Text))
	}
	return texts
}

// repositoryRoot walks up from the working directory to the folder with go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", os.ErrNotExist
		}
		dir = parent
	}
}
