package dedup

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-dev/alike/cluster"
)

// clustering says what becomes of every document.
type clustering struct {
	kept  []uint32 // the document kept in its stead; itself when it is kept
	label []uint32 // smallest document of its cluster; itself when alone
	sizes []int    // of the clusters of two or more, largest first
}

// clusterClasses clusters the documents: verified edges connect representatives,
// and a representative stands for its class. Within a class every similarity is
// 1, so the class is judged by the member that the keep rule prefers.
func clusterClasses(t *table, c *classes, edges []edge, config *Config) *clustering {
	n := len(t.docs)
	prefer := config.Keep.Order(t.meta)
	best := slices.Clone(c.rep) // the preferred member, for representatives
	for _, members := range c.members {
		b := members[0]
		for _, doc := range members[1:] {
			if b >= uint32(t.refs) && prefer(doc, b) {
				b = doc
			}
		}
		best[members[0]] = b
	}
	preferClass := func(a, b uint32) bool { return prefer(best[a], best[b]) }
	var keptRep []uint32
	r := &clustering{kept: make([]uint32, n), label: make([]uint32, n)}
	if config.Star {
		keptRep = cluster.Star(n, t.refs, links(edges), preferClass)
	} else {
		keptRep = cluster.Kept(cluster.Components(n, links(edges)), t.refs, preferClass)
	}
	for i := range r.kept {
		r.kept[i] = uint32(i)
		if i >= t.refs {
			r.kept[i] = best[keptRep[c.rep[i]]]
		}
	}
	r.labelByKept(t.refs, c)
	return r
}

// links returns the edges without their similarities.
func links(edges []edge) []cluster.Edge {
	links := make([]cluster.Edge, len(edges))
	for i, e := range edges {
		links[i] = cluster.Edge{A: e.a, B: e.b}
	}
	return links
}

// labelByKept labels each cluster with its smallest document. Documents with
// the same kept document are one cluster, and references with equal features too.
func (r *clustering) labelByKept(refs int, c *classes) {
	const none = ^uint32(0)
	smallest := slices.Repeat([]uint32{none}, len(r.kept)) // by kept document
	sizes := make([]int32, len(r.kept))                    // by label
	for i, kept := range r.kept {                          // ascending: the first to come is the smallest
		if i < refs {
			kept = c.rep[i]
		}
		if smallest[kept] == none {
			smallest[kept] = uint32(i)
		}
		r.label[i] = smallest[kept]
		sizes[r.label[i]]++
	}
	for _, size := range sizes {
		if size > 1 {
			r.sizes = append(r.sizes, int(size))
		}
	}
	slices.SortFunc(r.sizes, func(a, b int) int { return cmp.Compare(b, a) })
}

// removal is a document that gives way to another.
type removal struct {
	doc, kept  uint32
	similarity float64
}

// removals lists the removed documents in order, each with its similarity to
// the one kept. Where a chain led there, that pair has not been compared yet.
func removals(ctx context.Context, c *classes, r *clustering, edges []edge, v *verifier) ([]removal, error) {
	var removed []removal
	var unknown []pair
	for i, kept := range r.kept {
		doc := uint32(i)
		if kept == doc {
			continue
		}
		removed = append(removed, removal{doc, kept, 1})
		if p, equal := repPair(c, doc, kept); !equal {
			if _, ok := findEdge(edges, p); !ok {
				unknown = append(unknown, p)
			}
		}
	}
	slices.SortFunc(unknown, pair.compare)
	rated, err := v.rate(ctx, slices.Compact(unknown))
	if err != nil {
		return nil, err
	}
	for i := range removed {
		m := &removed[i]
		p, equal := repPair(c, m.doc, m.kept)
		if equal {
			continue
		}
		var ok bool
		if m.similarity, ok = findEdge(edges, p); !ok {
			m.similarity, _ = findEdge(rated, p)
		}
	}
	return removed, nil
}

// repPair returns the representatives of two documents as a pair, and whether
// they are the same.
func repPair(c *classes, x, y uint32) (p pair, equal bool) {
	a, b := c.rep[x], c.rep[y]
	return pair{min(a, b), max(a, b)}, a == b
}

// findEdge looks up a pair's similarity in ordered edges.
func findEdge(edges []edge, p pair) (float64, bool) {
	i, ok := slices.BinarySearchFunc(edges, p, func(e edge, p pair) int { return e.pair().compare(p) })
	if !ok {
		return 0, false
	}
	return edges[i].similarity, true
}

// meta returns what a keep rule may ask of a document.
func (t *table) meta(doc uint32) cluster.Meta {
	d := &t.docs[doc]
	m := cluster.Meta{Length: int64(d.textSize), HasValue: d.hasValue}
	if d.hasValue {
		start := uint64(0)
		if doc > 0 {
			start = t.docs[doc-1].valueEnd
		}
		m.Value = string(t.values[start:d.valueEnd])
	}
	return m
}
