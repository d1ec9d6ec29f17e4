// Command score compares the pairs that a program reported for a corpus of
// corpusgen with the truth: recall over the planted pairs at or above the
// threshold, and precision. A reported pair that was not planted may be right: its
// exact similarity is computed from the texts. The exit status is 1 if a reported
// pair is wrong, or if the recall is below the least allowed one.
//
//	go run ./bench/score -corpus corpus.jsonl -truth truth.csv -threshold 0.8 pairs.csv
package main

import (
	"flag"
	"fmt"
	"math"
	"os"

	"github.com/alike-dev/alike/bench/internal/scoring"
	"github.com/alike-dev/alike/simjoin"
)

// rounding is the largest error of a similarity printed with six decimals.
const rounding = 0.6e-6

// score is the quality of a result.
type score struct {
	planted  int // pairs of the truth at or above the threshold
	found    int // of these, reported
	reported int // pairs in the result
	chance   int // of these, not planted and yet as alike as reported
	wrong    []string
}

func (s score) recall() float64 { return scoring.Ratio(s.found, s.planted) }

func (s score) precision() float64 { return scoring.Ratio(s.reported-len(s.wrong), s.reported) }

func main() {
	corpus := flag.String("corpus", "", "the corpus, JSONL with id and text")
	truth := flag.String("truth", "", "its truth, id1,id2,similarity")
	threshold := flag.Float64("threshold", 0.8, "threshold that the pairs were asked for with")
	least := flag.Float64("recall", 0, "least recall")
	flag.Parse()
	if flag.NArg() != 1 || *corpus == "" || *truth == "" {
		fmt.Fprintln(os.Stderr, "score: usage: score -corpus FILE -truth FILE [-threshold T] [-recall R] PAIRS")
		os.Exit(2)
	}
	s, err := judge(*corpus, *truth, flag.Arg(0), *threshold)
	if err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
	fmt.Printf("planted pairs at %v or above  %d, found %d: recall %.6f\n", *threshold, s.planted, s.found, s.recall())
	fmt.Printf("reported pairs               %d, wrong %d, right though not planted %d: precision %.6f\n",
		s.reported, len(s.wrong), s.chance, s.precision())
	for _, w := range s.wrong[:min(10, len(s.wrong))] {
		fmt.Println("wrong:", w)
	}
	if len(s.wrong) > 0 || s.recall() < *least {
		os.Exit(1)
	}
}

// judge compares the result with the truth, and pairs that are not in the truth
// with the corpus.
func judge(corpus, truth, pairs string, threshold float64) (score, error) {
	var s score
	planted := make(map[scoring.IDs]float64)
	err := scoring.EachPair(truth, func(p scoring.IDs, similarity float64) {
		planted[p] = similarity
		if similarity >= threshold {
			s.planted++
		}
	})
	if err != nil {
		return s, err
	}
	unknown := make(map[scoring.IDs]float64)
	seen := make(map[scoring.IDs]bool)
	err = scoring.EachPair(pairs, func(p scoring.IDs, similarity float64) {
		s.reported++
		is, known := planted[p]
		switch {
		case seen[p]:
			s.wrong = append(s.wrong, fmt.Sprintf("%s,%s twice", p[0], p[1]))
		case !known:
			unknown[p] = similarity
		default:
			s.check(p, similarity, is, threshold)
			if is >= threshold {
				s.found++
			}
		}
		seen[p] = true
	})
	if err != nil || len(unknown) == 0 {
		return s, err
	}
	return s, s.checkUnknown(corpus, unknown, threshold)
}

// check records a pair whose similarity was reported wrongly or is too low.
func (s *score) check(p scoring.IDs, reported, is, threshold float64) bool {
	if math.Abs(reported-is) <= rounding && is >= threshold-rounding {
		return true
	}
	s.wrong = append(s.wrong, fmt.Sprintf("%s,%s reported %.6f, is %.6f", p[0], p[1], reported, is))
	return false
}

// checkUnknown computes the similarity of pairs that were not planted.
func (s *score) checkUnknown(corpus string, unknown map[scoring.IDs]float64, threshold float64) error {
	sets := make(map[string][]uint64)
	for p := range unknown {
		sets[p[0]], sets[p[1]] = nil, nil
	}
	if err := scoring.ReadSets(corpus, sets); err != nil {
		return err
	}
	for p, reported := range unknown {
		a, b := sets[p[0]], sets[p[1]]
		inter := simjoin.Intersection(a, b)
		if s.check(p, reported, scoring.Ratio(inter, max(1, len(a)+len(b)-inter)), threshold) {
			s.chance++
		}
	}
	return nil
}
