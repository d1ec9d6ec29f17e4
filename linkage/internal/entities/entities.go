// Package entities groups records into clusters that hold: the records of a cluster are one thing as far as all
// pairs among them say, not only those that connect them.
//
// Use it after pairs have been compared and have log odds. It knows nothing of tables, columns or files.
//
// The method is average linkage over log odds. Each record begins as a cluster; the two clusters with the largest
// mean evidence between them are joined, then the next, as long as the mean is above a cut:
//
//	             sum of the evidence of compared pairs + Uncompared · number of other pairs
//	evidence =  ---------------------------------------------------------------------------
//	                          records of the one · records of the other
//
// So a pair that was compared and rejected counts against a cluster as much as a link counts for it, and a chain of
// records that were never compared falls apart. Evidence counts up to Most either way: no single pair outvotes many.
// The mean never rises (average linkage is reducible), so the joins above a cut are the same whatever the cut is.
//
// The cut has the largest expected F1 of the closed clusters: of all pairs of records that share a cluster, compared
// or not. A join of evidence v adds as many expected matches as pairs times 1/(1+e^−v).
//
// The other way, correlation clustering by greedy additive contraction (M. Keuper et al., "Efficient decomposition
// of image and mesh graphs by lifted multicuts", ICCV 2015), takes sums in place of means. It did about as well on most
// tables, and worse on historical_50k, where the weight of pairs that were not compared then decides more; and sums
// give no probability.
//
// Results depend neither on the order of pairs nor on the number of threads: evidence is added as whole numbers.
package entities

import (
	"cmp"
	"context"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/sorting"
)

// Evidence of pairs, in nats.
const (
	Most       = 6.0  // evidence of a pair counts up to this, for and against
	Uncompared = -1.0 // what a pair says that was not compared: it was not alike enough
	Least      = -0.5 // no cut is lower: means near Uncompared say nothing
)

// A Pair is two records that were compared, and the log odds that they are one thing.
type Pair struct {
	A, B     uint32
	Evidence float64
}

// A Graph is what is known of records.
type Graph struct {
	Records int
	Pairs   []Pair // each two records at most once, rejected ones too: they count
	// Sources has the source of each record; nil: there are none. A source other than 0 has a thing at most once:
	// no two of its records share a cluster. With Told somebody said so: a record that might be of either of two clusters
	// is of one of them at most, which makes both less probable.
	Sources []uint32
	Told    bool
	// Same and Different are pairs about which somebody has said what they are. Clusters keep to them, also through
	// other records. Where they contradict each other, Different wins, see Contradiction.
	Same, Different [][2]uint32
}

// Options say where to cut. The zero value cuts where the expected F1 is largest.
type Options struct {
	Precision float64  // wanted expected share of right pairs in clusters; 0: the best F1
	Cut       *float64 // evidence from which clusters are joined, at least Least; nil: by the data
	Even      bool     // no join is less likely right than wrong
	Threads   int      // at least 1
}

// A Cluster is two or more records that are one thing.
type Cluster struct {
	Members []uint32 // ascending
	// Probability is that of the join with the least evidence, which is the last one: the probability that a record
	// of the one part and a record of the other are one thing, on average.
	Probability float64
	Weakest     Pair // the strongest pair between these two parts: without it the cluster falls apart soonest
	// Believed is the number of pairs in the cluster that are more likely right than wrong by themselves.
	Believed int
	Joins    []Pair // pairs that connect the members: of each join the strongest one
}

func (c *Cluster) Pairs() int { return len(c.Members) * (len(c.Members) - 1) / 2 }

// A Reason says why two records do not share a cluster although they are likely one thing.
type Reason string

const (
	BySource  Reason = "source"  // the source has a thing once, and their clusters have records of one source
	ByVerdict Reason = "verdict" // somebody has said that they, or others of their clusters, are different
	ByOthers  Reason = "others"  // the other pairs between their clusters say no, or the cut is above their evidence
)

// A Contradiction is a pair that is likely one thing by itself, or was said to be, and that cannot hold together
// with others. If somebody has said that it is the same, its evidence is +∞.
type Contradiction struct {
	Pair
	Reason Reason
}

