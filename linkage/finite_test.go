package linkage

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/measure"
)

// notFiniteNote begins the note of a model that was replaced.
const notFiniteNote = "no model of these tables has finite numbers"

// fewFilled is a table in which two columns agree wherever both are filled.
const fewFilled = `id,Source,Site name,Address,Phone,Program Name,Length of Day
1958,DFSS_AgencySiteLies_2012.csv,,,,,
628,CPS_Early_Childhood_Portal_scrape.csv, Ellington,Central,5346361,Head Start,hours
690,CPS_Early_Childhood_Portal_scrape.csv,Pulaski,Rd,2653830,Head Start,DAY
866,CPS_Early_Childhood_Portal_scrape.csv,Center,Leamington,5346100,Head Start,3-4
515,CPS_Early_Childhood_Portal_scrape.csv,Gilchrist-Marchman,Rd,9395115,Head Start,DAY
516,CPS_Early_Childhood_Portal_scrape.csv,Gilchrist-Marchman,Rd,9395115,Head Start,DAY
517,CPS_Early_Childhood_Portal_scrape.csv, Jenner,Cleveland,5348440,Head Start,hours
9,,,,,Care,
`

func TestColumnsThatAlwaysAgreeDoNotMakeEveryCandidateALink(t *testing.T) {
	r := join(t, Config{Left: write(t, "sites.csv", fewFilled)})
	checkFinite(t, r)
	if r.Links.Len() != 1 || len(r.Notes) > 0 {
		t.Errorf("%d links, want that of 515 and 516; notes %q", r.Links.Len(), r.Notes)
	}
	for _, c := range r.Columns {
		if c.Share != 1 {
			t.Errorf("column %s has a share of %v in what it says, want 1: it varies with no other", c.Left, c.Share)
		}
	}
}

// checkFinite fails if a number of a result is not finite.
func checkFinite(t testing.TB, r *Result) {
	t.Helper()
	for l := range r.Links.All() {
		if !model.Finite(l.Fields) || !model.Finite([]float64{l.Similarity, l.Probability}) {
			t.Fatalf("link %+v", l)
		}
	}
	for name, part := range map[string]any{"report": r.Report, "considered": r.Considered, "evidence": r.Evidence, "search": r.Search} {
		if at := notFinite(reflect.ValueOf(part)); at != "" {
			t.Fatalf("%s%s is not finite: %+v", name, at, part)
		}
	}
	if text := r.Report.String(); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Fatal(text)
	}
	if _, err := json.Marshal(r.Report); err != nil {
		t.Fatal(err)
	}
}

// notFinite returns the path of a float in v that is not finite, "" if there is none.
func notFinite(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Sprintf(": %v", x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if at := notFinite(v.Field(i)); at != "" {
				return "." + v.Type().Field(i).Name + at
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if at := notFinite(v.Index(i)); at != "" {
				return fmt.Sprintf("[%d]%s", i, at)
			}
		}
	}
	return ""
}

// values are what tables of oddTable hold: usual values, and those that numbers and weights stumble over.
var values = []string{
	"", "", "", "a", "Head Start", "Ellington", "Gilchrist-Marchman", "Ellingtom", "0", "-0", "1e308", "-1e308", "NaN", "Infinity", "-inf",
	"99999999999999999999", "0.000000000001", "1971-06-24", "24/06/1971", "06/24/1971", "99/99/9999", "-", "–", "\u0000", "\ufeff", "x x x x", "é",
}

