package linkage

import (
	"cmp"
	"iter"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/entities"
	"github.com/alike-dev/alike/linkage/internal/held"
)

// A Cluster is records of one table that are one thing, see Config.Clusters. Members and the ends of pairs are
// numbers of records as in Link.RowA; Evidence of pairs is in nats.
type Cluster = entities.Cluster

// Entities are the clusters of one table. Right, RightAlone, Pairs and Matches are expected numbers of pairs.
type Entities = entities.Result

// Reasons why two records that are likely one thing share no cluster.
const (
	BySource  = entities.BySource
	ByVerdict = entities.ByVerdict
	ByOthers  = entities.ByOthers
)

// largestClusters is the number of clusters whose sizes a Report has.
const largestClusters = 10

// sizes returns the numbers of records of the clusters or, if there are none, of what links connect.
func sizes(clusters *Entities, pairs []compare.Pair, links []int, t *held.Tables) (all []int) {
	if clusters != nil {
		for i := range clusters.Clusters {
			all = append(all, len(clusters.Clusters[i].Members))
		}
		return all
	}
	var left int // the right table's records are numbered behind those of the left one
	records := t.Left.Rows()
	if t.Right != nil {
		left, records = records, records+t.Right.Rows()
	}
	edges := make([]cluster.Edge, len(links))
	for i, link := range links {
		edges[i] = cluster.Edge{A: pairs[link].A, B: uint32(left) + pairs[link].B}
	}
	of := make([]int, records)
	for _, label := range cluster.Components(records, edges) {
		of[label]++
	}
	for _, n := range of {
		if n > 1 {
			all = append(all, n)
		}
	}
	return all
}

// largest returns the largest sizes of clusters, the largest first.
func largest(sizes []int) []int {
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
	return append([]int{}, sizes[:min(largestClusters, len(sizes))]...)
}

// Tells reports whether the data tell which records of the only table are one thing: it is known about how many of the links are
// right, and that at least two thirds of them are, and half of the pairs in clusters even if those that were not compared
// are none.
func (r *Result) Tells() bool {
	if r.Linked > 0 && !MostlyRight(r.ExpectedPrecision) {
		return false
	}
	if r.Entities == nil {
		return true
	}
	low, _ := r.Entities.Precision()
	return low >= 0.5 // not if it is unknown, NaN
}

// ClusterProbability returns a function that returns the probability of the cluster of a record, and whether it is known; nil if
// there are no clusters. O(records).
func (r *Result) ClusterProbability() func(row uint32) (p float64, known bool) {
	if r.Entities == nil {
		return nil
	}
	clusters, of := r.Entities.Clusters, r.Entities.Of(r.Left)
	return func(row uint32) (p float64, known bool) {
		if of[row] < 0 {
			return 0, false
		}
		return clusters[of[row]].Probability, true
	}
}

// A Connection is two records of the only table that are in one cluster.
type Connection struct {
	A, B       uint32
	Similarity float64
}

// Connecting ranges over the pairs that connect the records of clusters, in any order: the links within the clusters that hold, and
// the pairs that have joined these; if no such clusters were asked for, all links.
func (r *Result) Connecting() iter.Seq[Connection] {
	return func(yield func(Connection) bool) {
		var of []int32
		joins := map[[2]uint32]bool{}
		if r.Entities != nil {
			of = r.Entities.Of(r.Left)
			for _, c := range r.Entities.Clusters {
				for _, p := range c.Joins {
					joins[[2]uint32{min(p.A, p.B), max(p.A, p.B)}] = true
				}
			}
		}
		for l := range r.Links.All() {
			if of != nil && (of[l.RowA] < 0 || of[l.RowA] != of[l.RowB]) {
				continue
			}
			a, b := uint32(l.RowA), uint32(l.RowB)
			delete(joins, [2]uint32{min(a, b), max(a, b)})
			if !yield(Connection{a, b, l.Similarity}) {
				return
			}
		}
		for p := range joins {
			if !yield(Connection{p[0], p[1], r.Similarity(int(p[0]), int(p[1]))}) {
				return
			}
		}
	}
}
