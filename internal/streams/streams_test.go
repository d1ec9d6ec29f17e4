package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func standardInput(t *testing.T) corpus.Source {
	t.Helper()
	sources, _, err := corpus.Find(t.Context(), []string{"-"}, corpus.Options{})
	must(t, err)
	return sources[0]
}

// given are the options with which standard input has some bytes.
func given(data []byte) corpus.Options { return corpus.Options{Stdin: bytes.NewReader(data)} }

// read returns the raw records of a source, one after the other.
func read(t *testing.T, s corpus.Source) (all []byte) {
	t.Helper()
	o := corpus.Options{BlockSize: 1000}
	f, err := corpus.Open(t.Context(), s, o)
	must(t, err)
	defer f.Close()
	p := corpus.NewParser(o)
	var b corpus.Block
	for err = f.Next(&b); err == nil; err = f.Next(&b) {
		p.Start(f, &b)
		for r := new(corpus.Record); p.Next(r); {
			must(t, r.Err)
			all = append(all, r.Raw...)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return all
}

func lines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"text\":\"record %d\"}\n", i)
	}
	return b.Bytes()
}

func TestStreamIsCopiedAndReadTwice(t *testing.T) {
	data := lines(500)
	s := standardInput(t)
	path := filepath.Join(t.TempDir(), "new", "spool")
	source, err := Copy(t.Context(), vfs.OS, s, given(data), path, true)
	must(t, err)
	if source.Stream || source.Size != int64(len(data)) || source.Path != "-" {
		t.Fatalf("the copy is %+v", source)
	}
	for range 2 {
		if !bytes.Equal(read(t, source), data) {
			t.Error("other records")
		}
	}
	if again, err := Copy(t.Context(), vfs.OS, source, given(data), path, true); err != nil || again != source {
		t.Errorf("a file was copied: %v, %v", again, err)
	}
}

// An interrupted run goes on with the copy of a stream only if the stream is the same.
func TestAStreamIsTheSameAgainOrRefused(t *testing.T) {
	data := strings.Repeat("all the same line\n", 50_000)
	s := standardInput(t)
	path := filepath.Join(t.TempDir(), "spool")
	source, err := Copy(t.Context(), vfs.OS, s, given([]byte(data)), path, true)
	must(t, err)
	again := func(data string) (corpus.Source, error) {
		return Again(t.Context(), vfs.OS, s, given([]byte(data)), path, source.Version)
	}
	same, err := again(data)
	must(t, err)
	if same.Version != source.Version || same.Size != source.Size || same.Stream {
		t.Fatalf("the same stream: %+v", same)
	}
	for name, other := range map[string]string{
		"the first byte":       "A" + data[1:],
		"the last byte":        data[:len(data)-1] + " ",
		"a byte in the middle": data[:600_000] + "#" + data[600_001:],
		"longer":               data + "a",
		"shorter":              data[:len(data)-1],
		"shorter by a block":   data[:512<<10],
		"empty":                "",
	} {
		_, err := again(other)
		var p *corpus.Problem
		if !errors.Is(err, corpus.ErrChanged) || !errors.As(err, &p) || !strings.HasPrefix(err.Error(), "stdin.jsonl: ") || !strings.Contains(err.Error(), "Fresh") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The copy was changed, and the stream in the same way.
	must(t, os.WriteFile(path, []byte("A"+data[1:]), 0o666))
	if _, err := again("A" + data[1:]); !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), "copy") {
		t.Errorf("a changed copy: %v", err)
	}
	must(t, os.Remove(path))
	if _, err := again(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is gone, but: %v", err)
	}
	_, err = Again(t.Context(), vfs.OS, s, corpus.Options{Stdin: failing(data[:9])}, path, source.Version)
	if err == nil {
		t.Error("a stream that breaks passes")
	}
}

// failing returns a stream of data that breaks at its end.
func failing(data string) io.Reader {
	return io.MultiReader(strings.NewReader(data), iotest.ErrReader(errors.New("the cable is cut")))
}

func TestStreamThatBreaksIsNotTakenForAFailureOfTheDisk(t *testing.T) {
	mem := vfstest.NewMem()
	s := standardInput(t)
	_, err := Copy(t.Context(), mem, s, corpus.Options{Stdin: failing("half a li")}, "/spool", true)
	var p *corpus.Problem
	if !errors.As(err, &p) || p.Path != "stdin.jsonl" || !strings.Contains(err.Error(), "the cable is cut") {
		t.Errorf("error %v", err)
	}
	full := vfstest.Inject(mem, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpFileWrite {
			return fmt.Errorf("no space: %w", fs.ErrInvalid)
		}
		return nil
	})
	_, err = Copy(t.Context(), full, s, given(lines(1)), "/spool", true)
	if errors.As(err, &p) || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	if left, err := mem.List("/"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCopyThatIsToLastOutlastsAPowerFailure(t *testing.T) {
	mem := vfstest.NewCrashable()
	s := standardInput(t)
	data := lines(20_000)
	for _, lasting := range []bool{true, false} {
		path := fmt.Sprintf("/dir/spool-%v", lasting)
		source, err := Copy(context.Background(), mem, s, given(data), path, lasting)
		must(t, err)
		if !bytes.Equal(read(t, source), data) {
			t.Error("other records")
		}
		crashed := mem.CrashClone(vfstest.CrashCloneCfg{RNG: rand.New(rand.NewPCG(1, 1))})
		if _, err := crashed.Stat(path); (err == nil) != lasting {
			t.Errorf("lasting %v, after a power failure: %v", lasting, err)
		}
	}
}
