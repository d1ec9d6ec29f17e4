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
	"github.com/alike-dev/alike/vfs"
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
	return command{"screen", func(t testing.TB, ctx context.Context, on vfs.FS, c Config) (outcome, error) {
		t.Helper()
		return folderOn(t, on, c, func(c Config) (string, error) {
			summary, err := Screen(ctx, c, s)
			if err != nil {
				return "", err
			}
			if summary.Found == 0 {
				t.Error("nothing is found")
			}
			return fmt.Sprint(summary.Read, summary.Kept, summary.Removed, summary.Cut, summary.Skipped, summary.Found, summary.Documents), nil
		})
	}}
}

func TestScreeningsThatWereKilledGoOnToTheSameResult(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	inputs, references := troubleCorpus(t, 8)
	for _, s := range []Screening{{}, {Cut: true}, {FoundOnly: true}} {
		s.Screener = wordScreener{"12"}
		screening(s).survives(t, rng, Config{Inputs: []string{inputs}, Beside: Against{references}}, 20)
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
