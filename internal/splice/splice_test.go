package splice

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// spans draws spans of a text between its characters.
func spans(t *rapid.T, text string) (all []Span) {
	at := 0
	for at < len(text) {
		start := next(text, rapid.IntRange(at, len(text)).Draw(t, "start"))
		end := next(text, rapid.IntRange(start, len(text)).Draw(t, "end"))
		if end > start {
			all = append(all, Span{start, end})
		}
		at = end + 1
	}
	return all
}

func next(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}

func TestAnObjectLosesTheSpansOfItsFieldAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "b ", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, "é", "漢", `\/`, `{`, `}`, `[`, `,`, `:`, `\u0074ext`})
		draw := func(name string) string {
			return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, name), "")
		}
		content, other := draw("content"), draw("other")
		key := rapid.SampledFrom([]string{`text`, `\u0074ext`, `te\u0078t`}).Draw(t, "key")
		field := "text"
		before := `{ "x":{"text":"` + other + `","y":[1,"text",{"text":"` + other + `"}]}, "text" : "` + other + `", "z": "text", "` + key + `" : "`
		behind := `" ,"t":"` + other + "\",\"n\":[ ]}\r\n"
		for _, outer := range rapid.SliceOfN(rapid.SampledFrom([]string{"meta", "text", `m\u0065ta`, ""}), 0, 3).Draw(t, "outer") {
			field = strings.ReplaceAll(outer, `\u0065`, "e") + "." + field
			before = `{"t":{"` + field + `":"x"},"` + outer + `":"x","` + outer + `" : ` + before
			behind = strings.TrimRight(behind, "\r\n") + " ,\"t\":\"\"}\r\n"
		}
		var text string
		if err := json.Unmarshal([]byte(`"`+content+`"`), &text); err != nil {
			t.Fatal(err)
		}
		cuts := spans(t, text)
		got := string(Object(nil, []byte(before+content+behind), []byte(field), cuts))
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, behind) {
			t.Fatalf("more than the field has changed: %s", got)
		}
		kept := got[len(before) : len(got)-len(behind)]
		var left string
		if err := json.Unmarshal([]byte(`"`+kept+`"`), &left); err != nil || left != string(Cut(nil, []byte(text), cuts)) {
			t.Fatalf("%q without %v is %q (%s), want %q: %v", text, cuts, left, kept, Cut(nil, []byte(text), cuts), err)
		}
		if !subsequence(kept, content) {
			t.Fatalf("%s is not what is left of %s", kept, content)
		}
	})
}

// subsequence tells whether a has only bytes of b, in their order.
func subsequence(a, b string) bool {
	for i := range len(b) {
		if len(a) > 0 && a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}

func TestARowLosesTheSpansOfItsCellAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]byte{',', ';', 0}).Draw(t, "comma")
		piece := rapid.SampledFrom([]string{"a", "b ", "é", "漢", ".", "\"", "\n", ",", ";"})
		end := rapid.SampledFrom([]string{"\n", "\r\n", ""}).Draw(t, "end")
		n := rapid.IntRange(1, 4).Draw(t, "cells")
		column := rapid.IntRange(0, n-1).Draw(t, "column")
		var cells, raws []string
		for range n {
			text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "cell"), "")
			raw := `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			switch {
			case comma == 0:
				text = strings.NewReplacer("\n", "", "\"", "").Replace(text)
				raw = text
			case !strings.ContainsAny(text, "\"\n,;") && rapid.Bool().Draw(t, "plain"):
				raw = text
			}
			cells, raws = append(cells, text), append(raws, raw)
		}
		by := string(rune(comma))
		if comma == 0 {
			by = "\t"
		}
		cuts := spans(t, cells[column])
		got := string(Row(nil, []byte(strings.Join(raws, by)+end), column, comma, cuts))
		cells[column] = string(Cut(nil, []byte(cells[column]), cuts))
		if comma == 0 {
			if want := strings.Join(cells, by) + end; got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
			return
		}
		r := csv.NewReader(bytes.NewReader([]byte(got)))
		r.Comma = rune(comma)
		read, err := r.Read()
		if n == 1 && raws[0] == "" {
			return // not a record before
		}
		if err != nil || strings.Join(read, "|") != strings.Join(cells, "|") || !strings.HasSuffix(got, end) {
			t.Fatalf("%q has %q, want %q: %v", got, read, cells, err)
		}
	})
}
