package linkage

import (
	"cmp"
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
