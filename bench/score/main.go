// Command score compares the result of any program for a corpus of corpusgen with the truth about it. There are three
// kinds of results:
//
//   - pairs (a,b,similarity): recall is the share of the planted pairs at or above the threshold that are reported,
//     precision the share of the reported pairs whose exact similarity reaches it. A reported pair that was not planted
//     may be right: its similarity is computed from the texts.
//   - removed (id,…): planted pairs connect near-duplicates to groups. Any n−1 documents of a group of n should be removed.
//     Recall is the share of these that were removed; precision counts documents of no group, and the last one of a
//     group, as wrong.
//   - flags (id,…): every document of a group should be named.
//
// Similarity is alike's own, of 5-word shingles. A file of results has a header. The exit status is 1 if a reported pair is
// wrong, or if the recall is below the least allowed one; with -json neither is asked, and similarities are not read.
//
//	go run ./bench/score -corpus corpus.jsonl -truth truth.csv -threshold 0.8 pairs.csv
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/alike-dev/alike/bench/internal/scoring"
	"github.com/alike-dev/alike/simjoin"
)

// rounding is the largest error of a similarity printed with six decimals.
const rounding = 0.6e-6

// score is the quality of a result: how many pairs or documents should be found, how many of them were found, how many
// were named, and how many of these are right.
type score struct {
	Wanted    int     `json:"wanted"`
	Found     int     `json:"found"`
	Named     int     `json:"named"`
	Right     int     `json:"right"`
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`

	chance int // right ones that nobody planted
	wrong  []string
}

// question is what is asked about a result.
type question struct {
	corpus, truth, kind string
	threshold           float64
	exact               bool // similarities that are reported are exact
}

func main() {
	var q question
	flag.StringVar(&q.corpus, "corpus", "", "the corpus, JSONL with id and text")
	flag.StringVar(&q.truth, "truth", "", "its truth, id1,id2,similarity")
	flag.StringVar(&q.kind, "kind", "pairs", "what the result lists: pairs, removed or flags")
	flag.Float64Var(&q.threshold, "threshold", 0.8, "threshold that the pairs were asked for with")
	least := flag.Float64("recall", 0, "least recall")
	asJSON := flag.Bool("json", false, "print JSON; another program's similarities are its own")
	flag.Parse()
	q.exact = !*asJSON
	if flag.NArg() != 1 || q.corpus == "" || q.truth == "" {
		fmt.Fprintln(os.Stderr, "score: usage: score -corpus FILE -truth FILE [-kind KIND] [-threshold T] [-recall R] [-json] RESULT")
		os.Exit(2)
	}
	s, err := q.judge(flag.Arg(0))
	if err == nil && *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
	if *asJSON {
		return
	}
	fmt.Printf("planted at %v or above  %d, found %d: recall %.6f\n", q.threshold, s.Wanted, s.Found, s.Recall)
	fmt.Printf("reported                %d, wrong %d, right though not planted %d: precision %.6f\n", s.Named, s.Named-s.Right, s.chance, s.Precision)
	for _, w := range s.wrong[:min(10, len(s.wrong))] {
		fmt.Println("wrong:", w)
	}
	if s.Right < s.Named || s.Recall < *least {
		os.Exit(1)
	}
}

func (q question) judge(result string) (s score, err error) {
	planted := map[scoring.IDs]float64{}
	if err := scoring.EachPair(q.truth, func(p scoring.IDs, similarity float64) { planted[p] = similarity }); err != nil {
		return s, err
	}
	switch q.kind {
	case "pairs":
		s, err = q.judgePairs(result, planted)
	case "removed":
		s, err = judgeDocuments(result, q.groupsOf(planted), 1)
	case "flags":
		s, err = judgeDocuments(result, q.groupsOf(planted), 0)
	default:
		err = fmt.Errorf("unknown kind %q: choose pairs, removed or flags", q.kind)
	}
	s.Recall, s.Precision = scoring.Ratio(s.Found, s.Wanted), scoring.Ratio(s.Right, s.Named)
	return s, err
}

// judgePairs scores pairs. Of pairs that are not in the truth it computes the similarity from the texts.
func (q question) judgePairs(result string, planted map[scoring.IDs]float64) (s score, err error) {
	for _, is := range planted {
		if is >= q.threshold {
			s.Wanted++
		}
	}
	reported := map[scoring.IDs]float64{}
	sets := map[string][]uint64{} // of the documents in pairs that were not planted
	columns := 2
	if q.exact {
		columns = 3
	}
	err = scoring.EachRow(result, columns, func(row []string) (err error) {
		p := scoring.PairOf(row[0], row[1])
		if _, twice := reported[p]; twice {
			return fmt.Errorf("pair %s,%s is there twice", p[0], p[1])
		}
		reported[p] = 0
		if q.exact {
			reported[p], err = strconv.ParseFloat(row[2], 64)
		}
		is, known := planted[p]
		if !known {
			sets[p[0]], sets[p[1]] = nil, nil
		} else if is >= q.threshold {
			s.Found++
		}
		return err
	})
	if err != nil {
		return s, err
	}
	if err := scoring.ReadSets(q.corpus, sets); err != nil {
		return s, err
	}
	s.Named = len(reported)
	for p, says := range reported {
		is, known := planted[p]
		if !known {
			a, b := sets[p[0]], sets[p[1]]
			inter := simjoin.Intersection(a, b)
			is = scoring.Ratio(inter, max(1, len(a)+len(b)-inter))
		}
		if is >= q.threshold-rounding && (!q.exact || math.Abs(says-is) <= rounding) {
			s.Right++
			if !known {
				s.chance++
			}
		} else {
			s.wrong = append(s.wrong, fmt.Sprintf("%s,%s reported %.6f, is %.6f", p[0], p[1], says, is))
		}
	}
	return s, nil
}

// group is a set of documents that planted pairs connect.
type group struct {
	members []string
	named   int // of them, in the result
}

// groupsOf gives every document of a pair that reaches the threshold the members of its group.
func (q question) groupsOf(planted map[scoring.IDs]float64) map[string]*group {
	groups := map[string]*group{}
	of := func(id string) *group {
		if groups[id] == nil {
			groups[id] = &group{members: []string{id}}
		}
		return groups[id]
	}
	for p, is := range planted {
		if is < q.threshold {
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

// judgeDocuments scores documents. Of every group, spared documents need not be named.
func judgeDocuments(result string, groups map[string]*group, spared int) (s score, err error) {
	seen := map[string]bool{}
	err = scoring.EachRow(result, 1, func(row []string) error {
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
	done := map[*group]bool{}
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
