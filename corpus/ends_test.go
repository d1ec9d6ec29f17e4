package corpus

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestEndsTellAFileThatWasWrittenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	ends := func(content []byte) string {
		t.Helper()
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		found, _, err := Find(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		is, err := found[0].Ends(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	for _, size := range []int{1, 100, endBytes - 1, endBytes, endBytes + 1, 2*endBytes - 1, 2 * endBytes, 2*endBytes + 1, 5 * endBytes} {
		content := bytes.Repeat([]byte("one, two\n"), size/9+1)[:size]
		was := ends(content)
		for _, at := range []int{0, min(size, endBytes) - 1, max(size-endBytes, 0), size - 1} {
			other := bytes.Clone(content)
			other[at] ^= 1
			if ends(other) == was {
				t.Errorf("byte %d of %d changes nothing", at, size)
			}
		}
		if ends(content) != was {
			t.Errorf("the same %d bytes have other ends", size)
		}
	}
	state := func(content string) string {
		ends([]byte(content))
		found, _, err := Find(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if known := found[0].changed != 0; known == strings.Contains(found[0].State(), "ends") {
			t.Errorf("the system knows times of changes: %v, the state is %q", known, found[0].State())
		}
		found[0].changed, found[0].inode = 0, 0 // as on a system that has neither
		return found[0].State()
	}
	if state("one, two\n") == state("one, too\n") {
		t.Error("a file that was written again has its old state")
	}
	if ends(make([]byte, 3*endBytes)) == ends(make([]byte, 4*endBytes)) {
		t.Error("files of other sizes have the same ends")
	}
}