// oddTable draws a table of few rows, whose columns are empty, constant, distinct or of few values.
func oddTable(t *rapid.T, name string, columns int) string {
	value := rapid.SampledFrom(values)
	of := make([]func(row int) string, columns)
	for f := range of {
		fixed := value.Draw(t, name+" value")
		of[f] = rapid.SampledFrom([]func(row int) string{
			func(int) string { return "" },
			func(int) string { return fixed },
			func(row int) string { return fmt.Sprint("v", row*7919) },
			func(int) string { return value.Draw(t, name+" cell") },
		}).Draw(t, name+" column")
	}
	var b strings.Builder
	b.WriteString("id")
	for f := range of {
		fmt.Fprintf(&b, ",c%d", f)
	}
	b.WriteString("\n")
	rows := rapid.SampledFrom([]int{0, 1, 2, 3, 8, 30}).Draw(t, name+" rows")
	for row := range rows {
		fmt.Fprint(&b, row)
		for f := range of {
			fmt.Fprintf(&b, ",%s", of[f](row))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestNothingThatIsNotFiniteLeavesAModel joins small tables of odd values by every rule and measure, and learns from
// labels of them.
func TestNothingThatIsNotFiniteLeavesAModel(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		table := func(name string, columns int) string {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(oddTable(r, name, columns)), 0o600); err != nil {
				r.Fatal(err)
			}
			return path
		}
		columns := rapid.IntRange(1, 7).Draw(r, "columns")
		c := Config{
			Left: table("l.csv", columns), Considered: true, Evidence: 10, Threads: 1,
			Match: rapid.SampledFrom([]Match{Mutual, OneToOne, Best, All}).Draw(r, "match"),
			Weighing: Weighing{
				Measure: rapid.SampledFrom([]measure.Measure{measure.Cosine, measure.WeightedJaccard}).Draw(r, "measure"),
				IDF:     rapid.SampledFrom([]IDF{IDFExact, IDFSketch, IDFNone}).Draw(r, "idf"), Repetitions: rapid.Bool().Draw(r, "repetitions"),
			},
		}
		if rapid.Bool().Draw(r, "two tables") {
			c.Right = table("r.csv", columns)
		}
		for range columns { // by hand, so that no column is left out for telling nothing
			c.Fields = append(c.Fields, Field{Left: fmt.Sprintf("c%d", len(c.Fields)), Weight: rapid.SampledFrom([]float64{1, 1e-300, 1000}).Draw(r, "weight")})
		}
		if rapid.Bool().Draw(r, "keys") {
			c.limits.many = 1
		}
		switch rapid.IntRange(0, 2).Draw(r, "decision") {
		case 1:
			c.Threshold = rapid.SampledFrom([]float64{0.3, 0.5, 1}).Draw(r, "threshold")
			c.Candidates = rapid.SampledFrom([]Candidates{"", TopK, LSH, Exact, Auto}).Draw(r, "candidates")
		case 2:
			c.Precision = rapid.SampledFrom([]float64{1e-300, 0.5, 0.999}).Draw(r, "precision")
		}
		result, err := Join(t.Context(), c)
		if err != nil {
			r.Fatal(err)
		}
		checkFinite(t, result)
		if slices.ContainsFunc(result.Notes, func(note string) bool { return strings.Contains(note, notFiniteNote) }) {
			r.Fatalf("the model was replaced: %q", result.Notes)
		}
		learnFrom(t, r, c, result)
	})
}

// learnFrom learns from labels of all pairs that a join has considered, and joins by the model.
func learnFrom(t *testing.T, r *rapid.T, c Config, result *Result) {
	var labels Labels
	for _, p := range result.Considered {
		labels.Pairs = append(labels.Pairs, Label{string(p.A), string(p.B), rapid.Bool().Draw(r, "label")})
	}
	c.Threshold, c.Precision, c.Candidates = 0, 0, ""
	l, err := NewLearner(t.Context(), c)
	if err != nil { // a table is empty
		return
	}
	if q, ok := l.Ask(labels.Pairs, nil); ok && !model.Finite([]float64{q.Probability}) {
		r.Fatalf("question %+v", q)
	}
	m, err := l.Fit(labels)
	if err != nil { // the labels are all of one kind
		return
	}
	text, err := json.Marshal(m)
	if err != nil {
		r.Fatal(err)
	}
	if c.Model, err = ReadModel(text); err != nil {
		r.Fatalf("%v in %s", err, text)
	}
	c.Fields = nil
	if result, err = Join(t.Context(), c); err != nil {
		r.Fatal(err)
	}
	checkFinite(t, result)
}
