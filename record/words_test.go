package record

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWordsOfAValueHaveItsTokens(t *testing.T) {
	value := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-cA-C]{1,4}[ \-/,.]){0,8}`), rapid.StringMatching(`[0-9]{1,4}[-. ][0-9]{1,2}[-. ][0-9]{1,4}`))
	rapid.Check(t, func(t *rapid.T) {
		v, kind := []byte(value.Draw(t, "value")), rapid.SampledFrom(kinds).Draw(t, "kind")
		c := NewCutter()
		c.Repetitions = rapid.Bool().Draw(t, "repetitions")
		want, _ := c.Cut(nil, v, kind)
		var got []uint64
		for _, w := range c.Words(v, kind) {
			got = append(got, w.Tokens...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Fatalf("%q by %s: the words have %d tokens, want %d", v, kind, len(got), len(want))
		}
	})
}

func TestWordsReadAsTheyAreCompared(t *testing.T) {
	for _, c := range []struct {
		value string
		kind  Kind
		want  string
	}{
		{"Müller, TS-MR1640", Text, "muller ts mr1640 tsmr1640"},
		{"(128 GB) 5 x-2 7 elms 3  ml 4 mé 2b c 9 кг 6 d7", Units, "128 gb 128gb 5 x 2 5x2 7 elms 3 ml 4 me 4me 2b c 9 кг 9кг 6 d7"},
		{"128 GB", Text, "128 gb"},
		{"$1,200.00", Number, "1200"},
		{"1,200.50 EUR", Quantity, "1200 5"},
		{"USD 1,200", Quantity, "1200"},
		{"30m2", Quantity, "30"},
		{"-5 °C", Quantity, "5"},
		{"5.840", Quantity, "5 84"},
		{"3 or 4", Quantity, "3 or 4"},
		{"x2 blue", Quantity, "x2 blue"},
		{"404/231-1368", Code, "4042311368"},
		{"24.6.1971", Date, "1971 06 24"},
		{" The Whole Value ", Value, "the whole value"},
		{"n/a", Text, ""},
	} {
		var words []string
		for _, w := range NewCutter().Words([]byte(c.value), c.kind) {
			words = append(words, w.Text)
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%q by %s is %q, want %q", c.value, c.kind, got, c.want)
		}
	}
}
