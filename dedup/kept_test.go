package dedup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
)

// What stands behind the first block of a compressed file is read once: it may be damaged when the output is written,
// by a program that sets the file's time back.
func TestWhatWasDecodedIsWrittenWithoutDecodingItAgain(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "docs.jsonl.gz"), filepath.Join(dir, "out")
	writeJSONL(t, path, generate(5, 2000))
	run := func(damage func()) (string, error) {
		hook := &atStage{stage: "write", do: damage}
		_, err := Run(t.Context(), Config{Inputs: []string{path}, Output: out, Corpus: corpus.Options{BlockSize: 10_000}, Progress: hook})
		if err != nil {
			return "", err
		}
		kept := tree(t, out)["kept/docs.jsonl.gz"]
		return kept, os.RemoveAll(out)
	}
	want, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	damaged := false
	got, err := run(func() {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		quarter := st.Size() / 4
		_, err = f.WriteAt(make([]byte, quarter), 3*quarter)
		if err = errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, st.ModTime())); err != nil {
			t.Fatal(err)
		}
		damaged = true
	})
	if err != nil || !damaged || got != want || got == "" {
		t.Errorf("%d bytes are kept, %d without the damage (damaged: %t); error %v", len(got), len(want), damaged, err)
	}
}
