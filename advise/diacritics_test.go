package advise

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// accented gives two vowels in three an accent, by the word that they are in, as a language does.
func accented(text string) string {
	marks := []string{"\u0301", "\u0300", "\u0302", "\u0303", "", ""}
	var out strings.Builder
	for _, word := range strings.Fields(text) {
		sum := uint(len(word))
		for _, r := range word {
			sum = sum*31 + uint(r)
		}
		for i, r := range word {
			out.WriteRune(r)
			if strings.ContainsRune("aeiou", r) {
				out.WriteString(marks[(sum+uint(i)*7)%uint(len(marks))])
			}
		}
		out.WriteByte(' ')
	}
	return norm.NFC.String(out.String())
}

// TestCopiesWithoutDiacriticsAreFound, where others have them; and where all have theirs, they count.
func TestCopiesWithoutDiacriticsAreFound(t *testing.T) {
	for _, dropped := range []bool{true, false} {
		w := newWriter(21)
		var texts []string
		var article []int
		for i := range 160 {
			plain := w.text(120)
			texts, article = append(texts, accented(plain)), append(article, i)
			if i%2 == 0 {
				continue
			}
			if copied := w.typed(plain, 0.01); dropped {
				texts = append(texts, copied)
			} else {
				texts = append(texts, accented(copied))
			}
			article = append(article, i)
		}
		a := adviceOf(t, texts, 2)
		_, right, all := found(t, texts, article, a.Chosen)
		if a.Chosen.StripDiacritics != dropped || float64(right) < 0.95*float64(all) {
			t.Errorf("dropped %v: %s finds %d of %d: %s", dropped, a.Chosen, right, all, a.Reason)
		}
		if a.Rows[len(a.Rows)-1].Recipe != Default {
			t.Errorf("the last row is %s", a.Rows[len(a.Rows)-1].Recipe)
		}
	}
}

func TestMarksAreSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "plain words": false, "đã": true, "Müller": true, "e\u0301": true, "漢字": false, "한국어": false, "Ελλάς": true, "naïve " + strings.Repeat("x", 200): false,
	} {
		if hasMarks([]byte(text)) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
