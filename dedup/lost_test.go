package dedup

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// parquetDoc is a row with columns that are copied only.
type parquetDoc struct {
	ID   string   `parquet:"id"`
	Lang string   `parquet:"lang,dict"`
	Text string   `parquet:"text"`
	Tags []string `parquet:"tags"`
}

// parquetOf makes a file of two row groups, of pages of a few rows each.
func parquetOf(t testing.TB, ids ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[parquetDoc](&b, parquet.PageBufferSize(150),
		parquet.MaxRowsPerRowGroup(int64(len(ids)+1)/2))
	for _, id := range ids {
		row := parquetDoc{fmt.Sprint("p", id), fmt.Sprint("language ", id%3), lostText(id), make([]string, id%3)}
		if _, err := w.Write([]parquetDoc{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lostText returns a text that two documents have: an even number and the next.
func lostText(id int) string { return fmt.Sprintf("the text of documents %d, and of no others", id/2) }

// someLost writes inputs and returns their folder and the Parquet file in it. Its
// documents are duplicates of each other and of JSON lines, before and after them.
func someLost(t testing.TB) (dir, path string, data []byte) {
	dir = t.TempDir()
	var before, after strings.Builder
	for id := range 6 {
		fmt.Fprintf(&before, `{"id":"a%d","text":%q}`+"\n", id, lostText(4*id))
		fmt.Fprintf(&after, `{"id":"z%d","text":%q}`+"\n", id, lostText(3*id))
	}
	writeFile(t, filepath.Join(dir, "a.jsonl"), []byte(before.String()))
	writeFile(t, filepath.Join(dir, "z.jsonl"), []byte(after.String()))
	path = filepath.Join(dir, "m.parquet")
	data = parquetOf(t, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17)
	writeFile(t, path, data)
	return dir, path, data
}

// checkDamaged runs all commands over inputs with a damaged file and checks that
// the sums are right, and that the output holds what it says.
func checkDamaged(t *testing.T, what, dir string) (skipped []string) {
	t.Helper()
	ctx := context.Background()
	mem := vfstest.NewMem() // it waits for no disk
	config := Config{Inputs: []string{dir}, Output: outFolder, Threads: 2, fs: mem}
	config.OnSkip = func(p *corpus.Problem) { skipped = append(skipped, p.Error()) }
	s, err := Run(ctx, config)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if s.Read != s.Kept+s.Removed+s.Skipped || s.Skipped != int64(len(skipped)) {
		t.Errorf("%s: read %d, kept %d, removed %d, skipped %d: %q", what, s.Read, s.Kept, s.Removed, s.Skipped, skipped)
	}
	out, copies := memTree(t, mem, outFolder), t.TempDir()
	for name, data := range out {
		if strings.HasPrefix(name, write.KeptFolder+"/") {
			writeFile(t, filepath.Join(copies, filepath.Base(name)), []byte(data))
		}
	}
	kept := map[string]bool{}
	again, err := Sketch(ctx, Config{Inputs: []string{copies}}, func(f Fingerprint) error {
		kept[string(f.ID)] = true
		return nil
	})
	if err != nil || again.Skipped > 0 || again.Read != s.Kept {
		t.Errorf("%s: %d kept, %+v in the output, %v", what, s.Kept, again, err)
	}
	for line := range strings.Lines(out[write.RemovedFile]) {
		fields := strings.Split(line, ",")
		// Without ids, rows have other names in the output.
		if fields[1] != "kept_id" && !strings.Contains(line, "m.parquet:") && (!kept[fields[1]] || kept[fields[0]]) {
			t.Errorf("%s: removed %q, but its other is not kept", what, line)
		}
	}
	if out[write.KeptFolder+"/m.parquet"] != "" {
		checkParquet(t, what, filepath.Join(copies, "m.parquet"))
	}
	config = Config{Inputs: []string{dir}}
	if _, err := Pairs(ctx, config, func(Pair) error { return nil }); err != nil {
		t.Errorf("%s: pairs: %v", what, err)
	}
	if _, err := Sketch(ctx, config, func(Fingerprint) error { return nil }); err != nil {
		t.Errorf("%s: sketch: %v", what, err)
	}
	return skipped
}

// checkParquet checks that all rows of a file can be copied.
func checkParquet(t *testing.T, what, path string) {
	t.Helper()
	sources, _, err := corpus.Find(t.Context(), []string{path}, corpus.Options{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if _, damage, err := corpus.WholeRows(context.Background(), sources[0], corpus.Options{}); damage != nil || err != nil {
		t.Errorf("%s: the output is damaged: %v, %v", what, damage, err)
	}
}

func TestDamageOfAParquetFileCostsOnlyItself(t *testing.T) {
	dir, path, data := someLost(t)
	step := 27
	if thorough {
		step = 1
	} else if testsize.Small() {
		step = 101
	}
	var met [3]int // what was met: nothing, in reading, in writing
	for i := 0; i < len(data); i += step {
		writeFile(t, path, data[:i])
		if skipped := checkDamaged(t, fmt.Sprintf("cut after %d bytes", i), dir); len(skipped) == 0 {
			t.Errorf("nothing is said of a file cut after %d bytes", i)
		}
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i * 5 % 8)
		writeFile(t, path, bad)
		switch skipped := checkDamaged(t, fmt.Sprintf("byte %d", i), dir); {
		case len(skipped) == 0:
			met[0]++
		case strings.Contains(skipped[0], `column "lang"`), strings.Contains(skipped[0], `column "tags"`):
			met[2]++
		default:
			met[1]++
		}
	}
	if met[0] == 0 || met[1] == 0 || met[2] == 0 {
		t.Errorf("damage that was not met, met in reading, and in writing: %v", met)
	}
}

// breakColumn flips a bit in a page of a column that is only copied: behind the first
// row group, so that some rows before it are whole.
func breakColumn(t testing.TB, path string, data []byte) {
	bad := bytes.Clone(data)
	bad[bytes.LastIndex(bad, []byte("language 1"))] ^= 4
	writeFile(t, path, bad)
}

func TestRowsThatCannotBeCopiedKeepNobodyOut(t *testing.T) {
	dir, path, data := someLost(t)
	breakColumn(t, path, data)
	skipped := checkDamaged(t, "a damaged dictionary", dir)
	if len(skipped) != 1 || !strings.Contains(skipped[0], `m.parquet:6: column "lang": corrupt Parquet data`) || !strings.Contains(skipped[0], "records after row 6 are lost; get a whole copy of the file") {
		t.Errorf("said: %q", skipped)
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Run(context.Background(), Config{Inputs: []string{dir}, Output: out, OnError: OnErrorFail}); err == nil || !strings.Contains(err.Error(), "m.parquet:6: column") {
		t.Errorf("with OnErrorFail: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("with OnErrorFail an output is left")
	}
}

func TestKilledRunWithLostRowsGoesOnToTheSameResult(t *testing.T) {
	dir, path, data := someLost(t)
	breakColumn(t, path, data)
	c := commands[0]
	config := variants(t)[0].resumable(dir, "", 2)
	want, err := c.on(t, context.Background(), newTracedFS(vfstest.NewMem(), nil), config)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(want.skipped), "records after row 6 are lost") {
		t.Fatalf("skipped %q", want.skipped)
	}
	for _, n := range someOf(rand.New(rand.NewPCG(1, 1)), c.writes(t, config), 60) {
		left, stopped := c.stop(t, config, vfstest.NewMem(), n, nil, want)
		if stopped {
			c.goesOn(t, config, left, want)
		}
	}
}