// A Result is the clusters of records.
type Result struct {
	Clusters       []Cluster // by their first records
	Contradictions []Contradiction
	Cut            float64 // the least evidence that joined clusters; +∞: nothing was joined
	// Right is the expected number of pairs in clusters that are one thing, RightAlone the same by the evidence of
	// each pair alone where those not compared are none, and Pairs the number of all pairs in clusters. Matches is
	// the expected number of matches.
	Right, RightAlone, Pairs, Matches float64
}

// Precision returns the least and the largest expected share of the pairs in clusters that are one thing.
func (r *Result) Precision() (low, high float64) {
	if r.Pairs == 0 {
		return 1, 1
	}
	a, b := r.RightAlone/r.Pairs, r.Right/r.Pairs
	return min(a, b) * r.Sure(), max(a, b)
}

// Of returns the number of each record's cluster in Clusters; −1: it is alone.
func (r *Result) Of(records int) []int32 {
	of := make([]int32, records)
	for i := range of {
		of[i] = -1
	}
	for c := range r.Clusters {
		for _, m := range r.Clusters[c].Members {
			of[m] = int32(c)
		}
	}
	return of
}

// Find groups the records. O(pairs · log² pairs) time, and memory for the pairs once more. It ends early only if the
// context does.
func Find(ctx context.Context, g *Graph, o Options) (*Result, error) {
	groups := split(g)
	trees, err := joinAll(ctx, g, groups, max(1, o.Threads))
	if err != nil {
		return nil, err
	}
	r := &Result{}
	r.cut(g, trees, &o)
	of := r.collect(g, trees)
	r.contradict(g, trees, of)
	return r, ctx.Err()
}

// probability returns the probability that evidence stands for.
func probability(evidence float64) float64 { return 1 / (1 + math.Exp(-evidence)) }

// bounded returns the evidence of a pair as far as it counts.
func bounded(evidence float64) float64 { return max(-Most, min(Most, evidence)) }

// unit is the size of a step in which evidence and probabilities are added: sums of whole numbers do not depend on
// their order.
const unit = 1.0 / (1 << 20)

// steps returns the evidence of a pair as far as it counts, in steps.
func steps(evidence float64) int64 { return int64(math.Round(bounded(evidence) / unit)) }

// steps returns the probability of a pair by its own evidence, in steps.
func (p Pair) steps() int64 { return int64(math.Round(probability(bounded(p.Evidence)) / unit)) }

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

