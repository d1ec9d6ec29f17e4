package record

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

// hashes returns the tokens that a value should have: words as they are, grams with # before.
func hashes(tokens ...string) (h []uint64) {
	for _, t := range tokens {
		if g, ok := strings.CutPrefix(t, "#"); ok {
			r := []rune(strings.ReplaceAll(g, "_", "\x00"))
			h = append(h, appendGrams(nil, r)...)
		} else {
			h = append(h, hashing.Bytes([]byte(t))&^gramBit)
		}
	}
	slices.Sort(h)
	return slices.Compact(h)
}

func TestValuesAreCutAsTheirKindSays(t *testing.T) {
	for _, c := range []struct {
		name, value string
		kind        Kind
		want        []string
	}{
		{"words and their grams", "New York", Text, []string{"new", "york", "#_ne", "#new", "#ew_", "#_yo", "#yor", "#ork", "#rk_"}},
		{"a word of one letter", "x", Text, []string{"x", "#_x_"}},
		{"words alone", "a-b_c d", Words, []string{"a", "b", "ab", "c", "d"}},
		{"tied words are also one", "TS-MR1/é -x 2- 3", Words, []string{"ts", "mr1", "e", "tsmr1e", "x", "2", "3"}},
		{"and have the grams of one", "a-b", Grams, []string{"#_a_", "#_b_", "#_ab", "#ab_"}},
		{"grams alone", "ab", Grams, []string{"#_ab", "#ab_"}},
		{"diacritics and case do not count", "MÜLLER Ⅳ", Words, []string{"muller", "iv"}},
		{"a code without its separators", "404/231-1368", Code, []string{"4042311368", "#_40", "#404", "#042", "#423", "#231", "#311", "#113", "#136", "#368", "#68_"}},
		{"a price is its number", "$1,200.50", Number, []string{"1200", "5", "#_12", "#120", "#200", "#00_", "#_5_"}},
		{"what is no number is text", "12 monkeys", Number, []string{"12", "monkeys", "#_12", "#12_", "#_mo", "#mon", "#onk", "#nke", "#key", "#eys", "#ys_"}},
		{"a date, however it is written", "24.6.1971", Date, []string{"1971", "06", "24", "#_19", "#197", "#971", "#71_", "#_06", "#06_", "#_24", "#24_"}},
		{"an invalid byte parts words", "ab\xffcd", Words, []string{"ab", "cd"}},
	} {
		got, whole := NewCutter().Cut(nil, []byte(c.value), c.kind)
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, hashes(c.want...)) {
			t.Errorf("%s: %q cut by %s has other tokens than %q", c.name, c.value, c.kind, c.want)
		}
		if whole.Words == 0 {
			t.Errorf("%s: %q is missing", c.name, c.value)
		}
	}
}

func TestValuesThatSayNothingAreMissing(t *testing.T) {
	c := NewCutter()
	for _, v := range []string{"", " ", "-", "NULL", "n/a", "NaN", `\N`, " none ", "?!", "\xff"} {
		if tokens, whole := c.Cut(nil, []byte(v), Text); whole != (Whole{}) || len(tokens) > 0 {
			t.Errorf("%q is there", v)
		}
	}
	for _, v := range []string{"0", "nullify", "none of them", "न"} {
		if _, whole := c.Cut(nil, []byte(v), Text); whole.Words == 0 {
			t.Errorf("%q is missing", v)
		}
	}
}

