package report

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
)

// Found gathers a list of pairs for the page that Write makes of it: how many pairs, clusters and documents each
// threshold leaves, exactly; the clusters, most suspicious first; some of the pairs. Call Add for each pair, Settle,
// Describe for each document that Find knows, and Write. It holds about 50 bytes for each pair, and the documents'
// names. One goroutine at a time may use it.
type Found struct {
	of      FoundOf
	numbers [2]map[string]uint32 // of the documents of each side, by name
	docs    []foundDoc
	pairs   []foundPair
	kept    int // pairs that were listed

	groups   [2]grouping // by source, and by the value of a field
	scale    scale
	levels   levels
	sample   []foundPair
	all      []*foundCluster
	shown    []*foundCluster
	texts    map[uint32][]byte // of documents that are shown; nil: not described yet
	excerpts map[uint32]string // of those of the sample; "": not described yet
	// apart has texts of documents of clusters apart, in which repeated passages are looked for, apartSize bytes in all.
	apart     map[uint32][]byte
	apartSize int
}

// FoundOf says what a list is of.
type FoundOf struct {
	Title    string // what was found among what
	Decided  string // when a pair is listed
	Value    string // what the number of a pair is, such as similarity
	Two      bool   // A and B are of two collections, in which the same name means two documents
	Of       string // the word for several documents
	By       string // field by whose values documents are grouped; "": none
	Texts    bool   // documents have texts, in which passages are looked for that many have
	Header   []string
	Directed bool // a pair may be listed in both orders
}

type foundDoc struct {
	name   string
	right  bool
	groups [2]int32 // of each grouping, from 1 on; 0: not known
}

type foundPair struct {
	a, b   uint32
	value  float64
	listed bool
}

// foundCluster is a component of the listed pairs.
type foundCluster struct {
	Size, Pairs int
	Apart       int     // pairs of members that were not listed
	Weakest     float64 // value of the pair without which it falls apart
	Parts       [2]int  // sizes of these parts
	weakest     foundPair
	members     []uint32 // the first few
	right       int
}

// Limits of the page. They keep it below 5 MB, whatever the names and texts are.
const (
	shownClusters = 40
	shownMembers  = 12
	shownPairs    = 800
	shownName     = 120 // characters
	shownText     = 160 // characters of a text of the sample
	shownGroups   = 12
	shownPassage  = 400 // characters of a passage that many texts have
	mostLevels    = 200
	mostApart     = 1000    // texts in which repeated passages are looked for
	apartBytes    = 1 << 20 // of these
	apartText     = 64 << 10
	mostCommon    = 12
)

// NewFound returns an empty list.
func NewFound(of FoundOf) *Found {
	f := &Found{of: of, texts: map[uint32][]byte{}, excerpts: map[uint32]string{}, apart: map[uint32][]byte{}}
	for side := range f.numbers {
		f.numbers[side] = map[string]uint32{}
	}
	return f
}

// Add adds a pair. One that was considered and not listed counts for other thresholds only.
func (f *Found) Add(a, b []byte, value float64, listed bool) {
	other := 0
	if f.of.Two {
		other = 1
	}
	p := foundPair{f.number(0, a), f.number(other, b), value, listed}
	if p.a == p.b {
		return // a document with itself says nothing
	}
	f.pairs = append(f.pairs, p)
	if listed {
		f.kept++
	}
}

func (f *Found) number(side int, name []byte) uint32 {
	n, ok := f.numbers[side][string(name)]
	if !ok {
		n = uint32(len(f.docs))
		f.docs = append(f.docs, foundDoc{name: string(name), right: side == 1})
		f.numbers[side][f.docs[n].name] = n
	}
	return n
}

