package serve

import (
	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/report"
)

const (
	mostClusters = 20
	mostGrouped  = 100 // documents that are compared with each other: some milliseconds
)

// repeated fills in the documents with the most duplicates.
func (c *shown) repeated() {
	for _, r := range c.repeats.first(mostClusters) {
		query, _ := (&view{collection: c.name, id: r.id}).query()
		c.page.Repeated = append(c.page.Repeated, report.ServiceCluster{
			Label: label(r.id), Open: "/?" + query, Size: r.duplicates + 1, Inner: asShare(r.sum / float64(r.duplicates)), Weakest: asShare(r.least),
		})
	}
}

// grouped fills in which of the documents that were found, and reach the threshold, are alike among themselves.
func (c *shown) grouped(matches []index.Match, least float64) error {
	var slots []uint64
	for _, m := range matches[:min(len(matches), mostGrouped)] {
		if m.Similarity < least {
			break
		}
		slots = append(slots, m.Slot)
	}
	s := c.searchers.Get().(*index.Searcher)
	defer c.searchers.Put(s)
	links, err := s.Between(slots)
	if err != nil {
		return err
	}
	reach := links[:0]
	for _, l := range links {
		if l.Similarity >= least {
			reach = append(reach, l)
		}
	}
	for _, g := range cluster.Groups(len(slots), reach) {
		if len(c.page.Clusters) == mostClusters {
			c.page.ClustersLeft++
			continue
		}
		first, a, b := string(matches[g.Members[0]].ID), string(matches[g.Weakest.A].ID), string(matches[g.Weakest.B].ID)
		open, _ := (&view{collection: c.name, id: first, threshold: c.view.threshold}).query()
		pair, _ := (&view{collection: c.name, id: a, with: b, threshold: c.view.threshold}).query()
		c.page.Clusters = append(c.page.Clusters, report.ServiceCluster{
			Label: label(first), Open: "/?" + open, Size: int64(len(g.Members)), Inner: asShare(g.Inner), Weakest: asShare(g.Weakest.Similarity), Pair: "/?" + pair,
		})
	}
	return nil
}
