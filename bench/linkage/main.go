// Command linkage joins tables of real data whose truth is known, unchanged and in variants, and
// prints the quality of the decision that alike makes without labels:
//
//	go run ./bench/linkage -data ../shared/data [-folders DIR,…] [-only NAME]
//	go run ./bench/linkage -program PROGRAM [-match RULE,…] [-changed]
//
// Each line has the true matches, F1 at the best threshold on the probability, F1 of the
// decision, and precision and recall: true/estimated, from the least to the most. "named" is the precision of the
// links of which the truth names a record: where it lacks matches, the true precision is between the two.
// With -program, the built program is run over more tables: see measureProgram.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/linkage"
)

var columns = flag.Bool("columns", false, "print how columns are used")

func main() {
	data := flag.String("data", "../shared/data", "folder of the data sets")
	folders := flag.String("folders", "", "more folders, with table.csv, or tableA.csv and tableB.csv, and truth.csv, such as persons.py makes")
	only := flag.String("only", "", "only variants whose name begins so")
	plain := flag.Bool("plain", false, "only the tables as they are")
	learns := flag.Bool("learn", false, "learn from a half of the truth, and from 50 labels of it, and measure on the other half")
	program := flag.String("program", "", "run this program over the tables, pairs and clusters, and print a row of each run with what it expects and costs")
	tools := flag.String("tools", "../shared/tools", "with -program: folder of scripts that make tables; empty: none")
	matches := flag.String("match", "", "with -program: rules that two tables are joined by as well, such as mutual,one-to-one,best,all")
	changed := flag.Bool("changed", false, "with -program: also tables with changes that must make no difference")
	flag.Parse()
	work, err := os.MkdirTemp("", "linkage")
	check(err)
	defer os.RemoveAll(work)
	if *program != "" {
		measureProgram(*program, *data, *tools, *folders, *only, split(*matches), *changed, work)
		return
	}
	for _, v := range variants(*data, *folders, *plain || *learns) {
		switch {
		case !strings.HasPrefix(v.name, *only):
		case *learns:
			v.learn(work)
		default:
			v.run(work)
		}
	}
}

// split returns the words between commas.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// table is a table with its header first.
type table [][]string

func read(path string) table {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		f, err = os.Open(path + ".zst")
	}
	check(err)
	defer f.Close()
	r := csv.NewReader(f)
	if strings.HasSuffix(f.Name(), ".zst") {
		d, err := zstd.NewReader(f)
		check(err)
		defer d.Close()
		r = csv.NewReader(d)
	}
	rows, err := r.ReadAll()
	check(err)
	return rows
}

func (t table) write(path string) {
	f, err := os.Create(path)
	check(err)
	check(csv.NewWriter(f).WriteAll(t))
	check(f.Close())
}

// variant is a pair of tables, or one, with the truth.
type variant struct {
	name  string
	a, b  table // b is nil for one table
	truth [][2]string
}

// load reads the tables of a folder: two, if there is a tableB.csv.
func load(folder string) variant {
	v := variant{name: filepath.Base(folder)}
	if one, _ := filepath.Glob(filepath.Join(folder, "table.csv*")); len(one) > 0 {
		v.a = read(filepath.Join(folder, "table.csv"))
	} else {
		v.a, v.b = read(filepath.Join(folder, "tableA.csv")), read(filepath.Join(folder, "tableB.csv"))
	}
	v.truth = pairsOf(read(filepath.Join(folder, "truth.csv")))
	return v
}

// pairsOf returns the pairs of a truth: two ids a row, or an id and what it belongs to.
func pairsOf(truth table) (pairs [][2]string) {
	if second := strings.ToLower(truth[0][1]); second == "cluster" || second == "entity" {
		of := map[string]string{}
		for _, row := range truth[1:] {
			of[row[0]] = row[1]
		}
		for p := range closed(of) {
			pairs = append(pairs, p)
		}
		return pairs
	}
	for _, row := range truth[1:] {
		pairs = append(pairs, [2]string{row[0], row[1]})
	}
	return pairs
}

// shared are the folders of the data below -data.
var shared = []string{"er_abt_buy_full", "er_dblp_acm", "er_febrl4", "er_restaurants", "dedup_cora", "dedup_febrl1", "dedup_splink_fake1000"}

func variants(data, folders string, plain bool) (all []variant) {
	var from []string
	if data != "" {
		for _, name := range shared {
			from = append(from, filepath.Join(data, name))
		}
	}
	for _, folder := range append(from, split(folders)...) {
		v := load(folder)
		all = append(all, v)
		switch {
		case plain:
		case v.b == nil:
			all = append(all, v.duplicates(30), v.duplicates(10), v.duplicates(0), v.split())
		default:
			for _, share := range []int{90, 50, 10, 0} {
				all = append(all, v.overlap(share))
			}
			for _, c := range v.a[0][1:] {
				all = append(all, v.without(c))
			}
			all = append(all, v.renamed())
		}
	}
	return all
}

// chance returns a number from 0 to 99 that depends on a text only.
func chance(s string) int { return int(mixed(s) >> 33 % 100) }

// mixed returns a number that depends on a text only.
func mixed(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return (h ^ h>>29) * 0xbf58476d1ce4e5b9
}

// overlap keeps a share of the matches, in percent, and removes one record of each other match.
func (v variant) overlap(share int) variant {
	dropA, dropB := map[string]bool{}, map[string]bool{}
	for _, t := range v.truth {
		if chance(t[0]+"|"+t[1]) >= share {
			if chance(t[1]+"|"+t[0]) < 50 {
				dropA[t[0]] = true
			} else {
				dropB[t[1]] = true
			}
		}
	}
	return variant{fmt.Sprintf("%s %d%%", v.name, share), drop(v.a, dropA), drop(v.b, dropB), kept(v.truth, dropA, dropB)}
}