func TestWholeValuesAreEqualHoweverTheyAreWritten(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		a, b string
		same bool
	}{
		{Text, "New-York", "new york", true},
		{Text, "York New", "New York", false},
		{Number, "$44.00", "44", true},
		{Number, "44", "45", false},
		{Date, "1971-06-24", "24/06/1971", true},
		{Date, "19710624", "1971-06-24", true},
		{Date, "06/24/1971", "24/06/1971", true}, // no month is the 24th
		{Date, "6.24.1971", "1971-06-24", true},
		{Date, "19712406", "19710624", true},
		{Date, "03/04/1971", "04/03/1971", false}, // which of the two is the month is not known
		{Date, "1971-06-24", "1971-06-25", false},
		{Date, "24 Jun 1971", "1971-06-24", true},
		{Date, "Thursday, June 24th, 1971", "24.6.71", true},
		{Date, "24-JUN-71", "1971-06-24", true},
		{Date, "24. März 1971", "24 mars 1971", true},
		{Date, "24 août 1971", "24 de agosto de 1971", true},
		{Date, "1971-06-24 00:00:00", "1971-06-24", true},
		{Date, "1971-06-24T08:31:00Z", "06/24/1971 8:31 AM", true},
		{Date, "1971-06-24T08:31:00+02:00", "1971-06-24 08:31", true},
		{Date, "1971-06-24 08:31", "1971-06-24 08:32", false},
		{Date, "1971-06-24 08:31", "1971-06-24", false},
		{Time, "7:05 p.m.", "19:05:00", true},
		{Time, "12:10 am", "00:10", true},
		{Time, "07:05", "7:06", false},
		{Number, "1.200,50", "1,200.5", true},
		{Number, "12,5 €", "12.50", true},
		{Number, "1,200", "1200", true},
		{Number, "1.234.567,8", "1234567.8", true},
		{Number, "1.2,5", "1.25", false},
		{Latitude, "48.8566, 2.3522", "POINT(2.3522 48.8566)", true},
		{Longitude, "48.8566;2.3522", "POINT (2.3522 48.8566)", true},
		{Longitude, "48.8566, 2.3522", "2.3522, 48.8566", false},
		{Code, "(404) 231.1368", "4042311368", true},
	} {
		_, a := NewCutter().Cut(nil, []byte(c.a), c.kind)
		_, b := NewCutter().Cut(nil, []byte(c.b), c.kind)
		if (a.Words == b.Words) != c.same {
			t.Errorf("%s: %q and %q: same %v", c.kind, c.a, c.b, !c.same)
		}
	}
}

func TestColumnsLookLikeTheirKind(t *testing.T) {
	for value, want := range map[string]Kind{
		"1971-06-24": Date, "24/06/1971": Date, "19710624": Date, "$44.00": Number, "-3": Number, "1,200": Number,
		"404/231-1368": Code, "a1b2c3d4": Code, "New York": Text, "3 Main St": Text, "": Text, "99999999": Number,
		"24 Jun 1971": Date, "1971-06-24 08:31": Date, "Thursday, 24 février 1971 at 8:31:00 pm": Date, "08:31": Time, "3:45": Time,
		"48.8566, 2.3522": Place, "POINT(2.3522 48.8566)": Place, "48, 2": Text, "1200,50": Number,
		"BT 5895 D": Text, "1234 Main Street": Text, "12 a 3": Text,
	} {
		if got, _ := NewCutter().Shape([]byte(value)); got != want {
			t.Errorf("%q looks like %s, want %s", value, got, want)
		}
	}
}

func TestALongCellCostsABoundedNumberOfTokens(t *testing.T) {
	for _, v := range []string{strings.Repeat("x", 1<<20), strings.Repeat("ab ", 1<<20), strings.Repeat("é", 1<<18), strings.Repeat("a-b", 1<<18)} {
		if tokens, whole := NewCutter().Cut(nil, []byte(v), Text); len(tokens) > maxTokens+2*(maxWord+1) || whole.Words == 0 {
			t.Errorf("%d bytes have %d tokens", len(v), len(tokens))
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("New York"), uint8(0))
	f.Add([]byte("$1,200.50"), uint8(4))
	f.Add([]byte("24.6.1971"), uint8(5))
	f.Add([]byte("\xff\xc3é\u0301"), uint8(0))
	cutter := NewCutter()
	f.Fuzz(func(t *testing.T, value []byte, kind uint8) {
		k := kinds[int(kind)%len(kinds)]
		tokens, whole := cutter.Cut(nil, value, k)
		again, same := NewCutter().Cut(nil, value, k)
		if whole != same || !slices.Equal(tokens, again) {
			t.Fatal("a used cutter cuts otherwise than a new one")
		}
		if (whole.Words == 0) != (len(tokens) == 0) || whole.Ties != 0 && !k.OfWords() {
			t.Fatalf("%d tokens, %+v", len(tokens), whole)
		}
		NewCutter().Shape(value)
	})
}

func TestDictionariesNumberHashesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Dictionary
		seen := map[uint64]uint32{}
		for _, h := range rapid.SliceOf(rapid.Uint64Range(0, 200)).Draw(t, "hashes") {
			h *= 1 << 33 // all collide in the low bits
			want, ok := seen[h]
			if !ok {
				want = uint32(len(seen))
				seen[h] = want
			}
			if got := d.Number(h); got != want {
				t.Fatalf("%x has number %d, want %d", h, got, want)
			}
		}
		if d.Len() != len(seen) {
			t.Fatalf("%d hashes, want %d", d.Len(), len(seen))
		}
	})
}

