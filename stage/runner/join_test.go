package runner

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/stage"
)

// twoTables writes a CSV and a JSONL table of products that are hard to join: values that are written in
// other ways, missing, or everywhere; ids that are missing; records that cannot be read; and of the crowd so
// many equal ones that a bucket is over the cap.
func twoTables(t *testing.T, left, right, crowd int) (a, b string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	vocab := words(rng, 400)
	product := func(i int) (title, maker, price, day string) {
		own := rand.New(rand.NewPCG(uint64(i), 9)) // the same in both tables
		for range 3 + own.IntN(4) {
			title += vocab[own.IntN(len(vocab))] + []string{" ", " ", "-", "/"}[own.IntN(4)]
		}
		title += fmt.Sprintf("ts%d", own.IntN(300))
		maker = fmt.Sprintf("Maker %d", own.IntN(9))
		price, day = fmt.Sprintf("%d.%02d", own.IntN(900), own.IntN(100)), fmt.Sprintf("2024-%02d-%02d", 1+own.IntN(12), 13+own.IntN(15))
		return title, maker, price, day
	}
	edit := func(title string) string {
		switch rng.IntN(5) {
		case 0:
			return strings.ReplaceAll(title, "-", " ")
		case 1:
			return strings.ToUpper(title)
		case 2:
			return title + " " + vocab[rng.IntN(len(vocab))]
		}
		return title
	}
	folder := t.TempDir()
	a, b = filepath.Join(folder, "left.csv"), filepath.Join(folder, "right.jsonl")
	var l, r strings.Builder
	l.WriteString("id,title,maker,price,day\n")
	for i := range left {
		title, maker, price, day := product(i)
		if i < crowd {
			title, maker, price, day = "one thing of many", "Maker 1", "1", "2024-01-13"
		}
		id := fmt.Sprintf("l%d", i)
		if i%31 == 3 {
			id = ""
		}
		if i%17 == 5 {
			maker = "N/A"
		}
		title = edit(title)
		fmt.Fprintf(&l, "%s,\"%s\",%s,$%s,%s\n", id, title, maker, price, day)
	}
	for i := range right {
		title, maker, price, day := product(i + left/3)
		if i < crowd {
			title, maker, price, day = "one thing of many", "Maker 1", "1.00", "13.01.2024"
			for k := 0; i < 3*crowd/4 && k < 250; k++ { // cannot be like the others, and is left out
				title += string(" abcdefghijklmnopqrstuvwxyz"[rng.IntN(27)])
			}
		}
		title = edit(title)
		if i%13 == 4 {
			r.WriteString("{\"id\": broken\n")
		}
		if i%19 == 7 {
			fmt.Fprintf(&r, "{\"name\":%q,\"maker\":%q,\"price\":%s}\n", title, maker, price)
			continue
		}
		fmt.Fprintf(&r, "{\"id\":\"r%d\",\"name\":%q,\"maker\":%q,\"price\":%s,\"day\":%q}\n", i, title, strings.ToUpper(maker), price, day)
	}
	if err := errors.Join(os.WriteFile(a, []byte(l.String()), 0o644), os.WriteFile(b, []byte(r.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// usable writes a table as JSON lines, without the records that cannot be read.
func usable(t *testing.T, table string) string {
	t.Helper()
	found, err := linkage.TableFiles(t.Context(), table, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := corpus.Columns(t.Context(), found[0], corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	f, err := corpus.Open(t.Context(), found[0], corpus.Options{NoText: true, IDField: corpus.NoID, Fields: columns})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parser := corpus.NewParser(corpus.Options{NoText: true, IDField: corpus.NoID, Fields: columns})
	var b corpus.Block
	defer b.Release()
	for f.Next(&b) == nil {
		parser.Start(f, &b)
		for r := (corpus.Record{}); parser.Next(&r); {
			values := map[string]string{}
			for i, v := range r.Fields {
				if len(v) > 0 {
					values[columns[i]] = string(v)
				}
			}
			line, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			if r.Err == nil {
				lines.Write(append(line, '\n'))
			}
		}
	}
	to := filepath.Join(t.TempDir(), "usable.jsonl")
	if err := os.WriteFile(to, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// cutLines cuts the lines of a file into parts of about as many.
func cutLines(t *testing.T, file string, n int) (parts []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range n {
		parts = append(parts, strings.Join(lines[i*len(lines)/n:(i+1)*len(lines)/n], ""))
	}
	return parts
}

// inFiles writes a table of lines as so many files of a folder.
func inFiles(t *testing.T, table string, n int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	header := ""
	for i, lines := range cutLines(t, table, n) {
		if filepath.Ext(table) == ".csv" {
			if lines = header + lines; header == "" {
				header = lines[:strings.Index(lines, "\n")+1]
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d%s", i, filepath.Ext(table))), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// plainJoin returns the list of links of one machine.
func plainJoin(t *testing.T, c linkage.Config, probability bool) string {
	t.Helper()
	r, err := linkage.Join(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var fields []linkage.Field
	for _, column := range r.Columns {
		fields = append(fields, column.Field)
	}
	var list strings.Builder
	w := csv.NewWriter(&list)
	ids := []string{"left_id", "right_id"}
	if c.Right == "" {
		ids = []string{"a", "b"}
	}
	rows := [][]string{headerOf(ids, fields, probability, c.With)}
	for l := range r.Links.All() {
		rows = append(rows, l.AppendRow(nil, probability))
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// compareJoin joins tables by tasks, and compares the list with that of one machine, of so many links at least.
func compareJoin(t *testing.T, c linkage.Config, o PlanOptions, links int) {
	t.Helper()
	want := plainJoin(t, c, o.Probability)
	if n := strings.Count(want, "\n"); n < links {
		t.Fatalf("%d links: no test", n)
	}
	folder := filepath.Join(t.TempDir(), "out")
	o.Work, o.Output = t.TempDir(), filepath.Join(folder, "links.csv")
	p, err := MakeJoin(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Load(strings.NewReader(string(jsonOf(t, p)))); err != nil {
		t.Fatal(err)
	}
	runAll(t, p, Options{})
	same(t, output(t, folder), map[string]string{"links.csv": want})
}

func TestAJoinByStagesIsThatOfOneMachine(t *testing.T) {
	left, right := twoTables(t, 150, 110, 0)
	crowdLeft, crowdRight := twoTables(t, 120, 150, 100)
	defer func(most int) { bands.BucketMost = most }(bands.BucketMost)
	bands.BucketMost = 50
	for name, tt := range map[string]struct {
		config     linkage.Config
		partitions int
		links      int // at least
	}{
		"as they are":          {linkage.Config{Left: left, Right: right, Threshold: 0.5}, 1, 60},
		"in many files":        {linkage.Config{Left: inFiles(t, left, 4), Right: inFiles(t, right, 3), Threshold: 0.5}, 3, 60},
		"in many partitions":   {linkage.Config{Left: left, Right: right, Threshold: 0.5}, 5, 60},
		"the smaller one left": {linkage.Config{Left: right, Right: left, Threshold: 0.6}, 3, 50},
		"without weights":      {linkage.Config{Left: left, Right: right, Threshold: 0.4, Weighing: linkage.Weighing{IDF: linkage.IDFNone, Measure: measure.WeightedJaccard, Repetitions: true}}, 2, 50},
		"with other columns":   {linkage.Config{Left: inFiles(t, left, 2), Right: right, Threshold: 0.5, With: []string{"day", "name", "title"}}, 2, 60},
		"columns by hand": {linkage.Config{Left: left, Right: right, Threshold: 0.7, RightID: "-", Fields: []linkage.Field{
			{Left: "title", Right: "name", Weight: 3, Tokens: "words"}, {Left: "maker"}, {Left: "price", Weight: 0.5},
		}}, 4, 50},
		"a bucket over the cap": {linkage.Config{Left: crowdLeft, Right: crowdRight, Threshold: 0.8}, 2, 150},
		"one with records that are left out": {linkage.Config{
			Left: crowdLeft, Right: crowdRight, Threshold: 0.3, Weighing: linkage.Weighing{IDF: linkage.IDFNone}, Fields: []linkage.Field{{Left: "title", Right: "name"}},
		}, 2, 250},
	} {
		t.Run(name, func(t *testing.T) {
			c := tt.config
			c.Match, c.Candidates = linkage.All, linkage.LSH
			compareJoin(t, c, PlanOptions{Partitions: tt.partitions}, tt.links)
		})
	}
}

// registers writes a table of things of which most stand in three registers, under names that differ in a letter. The last register
// has some of them twice.
func registers(t *testing.T, things int) (table string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	changed := func(s string) string {
		if rng.IntN(3) > 0 {
			return s
		}
		at := rng.IntN(len(s))
		return s[:at] + string(rune('a'+rng.IntN(26))) + s[at+1:]
	}
	rows := [][]string{{"id", "register", "name", "number", "town"}}
	for range things {
		w := words(rng, 3)
		name, number, town := fmt.Sprintf("%s%s %s", w[0], w[1], w[2]), fmt.Sprint(10_000+rng.IntN(90_000)), fmt.Sprintf("town%d", rng.IntN(30))
		for _, register := range []string{"north", "south", "west", "west"} {
			if rng.IntN(3) > 0 {
				rows = append(rows, []string{fmt.Sprint(len(rows)), register, changed(name), changed(number), town})
			}
		}
	}
	var list strings.Builder
	if err := csv.NewWriter(&list).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	table = filepath.Join(t.TempDir(), "registers.csv")
	if err := os.WriteFile(table, []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return table
}

// TestSourcesThatWereFoundAreThoseOfATask has a plan that finds the column that names sources, for a task that gets the columns only.
func TestSourcesThatWereFoundAreThoseOfATask(t *testing.T) {
	c := linkage.Config{Left: registers(t, 400)}
	compareJoin(t, c, PlanOptions{Partitions: 2, Probability: true}, 300)
	p, err := MakeJoin(t.Context(), c, PlanOptions{Work: t.TempDir(), Output: filepath.Join(t.TempDir(), "links.csv")})
	if err != nil {
		t.Fatal(err)
	}
	if doubled := p.Join.Rule.Doubled; !slices.Equal(p.Join.Sources, []string{"register"}) || !slices.Equal(doubled, []string{"west"}) {
		t.Errorf("sources %v, of which %v have things twice", p.Join.Sources, doubled)
	}
}

func TestAJoinThatOneTaskDecidesIsThatOfOneMachine(t *testing.T) {
	left, right := twoTables(t, 100, 80, 0)
	crowd, _ := twoTables(t, 60, 3, 10)
	var labels []linkage.Label
	for i := range 30 {
		labels = append(labels, linkage.Label{A: fmt.Sprintf("l%d", i+34), B: fmt.Sprintf("r%d", i+1), Match: true}, linkage.Label{A: fmt.Sprintf("l%d", i+34), B: fmt.Sprintf("r%d", i+2)})
	}
	learner, err := linkage.NewLearner(t.Context(), linkage.Config{Left: left, Right: right})
	if err != nil {
		t.Fatal(err)
	}
	model, err := learner.Fit(linkage.Labels{Pairs: labels})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		config      linkage.Config
		probability bool
	}{
		"nothing chosen, in many files": {linkage.Config{Left: inFiles(t, left, 3), Right: inFiles(t, right, 2)}, false},
		"rows by number, one to one":    {linkage.Config{Left: left, Right: right, LeftID: "-", RightID: "-", Match: linkage.OneToOne, Precision: 0.9}, true},
		"a column twice, and by bands": {linkage.Config{
			Left: right, Right: left, Match: linkage.Best, Threshold: 0.3, Searching: linkage.Searching{Candidates: linkage.LSH},
			Fields: []linkage.Field{{Left: "name", Right: "title"}, {Left: "name", Right: "maker", Tokens: "words"}, {Left: "price", Weight: 2}, {Left: "id"}},
		}, false},
		"with other columns": {linkage.Config{Left: left, Right: right, With: []string{"name", "id", "maker"}}, true},
		"one table":          {linkage.Config{Left: inFiles(t, crowd, 3)}, true},
		"a learned model":    {linkage.Config{Left: left, Right: right, Model: model}, true},
	} {
		t.Run(name, func(t *testing.T) {
			compareJoin(t, tt.config, PlanOptions{Partitions: 3, Probability: tt.probability}, 20)
		})
	}
}

func TestLinksOfStagesAreJSONWhereTheirFileIsNamedSo(t *testing.T) {
	left, right := twoTables(t, 60, 40, 0)
	c := linkage.Config{Left: left, Right: right, Threshold: 0.5, Match: linkage.All, Searching: linkage.Searching{Candidates: linkage.LSH}}
	rows, err := csv.NewReader(strings.NewReader(plainJoin(t, c, false))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "out")
	p, err := MakeJoin(t.Context(), c, PlanOptions{Work: t.TempDir(), Output: filepath.Join(folder, "links.jsonl"), Partitions: 2})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	w := linklist.New(&want, linklist.JSONL, p.Join.List())
	for _, row := range rows[1:] {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(want.String(), `{"left_id":"`) {
		t.Fatalf("no test: %q", want.String())
	}
	runAll(t, p, Options{})
	same(t, output(t, folder), map[string]string{"links.jsonl": want.String()})
}

func TestWhatAJoinByStagesDoesNotTakeIsRefused(t *testing.T) {
	left, right := twoTables(t, 3, 3, 0)
	good := linkage.Config{Left: left, Right: right, Threshold: 0.5, Match: linkage.All, Searching: linkage.Searching{Candidates: linkage.LSH}}
	for what, change := range map[string]func(c *linkage.Config, o *PlanOptions){
		"two tables":    func(_ *linkage.Config, o *PlanOptions) { o.Command = stage.Dedup },
		"known links":   func(c *linkage.Config, _ *PlanOptions) { c.Known = []linkage.Known{{}} },
		"no place":      func(_ *linkage.Config, o *PlanOptions) { o.Output = "" },
		"an own input":  func(_ *linkage.Config, o *PlanOptions) { o.Output = left },
		"a poor recall": func(c *linkage.Config, _ *PlanOptions) { c.Threshold, c.Recall = 0.01, 0.999 },
	} {
		c, o := good, PlanOptions{Output: "links.csv"}
		change(&c, &o)
		if _, err := MakeJoin(t.Context(), c, o); !errors.Is(err, dedup.ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := MakeJoin(t.Context(), good, PlanOptions{Output: "links.csv", Work: t.TempDir()}); err != nil {
		t.Error(err)
	}
}
