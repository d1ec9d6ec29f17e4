package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/bench/internal/scoring"
)

// made are tables that the scripts of -tools make: script, arguments around the folder, and the tables of each result.
var made = []struct {
	name, script, size, seed string
	tables                   []string
}{
	{"households", "households.py", "20000", "7", []string{"table.csv"}},
	{"households a×b", "households.py", "20000", "7", []string{"a.csv", "b.csv"}},
	{"households -register", "households.py", "20000", "7", []string{"table.csv", "-register"}},
	{"persons 10⁴", "persons.py", "10000", "1", []string{"table.csv"}},
}

// real are the folders of data that programs are measured by.
var real = []string{
	"dedup_historical_50k", "er_transactions", "dedup_musicbrainz_20k", "dedup_cora", "dedup_febrl1",
	"dedup_splink_fake1000", "er_abt_buy_full", "er_dblp_acm", "er_febrl4", "er_restaurants",
}

// measureProgram runs a program over all tables, and prints a row of each run: the quality of pairs and clusters beside what
// the program expects, processor seconds and peak memory.
func measureProgram(program, data, tools, folders, only string, rules []string, changed bool, work string) {
	fmt.Println("| table | pairs P | R | F1 | says P | says R | clusters P | R | F1 | B³ | largest | cpu s | MiB |")
	fmt.Println("|---|--:|--:|--:|---|---|--:|--:|--:|--:|--:|--:|--:|")
	run := func(v variant) {
		all := []variant{v}
		if changed {
			all = append(all, v.changes()...)
		}
		for _, v := range all {
			runs := []string{""}
			if v.b != nil {
				runs = append(runs, rules...)
			}
			for _, rule := range runs {
				v.measure(program, rule, work)
			}
		}
	}
	wanted := func(name string) bool {
		return strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "dedup_"), "er_"), only)
	}
	for _, name := range real {
		if data != "" && wanted(name) {
			run(load(filepath.Join(data, name)))
		}
	}
	for _, folder := range split(folders) {
		if wanted(filepath.Base(folder)) {
			run(load(folder))
		}
	}
	for _, m := range made {
		if tools != "" && wanted(m.name) {
			folder := filepath.Join(work, m.script+m.size+m.seed)
			if _, err := os.Stat(folder); err != nil {
				check(exec.Command("python3", filepath.Join(tools, m.script), m.size, folder, m.seed).Run())
			}
			run(loadMade(m.name, folder, m.tables))
		}
	}
}

// loadMade reads one or two tables of a folder, with the truth; "-NAME" drops a column.
func loadMade(name, folder string, tables []string) variant {
	v := variant{name: name, a: read(filepath.Join(folder, tables[0])), truth: pairsOf(read(filepath.Join(folder, "truth.csv")))}
	if len(tables) == 1 {
		return v
	}
	if column, ok := strings.CutPrefix(tables[1], "-"); ok {
		v.a = v.a.without(column)
		return v
	}
	v.b = read(filepath.Join(folder, tables[1]))
	inA, inB := v.a.ids(), v.b.ids()
	var across [][2]string
	for _, t := range v.truth {
		switch {
		case inA[t[0]] && inB[t[1]]:
			across = append(across, t)
		case inA[t[1]] && inB[t[0]]:
			across = append(across, [2]string{t[1], t[0]})
		}
	}
	v.truth = across
	return v
}

func (t table) ids() map[string]bool {
	of := map[string]bool{}
	for _, row := range t[1:] {
		of[row[0]] = true
	}
	return of
}

