package entities

const (
	// dependentFrom is how many pairs a cluster has, at least, that are right or wrong together: fifteen records and more.
	// If it is two things, a large part of its pairs is wrong at once, whatever the evidence of each says.
	dependentFrom = 100
	// leastGroups is the number of independent groups below which nothing less sure is said: so few say nothing anyway.
	leastGroups = 4
	// deviations is the square of the normal deviate of 95 %.
	deviations = 1.96 * 1.96
)

// Sure returns by which factor the share of right pairs may be smaller since large clusters are right or wrong as a
// whole: Wilson's lower bound for as many trials as there are independent ones, in relation to that for all pairs. It
// is 1 where no cluster is large. The number of independent trials is that of equal weights with the same variance.
func (r *Result) Sure() float64 {
	pairs, variance := 0.0, 0.0
	for i := range r.Clusters {
		n := float64(r.Clusters[i].Pairs())
		pairs += n
		if n < dependentFrom {
			variance += n
		} else {
			variance += n * n
		}
	}
	if pairs == 0 {
		return 1
	}
	bound := func(n float64) float64 { return n / (n + deviations) }
	return min(1, bound(max(leastGroups, pairs*pairs/variance))/bound(pairs))
}
