package dedup

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// wordScreener finds a word in texts.
type wordScreener struct{ word string }

func (s wordScreener) Identity() string { return "word " + s.word }

func (wordScreener) Load(context.Context, []corpus.Source, func(*corpus.Problem) error) (int64, error) {
	return 1, nil
}

func (s wordScreener) NewScan() func(r *corpus.Record) ([]byte, int) {
	return func(r *corpus.Record) (note []byte, words int) {
		for at, next := 0, 0; ; at += len(s.word) {
			if next = bytes.Index(r.Text[at:], []byte(s.word)); next < 0 {
				return note, len(bytes.Fields(r.Text))
			}
			at += next
			note = binary.LittleEndian.AppendUint32(note, uint32(at))
		}
	}
}

func (wordScreener) Count(_ int64, notes iter.Seq[[]byte]) error {
	for range notes {
	}
	return nil
}

func (s wordScreener) NewJudge() func(note []byte) ([]Found, error) {
	return func(note []byte) (found []Found, err error) {
		for ; len(note) > 0; note = note[4:] {
			at := int(binary.LittleEndian.Uint32(note))
			found = append(found, Found{Item: s.word, Score: 1, Start: at, End: at + len(s.word)})
		}
		return found, nil
	}
}

// screening is Screen as a command.
func screening(s Screening) command {
	return command{"screen", func(t testing.TB, ctx context.Context, on vfs.FS, c Config) (o outcome, err error) {
		t.Helper()
		c.fs, c.Output = on, outFolder
		c.OnSkip = func(p *corpus.Problem) { o.skipped = append(o.skipped, p.Error()) }
		summary, err := Screen(ctx, c, s)
		if err != nil {
			return o, err
		}
		o.counts = fmt.Sprint(summary.Read, summary.Kept, summary.Removed, summary.Cut, summary.Skipped, summary.Found, summary.Documents)
		if traced, ok := on.(*roomtest.TracedFS); ok {
			on = traced.FS
		}
		o.files = roomtest.MemTree(t, on, outFolder)
		delete(o.files, write.SummaryFile)
		return o, nil
	}}
}

func TestScreeningsThatWereKilledGoOnToTheSameResult(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	inputs, references := troubleCorpus(t, 8)
	config := func(work string, threads int) Config {
		c := Config{Inputs: []string{inputs}, Beside: Against{references}, Threads: threads}
		if work != "" {
			tiny(&c)
			c.Work = WorkFolder{Path: work}
		}
		return c
	}
	for _, s := range []Screening{{}, {Cut: true}, {FoundOnly: true}} {
		s.Screener = wordScreener{"12"}
		command := screening(s)
		want := command.undisturbed(t, config("", 1))
		if strings.HasSuffix(want.counts, " 0 0") {
			t.Fatal("nothing is found")
		}
		writes := command.writes(t, config(workFolder, 1))
		for i, n := range places(rng, writes, 20) {
			fs, crash := vfstest.NewMem(), (func(on *vfstest.Mem) *vfstest.Mem)(nil)
			if i%3 == 0 {
				cfg := vfstest.CrashCloneCfg{UnsyncedDataPercent: []int{0, 25, 75, 100}[i%4], RNG: rng}
				fs, crash = vfstest.NewCrashable(), func(on *vfstest.Mem) *vfstest.Mem { return on.CrashClone(cfg) }
			}
			on, _ := command.stop(t, config(workFolder, 1+n%2), fs, n, crash, want)
			command.goesOn(t, config(workFolder, 2), on, want)
			if t.Failed() {
				t.Fatalf("%+v killed before write %d of %d", s, n, writes)
			}
		}
	}
}

// Words are cut out of Parquet files of every schema, and the other columns and the rows without text stay as they are for
// cuts of passages.
func TestWordsAreCutOutOfParquetFiles(t *testing.T) {
	_, references := troubleCorpus(t, 8)
	var texts []string
	for i := range 3000 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("Text %d. ", i), 1+i%50)+[]string{"", "secret", "secret words, secret"}[i%3])
	}
	for name, write := range parquetSchemas(texts) {
		path, out := filepath.Join(t.TempDir(), "in.parquet"), filepath.Join(t.TempDir(), "out")
		write(t, path)
		c := Config{Inputs: []string{path}, Beside: Against{references}, Output: out}
		if name == "nested" {
			c.Corpus.TextField = "meta.text"
		}
		summary, err := Screen(t.Context(), c, Screening{Screener: wordScreener{"secret"}, Cut: true})
		if err != nil {
			t.Fatal(name, err)
		}
		if summary.Cut != 2000 || summary.Found != 3000 {
			t.Errorf("%s: %+v", name, summary)
		}
		rows := parquetTexts(t, filepath.Join(out, "kept", "in.parquet"), name)
		for i, got := range rows {
			if want := strings.ReplaceAll(texts[i], "secret", ""); got != want {
				t.Fatalf("%s: row %d is %q, want %q", name, i, got, want)
			}
		}
		if len(rows) != len(texts) {
			t.Errorf("%s: %d rows", name, len(rows))
		}
	}
}
