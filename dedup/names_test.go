package dedup

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/engine"
)

// All documents have one text here, so that pairs name every document with every
// other: as many names as there are usable documents means that each has its own.
func TestEveryNameMeansOneDocument(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			random := rand.New(rand.NewPCG(seed, 1))
			files := []string{"a.jsonl", "b.jsonl", "r.jsonl"}
			for _, name := range files {
				var b bytes.Buffer
				for range 12 {
					other := fmt.Sprintf("%s:%d", files[random.IntN(3)], 1+random.IntN(14))
					switch random.IntN(4) {
					case 0:
						fmt.Fprintf(&b, `{"id":%q,"text":"one two three"}`+"\n", other)
					case 1:
						fmt.Fprintf(&b, `{"id":%q,"text":"one two three"}`+"\n", engine.AgainstPrefix+other)
					case 2:
						fmt.Fprintf(&b, `{"id":"%d","text":"one two three"}`+"\n", random.IntN(20))
					default:
						fmt.Fprintln(&b, `{"text":"one two three"}`)
					}
				}
				writeFile(t, filepath.Join(dir, name), b.Bytes())
			}
			inputs := []string{"a.jsonl", "b.jsonl"}
			if seed%3 == 0 {
				inputs = append(inputs, "r.jsonl")
			}
			var first string
			for _, c := range []Config{
				{Threads: 1},
				{Threads: 4, limits: limits{segment: 300}},
				{Threads: 2, limits: limits{segment: 300, memory: 1}},
			} {
				c.Inputs, c.Beside = inputs, Against{"r.jsonl"}
				bySimilarity(&c, func(s *Similarity) { s.Candidates = Exact{} })
				var skipped bytes.Buffer
				c.OnSkip = func(p *corpus.Problem) { fmt.Fprintln(&skipped, p) }
				names := map[string]bool{}
				s, err := Pairs(context.Background(), c, func(p Pair) error {
					names[string(p.A)], names[string(p.B)] = true, true
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				usable := s.Read - s.Skipped + s.References - s.ReferencesSkipped
				if int64(len(names)) != usable {
					t.Errorf("%d names of %d documents", len(names), usable)
				}
				if s.Skipped == 0 {
					t.Error("nothing was skipped: the test is too easy")
				}
				switch {
				case first == "":
					first = skipped.String()
				case first != skipped.String():
					t.Errorf("skipped:\n%sthe first time:\n%s", &skipped, first)
				}
			}
		})
	}
}
