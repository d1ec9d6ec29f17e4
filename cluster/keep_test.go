package cluster

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseKeepReadsWhatStringPrints(t *testing.T) {
	for _, s := range []string{"first", "last", "longest", "shortest", "max:date", "min:a:b", "max: x "} {
		k, err := ParseKeep(s)
		if err != nil || k.String() != s {
			t.Errorf("ParseKeep(%q) = %v, %v", s, k, err)
		}
	}
	if first, _ := ParseKeep("first"); first != (Keep{}) {
		t.Error("the zero value is not first")
	}
}

func TestParseKeepSaysWhatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		"":         "use first, last, longest, shortest, max:FIELD or min:FIELD",
		"newest":   `unknown keep rule "newest"`,
		"First":    `unknown keep rule "First"`,
		"longest ": "unknown keep rule",
		"first:id": "unknown keep rule",
		"max":      "unknown keep rule",
		"max:":     "write max:FIELD, such as max:date",
		"min:":     "lacks the field's name",
	} {
		if _, err := ParseKeep(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseKeep(%q): %v, want an error with %q", in, err, want)
		}
	}
}

func TestKeepSaysWhatItLooksAt(t *testing.T) {
	for in, want := range map[string]struct {
		field        string
		length, meta bool
	}{
		"first":    {"", false, false},
		"last":     {"", false, false},
		"longest":  {"", true, true},
		"shortest": {"", true, true},
		"max:date": {"date", false, true},
		"min:date": {"date", false, true},
	} {
		k, err := ParseKeep(in)
		if err != nil {
			t.Fatal(err)
		}
		if k.Field() != want.field || k.NeedsLength() != want.length || k.NeedsMeta() != want.meta {
			t.Errorf("%s: field %q, length %v, meta %v", in, k.Field(), k.NeedsLength(), k.NeedsMeta())
		}
	}
}

func has(value string) Meta { return Meta{Value: value, HasValue: true} }

func TestKeepPrefers(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		metas      []Meta
		want       uint32
	}{
		{"the first", "first", make([]Meta, 3), 0},
		{"the last", "last", make([]Meta, 3), 2},
		{"the longest", "longest", []Meta{{Length: 5}, {Length: 9}, {Length: 9}}, 1},
		{"the shortest", "shortest", []Meta{{Length: 5}, {Length: 4}, {Length: 4}}, 1},
		{"the largest number", "max:n", []Meta{has("9"), has("10"), has("-11")}, 1},
		{"the smallest number", "min:n", []Meta{has("9"), has("10"), has("-11")}, 2},
		{"the first of equal numbers", "max:n", []Meta{has("1"), has("1e1"), has(" 10.0 ")}, 1},
		{"the latest date", "max:d", []Meta{has("2023-12-31"), has("2024-02-01"), has("2024-01-31")}, 1},
		{"the earliest date", "min:d", []Meta{has("2023-12-31"), has("2024-02-01"), {}}, 0},
		{"any value to none at all, max", "max:d", []Meta{{}, has(""), {}}, 1},
		{"any value to none at all, min", "min:d", []Meta{{}, has("zzz"), {}}, 1},
		{"a number to other text, max", "max:n", []Meta{has("n/a"), has("-5"), {}}, 1},
		{"a number to other text, min", "min:n", []Meta{has("!"), has("5"), {}}, 1},
		{"the first where all lack the field", "max:n", make([]Meta, 3), 0},
		{"numbers beyond any float", "max:n", []Meta{has("1e999999"), has("1e1000000"), has("9e999998")}, 1},
		{"numbers that a float cannot tell apart", "max:n",
			[]Meta{has("9007199254740992"), has("9007199254740993"), has("9007199254740991.9")}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := ParseKeep(c.rule)
			if err != nil {
				t.Fatal(err)
			}
			order := k.Order(func(d uint32) Meta { return c.metas[d] })
			if kept := Kept([]uint32{0, 0, 0}, 0, order); kept[0] != c.want {
				t.Errorf("document %d, want %d", kept[0], c.want)
			}
		})
	}
}

func TestOrderWithoutMetadataNeedsNone(t *testing.T) {
	last, _ := ParseKeep("last")
	if !last.Order(nil)(2, 1) || (Keep{}).Order(nil)(2, 1) {
		t.Error("last or first compares wrongly")
	}
}

// anyValue draws numbers in many forms, near each other, and other texts.
func anyValue(t *rapid.T, name string) string {
	return rapid.OneOf(
		rapid.StringMatching(`[+-]?(0|00|1|12)?[0-2]{1,2}(\.[0-2]{0,3})?([eE][+-]?[0-3])?`),
		rapid.StringMatching(`[+-]?\.[0-2]{1,3}`),
		rapid.StringMatching(`[ 0-2.e+-]{0,4}`),
		rapid.SampledFrom([]string{"", "2024-01-01", "a", "b", "1a", "2", "10", "1_0", "0x10", "Inf", "NaN", "1e9999999999999999999"}),
	).Draw(t, name)
}

func TestDecimalsCompareAsRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, u := anyValue(t, "s"), anyValue(t, "u")
		x, okX := parseDecimal(s)
		y, okY := parseDecimal(u)
		rx, isX := rational(s)
		ry, isY := rational(u)
		if okX != isX || okY != isY {
			t.Fatalf("%q is a number: %v; %q: %v", s, okX, u, okY)
		}
		if okX && okY && x.compare(y) != rx.Cmp(ry) {
			t.Errorf("%q compared with %q is %d, want %d", s, u, x.compare(y), rx.Cmp(ry))
		}
	})
}

// rational reads decimals with the library's exact arithmetic, which allows more.
func rational(s string) (*big.Rat, bool) {
	if strings.Trim(s, "0123456789.eE+-") != "" || strings.Contains(s, "9999999999") {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func TestPreferIsAStrictTotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, err := ParseKeep(rapid.SampledFrom([]string{"first", "last", "longest", "shortest", "max:x", "min:x"}).Draw(t, "rule"))
		if err != nil {
			t.Fatal(err)
		}
		metas := make([]Meta, 3)
		for d := range metas {
			metas[d] = Meta{
				Length:   rapid.Int64Range(0, 2).Draw(t, "length"),
				Value:    anyValue(t, "value"),
				HasValue: rapid.IntRange(0, 4).Draw(t, "has value") > 0,
			}
		}
		prefer := k.Order(func(d uint32) Meta { return metas[d] })
		for a := range uint32(3) {
			for b := range uint32(3) {
				if (a != b) != (prefer(a, b) != prefer(b, a)) {
					t.Errorf("%s: %v and %v prefer each other or neither", k, metas[a], metas[b])
				}
				for c := range uint32(3) {
					if prefer(a, b) && prefer(b, c) && !prefer(a, c) {
						t.Errorf("%s goes in circles: %v", k, metas)
					}
				}
			}
		}
	})
}

func TestPreferDoesNotAllocate(t *testing.T) {
	k, _ := ParseKeep("max:x")
	a, b := has("123456789.125"), has("1.23456789124e8")
	if n := testing.AllocsPerRun(10, func() { k.Prefer(1, 0, a, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !k.Prefer(1, 0, a, b) {
		t.Error("the smaller number is preferred")
	}
}
