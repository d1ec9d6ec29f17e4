package decide

import (
	"cmp"
	"math"
	"slices"
)

// A Stratum is a part of the candidates from which an audit draws pairs.
type Stratum struct {
	Linked   bool
	Size     int     // candidates, at least 1
	Expected float64 // mean of their probabilities
	Drawn    []int   // candidates, at most Size
}

// strataOf is the number of strata of links and of other candidates.
const strataOf = 2

// Draw draws n candidates to ask a person about, or all if there are no more. Links and other candidates
// have strata of their own by probability; how many are drawn from each follows from its size and from how uncertain it is
// (Neyman 1934). The candidates of a stratum are drawn in the ascending order of a value that tells nothing about them.
// Candidates that are no links and have a probability below improbable are so many that questions would find hardly a
// match among them: they are not drawn from, and rest is the number of matches that is expected there. Cost: a sort of the
// candidates.
func Draw(links []int, probability []float64, n int, order func(candidate int) uint64) (strata []Stratum, rest float64) {
	linked := make([]bool, len(probability))
	for _, i := range links {
		linked[i] = true
	}
	var others []int
	for i, p := range probability {
		switch {
		case linked[i]:
		case p >= improbable:
			others = append(others, i)
		default:
			rest += p
		}
	}
	of := append(divide(links, probability), divide(others, probability)...)
	for _, candidates := range of {
		s := Stratum{Linked: linked[candidates[0]], Size: len(candidates)}
		for _, i := range candidates {
			s.Expected += probability[i] / float64(len(candidates))
		}
		strata = append(strata, s)
	}
	drawn := allocate(strata, min(n, len(links)+len(others)))
	for i, candidates := range of {
		slices.SortFunc(candidates, func(a, b int) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
		strata[i].Drawn = candidates[:drawn[i]]
	}
	return strata, rest
}

// leastDeviation is the least standard deviation that is assumed of an answer: probabilities near 0 and 1 may be wrong.
const leastDeviation = 0.3

// divide cuts candidates, by their probabilities, into strata of equal sums of standard deviations.
func divide(candidates []int, probability []float64) (strata [][]int) {
	candidates = slices.Clone(candidates)
	slices.SortFunc(candidates, func(a, b int) int {
		return cmp.Or(cmp.Compare(probability[b], probability[a]), cmp.Compare(a, b))
	})
	whole := 0.0
	for _, i := range candidates {
		whole += deviation(probability[i])
	}
	sum, from := 0.0, 0
	for at, i := range candidates {
		sum += deviation(probability[i])
		if sum >= whole*float64(len(strata)+1)/strataOf || at == len(candidates)-1 {
			strata = append(strata, candidates[from:at+1:at+1])
			from = at + 1
		}
	}
	return strata
}

func deviation(p float64) float64 { return math.Sqrt(max(leastDeviation*leastDeviation, p*(1-p))) }

// allocate shares n questions, at most the sizes of all strata, among these: an eighth for each, if it has so many, and the
// rest one by one where they lessen the sum of the variances of precision and recall most. With R of M matches among the
// L links, these are var(R)/L² and, for small changes of R/M, var(R)·(1-R/M)²/M² + var(M-R)·(R/M)²/M².
func allocate(strata []Stratum, n int) (drawn []int) {
	links, right, matches := 1.0, 0.0, 1.0
	for _, s := range strata {
		matches += float64(s.Size) * s.Expected
		if s.Linked {
			links += float64(s.Size)
			right += float64(s.Size) * s.Expected
		}
	}
	recall := right / matches
	drawn, weight, left := make([]int, len(strata)), make([]float64, len(strata)), n
	for i, s := range strata {
		drawn[i] = min(s.Size, n/8)
		left -= drawn[i]
		of := recall / matches
		if s.Linked {
			of = math.Hypot(1/links, (1-recall)/matches)
		}
		weight[i] = float64(s.Size) * deviation(s.Expected) * max(of, 1e-12)
	}
	for range left {
		best, gain := -1, -1.0
		for i, s := range strata {
			if drawn[i] == s.Size {
				continue
			}
			if g := weight[i] * weight[i] / (float64(drawn[i]) * float64(drawn[i]+1)); g > gain { // +Inf before the first
				best, gain = i, g
			}
		}
		drawn[best]++
	}
	return drawn
}

// Answers are what a person has said of the pairs drawn from a stratum.
type Answers struct {
	Stratum
	Yes, No int
}

// Measure returns precision and recall of links as answers show them, with intervals of 95 % (of
// simulated audits of 40 pairs, 92 to 95 % have the true value within them). Recall is the share of the matches among the candidates that were drawn from. ok is false if there is no link, or
// no match.
//
// The interval of a stratum is Wilson's (1927), narrower the larger the part that was asked about; intervals of sums and
// of the ratio behind recall are combined from those by the method of variance estimates recovery (Zou and Donner 2008,
// Donner and Zou 2012). A stratum without answers may have any share of matches.
func Measure(answers []Answers) (precision, recall Share, ok bool) {
	var right, missed bounds
	links := 0.0
	for _, a := range answers {
		if b := a.matches(); a.Linked {
			right = right.plus(b)
			links += float64(a.Size)
		} else {
			missed = missed.plus(b)
		}
	}
	if links == 0 || right.value+missed.value == 0 {
		return precision, recall, false
	}
	precision = Share{max(0, right.value-right.below) / links, right.value / links, min(1, (right.value+right.above)/links)}
	return precision, recallOf(right, missed), true
}

// bounds are a number, and by how much it may be smaller and larger.
type bounds struct{ value, below, above float64 }

func (b bounds) plus(o bounds) bounds {
	return bounds{b.value + o.value, math.Hypot(b.below, o.below), math.Hypot(b.above, o.above)}
}

// z is the 97.5 % quantile of the normal distribution.
const z = 1.959964

// matches returns the number of matches in a stratum.
func (a *Answers) matches() bounds {
	size, n := float64(a.Size), float64(a.Yes+a.No)
	if n == 0 {
		return bounds{size * a.Expected, size * a.Expected, size * (1 - a.Expected)}
	}
	p := float64(a.Yes) / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	part := 0.0
	if a.Size > 1 {
		part = math.Sqrt((size - n) / (size - 1))
	}
	return bounds{size * p, size * part * max(0, p-(middle-half)), size * part * max(0, middle+half-p)}
}

// recallOf returns right / (right + missed) = 1 / (1 + missed/right).
func recallOf(right, missed bounds) Share {
	a, b := missed.value, right.value
	la, ua, lb, ub := max(0, a-missed.below), a+missed.above, max(0, b-right.below), b+right.above
	least, most := 0.0, math.Inf(1) // of missed/right
	if d := lb * (2*b - lb); d > 0 {
		most = (a*b + math.Sqrt(max(0, a*b*a*b-ua*(2*a-ua)*d))) / d
	}
	if d := ub * (2*b - ub); d > 0 {
		least = max(0, (a*b-math.Sqrt(max(0, a*b*a*b-la*(2*a-la)*d)))/d)
	} else if la > 0 {
		least = la / ub // +Inf if nothing can be right
	}
	return Share{1 / (1 + most), b / (a + b), 1 / (1 + least)}
}
