package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/linkage"
)

const evil = "</script><script>alert(1)</script><!-- \u2028 ]]> <b>\"'&amp;"

// joined joins two small tables of which one name would break out of a page.
func joined(t *testing.T, evidence int) *linkage.Result {
	t.Helper()
	dir := t.TempDir()
	file := func(name string, rows [][]string) string {
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	left := file("l.csv", [][]string{{"id", "name", evil}, {"1", "ruth kowalski " + evil, "http://example.org/x"}, {"2", "peter whitfield", ""}, {"3,\"", strings.Repeat("amina okafor ", 500), ""}, {"\xff4", "john papadakis", ""}})
	right := file("r.csv", [][]string{{"id", "name"}, {"a", "ruth kowalsky " + evil}, {"b", "peter whitfield"}, {"c", "amina okafor"}, {"d", "john papadakis"}})
	r, err := linkage.Join(t.Context(), linkage.Config{Left: left, Right: right, Evidence: evidence})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, r *linkage.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := Pairs(&b, r, []string{"l.csv", evil}, []string{"left_id", "right_id", "match"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var dataElement = regexp.MustCompile(`(?s)<script id="data" type="application/json">(.*?)</script>`)

// data returns what the script of a page gets.
func data(t *testing.T, html string) (p page) {
	t.Helper()
	found := dataElement.FindStringSubmatch(html)
	if found == nil {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal([]byte(found[1]), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestValuesCannotBreakOutOfThePage(t *testing.T) {
	html := written(t, joined(t, 100))
	if n, want := strings.Count(strings.ToLower(html), "<script"), 2; n != want {
		t.Errorf("the page has %d scripts, want %d", n, want)
	}
	inside := dataElement.FindStringSubmatch(html)[1]
	if strings.ContainsAny(inside, "<>&\u2028\u2029") {
		t.Error("data of the page hold characters that end a script, or a line of one")
	}
	p := data(t, html)
	if p.Tables[1] != evil {
		t.Errorf("a name is %q after it was written as %q", p.Tables[1], evil)
	}
	if !slices.ContainsFunc(p.Pairs, func(p pair) bool {
		return slices.ContainsFunc(p.Values, func(v values) bool { return v.Name == shown(evil) })
	}) {
		t.Error("the column with that name is not on the page: the test says nothing")
	}
}

func TestThePageAsksForNothing(t *testing.T) {
	var b bytes.Buffer
	if err := Pairs(&b, &linkage.Result{}, []string{"l.csv"}, []string{"a", "b", "match"}); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, forbidden := range []string{"http:", "https:", "//cdn", "src=", "url(", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "<link", "innerHTML", "import("} {
		if strings.Contains(html, forbidden) {
			t.Errorf("the page has %q", forbidden)
		}
	}
	if !strings.Contains(html, `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;`) {
		t.Error("the page does not forbid requests")
	}
	if p := data(t, html); p.Pairs == nil {
		t.Error("no pairs are null, and not an empty list")
	}
}

func TestLabelsBeginWithTheBytesOfTheIDs(t *testing.T) {
	p := data(t, written(t, joined(t, 100)))
	file := []byte(p.Header)
	for _, pair := range p.Pairs {
		file = append(file, pair.Row...)
		file = append(append(file, pair.RowBytes...), "1\n"...)
	}
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows[0], []string{"left_id", "right_id", "match"}) {
		t.Errorf("the header is %q", rows[0])
	}
	for _, want := range [][]string{{"1", "a", "1"}, {"3,\"", "c", "1"}, {"\xff4", "d", "1"}} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("no row is %q: %q", want, rows)
		}
	}
}

func TestPartsOfABarAddUpToIt(t *testing.T) {
	p := data(t, written(t, joined(t, 100)))
	parts := 0
	for _, pair := range p.Pairs {
		for _, s := range pair.Steps {
			sum := 0.0
			for _, part := range s.Parts {
				sum += part.Adds
				parts++
			}
			if d := sum - s.Adds; len(s.Parts) > 0 && (d > 1e-9 || d < -1e-9) {
				t.Errorf("%s: parts add up to %v, want %v", s.Name, sum, s.Adds)
			}
		}
	}
	if parts == 0 {
		t.Error("no bar has parts")
	}
}

func TestFeaturesBeyondTheLargestAreOne(t *testing.T) {
	var features []step
	for i := range 30 {
		features = append(features, step{Name: "f", Adds: float64(i%7) - 3})
	}
	got := largest(features)
	sum := 0.0
	for _, f := range got {
		sum += f.Adds
	}
	want := 0.0
	for _, f := range features {
		want += f.Adds
	}
	if len(got) != mostFeatures+1 || sum != want || got[mostFeatures].Name != "22 other features" {
		t.Errorf("%d features with the sum %v, the last one %q; want %d, %v", len(got), sum, got[len(got)-1].Name, mostFeatures+1, want)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	got := shown(strings.Repeat("é", mostRunes) + "more\xff")
	if want := strings.Repeat("é", mostRunes) + " … (5 more)"; got != want {
		t.Errorf("shown as %q", got)
	}
	if got := shown("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("shown as %q", got)
	}
}

func TestWordsThatTheOtherValueLacksAreMarked(t *testing.T) {
	for _, c := range []struct {
		value, other, want string
	}{
		{"Bravia 40 inch (LCD)", "sony bravia lcd, 40", "Bravia 40 [inch] (LCD)"},
		{"alone", "", "alone"},
		{"a - b", "a", "a - [b]"},
		{"", "a", ""},
	} {
		var words []string
		for _, w := range Words(c.value, c.other) {
			if w.Alone {
				w.Text = "[" + w.Text + "]"
			}
			words = append(words, w.Text)
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%q beside %q is %q, want %q", c.value, c.other, got, c.want)
		}
	}
}

func TestKindsOfPairsAreListed(t *testing.T) {
	var page strings.Builder
	kinds := []linkage.Kind{
		{Agree: []string{"first", "a<b"}, Candidates: 1234, Taken: true, Examples: [][2]string{{"1", "2"}, {"3", "4"}}},
		{Candidates: 5},
	}
	if err := kindsOf(kinds).Render(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first, a&lt;b", "1,234", "taken for one thing", "1 and 2; 3 and 4", "no column"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in %s", want, page.String())
		}
	}
	if kindsOf(nil) != nil {
		t.Error("no kinds are listed")
	}
}