// changes returns variants that must make no difference: another order of rows, the sides the other way round, and columns that
// say again what others say, see derivations.
func (v variant) changes() []variant {
	reversed := v
	reversed.name += " reversed"
	reversed.a = v.a.reversed()
	all := []variant{reversed}
	if v.b != nil {
		swapped := variant{name: v.name + " swapped", a: v.b, b: v.a}
		for _, t := range v.truth {
			swapped.truth = append(swapped.truth, [2]string{t[1], t[0]})
		}
		all = append(all, swapped)
	}
	for _, d := range derivations(v.a[0]) {
		if v.b != nil && d.missing(v.b[0]) {
			continue
		}
		w := v
		w.name += " " + d.name
		if w.a = v.a.with(d); v.b != nil {
			w.b = v.b.with(d)
		}
		all = append(all, w)
	}
	return all
}

func (t table) reversed() table {
	rows := slices.Clone(t)
	slices.Reverse(rows[1:])
	return rows
}

// said is what a program writes about its links.
type said struct {
	Precision [2]float64 `json:"expected_precision"`
	Recall    [2]float64 `json:"expected_recall"`
}

// measure runs a program, with a match rule if one is given, and prints a row.
func (v variant) measure(program, rule, work string) {
	c := v.config(work)
	links, clusters, summary := filepath.Join(work, "links.csv"), filepath.Join(work, "clusters.csv"), filepath.Join(work, "summary.json")
	args := []string{"join", c.Left, c.Right}
	if c.Right == "" {
		args = []string{"pairs", c.Left, "--records", "--clusters", clusters}
	}
	args = append(args, "-o", links, "--summary", summary, "--quiet")
	if rule != "" {
		args = append(args, "--match", rule)
	}
	for _, f := range []string{links, clusters, summary} {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			check(err)
		}
	}
	run := exec.Command(program, args...)
	run.Stderr = os.Stderr
	check(run.Run())
	var says said
	text, err := os.ReadFile(summary)
	check(err)
	check(json.Unmarshal(text, &says))

	truth := map[[2]string]bool{}
	for _, t := range v.truth {
		truth[v.key([]byte(t[0]), []byte(t[1]))] = true
	}
	if v.b == nil {
		truth = closed(v.clusters())
	}
	right, n, named := 0, 0, 0
	names := v.names()
	check(scoring.EachRow(links, 2, func(row []string) error {
		if n++; truth[v.key([]byte(row[0]), []byte(row[1]))] {
			right++
		}
		if names[0][row[0]] || names[1][row[1]] {
			named++
		}
		return nil
	}))
	p, r := scoring.Ratio(right, n), scoring.Ratio(right, len(truth))
	fmt.Printf("| %s | %.3f | %.3f | **%.3f** | %s | %s | ", strings.TrimSpace(v.name+" "+rule), p, r, f1(p, r), verdict(says.Precision, p, scoring.Ratio(right, named)), verdict(says.Recall, r, r))
	if v.b == nil {
		fmt.Print(v.scoreClusters(clusters))
	} else {
		fmt.Print("| | | | ")
	}
	took, peak := cost.Of(run.ProcessState)
	// A process is told to have at least the peak of the one that began it.
	more := ""
	if peak <= cost.PeakMemory() {
		more = "≤ "
	}
	fmt.Printf("| %.1f | %s%d |\n", took.Seconds(), more, peak>>20)
}

// verdict says a range, and whether it holds the truth, or what lies between two bounds of it: within 0.05, or unknown, as it is
// wider than 0.3.
func verdict(says [2]float64, low, high float64) string {
	what := "no"
	switch {
	case says[1]-says[0] > 0.3:
		what = "unknown"
	case says[0]-0.05 <= high && low <= says[1]+0.05:
		what = "yes"
	}
	return fmt.Sprintf("%.2f–%.2f %s", says[0], says[1], what)
}

func f1(p, r float64) float64 { return 2 * p * r / max(p+r, math.SmallestNonzeroFloat64) }

// closed returns all pairs of records that share an entity.
func closed(of map[string]string) map[[2]string]bool {
	members := map[string][]string{}
	for id, entity := range of {
		members[entity] = append(members[entity], id)
	}
	pairs := map[[2]string]bool{}
	for _, ids := range members {
		slices.Sort(ids)
		for i, a := range ids {
			for _, b := range ids[i+1:] {
				pairs[[2]string{a, b}] = true
			}
		}
	}
	return pairs
}

