package topk

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// Searcher is the scratch memory of searches: a bit for each vector of the index, and
// what a query and its matches take. It belongs to one goroutine.
type Searcher struct {
	x       *Index
	seen    []uint64 // a bit for each vector
	touched []uint32 // those with a bit
	query   prepared
	found   matches
}

// NewSearcher returns a searcher.
func (x *Index) NewSearcher() *Searcher {
	return &Searcher{x: x, seen: make([]uint64, (x.Len()+63)/64)}
}

// Search appends the vectors of the index that are most alike to a query, the best first.
// The query's features are of the dictionary of the index; it may have some that no vector
// of the index has. It does not allocate once the searcher is warm and dst long enough.
func (s *Searcher) Search(dst []Match, query simjoin.Vector) []Match {
	return s.search(dst, query, absent)
}

// Others is Search with vector i of the index, which is left out itself.
func (s *Searcher) Others(dst []Match, i int) []Match {
	return s.search(dst, s.x.vectors.At(i), uint32(i))
}

// search leaves out vector self.
func (s *Searcher) search(dst []Match, v simjoin.Vector, self uint32) []Match {
	s.query.prepare(s.x, v)
	s.found.reset(&s.x.rule, s.query.size)
	if self != absent {
		s.mark(self)
	}
	for i, e := range s.query.entries {
		class := s.x.classOf(s.x.needed(s.query.shares[i], s.found.least()))
		if class > shareUnits {
			break
		}
		from, to := s.x.starts[e.rank], s.x.starts[e.rank+1]
		s.list(s.x.ids[from:to], s.x.shares[from:to], s.query.shares[i], class)
	}
	for _, id := range s.touched {
		s.seen[id>>6] = 0
	}
	s.touched = s.touched[:0]
	s.query.release()
	return s.found.appendTo(dst)
}

