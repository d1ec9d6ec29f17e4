package main

import "testing"

func TestTextsAreMeasuredInColumns(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		cut     string // to five columns
	}{
		{"", 0, ""}, {"cat", 3, "cat"}, {"catch", 5, "catch"}, {"cattle", 6, "catt…"},
		{"日本", 4, "日本"}, {"日本語", 6, "日本…"}, {"a日本語", 7, "a日…"}, {"e\u0301tude\u0301", 5, "e\u0301tude\u0301"},
		{"🙂🙂🙂", 6, "🙂🙂…"}, {"ｆｕｌｌ", 8, "ｆｕ…"},
	} {
		if got := columnsOf(c.text); got != c.columns {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.columns)
		}
		if got := shorten(c.text, 5); got != c.cut || columnsOf(padded(got, 5)) != 5 {
			t.Errorf("%q is shortened to %q, want %q", c.text, got, c.cut)
		}
	}
}
