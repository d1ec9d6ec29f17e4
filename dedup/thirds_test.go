package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// neighbours makes articles in copies, some of which have run into an article that none of them is a copy of.
func neighbours(rng *rand.Rand, articles int) (docs []testDoc, article []int) {
	write := func(words int) string {
		all := make([]string, words)
		for i := range all {
			word := make([]byte, 3+rng.IntN(6))
			for k := range word {
				word[k] = byte('a' + rng.IntN(26))
			}
			all[i] = string(word)
		}
		return strings.Join(all, " ")
	}
	noisy := func(s string) string {
		out := []byte(s)
		for i := range out {
			if rng.IntN(40) == 0 {
				out[i] = byte('a' + rng.IntN(26))
			}
		}
		return string(out)
	}
	passages := make([]string, articles/2)
	for i := range passages {
		passages[i] = write(90)
	}
	for i := range articles {
		own := write(110 + rng.IntN(60))
		for range 2 + rng.IntN(3) {
			body := own
			if rng.IntN(3) == 0 {
				body = passages[rng.IntN(len(passages))] + " " + body
			}
			docs, article = append(docs, testDoc{fmt.Sprintf("n%d", len(docs)), noisy(body)}), append(article, i)
		}
	}
	return docs, article
}

// aboutPassages asks for what copies and passages have in common, and for third texts.
func aboutPassages(input string, third bool) Config {
	return Config{
		Inputs: []string{input}, Signatures: OfShingles{Options: shingle.Options{N: 8, Text: text.Options{Tokens: text.Chars}}},
		Decide: Similarity{Measure: measure.MaxContainment, Threshold: 0.2, ThirdTexts: third},
	}
}

type similarPair struct {
	a, b       int
	similarity float64
}

func pairsOf(t *testing.T, c Config) (all []similarPair, s *Summary) {
	t.Helper()
	s, err := Pairs(context.Background(), c, func(p Pair) error {
		all = append(all, similarPair{numberOf(p.A), numberOf(p.B), p.Similarity})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, s
}

func numberOf(id []byte) (n int) {
	_, _ = fmt.Sscanf(string(id), "n%d", &n)
	return n
}

// slowThirds returns the pairs that third texts leave.
func slowThirds(docs []testDoc, all []similarPair) (left []similarPair) {
	reader := places.NewReader(shingle.Options{})
	texts := make([]*places.Text, len(docs))
	for i, d := range docs {
		texts[i] = reader.Read([]byte(d.text))
	}
	thirds := func(of, other int) (asked []int) {
		var related []similarPair
		for _, p := range all {
			if p.a == of && p.b != other || p.b == of && p.a != other {
				related = append(related, p)
			}
		}
		slices.SortFunc(related, func(p, q similarPair) int {
			return cmp.Or(-cmp.Compare(float32(p.similarity), float32(q.similarity)), cmp.Compare(p.a+p.b, q.a+q.b))
		})
		for _, p := range related[:min(len(related), places.ThirdsMost)] {
			asked = append(asked, p.a+p.b-of)
		}
		return asked
	}
	var judge places.Judge
	for _, p := range all {
		against, asked := 0, 0
		if judge.Doubts(texts[p.a], texts[p.b]) {
			for side, c := range [2][]int{thirds(p.a, p.b), thirds(p.b, p.a)} {
				for _, third := range c {
					asked++
					if judge.Contradicts(texts[[2]int{p.a, p.b}[side]], texts[third]) {
						against++
					}
				}
			}
		}
		if 2*against <= asked {
			left = append(left, p)
		}
	}
	return left
}

func TestThirdTextsTakeOutPairsThatShareAPassage(t *testing.T) {
	before, after, rightBefore, rightAfter := 0, 0, 0, 0
	for seed := range uint64(4) {
		docs, article := neighbours(rand.New(rand.NewPCG(seed, 5)), 30)
		input := filepath.Join(t.TempDir(), "in.jsonl")
		writeJSONL(t, input, docs)
		all, plain := pairsOf(t, aboutPassages(input, false))
		want := slowThirds(docs, all)
		got, s := pairsOf(t, aboutPassages(input, true))
		if !slices.Equal(got, want) {
			t.Fatalf("%d pairs, want %d of %d, or others", len(got), len(want), len(all))
		}
		if plain.Contradicted != nil || s.Contradicted == nil || *s.Contradicted != int64(len(all)-len(got)) || s.Verified != plain.Verified {
			t.Errorf("contradicted %v, verified %d of %d", s.Contradicted, s.Verified, plain.Verified)
		}
		wrong := func(pairs []similarPair) (n int) {
			for _, p := range pairs {
				if article[p.a] != article[p.b] {
					n++
				}
			}
			return n
		}
		before, after = before+wrong(all), after+wrong(got)
		rightBefore, rightAfter = rightBefore+len(all)-wrong(all), rightAfter+len(got)-wrong(got)
	}
	if before < 40 || 2*after > before || 20*rightBefore > 21*rightAfter {
		t.Errorf("%d pairs were wrong and %d right; left are %d and %d", before, rightBefore, after, rightAfter)
	}
}

func TestThirdTextsNeedTextsAndAllOfARun(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"estimates":    func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Verify = "sketch" }) },
		"fingerprints": func(c *Config) { c.Fingerprints = true },
	} {
		c := Config{Inputs: []string{"in"}, Decide: Similarity{ThirdTexts: true}}
		change(&c)
		if err := c.Validate(); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "ThirdTexts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
