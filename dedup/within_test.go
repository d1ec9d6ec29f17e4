package dedup

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// valuesOf are values of the field "crawl" as JSON has them; the first two are one value.
var valuesOf = []string{"", `"crawl":null,`, `"crawl":"CC-2021",`, `"crawl":"CC-2022",`, `"crawl":7,`, `"crawl":"a \"b\" | c",`}

// crawls writes the documents of the trouble corpus, all texts in every value so that they are similar across, as lines
// of JSON, and returns the lines of each value.
func crawls(t testing.TB, dir string, seed uint64) (inputs, references string, lines [2]map[string][]string) {
	rng := rand.New(rand.NewPCG(seed, 28))
	docs := troubleDocs(seed)
	rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	var all [2]strings.Builder
	lines = [2]map[string][]string{{}, {}}
	for i, d := range docs {
		for n := range 2 {
			side := 0
			if rng.IntN(4) == 0 {
				side = 1
			}
			value := valuesOf[rng.IntN(len(valuesOf))]
			line := fmt.Sprintf("{\"id\":\"%s-%d\",%s\"size\":%d,\"text\":%q}\n", d.id, n, value, i*7%13, d.text)
			key := strings.ReplaceAll(value, `"crawl":null,`, "")
			lines[side][key] = append(lines[side][key], line)
			all[side].WriteString(line)
		}
	}
	inputs, references = filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "references.jsonl")
	writeFile(t, inputs, []byte(all[0].String()))
	writeFile(t, references, []byte(all[1].String()))
	return inputs, references, lines
}

// byValues runs a command once for each value, and returns what all runs found, in the order of the whole input.
func byValues(t *testing.T, command command, lines [2]map[string][]string, config func(inputs, references string) Config) outcome {
	all := outcome{files: map[string]string{}}
	for value := range lines[0] {
		dir := t.TempDir() // files have the same names in each
		inputs, references := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "references.jsonl")
		writeFile(t, inputs, []byte(strings.Join(lines[0][value], "")))
		writeFile(t, references, []byte(strings.Join(lines[1][value], "")))
		c := config(inputs, references)
		c.Threads = 1
		o, err := command.on(t, context.Background(), vfstest.NewMem(), c)
		if err != nil {
			t.Fatal(err)
		}
		all.lines = append(all.lines, o.lines...)
		for name, data := range o.files {
			all.files[name] += strings.ReplaceAll(data, dir, "")
		}
	}
	return all
}

// rows are the rows of an outcome in the order of their bytes, without headers.
func (o outcome) rows() map[string][]string {
	rows := map[string][]string{"pairs": slices.Sorted(slices.Values(o.lines))}
	for name, data := range o.files {
		if name == ReportFile {
			continue
		}
		lines := slices.Sorted(strings.SplitSeq(data, "\n"))
		rows[name] = slices.DeleteFunc(lines, func(line string) bool {
			return line == "" || line == "id,kept_id,similarity" || line == "id,cluster" || line == "id"
		})
	}
	return rows
}

// One run finds within each value what a run of the value alone finds, in every way of finding, whatever goes to disk.
func TestOneRunFindsWhatARunOfEachValueFinds(t *testing.T) {
	distance := 3
	more := []variant{
		{"a distance", func(c *Config, _ string) {
			scheme, err := simhash.ParseScheme("simhash/fastsimhash/v1 bits=64")
			if err != nil {
				t.Fatal(err)
			}
			c.Signatures, c.Decide = OfShingles{Scheme: recipe.SimHash(scheme)}, Distance(distance)
		}},
		{"overlap across", func(c *Config, references string) {
			c.Beside = With{references}
			c.Decide = Similarity{Measure: measure.Overlap, Threshold: 5}
		}},
		{"tags", func(c *Config, references string) {
			c.Tags, c.Beside = &Tags{}, Against{references}
			bySimilarity(c, func(s *Similarity) { s.Candidates = LSH{} })
		}},
	}
	for i, v := range append(allVariants(t), more...) {
		if testsize.Small() && i%6 != 0 {
			continue
		}
		dir := t.TempDir()
		inputs, references, lines := crawls(t, dir, uint64(i))
		config := func(inputs, references string) Config {
			c := v.config(inputs, references)
			c.Report, c.Within = nil, ""
			if s, ok := c.Decide.(Similarity); ok && s.Candidates == nil && s.Verify == "" {
				s.Candidates = Exact{} // what Auto takes depends on all documents together
				if s.Measure.ByParts() || s.Measure.IsCount() {
					s.Candidates = nil // there is one way
				}
				c.Decide = s
			}
			return c
		}
		for _, command := range v.commands() {
			if _, with := config(inputs, references).Beside.(With); (with || v.name == "overlap across") && command.name == "dedup" || v.name == "tags" && command.name == "pairs" {
				continue
			}
			want := byValues(t, command, lines, config).rows()
			for _, small := range []bool{true, false} {
				if !small && i%3 != 0 {
					continue
				}
				c := config(inputs, references)
				c.Within, c.Threads = "crawl", 3
				if small {
					tiny(&c)
					c.Work = WorkFolder{Path: workFolder}
				}
				got, err := command.on(t, context.Background(), vfstest.NewMem(), c)
				if err != nil {
					t.Fatalf("%s, %s: %v", v.name, command.name, err)
				}
				for name, data := range got.files {
					got.files[name] = strings.ReplaceAll(data, dir, "")
				}
				rows := got.rows()
				if len(rows) != len(want) {
					t.Errorf("%s, %s: other outputs", v.name, command.name)
				}
				for name := range want {
					if !slices.Equal(rows[name], want[name]) {
						t.Errorf("%s, %s, small %v: %s has %d rows, want %d, or others", v.name, command.name, small, name, len(rows[name]), len(want[name]))
					}
				}
			}
		}
	}
}