func drop(t table, ids map[string]bool) table {
	return slices.DeleteFunc(slices.Clone(t), func(row []string) bool { return ids[row[0]] })
}

func kept(truth [][2]string, dropA, dropB map[string]bool) [][2]string {
	return slices.DeleteFunc(slices.Clone(truth), func(t [2]string) bool { return dropA[t[0]] || dropB[t[1]] })
}

// without removes a column.
func (v variant) without(column string) variant {
	return variant{v.name + " without " + column, v.a.without(column), v.b.without(column), v.truth}
}

func (t table) without(column string) (rows table) {
	at := slices.Index(t[0], column)
	for _, row := range t {
		rows = append(rows, slices.Delete(slices.Clone(row), at, at+1))
	}
	return rows
}

// renamed gives the columns of the right table other names and the reverse order.
func (v variant) renamed() variant {
	var rows table
	for i, row := range v.b {
		row = slices.Clone(row)
		slices.Reverse(row[1:])
		if i == 0 {
			for j := range row[1:] {
				row[j+1] = fmt.Sprintf("c%d", j)
			}
		}
		rows = append(rows, row)
	}
	return variant{v.name + " renamed", v.a, rows, v.truth}
}

// clusters returns the cluster of each record that has a duplicate.
func (v variant) clusters() map[string]string {
	of := map[string]string{}
	var find func(x string) string
	find = func(x string) string {
		if p, ok := of[x]; ok && p != x {
			of[x] = find(p)
			return of[x]
		}
		return x
	}
	for _, t := range v.truth {
		a, b := find(t[0]), find(t[1])
		of[a], of[t[0]], of[t[1]], of[b] = a, a, a, a
	}
	for x := range of {
		of[x] = find(x)
	}
	return of
}

// duplicates keeps a share of the duplicates, in percent.
func (v variant) duplicates(share int) variant {
	of, seen, gone := v.clusters(), map[string]bool{}, map[string]bool{}
	for _, row := range v.a[1:] {
		c, ok := of[row[0]]
		if ok && seen[c] && chance(row[0]) >= share {
			gone[row[0]] = true
		} else if ok {
			seen[c] = true
		}
	}
	return variant{fmt.Sprintf("%s %d%%", v.name, share), drop(v.a, gone), nil, kept(v.truth, gone, gone)}
}

// split divides a table into two.
func (v variant) split() variant {
	s := variant{name: v.name + " split", a: table{v.a[0]}, b: table{v.a[0]}}
	left := map[string]bool{}
	for _, row := range v.a[1:] {
		if left[row[0]] = chance(row[0]) < 50; left[row[0]] {
			s.a = append(s.a, row)
		} else {
			s.b = append(s.b, row)
		}
	}
	for _, t := range v.truth {
		switch {
		case left[t[0]] && !left[t[1]]:
			s.truth = append(s.truth, t)
		case left[t[1]] && !left[t[0]]:
			s.truth = append(s.truth, [2]string{t[1], t[0]})
		}
	}
	return s
}

// run joins and prints a line.
func (v variant) run(work string) {
	c := v.config(work)
	c.Considered = true
	truth := v.isTrue()
	from := time.Now()
	r, err := linkage.Join(context.Background(), c)
	check(err)
	took := time.Since(from)
	links := slices.Collect(r.Links.All())
	right := v.count(links, truth)
	considered := r.Considered
	slices.SortStableFunc(considered, func(x, y linkage.Considered) int { return cmp.Compare(y.Probability, x.Probability) })
	best, n := 0.0, 0
	for i, l := range considered {
		if truth[v.key(l.A, l.B)] {
			n++
		}
		best = max(best, 2*float64(n)/float64(i+1+len(truth)))
	}
	p, rec := float64(right)/max(1, float64(len(links))), float64(right)/max(1, float64(len(truth)))
	f := 2 * float64(right) / max(1, float64(len(links)+len(truth)))
	if *columns {
		for _, c := range r.Columns {
			fmt.Printf("    %-16s %-6s agree %.2f chance %.2f information %5.2f share %.2f\n", c.Left, c.Tokens, c.Agreement, c.Chance, c.Information, c.Share)
		}
	}
	fmt.Printf("%-28s %7d best %.4f F1 %.4f links %6d p %.3f/%.3f-%.3f named %.3f r %.3f/%.3f-%.3f %5.1fs\n", v.name, len(truth), best, f, len(links),
		p, r.ExpectedPrecision[0], r.ExpectedPrecision[1], float64(right)/max(1, float64(v.named(links))), rec, r.ExpectedRecall[0], r.ExpectedRecall[1],
		took.Seconds())
}

// key returns the ids of a pair in the order of the truth: in one table the smaller one first.
func (v variant) key(a, b []byte) [2]string {
	if v.b == nil && string(a) > string(b) {
		a, b = b, a
	}
	return [2]string{string(a), string(b)}
}

func (v variant) count(links []linkage.Link, truth map[[2]string]bool) (n int) {
	for _, l := range links {
		if truth[v.key(l.A, l.B)] {
			n++
		}
	}
	return n
}

// names returns the left and the right records that the truth names.
func (v variant) names() (names [2]map[string]bool) {
	for side := range names {
		names[side] = map[string]bool{}
		for _, t := range v.truth {
			names[side][t[side]] = true
			if v.b == nil {
				names[side][t[1-side]] = true
			}
		}
	}
	return names
}

// named counts the links of which the truth names a record.
func (v variant) named(links []linkage.Link) (n int) {
	names := v.names()
	for _, l := range links {
		if names[0][string(l.A)] || names[1][string(l.B)] {
			n++
		}
	}
	return n
}