// cut chooses how far the joins of all groups go, and sets the figures of the result.
func (r *Result) cut(g *Graph, trees []tree, o *Options) {
	var joins []join
	for i := range trees {
		joins = append(joins, trees[i].joins...)
	}
	sorting.Func(joins, func(x, y join) int {
		return cmp.Or(cmp.Compare(y.evidence, x.evidence), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	r.Matches = matches(g, joins)
	n := 0 // of the joins that are made
	for n < len(joins) && math.IsInf(joins[n].evidence, 1) {
		n++
	}
	var right, pairs, best float64
	for i := 0; i < len(joins); {
		// Joins of equal evidence are made or left out together.
		at := joins[i].evidence
		if at < 0 && (o.Even || best < 0.5 && o.Cut == nil && o.Precision == 0) {
			break // with an F1 below a half the data are too weak to accept what is improbable
		}
		for ; i < len(joins) && joins[i].evidence == at; i++ {
			right += joins[i].pairs * probability(at)
			pairs += joins[i].pairs
		}
		f1 := 2 * right / (pairs + r.Matches)
		var take bool
		switch {
		case o.Cut != nil:
			take = at >= *o.Cut
		case o.Precision > 0:
			take = right >= o.Precision*pairs
		default:
			take = f1 > best
		}
		if take {
			n = max(n, i)
		}
		best = max(best, f1)
	}
	r.Cut = math.Inf(1)
	for _, j := range joins[:n] {
		r.Cut = j.evidence
		r.Right += j.pairs * probability(j.evidence)
		r.Pairs += j.pairs
	}
}

// matches returns the expected number of pairs that are one thing: in clusters that are closed at even odds all
// pairs count by the evidence of the joins, others by their own.
func matches(g *Graph, joins []join) (n float64) {
	sets := cluster.New(g.Records)
	for _, j := range joins {
		if j.evidence >= 0 {
			sets.Union(j.a, j.b)
			n += j.pairs * probability(j.evidence)
		}
	}
	var others int64
	for _, p := range g.Pairs {
		if sets.Find(p.A) != sets.Find(p.B) {
			others += p.steps()
		}
	}
	return n + float64(others)*unit
}

// collect makes the clusters from the joins above the cut. It returns the number of each record's cluster; −1: it is
// alone.
func (r *Result) collect(g *Graph, trees []tree) []int32 {
	sets := cluster.New(g.Records)
	size := make([]uint32, g.Records)
	made := func(yield func(join)) {
		for i := range trees {
			for _, j := range trees[i].joins {
				if j.evidence >= r.Cut {
					yield(j)
				}
			}
		}
	}
	made(func(j join) { sets.Union(j.a, j.b) })
	for i := range uint32(g.Records) {
		size[sets.Find(i)]++
	}
	of, number := make([]int32, g.Records), make([]int32, g.Records)
	for i := range uint32(g.Records) {
		root := sets.Find(i)
		if of[i] = -1; size[root] < 2 {
			continue
		}
		if number[root] == 0 {
			r.Clusters = append(r.Clusters, Cluster{Members: make([]uint32, 0, size[root]), Joins: make([]Pair, 0, size[root]-1)})
			number[root] = int32(len(r.Clusters))
		}
		of[i] = number[root] - 1
		c := &r.Clusters[of[i]]
		c.Members = append(c.Members, i)
	}
	made(func(j join) { // those of a cluster in falling order of evidence
		c := &r.Clusters[of[j.a]]
		c.Joins = append(c.Joins, j.best)
		c.Probability, c.Weakest = probability(j.evidence), j.best
	})
	if g.Told {
		r.compete(trees, of)
	}
	var alone int64
	for _, p := range g.Pairs {
		if c := of[p.A]; c >= 0 && c == of[p.B] {
			if alone += p.steps(); p.Evidence > 0 {
				r.Clusters[c].Believed++
			}
		}
	}
	r.RightAlone = float64(alone) * unit
	return of
}

// compete makes clusters less probable that sources kept apart though their records are alike: of what cannot both be, each
// has the share of its odds.
func (r *Result) compete(trees []tree, of []int32) {
	rivals := make([]float64, len(r.Clusters)) // of each cluster: the sum of the odds of others
	for i := range trees {
		for _, j := range trees[i].rivals {
			for _, record := range []uint32{j.a, j.b} {
				if c := of[record]; c >= 0 {
					rivals[c] += math.Exp(j.evidence)
				}
			}
		}
	}
	for c, other := range rivals {
		if p := &r.Clusters[c].Probability; *p < 1 { // nobody has said that it is one thing
			odds := *p / (1 - *p)
			*p = odds / (1 + odds + other)
		}
	}
}

// contradict lists what cannot hold together.
func (r *Result) contradict(g *Graph, trees []tree, of []int32) {
	for i := range trees {
		for _, p := range trees[i].refused {
			r.Contradictions = append(r.Contradictions, Contradiction{Pair{p[0], p[1], math.Inf(1)}, ByVerdict})
		}
	}
	name := func(record uint32) uint32 { // of what the record is part of
		if c := of[record]; c >= 0 {
			return r.Clusters[c].Members[0]
		}
		return record
	}
	different := map[uint64]bool{}
	for _, p := range g.Different {
		different[key(name(p[0]), name(p[1]))] = true
	}
	for _, p := range g.Pairs {
		if a, b := name(p.A), name(p.B); p.Evidence > 0 && a != b {
			c := Contradiction{p, ByOthers}
			switch {
			case different[key(a, b)]:
				c.Reason = ByVerdict
			case g.Sources != nil && r.share(g, of, p):
				c.Reason = BySource
			}
			r.Contradictions = append(r.Contradictions, c)
		}
	}
	sorting.Func(r.Contradictions, func(x, y Contradiction) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(y.Evidence, x.Evidence))
	})
}

// share tells whether the clusters of the records of a pair have records of one source.
func (r *Result) share(g *Graph, of []int32, p Pair) bool {
	members := func(record uint32) []uint32 {
		if c := of[record]; c >= 0 {
			return r.Clusters[c].Members
		}
		return []uint32{record}
	}
	for _, a := range members(p.A) {
		for _, b := range members(p.B) {
			if s := g.Sources[a]; s != 0 && s == g.Sources[b] {
				return true
			}
		}
	}
	return false
}