func TestWhatIsRemovedIsCountedByValue(t *testing.T) {
	inputs, _, lines := crawls(t, t.TempDir(), 5)
	c := Config{Inputs: []string{inputs}, Within: "crawl", Output: filepath.Join(t.TempDir(), "out"), Survivors: OnePerCluster{Keep: keepRule(t, "max:crawl")}}
	s, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	removed := int64(0)
	for i, of := range s.Within.Values {
		key := ""
		for k := range lines[0] {
			var record struct{ Crawl any }
			if err := json.Unmarshal([]byte(lines[0][k][0]), &record); err != nil {
				t.Fatal(err)
			}
			if of.Value == fmt.Sprint(cmp.Or(record.Crawl, any(""))) {
				key = k
			}
		}
		if n := int64(len(lines[0][key])); of.Documents != n || i > 0 && n > s.Within.Values[i-1].Documents {
			t.Errorf("%+v, want %d documents, most first", of, n)
		}
		removed += of.Removed
	}
	if len(s.Within.Values) != len(lines[0]) || removed != s.Removed || removed == 0 || s.Within.Others != nil {
		t.Errorf("%d removed of %+v, want %d of %d values", removed, s.Within, s.Removed, len(lines[0]))
	}
	pairs := int64(0)
	p, err := Pairs(t.Context(), Config{Inputs: []string{inputs}, Within: "crawl"}, func(Pair) error { pairs--; return nil })
	if err != nil || pairs == 0 {
		t.Fatalf("%d pairs, error %v", pairs, err)
	}
	for _, of := range p.Within.Values {
		pairs += of.Pairs
	}
	if pairs != 0 {
		t.Errorf("%d pairs more of values than pairs", pairs)
	}
}

func TestSoManyValuesAreCountedTogether(t *testing.T) {
	w := &Within{at: map[string]int{}}
	for i := range mostValues + 5 {
		w.of([]byte(fmt.Sprint(i))).Documents++
	}
	w.of([]byte("3")).Documents++
	w.of(make([]byte, mostValue+1)).Documents++
	if len(w.Values) != mostValues || w.Values[3].Documents != 2 || w.Others.Documents != 6 {
		t.Errorf("%d values, %+v others", len(w.Values), w.Others)
	}
}

func TestAFieldThatNoDocumentHasIsTold(t *testing.T) {
	inputs, _, _ := crawls(t, t.TempDir(), 6)
	var told []string
	c := Config{Inputs: []string{inputs}, Within: "crwal", OnNotice: func(n Notice) { told = append(told, n.String()) }}
	if _, err := Pairs(t.Context(), c, func(Pair) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(told, `no document has a field "crwal": Within compares all with each other`) {
		t.Errorf("%q", told)
	}
}

// The page counts what is removed by the values of it and of what is kept, and nothing else changes.
func TestByCountsRemovedDocumentsAcrossValues(t *testing.T) {
	one, other, _ := crawls(t, t.TempDir(), 6)
	run := func(by string) (outcome map[string]string, of *Report) {
		out := filepath.Join(t.TempDir(), "out")
		c := Config{Inputs: []string{one, other}, By: by, Output: out, Survivors: OnePerCluster{Keep: keepRule(t, "max:size")}}
		c.Report = func(_ io.Writer, r *Report) error { of = r; return nil }
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		files := tree(t, out)
		for _, name := range []string{"summary.json", "report.json"} {
			delete(files, name)
		}
		return files, of
	}
	plain, _ := run("")
	files, r := run("crawl")
	if !maps.Equal(plain, files) {
		t.Errorf("other files than without it")
	}
	values, places := map[string]string{}, map[string]string{}
	for _, file := range []string{one, other} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			var record struct {
				ID    string
				Crawl any
			}
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Fatal(err)
			}
			places[record.ID] = filepath.Base(file)
			if record.Crawl != nil {
				values[record.ID] = fmt.Sprint(record.Crawl)
			}
		}
	}
	removed, err := csv.NewReader(strings.NewReader(files["removed.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Across) != 2 || r.Across[1].Of != "crawl" || len(removed) < 20 {
		t.Fatalf("%d tables, %d rows", len(r.Across), len(removed))
	}
	for i, of := range []map[string]string{places, values} {
		a, want := r.Across[i], map[[2]string]int64{}
		for _, row := range removed[1:] {
			want[[2]string{of[row[0]], of[row[1]]}]++
		}
		got := map[[2]string]int64{}
		for y, row := range a.Rows {
			for x, column := range a.Columns {
				if i == 0 {
					row, column = filepath.Base(row), filepath.Base(column)
				}
				if n := a.Removed[y][x]; n > 0 {
					got[[2]string{row, column}] = n
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("of %q %v, want %v", a.Of, got, want)
		}
	}
	if w := r.Summary.By; w == nil || len(w.Values) != 5 || w.Field != "crawl" {
		t.Errorf("%+v", w)
	}
}
