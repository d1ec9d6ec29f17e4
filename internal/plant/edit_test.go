package plant

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/shingle"
)

// words returns the words of a text.
func words(text []byte) []string {
	var all []string
	for _, u := range appendUnits(nil, text) {
		all = append(all, string(text[u.start:u.core]))
	}
	return all
}

const japanese = "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。"
const thai = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ "

// longTexts are texts of 10 000 words or more, in scripts with and without spaces.
func longTexts() map[string][]byte {
	base := makeBase(100)
	m := &Maker{c: &Corpus{base: base, length: span{10_000, 10_000}, poolEnds: []int64{int64(len(base.pools[0].data))}}}
	return map[string][]byte{
		"made":     m.appendOriginal(nil, 0),
		"japanese": []byte(strings.Repeat(japanese, 400)),
		"thai":     []byte(strings.Repeat(thai, 250)),
	}
}

func TestEditRatesAreAsAsked(t *testing.T) {
	var ed Editor
	for script, text := range longTexts() {
		before := words(text)
		n := float64(len(before))
		check := func(what string, got, want float64) {
			t.Helper()
			if d := got - want; d*d > 25*want*(1-want)/n { // 5 standard deviations
				t.Errorf("%s: share of words %s is %v, not %v", script, what, got, want)
			}
		}
		for _, rate := range []float64{0, 0.01, 0.1, 0.5} {
			after := words(ed.Append(nil, text, 1, Edits{MinRate: rate, MaxRate: rate, Replace: 1}))
			if len(after) != len(before) {
				t.Fatalf("%s: %d words were %d before replacing some", script, len(after), len(before))
			}
			changed := 0
			for i := range before {
				if before[i] != after[i] {
					changed++
				}
			}
			check("replaced", float64(changed)/n, rate)
			after = words(ed.Append(nil, text, 2, Edits{MinRate: rate, MaxRate: rate, Delete: 1}))
			check("deleted", 1-float64(len(after))/n, rate)
			after = words(ed.Append(nil, text, 3, Edits{MinRate: rate, MaxRate: rate, Insert: 1}))
			check("inserted", float64(len(after))/n-1, rate)
		}
	}
}

func TestTheEditRateIsDrawnForEveryCopy(t *testing.T) {
	var ed Editor
	text := longTexts()["made"]
	n := float64(len(words(text)))
	var low, high int
	for seed := range uint64(100) {
		switch rate := 1 - float64(len(words(ed.Append(nil, text, seed, Edits{MinRate: 0.1, MaxRate: 0.5, Delete: 1}))))/n; {
		case rate < 0.08 || rate > 0.52:
			t.Errorf("seed %d: rate %v is not between 0.1 and 0.5", seed, rate)
		case rate < 0.3:
			low++
		default:
			high++
		}
	}
	if low < 30 || high < 30 {
		t.Errorf("%d rates below 0.3, %d above", low, high)
	}
}

func TestAnExactCopyIsExact(t *testing.T) {
	var ed Editor
	for script, text := range longTexts() {
		if got := ed.Append(nil, text, 1, Edits{MinRate: 1, MaxRate: 1, Move: 1, Truncate: 1, Restyle: 1, Exact: 1}); !bytes.Equal(got, text) {
			t.Errorf("%s: not exact", script)
		}
		if got := ed.Append(nil, text, 1, Edits{}); !bytes.Equal(got, text) {
			t.Errorf("%s: no edits are asked for, and some are made", script)
		}
	}
}

func TestAMovedBlockKeepsAllWords(t *testing.T) {
	var ed Editor
	for script, text := range longTexts() {
		before := words(text)
		after := words(ed.Append(nil, text, 5, Edits{Move: 1}))
		if slices.Equal(before, after) {
			t.Errorf("%s: nothing moved", script)
		}
		slices.Sort(before)
		slices.Sort(after)
		if !slices.Equal(before, after) {
			t.Errorf("%s: words are lost or made", script)
		}
	}
}

func TestATruncatedCopyIsHalfOrMoreOfTheText(t *testing.T) {
	var ed Editor
	for script, text := range longTexts() {
		heads, tails := 0, 0
		for seed := range uint64(16) {
			got := ed.Append(nil, text, seed, Edits{Truncate: 1})
			switch {
			case bytes.HasPrefix(text, got):
				heads++
			case bytes.HasSuffix(text, got):
				tails++
			default:
				t.Fatalf("%s, seed %d: neither the beginning nor the end", script, seed)
			}
			if n, all := len(words(got)), len(words(text)); n < all/2 {
				t.Errorf("%s, seed %d: %d words of %d", script, seed, n, all)
			}
		}
		if heads == 0 || tails == 0 {
			t.Errorf("%s: %d beginnings, %d ends", script, heads, tails)
		}
	}
}

func TestRestylingKeepsTheFeatures(t *testing.T) {
	var ed Editor
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for script, text := range longTexts() {
		got := ed.Append(nil, text, 1, Edits{Restyle: 1})
		if script == "made" && bytes.Equal(got, text) {
			t.Error("nothing changed")
		}
		if !slices.Equal(s.AppendFeatures(nil, got), s.AppendFeatures(nil, text)) {
			t.Errorf("%s: features changed", script)
		}
	}
}

// Whatever the edits bring side by side, words stay apart: every word of a copy
// is one of the text or a number put in.
func TestWordsNeverRunTogether(t *testing.T) {
	var ed Editor
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOf(rapid.RuneFrom([]rune("abcÄéД12 .,'-中の、ก\n"))).Draw(t, "text"))
		e := Edits{MaxRate: rapid.Float64Range(0, 1).Draw(t, "rate"), Move: 0.5, Truncate: 0.5}
		known := make(map[string]bool)
		for _, w := range words(text) {
			known[w] = true
		}
		for _, w := range words(ed.Append(nil, text, rapid.Uint64().Draw(t, "seed"), e)) {
			if !known[w] && w != "々" && strings.Trim(w, "0123456789") != "" {
				t.Fatalf("word %q is not of %q", w, text)
			}
		}
	})
}

func TestUnitsTileTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab 中ー้\u0301.\xff")))).Draw(t, "text"))
		units := appendUnits(nil, text)
		if len(units) != countWords(text) {
			t.Fatalf("%d units, %d words", len(units), countWords(text))
		}
		for i, u := range units {
			end := len(text)
			if i+1 < len(units) {
				end = units[i+1].start
			}
			if u.start >= u.core || u.core > u.end || u.end != end {
				t.Fatalf("unit %v before %d", u, end)
			}
		}
	})
}

func TestWordsAreThoseOfTheDefaultTokeniser(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"The 2nd half, it's over_": "The|2nd|half|it|s|over",
		"Ägypten e\u0301te\u0301":  "Ägypten|e\u0301te\u0301",
		"中文abc、テー":                 "中|文|abc|テ|ー",
		"a\xffb":                   "a|b",
		"𠀀𠀁 𝔘":                     "𠀀|𠀁|𝔘",
		"か\u3099":                  "か\u3099",
	} {
		if got := strings.Join(words([]byte(text)), "|"); got != want {
			t.Errorf("words of %q are %q, not %q", text, got, want)
		}
	}
}
