package advise

import (
	"fmt"
	"testing"

	"github.com/alike-dev/alike/text"
)

// TestNumbersOfASeriesDiffer: the things of a series do, copies with errors do not, and a few digits do not tell.
func TestNumbersOfASeriesDiffer(t *testing.T) {
	words := wordsOf(text.Options{})
	const lamp = "Oak lamp, turned by hand, size 91 cm. Item no. 5841260. Was £64.99, now £20.99."
	for _, c := range []struct {
		other  string
		differ bool
	}{
		{"Oak lamp, turned by hand, size 75 cm. Item no. 2290418. Was £82.99, now £31.99.", true},
		{"Oak lamq, turned by hand, siz 75 cm. Itcm no. 2290418. Wos £82.99, naw £31.99.", true},
		{"Oak lamp turncd by hand, size 91 cm. Item no. 58431260. Was £64.99, now £2O.99.", false},
		{"Oak lamp, turned by hand, size 75 cm. Item sold.", false},
		{"Oak lamp, turned by hand, without any number", false},
	} {
		a, b := numbersOf(words, []byte(lamp)), numbersOf(words, []byte(c.other))
		if numbersDiffer(&a, &b) != c.differ || numbersDiffer(&b, &a) != c.differ {
			t.Errorf("%q: differ is not %v", c.other, c.differ)
		}
	}
}

// TestASeriesIsLeftAlone: three texts of each thing, with other numbers, and no copies.
func TestASeriesIsLeftAlone(t *testing.T) {
	w := newWriter(3)
	var texts []string
	for range 60 {
		about := w.text(45)
		for range 3 {
			n := w.random.IntN
			texts = append(texts, fmt.Sprintf("%s size %d cm. Item no. %d. Was %d, now %d", about, 10+n(90), 1e6+n(9e6), 1000+n(9000), 1000+n(9000)))
		}
	}
	if a := adviceOf(t, texts, 2); a.Chosen != Default || a.Copies > 0 {
		t.Errorf("%s, %d copies: %s", a.Chosen, a.Copies, a.Reason)
	}
}