// Settle finds the clusters, when all pairs were added. O(n log n).
func (f *Found) Settle() {
	edges := slices.Clone(f.pairs)
	if f.of.Directed { // both orders are one pair, of the larger value
		for i, e := range edges {
			edges[i].a, edges[i].b = min(e.a, e.b), max(e.a, e.b)
		}
		sorting.Func(edges, func(x, y foundPair) int {
			return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), cmp.Compare(y.value, x.value))
		})
		edges = slices.CompactFunc(edges, func(x, y foundPair) bool { return x.a == y.a && x.b == y.b })
	}
	sorting.Func(edges, func(x, y foundPair) int {
		return cmp.Or(cmp.Compare(y.value, x.value), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	f.scale = scaleOf(f.pairs)
	f.levels = levelsOf(f.scale, f.pairs, edges, len(f.docs))
	f.sample = sampled(f.scale, f.pairs)
	f.all = clustersOf(f.docs, edges, f.of.Two)
	f.shown = f.all[:min(len(f.all), shownClusters)]
	for _, c := range f.shown {
		f.texts[c.weakest.a], f.texts[c.weakest.b] = nil, nil
	}
	if f.of.Texts {
		for _, c := range drawn(f.all) {
			f.apart[c.members[0]] = nil
		}
	}
	for _, p := range f.sample {
		f.excerpts[p.a], f.excerpts[p.b] = "", ""
	}
}

// scale cuts the values of pairs into equal parts, whose limits are round numbers.
type scale struct {
	first int // the least limit, as a multiple of the step
	step  float64
	n     int // of parts
}

func scaleOf(pairs []foundPair) scale {
	if len(pairs) == 0 {
		return scale{step: 1, n: 1}
	}
	low, high := math.Inf(1), 1.0
	for _, p := range pairs {
		low, high = min(low, p.value), max(high, p.value)
	}
	s := scale{step: 0.001}
	for i := 0; (high-low)/s.step > mostLevels; i++ {
		s.step *= []float64{2, 2.5, 2}[i%3] // 0.001, 0.002, 0.005, 0.01, …
	}
	s.first = int(math.Floor(low/s.step + 1e-9))
	s.n = s.part(high) + 1
	return s
}

func (s scale) part(value float64) int {
	return max(0, int(math.Floor(value/s.step+1e-9))-s.first)
}

// levels are what is left at each limit of a scale: of the pairs of at least this value.
type levels struct {
	Pairs, Clusters, Documents, Largest []int
}

// levelsOf counts what is left. edges are sorted, largest first.
func levelsOf(s scale, pairs, edges []foundPair, docs int) levels {
	l := levels{make([]int, s.n), make([]int, s.n), make([]int, s.n), make([]int, s.n)}
	for _, p := range pairs {
		l.Pairs[s.part(p.value)]++
	}
	m := newMerger(docs)
	at := 0
	for i := s.n - 1; i >= 0; i-- {
		if i+1 < s.n {
			l.Pairs[i] += l.Pairs[i+1]
		}
		for ; at < len(edges) && s.part(edges[at].value) >= i; at++ {
			m.merge(edges[at].a, edges[at].b)
		}
		l.Clusters[i], l.Documents[i], l.Largest[i] = m.clusters, m.documents, m.largest
	}
	return l
}

// merger counts the components of a growing graph.
type merger struct {
	sets                         *cluster.UnionFind
	sizes                        []int32 // of roots
	clusters, documents, largest int     // of two or more
}

func newMerger(docs int) *merger {
	m := &merger{sets: cluster.New(docs), sizes: make([]int32, docs)}
	for i := range m.sizes {
		m.sizes[i] = 1
	}
	return m
}

// merge returns the sizes of the components that a pair connects, and the roots before and after; ok is false if they
// are one already.
func (m *merger) merge(a, b uint32) (sizes [2]int, roots [2]uint32, to uint32, ok bool) {
	ra, rb := m.sets.Find(a), m.sets.Find(b)
	if ra == rb {
		return sizes, roots, ra, false
	}
	sizes, roots = [2]int{int(m.sizes[ra]), int(m.sizes[rb])}, [2]uint32{ra, rb}
	m.sets.Union(ra, rb)
	to = m.sets.Find(ra)
	size := sizes[0] + sizes[1]
	m.sizes[to] = int32(size)
	m.clusters++
	for _, n := range sizes {
		if n == 1 {
			m.documents++
		} else {
			m.clusters--
		}
	}
	m.largest = max(m.largest, size)
	return sizes, roots, to, true
}

// sampled returns up to shownPairs pairs, as many of each part of the scale where there are enough, drawn by a hash of
// their numbers, and sorted by value.
func sampled(s scale, pairs []foundPair) (some []foundPair) {
	most := max(4, shownPairs/s.n)
	of := make([][]foundPair, s.n)
	order := func(p foundPair) uint64 { return hashing.Mix(uint64(p.a)<<32 | uint64(p.b)) }
	for _, p := range pairs {
		i := s.part(p.value)
		if at := of[i]; len(at) == most && order(at[most-1]) <= order(p) {
			continue
		}
		place, _ := slices.BinarySearchFunc(of[i], p, func(x, y foundPair) int { return cmp.Compare(order(x), order(y)) })
		of[i] = slices.Insert(of[i], place, p)
		of[i] = of[i][:min(len(of[i]), most)]
	}
	some = slices.Concat(of...)
	sorting.Stable(some, func(x, y foundPair) int { return cmp.Compare(y.value, x.value) })
	return some
}

// clustersOf returns the clusters of listed pairs, the most suspicious first: those with the most pairs of members that
// were not listed, since only others connect them; then those that fall apart at the lowest value.
func clustersOf(docs []foundDoc, edges []foundPair, two bool) []*foundCluster {
	m := newMerger(len(docs))
	last := make(map[uint32]*foundCluster) // by root
	for _, e := range edges {
		if !e.listed {
			continue
		}
		sizes, roots, to, ok := m.merge(e.a, e.b)
		if !ok {
			last[to].Pairs++
			continue
		}
		c := &foundCluster{Size: sizes[0] + sizes[1], Pairs: 1, Weakest: e.value, Parts: sizes, weakest: e}
		for _, r := range roots {
			if before := last[r]; before != nil {
				c.Pairs += before.Pairs
				delete(last, r)
			}
		}
		last[to] = c
	}
	for doc := range docs {
		c := last[m.sets.Find(uint32(doc))]
		if c == nil {
			continue
		}
		if len(c.members) < shownMembers {
			c.members = append(c.members, uint32(doc))
		}
		if docs[doc].right {
			c.right++
		}
	}
	all := make([]*foundCluster, 0, len(last))
	for _, c := range last {
		c.Apart = c.Size * (c.Size - 1) / 2
		if two {
			c.Apart = c.right * (c.Size - c.right)
		}
		c.Apart = max(0, c.Apart-c.Pairs)
		all = append(all, c)
	}
	sorting.Func(all, func(x, y *foundCluster) int {
		return cmp.Or(cmp.Compare(y.Apart, x.Apart), cmp.Compare(x.Weakest, y.Weakest), cmp.Compare(y.Size, x.Size), cmp.Compare(x.members[0], y.members[0]))
	})
	return all
}

// drawn returns up to mostApart clusters, drawn by a hash.
func drawn(all []*foundCluster) []*foundCluster {
	order := func(c *foundCluster) uint64 { return hashing.Mix(uint64(c.members[0])) }
	all = sorting.Sorted(slices.Values(all), func(x, y *foundCluster) int { return cmp.Compare(order(x), order(y)) })
	return all[:min(len(all), mostApart)]
}

// sampleText keeps the text of a document in which repeated passages are looked for. Where they become too many, those
// with the largest hashes go.
func (f *Found) sampleText(doc uint32, text []byte) {
	f.apart[doc] = slices.Clone(text[:min(len(text), apartText)])
	for f.apartSize += len(f.apart[doc]); f.apartSize > apartBytes; {
		last := doc
		for other := range f.apart {
			if f.apart[other] != nil && hashing.Mix(uint64(other)) > hashing.Mix(uint64(last)) {
				last = other
			}
		}
		f.apartSize -= len(f.apart[last])
		f.apart[last] = nil
		if last == doc {
			return
		}
	}
}

// grouping are groups of documents, by what they have in common.
type grouping struct {
	numbers map[string]int32
	names   []string // of group i+1
}

func (g *grouping) number(name string) int32 {
	if n, ok := g.numbers[name]; ok {
		return n
	}
	if g.numbers == nil {
		g.numbers = map[string]int32{}
	}
	g.names = append(g.names, name)
	g.numbers[name] = int32(len(g.names))
	return int32(len(g.names))
}

// Find returns the number of a document of a pair, and whether its text is wanted. B is of the other side where there
// are two.
func (f *Found) Find(b bool, name []byte) (doc uint32, text, ok bool) {
	side := 0
	if b {
		side = 1
	}
	if doc, ok = f.numbers[side][string(name)]; !ok {
		return 0, false, false
	}
	_, whole := f.texts[doc]
	_, begins := f.excerpts[doc]
	_, apart := f.apart[doc]
	return doc, whole || begins || apart, true
}

// Describe says where a document stands, the value of the field of FoundOf.By, and its text, if that is wanted.
func (f *Found) Describe(doc uint32, source string, by, text []byte) {
	d := &f.docs[doc]
	d.groups[0] = f.groups[0].number(source)
	if f.of.By != "" {
		d.groups[1] = f.groups[1].number(string(by))
	}
	if _, shown := f.texts[doc]; shown && text != nil {
		f.texts[doc] = slices.Clone(text[:min(len(text), mostLooked)])
	}
	if _, apart := f.apart[doc]; apart && text != nil {
		f.sampleText(doc, text)
	}
	if _, begins := f.excerpts[doc]; begins {
		f.excerpts[doc] = cut(string(text[:min(len(text), utf8.UTFMax*(shownText+1))]), shownText)
	}
}