// mark notes a vector as seen and reports whether it was not before.
func (s *Searcher) mark(id uint32) bool {
	word, bit := &s.seen[id>>6], uint64(1)<<(id&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	s.touched = append(s.touched, id)
	return true
}

// list compares the query with those of a list whose share is at least class, which rises
// with what is found.
func (s *Searcher) list(ids []uint32, shares []uint8, share float64, class int) {
	for k, id := range ids {
		if int(shares[k]) < class {
			return
		}
		if !s.mark(id) {
			continue
		}
		overlap := s.query.overlap(s.x.vectors.At(int(id)), s.x.measure)
		if s.found.offer(Match{id, overlap, s.x.sizes[id]}) {
			class = s.x.classOf(s.x.needed(share, s.found.least()))
		}
	}
}

// prepared is a query with what the search asks of it.
type prepared struct {
	vector  simjoin.Vector
	size    uint64
	entries []entry   // its features that the index knows, by rank
	shares  []float64 // of its tails there

	// slots holds the features at places that no two of them share, where there are few;
	// the others are free and have a feature and weight of 0.
	slots      []feature
	shift      int
	multiplier uint32
	places     []uint32
}

type feature struct{ number, weight uint32 }

func (q *prepared) prepare(x *Index, v simjoin.Vector) {
	q.vector, q.size = v, v.Size(x.measure)
	q.entries = x.tails(q.entries[:0], v)
	q.shares = slices.Grow(q.shares[:0], len(q.entries))[:len(q.entries)]
	tail := uint64(0)
	for i := len(q.entries) - 1; i >= 0; i-- {
		tail += x.size(q.entries[i].weight)
		q.shares[i] = x.share(tail, q.size)
	}
	q.places = q.places[:0]
	q.spread()
}

const (
	// mostSpread is the most features for which places of their own are looked for, in
	// as many slots as their square, and most of these: 128 KiB.
	mostSpread    = 128
	mostSlotsBits = 14
	spreadTries   = 16
)

// spread gives every feature a slot of its own, if that is found soon: of slots for the
// square of their number, two in five choices of the multiplier succeed.
func (q *prepared) spread() {
	n := len(q.vector.Features)
	if n > mostSpread {
		return
	}
	if q.slots == nil {
		q.slots = make([]feature, 1<<mostSlotsBits)
	}
	q.shift = 32 - min(2*bits.Len(uint(n)), mostSlotsBits)
	q.multiplier = 0x9e3779b1 // 2³² over the golden ratio, odd
	for tries := 0; !q.fill() && tries < spreadTries; tries++ {
		q.multiplier = q.multiplier*0x2c1b3c6d + 0x12fd2a42 // odd again
	}
}

// fill puts the features into the slots; none if two meet.
func (q *prepared) fill() bool {
	for i, f := range q.vector.Features {
		at := f * q.multiplier >> q.shift
		if q.slots[at].weight != 0 {
			q.release()
			return false
		}
		q.slots[at] = feature{f, q.vector.Weights[i]}
		q.places = append(q.places, at)
	}
	return true
}

// release frees the slots.
func (q *prepared) release() {
	for _, at := range q.places {
		q.slots[at] = feature{}
	}
	q.places = q.places[:0]
}

// overlap is simjoin.Overlap of the query and a vector. With the query spread out it costs
// a step for each feature of the vector, and no step waits for the one before.
func (q *prepared) overlap(v simjoin.Vector, m measure.Measure) (sum uint64) {
	if len(q.places) == 0 {
		return simjoin.Overlap(q.vector, v, m)
	}
	slots, weights := q.slots, v.Weights[:len(v.Features)]
	for i, f := range v.Features {
		slot := slots[f*q.multiplier>>q.shift]
		w := uint64(0)
		if slot.number == f {
			w = uint64(slot.weight)
		}
		if m == measure.Cosine {
			sum += w * uint64(weights[i])
		} else {
			sum += min(w, uint64(weights[i]))
		}
	}
	return sum
}

// matches keeps the best of what is offered.
type matches struct {
	rule *rule
	size uint64  // of the query
	near float64 // see least
	heap []Match // when k are there, the worst first
}

func (m *matches) reset(r *rule, size uint64) {
	m.rule, m.size, m.near, m.heap = r, size, r.leastNear, m.heap[:0]
}

// least is a little less than the similarity that another match must have, 0 if any will
// do. For Jaccard it is i/(a+b).
func (m *matches) least() float64 { return m.near }

// better orders matches: the more similar one, then the smaller number.
func (m *matches) better(a, b Match) int {
	return cmp.Or(-m.rule.measure.Compare(m.size, a.Overlap, a.Size, b.Overlap, b.Size), cmp.Compare(a.Index, b.Index))
}

// offer keeps a match if it is among the best so far. It reports whether least has risen.
func (m *matches) offer(c Match) bool {
	if c.Overlap == 0 || m.rule.hasLeast && !m.rule.least.Reached(c.Overlap, m.size, c.Size) {
		return false
	}
	switch k := m.rule.k; {
	case k == 0 || len(m.heap) < k:
		m.heap = append(m.heap, c)
		if len(m.heap) != k {
			return false
		}
		slices.SortFunc(m.heap, func(a, b Match) int { return m.better(b, a) }) // which is a heap
	case m.better(c, m.heap[0]) < 0:
		m.heap[0] = c
		m.sink()
	default:
		return false
	}
	m.near = max(m.near, m.similarity(m.heap[0])*below)
	return true
}

// sink moves the first match down to where it belongs.
func (m *matches) sink() {
	h := m.heap
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && m.better(h[child], h[child+1]) < 0 {
			child++
		}
		if m.better(h[child], h[i]) <= 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

func (m *matches) similarity(c Match) float64 {
	a, b, i := float64(m.size), float64(c.Size), float64(c.Overlap)
	if m.rule.measure == measure.Cosine {
		return i / math.Sqrt(a) / math.Sqrt(b)
	}
	return i / (a + b)
}

// appendTo appends the matches, the best first.
func (m *matches) appendTo(dst []Match) []Match {
	slices.SortFunc(m.heap, m.better)
	return append(dst, m.heap...)
}
