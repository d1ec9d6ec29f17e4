// Command judge scores what any program found in a corpus of corpusgen against the
// truth about it. Programs answer in three ways, and each is held to its own:
//
//   - pairs (a,b,…): recall is the share of the planted pairs at or above the
//     threshold that are reported, precision the share of the reported pairs whose
//     exact similarity reaches it.
//   - removed (id,…): near-duplicates are connected by planted pairs into groups; of a
//     group of n, n−1 are to be removed, whichever. Recall is the share of these that
//     are removed; what is removed beyond, the last of a group or a document of none,
//     counts against precision.
//   - flags (id,…): every document of a group is to be named.
//
// Similarity is alike's own, of 5-word shingles. A file of results has a header,
// and ids in its first columns.
//
//	go run ./bench/others/judge -corpus C.jsonl -truth T.csv -kind pairs RESULT.csv
package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// ids is a pair of ids in a fixed order.
type ids [2]string

func pairOf(a, b string) ids {
	if a > b {
		a, b = b, a
	}
	return ids{a, b}
}

// score is what a result is worth: how many there are to be found, how many were
// found of them, how many were named, and how many of those rightly.
type score struct {
	Wanted    int     `json:"wanted"`
	Found     int     `json:"found"`
	Named     int     `json:"named"`
	Right     int     `json:"right"`
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
}

func main() {
	corpus := flag.String("corpus", "", "the corpus, JSONL with id and text")
	truth := flag.String("truth", "", "its truth, id1,id2,similarity")
	kind := flag.String("kind", "pairs", "what the result lists: pairs, removed or flags")
	threshold := flag.Float64("threshold", 0.8, "least similarity of near-duplicates")
	flag.Parse()
	if flag.NArg() != 1 || *corpus == "" || *truth == "" {
		fmt.Fprintln(os.Stderr, "judge: usage: judge -corpus FILE -truth FILE [-kind KIND] [-threshold T] RESULT")
		os.Exit(2)
	}
	s, err := judge(*corpus, *truth, flag.Arg(0), *kind, *threshold)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func judge(corpus, truth, result, kind string, threshold float64) (score, error) {
	planted := make(map[ids]bool) // does the pair reach the threshold?
	err := eachRow(truth, 3, func(row []string) error {
		similarity, err := strconv.ParseFloat(row[2], 64)
		planted[pairOf(row[0], row[1])] = similarity >= threshold
		return err
	})
	if err != nil {
		return score{}, err
	}
	var s score
	switch kind {
	case "pairs":
		s, err = judgePairs(corpus, result, planted, threshold)
	case "removed":
		s, err = judgeDocuments(result, groupsOf(planted), 1)
	case "flags":
		s, err = judgeDocuments(result, groupsOf(planted), 0)
	default:
		err = fmt.Errorf("unknown kind %q: choose pairs, removed or flags", kind)
	}
	s.Recall, s.Precision = ratio(s.Found, s.Wanted), ratio(s.Right, s.Named)
	return s, err
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// judgePairs scores pairs; what is not in the truth is computed from the texts.
func judgePairs(corpus, result string, planted map[ids]bool, threshold float64) (score, error) {
	var s score
	for _, reaches := range planted {
		if reaches {
			s.Wanted++
		}
	}
	reported := make(map[ids]bool)
	sets := make(map[string][]uint64) // of the documents in pairs that were not planted
	err := eachRow(result, 2, func(row []string) error {
		p := pairOf(row[0], row[1])
		if reported[p] {
			return fmt.Errorf("pair %s,%s is there twice", p[0], p[1])
		}
		reported[p] = true
		switch reaches, known := planted[p]; {
		case reaches:
			s.Found++
		case !known:
			sets[p[0]], sets[p[1]] = nil, nil
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	if err := readSets(corpus, sets); err != nil {
		return s, err
	}
	s.Named, s.Right = len(reported), s.Found
	least, err := measure.NewThreshold(measure.Jaccard, threshold)
	if err != nil {
		return s, err
	}
	for p := range reported {
		if _, known := planted[p]; !known {
			a, b := sets[p[0]], sets[p[1]]
			inter := simjoin.Intersection(a, b)
			if least.Reached(uint64(inter), uint64(len(a)), uint64(len(b))) {
				s.Right++
			}
		}
	}
	return s, nil
}

// groupsOf gives every document of a pair that reaches the threshold the members
// of its group.
func groupsOf(planted map[ids]bool) map[string]*group {
	groups := make(map[string]*group)
	of := func(id string) *group {
		if groups[id] == nil {
			groups[id] = &group{members: []string{id}}
		}
		return groups[id]
	}
	for p, reaches := range planted {
		if !reaches {
			continue
		}
		into, from := of(p[0]), of(p[1])
		if into == from {
			continue
		}
		for _, id := range from.members {
			into.members = append(into.members, id)
			groups[id] = into
		}
	}
	return groups
}

// group is a set of documents that planted pairs connect.
type group struct {
	members []string
	named   int // of them, in the result
}

// judgeDocuments scores documents; of every group, so many must not be named.
func judgeDocuments(result string, groups map[string]*group, spared int) (score, error) {
	var s score
	seen := make(map[string]bool)
	err := eachRow(result, 1, func(row []string) error {
		if seen[row[0]] {
			return fmt.Errorf("document %s is there twice", row[0])
		}
		seen[row[0]] = true
		s.Named++
		if g := groups[row[0]]; g != nil {
			g.named++
		}
		return nil
	})
	done := make(map[*group]bool)
	for _, g := range groups {
		if !done[g] {
			done[g] = true
			s.Wanted += len(g.members) - spared
			s.Found += min(g.named, len(g.members)-spared)
		}
	}
	s.Right = s.Found
	return s, err
}

// readSets fills in the feature sets of the documents that are keys of sets.
func readSets(corpus string, sets map[string][]uint64) error {
	if len(sets) == 0 {
		return nil
	}
	f, err := os.Open(corpus)
	if err != nil {
		return err
	}
	defer f.Close()
	shingler, err := shingle.New(shingle.Options{})
	if err != nil {
		return err
	}
	var parser fastjson.Parser
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		v, err := parser.ParseBytes(lines.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", corpus, err)
		}
		id := string(v.GetStringBytes("id"))
		if _, wanted := sets[id]; wanted {
			sets[id] = shingle.Set(shingler.AppendFeatures(nil, v.GetStringBytes("text")))
		}
	}
	return lines.Err()
}

// eachRow visits the rows of a CSV file after its header; each has as many columns
// as asked for, or more.
func eachRow(name string, columns int, visit func(row []string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	if _, err := r.Read(); err != nil {
		return fmt.Errorf("%s: header: %w", name, err)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(row) < columns {
			err = fmt.Errorf("a row has %d columns, not %d", len(row), columns)
		}
		if err == nil {
			err = visit(row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}
