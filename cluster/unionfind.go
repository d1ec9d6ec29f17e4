package cluster

// UnionFind holds disjoint sets of the documents 0 … n−1. The root of a set is always its
// smallest member, so that labels do not depend on the order of the unions. n operations
// cost O(n log n) at worst and close to O(n) in practice (with path halving; stable
// labels need linking by number instead of rank). It holds 4 bytes a document. It is not
// safe for concurrent use, not even Find, because Find shortens paths.
type UnionFind struct{ parent []uint32 }

// New returns n documents, each in a set of its own.
func New(n int) *UnionFind {
	u := &UnionFind{parent: make([]uint32, n)}
	for i := range u.parent {
		u.parent[i] = uint32(i)
	}
	return u
}

// Find returns the smallest document of a's set.
func (u *UnionFind) Find(a uint32) uint32 {
	p := u.parent
	for p[a] != a {
		p[a] = p[p[a]]
		a = p[a]
	}
	return a
}

// Union joins the sets of a and b and reports whether they were apart.
func (u *UnionFind) Union(a, b uint32) bool {
	a, b = u.Find(a), u.Find(b)
	if a == b {
		return false
	}
	if a > b {
		a, b = b, a
	}
	u.parent[b] = a
	return true
}

// AppendLabels appends the label of every document, the smallest member of its
// set, to dst. O(n).
func (u *UnionFind) AppendLabels(dst []uint32) []uint32 {
	start := len(dst)
	for i, p := range u.parent {
		if p != uint32(i) {
			p = dst[start+int(p)] // a parent is smaller, so its label is known
		}
		dst = append(dst, p)
	}
	return dst
}

// Edge says that documents A and B are similar, in either order.
type Edge struct{ A, B uint32 }

// Components returns the label of each of n documents: the smallest document
// that a path of edges leads to, itself if none does. Documents named by edges
// must be below n. The result does not depend on the order of the edges.
// Cost as for UnionFind.
func Components(n int, edges []Edge) []uint32 {
	u := New(n)
	for _, e := range edges {
		u.Union(e.A, e.B)
	}
	return u.AppendLabels(make([]uint32, 0, n))
}
