package passage_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

func tokenizer(t *testing.T) *text.Tokenizer {
	t.Helper()
	words, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// words returns n words of no other text.
func words(random *rand.Rand, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("w%x", random.Uint64())
	}
	return strings.Join(all, " ")
}

// What was put into many texts is found whole, with the number of texts, and nothing else is.
func TestCommonFindsWhatManyTextsHave(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	notice := words(random, 30)
	menu := words(random, 12)
	rare := words(random, 40)
	var texts [][]byte
	for i := range 100 {
		parts := []string{words(random, 20)}
		if i%2 == 0 {
			parts = append([]string{menu}, parts...)
		}
		if i%5 > 0 {
			parts = append(parts, strings.ToUpper(notice)+".", words(random, 7))
		}
		if i < 4 {
			parts = append(parts, rare)
		}
		if i == 7 { // more often in one text is not in more texts
			parts = append(parts, notice, "and", notice)
		}
		texts = append(texts, []byte(strings.Join(parts, "\n")))
	}
	got := passage.Common(tokenizer(t), texts, 5, 10)
	if len(got) != 2 || string(got[0].Text) != strings.ToUpper(notice) || got[0].Texts != 80 || got[0].Tokens != 30 ||
		string(got[1].Text) != menu || got[1].Texts != 50 || got[1].Tokens != 12 {
		t.Errorf("%d passages: %+v", len(got), got)
	}
	if got = passage.Common(tokenizer(t), texts, 4, 10); len(got) != 3 || string(got[2].Text) != rare || got[2].Texts != 4 {
		t.Errorf("%d passages: %+v", len(got), got)
	}
	if got = passage.Common(tokenizer(t), texts, 4, 1); len(got) != 1 {
		t.Errorf("%d passages of at most one", len(got))
	}
	if got = passage.Common(tokenizer(t), nil, 0, 5); len(got) != 0 {
		t.Errorf("%d passages of no text", len(got))
	}
}

// Of random texts of few words every passage stands in no more texts than it says.
func TestCommonCountsTexts(t *testing.T) {
	words := tokenizer(t)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		var texts [][]byte
		for range 3 + random.IntN(20) {
			var b strings.Builder
			for range random.IntN(60) {
				if random.IntN(4) == 0 {
					at := random.IntN(5)
					fmt.Fprintf(&b, " a%d b%d c%d d%d e%d f%d g%d h%d i%d j%d", at, at, at, at, at, at, at, at, at, at)
				}
				fmt.Fprintf(&b, " %d", random.IntN(3))
			}
			texts = append(texts, []byte(b.String()))
		}
		least := 2 + random.IntN(3)
		for _, p := range passage.Common(words, texts, least, 1<<20) {
			in := 0
			for _, doc := range texts {
				if bytes.Contains(append(append([]byte(" "), doc...), ' '), append(append([]byte(" "), p.Text...), ' ')) {
					in++
				}
			}
			// Windows are counted: texts may have all of them, and the passage in pieces.
			if n := len(bytes.Fields(p.Text)); p.Texts < least || in > p.Texts || in == 0 || n != p.Tokens || n < 8 || n == 8 && in != p.Texts {
				t.Fatalf("seed %d: %q of %d tokens is in %d texts, and %d are told", seed, p.Text, p.Tokens, in, p.Texts)
			}
		}
	}
}