// scoreClusters returns precision, recall and F1 of the pairs within clusters, B³, and the sizes of the largest found and true one.
func (v variant) scoreClusters(path string) string {
	truth, got := v.clusters(), map[string]string{}
	check(scoring.EachRow(path, 2, func(row []string) error { got[row[0]] = row[1]; return nil }))
	type both struct{ got, true string }
	size, sizeTrue, sizeBoth := map[string]float64{}, map[string]float64{}, map[both]float64{}
	for id := range v.a.ids() {
		t, g := cmp.Or(truth[id], "alone "+id), cmp.Or(got[id], "alone "+id)
		size[g]++
		sizeTrue[t]++
		sizeBoth[both{g, t}]++
	}
	pairs := func(n float64) float64 { return n * (n - 1) / 2 }
	var right, found, all, bp, br, largest, largestTrue, records float64
	for b, n := range sizeBoth {
		right += pairs(n)
		bp += n * n / size[b.got]
		br += n * n / sizeTrue[b.true]
		records += n
	}
	for _, n := range size {
		found, largest = found+pairs(n), max(largest, n)
	}
	for _, n := range sizeTrue {
		all, largestTrue = all+pairs(n), max(largestTrue, n)
	}
	p, r := right/max(1, found), right/max(1, all)
	return fmt.Sprintf("%.3f | %.3f | **%.3f** | %.3f | %.0f (%.0f) ", p, r, f1(p, r), f1(bp/records, br/records), largest, largestTrue)
}

// A derivation makes a column of others of the same record.
type derivation struct {
	name string
	from []string // names of columns
	made func(values []string) string
}

var year = regexp.MustCompile(`\b(1[5-9]|20)\d\d\b`)

// derivations returns columns that say again what those of a table say: each column twice and in capitals, its first word, its
// first three letters, its initials and its year, and each two neighbours joined.
func derivations(header []string) (all []derivation) {
	if len(header) < 4 { // two columns and both joined are one table of one column
		return nil
	}
	columns := header[1:]
	for i, name := range columns {
		for what, of := range parts {
			all = append(all, derivation{name + " " + what, []string{name}, func(values []string) string { return of(values[0]) }})
		}
		if i > 0 {
			joined := func(values []string) string { return strings.TrimSpace(strings.Join(values, " ")) }
			all = append(all, derivation{columns[i-1] + " and " + name, columns[i-1 : i+1], joined})
		}
	}
	slices.SortFunc(all, func(x, y derivation) int { return strings.Compare(x.name, y.name) })
	return all
}

// parts make a value of another one.
var parts = map[string]func(string) string{
	"twice":         func(s string) string { return s },
	"in capitals":   strings.ToUpper,
	"first word":    func(s string) string { first, _, _ := strings.Cut(s, " "); return first },
	"three letters": func(s string) string { return string([]rune(s)[:min(3, utf8.RuneCountInString(s))]) },
	"initials": func(s string) (first string) {
		for _, word := range strings.Fields(s) {
			r, _ := utf8.DecodeRuneInString(word)
			first += string(r)
		}
		return first
	},
	"year": year.FindString,
}

// missing tells whether a table lacks a column that the derivation is made from.
func (d *derivation) missing(header []string) bool {
	return slices.ContainsFunc(d.from, func(name string) bool { return !slices.Contains(header, name) })
}

// with adds the column of a derivation.
func (t table) with(d derivation) (rows table) {
	for i, row := range t {
		value := "derived"
		if i > 0 {
			var values []string
			for _, name := range d.from {
				values = append(values, row[slices.Index(t[0], name)])
			}
			value = d.made(values)
		}
		rows = append(rows, append(slices.Clone(row), value))
	}
	return rows
}
