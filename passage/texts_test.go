package passage_test

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

func TestPassagesOfTextsStandWhereTheirTokensDo(t *testing.T) {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := []byte("It said: the Quick, brown fox."), []byte("— THE quick brown fox — it says")
	want := []passage.Span{{Tokens: 4, StartA: 9, EndA: 29, StartB: 4, EndB: 23}}
	if got := passage.InTexts(tokenizer, a, b, 2); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := passage.InTexts(tokenizer, a, nil, 1); len(got) != 0 {
		t.Errorf("an empty text shares %v", got)
	}
}
