package linkage

// rivalry is what a record finds in the other table: its three best scores, falling, as far as
// there are so many, and how likely it is that its best pair is a match.
type rivalry struct {
	best    []float64
	matched float64
}

type rivalries []rivalry

func (r rivalries) see(record int, z, probability float64) {
	of := &r[record]
	of.best = append(of.best, z)
	for i := len(of.best) - 1; i > 0 && of.best[i] > of.best[i-1]; i-- {
		of.best[i], of.best[i-1] = of.best[i-1], of.best[i]
	}
	of.best = of.best[:min(3, len(of.best))]
	of.matched = max(of.matched, probability)
}

// sorted returns the best score of each record, ascending; −∞ for one without a candidate.
func (r rivalries) sorted() bests {
	best := make(bests, len(r))
	best.reset()
	for i, of := range r {
		if len(of.best) > 0 {
			best[i] = of.best[0]
		}
	}
	return best.sorted()
}

// expected returns, ascending, what the next best scores let expect of the best ones, if they are chance. If the
// best one of a record is a match the second best is what chance has found. If it is not, the best
// one is, and its distance from the second best is distributed as twice that of the second
// from the third, as far as scores of strangers fall off exponentially (A. Rényi, "On the theory
// of order statistics", 1953).
func (r rivalries) expected() bests {
	var scores bests
	for _, of := range r {
		switch {
		case len(of.best) > 1 && of.matched > 0.5:
			scores = append(scores, of.best[1])
		case len(of.best) > 2:
			scores = append(scores, of.best[1]+2*(of.best[1]-of.best[2]))
		}
	}
	return scores.sorted()
}
