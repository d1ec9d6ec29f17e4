package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/text"
)

// quotedLines returns a text as an answer quotes it.
func quotedLines(text string) string {
	var s strings.Builder
	for part := range slices.Chunk(strings.Fields(text), 10) {
		fmt.Fprintf(&s, "> %s\n", strings.Join(part, " "))
	}
	return s.String()
}

// TestAnAnswerIsNoCopyOfWhatItQuotes: letters, two answers to each that quote all of it, and each first answer a second time.
// Without the marks of quotations the letter stands in both answers, as cut copies do.
func TestAnAnswerIsNoCopyOfWhatItQuotes(t *testing.T) {
	w := newWriter(3)
	var texts []string
	for range 60 {
		letter := w.text(150)
		first := quotedLines(letter) + w.text(90)
		texts = append(texts, letter, first, w.text(90)+"\n"+quotedLines(letter), first+" "+w.text(3))
	}
	marked := func(mark bool) (right, wrong int) {
		var as [][]byte
		for _, text := range texts {
			if !mark {
				text = strings.ReplaceAll(text, "> ", "")
			}
			as = append(as, []byte(text))
		}
		witness, err := newWitness(context.Background(), sampleOfTexts(as), false, 2)
		if err != nil {
			t.Fatal(err)
		}
		pairs := witness.pairs(len(as))
		if err := witness.look(context.Background(), pairs, 2); err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			switch {
			case p.cover < perhaps:
			case p.a/4 == p.b/4 && p.a%4 == 1 && p.b%4 == 3:
				right++
			default:
				wrong++
			}
		}
		if mark && len(pairs) < 5*60 {
			t.Errorf("%d pairs: what quotes and is quoted must be looked at, for a recipe may take it", len(pairs))
		}
		return right, wrong
	}
	if right, wrong := marked(true); right != 60 || wrong != 0 {
		t.Errorf("%d of 60 answers are copies of themselves, and %d pairs of others are", right, wrong)
	}
	if _, wrong := marked(false); wrong < 60 {
		t.Errorf("without marks only %d pairs look like copies: this test shows nothing", wrong)
	}
}

func TestALetterThatIsPassedOnIsComparedWithAllItHas(t *testing.T) {
	letter := newWriter(4).text(200)
	r := runner{shingles: shingler(places.Options(text.Options{}))}
	for text, want := range map[string]bool{
		letter: false, quotedLines(letter): false, "See below.\n" + quotedLines(letter): false,
		letter + "\n" + quotedLines(letter): true, letter + "\n  >> " + letter: true, "1 > 0 " + letter: false,
	} {
		if features, own := r.read([]byte(text)); own < len(features) != want {
			t.Errorf("%q…: of %d runs %d are its own", text[:20], len(features), own)
		}
	}
}

func TestQuotationsStandBetweenMarks(t *testing.T) {
	for text, want := range map[string][2]string{ // what is quoted, and what is not
		"a longer text [quote=Ann]one\ntwo[/quote] and its end":                  {"one\ntwo", "a longer text  and its end"},
		"a longer text [QUOTE]one [quote]two[/Quote] three[/quote] and its end":  {"one two three", "a longer text  and its end"},
		"some text <blockquote class=\"x\">one [quote]</blockquote> and its end": {"one [quote]", "some text  and its end"},
		"a text\n> one\n [quote]two[/quote] and its end":                         {"one\ntwo", "a text\n  and its end"},
		"what [quote] means in a text":                                           {"", ""},
		"a list [0] < [1]":                                                       {"", "a list [0] < [1]"},
		"[quote]nearly all that there is in a text is quoted[/quote] a":          {"", ""},
	} {
		var r runner
		quoted := r.part([]byte(text))
		if string(quoted) != want[0] || want[1] != "" && string(r.own) != want[1] {
			t.Errorf("%s: quoted %q, own %q", text, quoted, r.own)
		}
	}
}