// TestTablesHoldWhatWasPutIn holds tables made of chunks against the values cut one by one.
func TestTablesHoldWhatWasPutIn(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "new york", "New-York", "a-b c", "a b-c", "a b c", "york", "boston ma", "x", "10"})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.SliceOfN(word, 2, 2)).Draw(t, "rows")
		var n Numbering
		table := NewTable(2, &n)
		cutter := NewCutter()
		for len(rows) > 0 || table.Rows() == 0 {
			size := rapid.IntRange(0, len(rows)).Draw(t, "chunk")
			chunk := NewChunk([]Kind{Text, Words})
			for _, row := range rows[:size] {
				chunk.Append(cutter, []byte(row[0]), [][]byte{[]byte(row[0]), []byte(row[1])}, []byte(row[1]))
			}
			chunk.NameRows(0, func(int) string { return "-" })
			from := table.Rows()
			table.Add(chunk)
			for i, row := range rows[:size] {
				check(t, table, from+i, &n, row)
			}
			checkSame(t, table, &n)
			if rows = rows[size:]; len(rows) == 0 {
				break
			}
		}
	})
}

func check(t *rapid.T, table *Table, at int, n *Numbering, row []string) {
	for f, kind := range []Kind{Text, Words} {
		want, whole := NewCutter().Cut(nil, []byte(row[f]), kind)
		cell := table.Cells(at)[f]
		if (cell == 0) != (whole.Words == 0) {
			t.Fatalf("column %d of %q: value %d", f, row, cell)
		}
		if cell == 0 {
			continue
		}
		var numbers []uint32
		for _, h := range want {
			numbers = append(numbers, n.tokens.Number(h))
		}
		numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
		if got := n.Column(f).Tokens(cell - 1); !slices.Equal(got, numbers) {
			t.Fatalf("column %d of %q has tokens %v, want %v", f, row, got, numbers)
		}
	}
	if id := string(table.ID(at)); id != row[0] && !(row[0] == "" && id == "-") {
		t.Fatalf("id %q of %q", id, row)
	}
	if string(table.Kept(at, 0, 1)) != row[1] {
		t.Fatalf("kept %q of %q", table.Kept(at, 0, 1), row)
	}
}

// checkSame checks which values of the first column, which are the ids too, count as the same.
func checkSame(t *rapid.T, table *Table, n *Numbering) {
	for x := range table.Rows() {
		for y := range table.Rows() {
			a, b := table.Cells(x)[0], table.Cells(y)[0]
			if a == 0 || b == 0 {
				continue
			}
			_, of := NewCutter().Cut(nil, table.ID(x), Text)
			_, other := NewCutter().Cut(nil, table.ID(y), Text)
			if n.Column(0).Same(a-1, b-1) != (of.Words == other.Words) || (a == b) != (of == other) {
				t.Fatalf("%q has number %d and %q %d; same %v", table.ID(x), a, table.ID(y), b, of.Words == other.Words)
			}
		}
	}
}

func TestRepeatedTokensAreOthersIfTheyCount(t *testing.T) {
	c := NewCutter()
	once, _ := c.Cut(nil, []byte("one two one one"), Words)
	c.Repetitions = true
	counted, _ := c.Cut(nil, []byte("one two one one"), Words)
	fewer, _ := c.Cut(nil, []byte("two one one"), Words)
	set := func(tokens []uint64) []uint64 {
		tokens = slices.Clone(tokens)
		slices.Sort(tokens)
		return slices.Compact(tokens)
	}
	if len(set(once)) != 2 || len(set(counted)) != 4 || len(set(fewer)) != 3 {
		t.Errorf("%d tokens without repetitions, %d and %d with them", len(set(once)), len(set(counted)), len(set(fewer)))
	}
	for _, token := range append(set(once), set(fewer)...) {
		if !slices.Contains(counted, token) {
			t.Errorf("token %x is not among %x", token, counted)
		}
	}
	grams, _ := c.Cut(nil, []byte("banana banana"), Grams)
	for _, token := range grams {
		if token&gramBit == 0 {
			t.Errorf("%x is no gram any more", token)
		}
	}
}
