// Command judge compares the result of any program for a corpus of corpusgen with
// the truth about it. There are three kinds of results:
//
//   - pairs (a,b,…): recall is the share of the planted pairs at or above the
//     threshold that are reported, precision the share of the reported pairs whose
//     exact similarity reaches it.
//   - removed (id,…): planted pairs connect near-duplicates to groups. Any n−1
//     documents of a group of n should be removed. Recall is the share of these that
//     were removed; precision counts documents of no group, and the last one of a
//     group, as wrong.
//   - flags (id,…): every document of a group should be named.
//
// Similarity is alike's own, of 5-word shingles. A file of results has a header,
// and ids in its first columns.
//
//	go run ./bench/others/judge -corpus C.jsonl -truth T.csv -kind pairs RESULT.csv
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/alike-dev/alike/bench/internal/scoring"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// score is the quality of a result: how many pairs or documents should be found, how
// many of them were found, how many were named, and how many of these are right.
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
	planted := make(map[scoring.IDs]bool) // does the pair reach the threshold?
	err := scoring.EachPair(truth, func(p scoring.IDs, similarity float64) { planted[p] = similarity >= threshold })
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
	s.Recall, s.Precision = scoring.Ratio(s.Found, s.Wanted), scoring.Ratio(s.Right, s.Named)
	return s, err
}

// judgePairs scores pairs. Of pairs that are not in the truth it computes the similarity from the texts.
func judgePairs(corpus, result string, planted map[scoring.IDs]bool, threshold float64) (score, error) {
	var s score
	for _, reaches := range planted {
		if reaches {
			s.Wanted++
		}
	}
	reported := make(map[scoring.IDs]bool)
	sets := make(map[string][]uint64) // of the documents in pairs that were not planted
	err := scoring.EachRow(result, 2, func(row []string) error {
		p := scoring.PairOf(row[0], row[1])
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
	if err := scoring.ReadSets(corpus, sets); err != nil {
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
func groupsOf(planted map[scoring.IDs]bool) map[string]*group {
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

// judgeDocuments scores documents. Of every group, spared documents need not be named.
func judgeDocuments(result string, groups map[string]*group, spared int) (score, error) {
	var s score
	seen := make(map[string]bool)
	err := scoring.EachRow(result, 1, func(row []string) error {
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
