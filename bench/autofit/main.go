// Command autofit fits the costs of internal/forecast, by which `--candidates auto` chooses between bands and an exact join.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/bench/internal/docs"
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
)

const usage = `usage: autofit [flags] ALIKE DOCS.jsonl[.zst]…

ALIKE is the program, DOCS has a document a line with the field text. Of each file, for n of 1, 3 and 5 and thresholds of 0.2 to
0.8, the program takes pairs by bands and by an exact join, on one thread; the least processor time counts. The costs are those
that fit the difference of both best, in relation to the lesser: least squares, none below 0.

`

// A run is a file with a way to compare, and what was measured.
type run struct {
	name       string
	terms      forecast.Terms // of the exact join, less those of bands
	lsh, exact float64        // ns
}

func main() {
	log.SetFlags(0)
	runs := flag.Int("runs", 3, "runs of each, whose least counts")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	var all []run
	for _, file := range flag.Args()[1:] {
		found, err := measured(flag.Arg(0), file, *runs)
		if err != nil {
			log.Fatalf("%s: %v", file, err)
		}
		all = append(all, found...)
	}
	show(all, fit(all))
}

func measured(program, file string, runs int) (all []run, err error) {
	dir, err := os.MkdirTemp("", "autofit")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "docs.jsonl")
	texts, err := unpack(file, plain)
	if err != nil {
		return nil, err
	}
	for _, n := range []int{1, 3, 5} {
		for _, least := range []float64{0.2, 0.3, 0.5, 0.8} {
			r := run{name: fmt.Sprintf("%s, %d, %v", filepath.Base(filepath.Dir(file)), n, least)}
			if r.terms, err = termsOf(texts, n, least); err != nil {
				return nil, err
			}
			for how, took := range map[string]*float64{"lsh": &r.lsh, "exact": &r.exact} {
				for i := range runs {
					c := exec.Command(program, "pairs", plain, "--ngram", fmt.Sprint(n), "--threshold", fmt.Sprint(least), "--candidates", how,
						"--threads", "1", "--quiet", "-o", filepath.Join(dir, "pairs.csv"))
					if out, err := c.CombinedOutput(); err != nil {
						return nil, fmt.Errorf("%w: %s", err, out)
					}
					if of, _ := cost.Of(c.ProcessState); i == 0 || float64(of) < *took {
						*took = float64(of)
					}
				}
			}
			all = append(all, r)
			fmt.Printf("%s: bands %v, exact %v\n", r.name, time.Duration(r.lsh).Round(time.Millisecond), time.Duration(r.exact).Round(time.Millisecond))
		}
	}
	return all, nil
}

// unpack writes the documents of a file to path, unpacked, and returns their texts.
func unpack(file, path string) (texts []string, err error) {
	plain, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(plain)
	lines := json.NewEncoder(out)
	err = docs.Each(file, func(doc docs.Doc) error {
		texts = append(texts, doc.Text)
		return lines.Encode(doc)
	})
	return texts, errors.Join(err, out.Flush(), plain.Close())
}

// sets are the sets of all documents, each once. They implement forecast.Documents.
type sets struct {
	of       [][]uint64
	features []int // with repeats
}

func (s *sets) Each(visit func(d forecast.Document)) error {
	for i, of := range s.of {
		visit(forecast.Document{Number: uint32(i), Features: uint32(s.features[i]), Digest: recipe.Digest(of)[0]})
	}
	return nil
}

func (s *sets) Sets(of []uint32, _ func(uint64) bool, visit func(number uint32, set []uint64)) error {
	for _, i := range of {
		visit(i, s.of[i])
	}
	return nil
}

func termsOf(texts []string, n int, least float64) (t forecast.Terms, err error) {
	threshold, err := measure.NewThreshold(measure.Jaccard, least)
	if err != nil {
		return t, err
	}
	r, err := recipe.New(recipe.Options{Features: shingle.Options{N: n}, Threshold: threshold})
	if err != nil {
		return t, err
	}
	s, known, maker := &sets{}, map[uint64]bool{}, r.NewSetMaker()
	for _, text := range texts {
		features := maker.AppendFeatures(nil, []byte(text))
		repeats := len(features)
		features = distinct.Sort(features)
		if d := recipe.Digest(features)[0]; repeats > 0 && !known[d] {
			known[d] = true
			s.of, s.features = append(s.of, features), append(s.features, repeats)
		}
	}
	f, err := forecast.Of(forecast.Options{Recipe: r, Sides: new(sides.Self()), Threshold: threshold, Cap: 1000}, s)
	if err != nil {
		return t, err
	}
	exact, made := f.TermsOfExact(), f.TermsOfSets()
	signed, bands := f.TermsOfSignatures(), f.TermsByBands(r.Keys(), false, forecast.Once)
	for i := range t {
		t[i] = exact[i] + made[i] - signed[i] - bands[i]
	}
	return t, nil
}

// fit returns the costs, by descent along one after the other. It begins with those that the program has.
func fit(all []run) forecast.Terms {
	costs := forecast.Nanoseconds
	for range 20_000 {
		for i := range costs {
			along, square := 0.0, 0.0
			for _, r := range all {
				weight := 1 / (r.lesser() * r.lesser())
				along += weight * r.terms[i] * (r.exact - r.lsh - dot(costs, r.terms))
				square += weight * r.terms[i] * r.terms[i]
			}
			if square > 0 {
				costs[i] = max(costs[i]+along/square, 0)
			}
		}
	}
	return costs
}

func (r *run) lesser() float64 { return min(r.lsh, r.exact) }

func dot(a, b forecast.Terms) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// show prints both costs, and the runs for which the choice by them takes more than 1.2 times the better way.
func show(all []run, fitted forecast.Terms) {
	fmt.Print("\n| cost | now, ns | fitted, ns |\n|---|--:|--:|\n")
	for i, name := range []string{"index", "set", "sketch", "feature", "visit", "key", "vote", "pair", "compare"} {
		fmt.Printf("| %s | %.1f | %.1f |\n", name, forecast.Nanoseconds[i], fitted[i])
	}
	for i, costs := range []forecast.Terms{forecast.Nanoseconds, fitted} {
		worse := slices.DeleteFunc(slices.Clone(all), func(r run) bool {
			chosen := r.lsh
			if dot(costs, r.terms) <= 0 {
				chosen = r.exact
			}
			return chosen <= 1.2*r.lesser()
		})
		fmt.Printf("\n%s: %d of %d runs choose what takes more than 1.2 times the better way\n", []string{"now", "fitted"}[i], len(worse), len(all))
		for _, r := range worse {
			fmt.Printf("  %s: bands %v, exact %v\n", r.name, time.Duration(r.lsh).Round(time.Millisecond), time.Duration(r.exact).Round(time.Millisecond))
		}
	}
}
