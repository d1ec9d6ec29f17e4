package topk

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// Searcher is the scratch memory of searches: a bit for each vector of the index, and the state of
// a query and its matches. It belongs to one goroutine.
type Searcher struct {
	// AtLeast is the least Score that the next searches return, in addition to the options. A
	// caller sets it if it knows better matches of the query, as from another part of a collection.
	AtLeast uint64

	x       *Index
	seen    bitset.Set[uint32] // vectors
	touched []uint32           // vectors whose bit is set
	pending []pending          // to be compared together
	touch   uint64             // keeps the loads of compare from being optimised away
	query   prepared
	found   matches
	guess   float64 // see rounds
	own     uint32  // vector that is left out, absent: none
	work    Work

	sum            []uint64 // of each vector, in a search by sums: what it has in common with the query
	spent, mayCost float64  // of a search by lists, in steps
	dense          int      // number of next searches that begin with sums
	sumsShare      float64  // what sums have cost so far, as a share of what all lists cost
}

// pending is a vector with the most that it can have in common with the query.
type pending struct {
	id   uint32
	most float64
}

// Work counts the work of searches.
type Work struct {
	Entries  int // list entries that were read
	Compared int // vectors that were compared in full
}

// Work returns the work of all searches of s.
func (s *Searcher) Work() Work { return s.work }

// NewSearcher returns a searcher.
func (x *Index) NewSearcher() *Searcher {
	return &Searcher{x: x, seen: bitset.New[uint32](x.Len()), sumsShare: 1}
}

// Search appends the vectors of the index that are most similar to query, best first. The query's
// features use the numbering of the index; features that no vector has are allowed. It does not
// allocate once the searcher is warm and dst is long enough.
func (s *Searcher) Search(dst []Match, query simjoin.Vector) []Match {
	q := &s.query
	q.known, q.keys = s.x.known(q.known[:0], q.keys[:0], query)
	s.own = absent
	return s.search(dst, q.known, query.Size(s.x.measure))
}

// Others searches with vector i of the index as the query, and leaves out i itself.
func (s *Searcher) Others(dst []Match, i int) []Match {
	s.own = uint32(i)
	s.mark(s.own)
	return s.search(dst, s.x.at(i), s.x.sizes[i])
}

// search finds the best matches of a query given by its known entries.
func (s *Searcher) search(dst []Match, entries []entry, size uint64) []Match {
	s.query.prepare(s.x, entries, size)
	s.found.reset(&s.x.rule, size, s.AtLeast)
	if s.dense > 0 {
		s.dense--
		s.sums()
	} else if s.budget(); !s.rounds() {
		s.dense = denseInRow
		s.sums()
	}
	for _, id := range s.touched {
		s.seen.Remove(id)
	}
	s.touched = s.touched[:0]
	s.query.release()
	return s.found.appendTo(dst)
}

// rounds goes through the lists until the best matches are certain.
//
// The first k vectors found are far less similar than the best k, and until better ones are found
// nearly everything must be compared. So a round looks only for vectors at least as similar as a
// guess, a little below the k-th best of the last queries. If the k-th best is then below the
// guess, another round uses the similarity that is certain by now, or half the guess. No round
// compares a vector again. It returns false if it gave up, because sums are cheaper.
func (s *Searcher) rounds() bool {
	if s.x.k == 0 {
		return s.round(0)
	}
	for guess := s.guess; ; guess /= 2 {
		if guess < leastGuess {
			guess = 0
		}
		if !s.round(guess) {
			return false
		}
		if s.found.least() >= guess {
			break
		}
		if s.found.full() {
			if !s.round(0) {
				return false
			}
			break
		}
	}
	s.guess += (s.found.least()*0.8 - s.guess) / 4
	return true
}

// leastGuess: a lower guess is not worth a round.
const leastGuess = 1. / 64

// round goes through the lists as far as needed to find vectors with a similarity of at least guess
// and of the matches found before. It returns false if it gave up.
func (s *Searcher) round(guess float64) bool {
	s.found.guess = guess
	for i, e := range s.query.entries {
		if s.class(i) > shareUnits {
			break
		}
		if first := s.x.first[e.rank]; first == absent {
			s.list(i)
		} else {
			s.sieved(i, int(first))
		}
		if s.spent > s.mayCost {
			return false
		}
	}
	return true
}

// mark marks a vector as seen and reports whether it was unseen.
func (s *Searcher) mark(id uint32) bool {
	if !s.seen.AddNew(id) {
		return false
	}
	s.touched = append(s.touched, id)
	return true
}

// class returns the least share of vectors in the list of feature i that may be among the best.
func (s *Searcher) class(i int) int {
	return s.x.classOf(s.x.needed(s.query.shares[i], s.found.wanted()))
}

// list compares the query with the vectors in the list of feature i whose share is large enough.
func (s *Searcher) list(i int) {
	rank, class := s.query.entries[i].rank, s.class(i)
	from, to := s.x.starts[rank], s.x.starts[rank+1]
	shares := s.x.shares[from:to]
	for k, id := range s.x.ids[from:to] {
		if int(shares[k]) < class {
			break
		}
		s.work.Entries++
		s.pending = append(s.pending, pending{id, math.MaxFloat64})
	}
	s.compare()
}

// sieved does the same as list for a list with blocks, from block first on.
func (s *Searcher) sieved(i, first int) {
	rank, class := s.query.entries[i].rank, s.class(i)
	from, to := s.x.starts[rank], s.x.starts[rank+1]
	ids, shares := s.x.ids[from:to], s.x.shares[from:to]
	own, most, bit := s.query.most[i], s.query.most[i+1:], s.query.bits[i+1:]
	tail := float64(len(most))
	for ; len(ids) > 0 && s.spent <= s.mayCost && int(shares[0]) >= class && !s.found.beyond(s.query.rest[i], s.x.behind[first]); first++ {
		n := min(len(ids), blockLength)
		s.work.Entries += n
		left := s.x.sieve.pass(first, most, bit, s.need(float64(s.x.sieve.least[first]))-own)
		s.spent += costBlock*tail + float64(bits.OnesCount64(left))*(costPassed*tail+costEntry)
		for ; left != 0; left &= left - 1 {
			k := bits.TrailingZeros64(left)
			if k >= n || int(shares[k]) < class {
				break
			}
			s.pending = append(s.pending, pending{ids[k], own + s.x.sieve.sum(first, k, most, bit)})
		}
		if len(s.pending) >= batch {
			s.compare()
			class = s.class(i)
		}
		ids, shares = ids[n:], shares[n:]
	}
	s.compare()
}

// batch is the number of vectors from which comparing them together pays.
const batch = 16

// compare compares the query with the pending vectors. They are scattered over memory larger than
// the caches, so it touches all sizes, then all vectors, first: the processor then waits for all of
// them together.
func (s *Searcher) compare() {
	touch := uint64(0)
	for _, p := range s.pending {
		touch += math.Float64bits(s.x.extents[p.id])
	}
	left := s.pending[:0]
	for _, p := range s.pending {
		if base, slope := s.needed(); p.most >= base+slope*s.x.extents[p.id] && s.mark(p.id) {
			left = append(left, p)
		}
	}
	for _, p := range left {
		if v := s.x.at(int(p.id)); len(v) > 0 {
			touch += uint64(v[0].rank) + uint64(v[len(v)-1].rank)
		}
	}
	s.touch = touch
	for _, p := range left {
		s.spent += costOverlap*float64(len(s.x.at(int(p.id)))) + costEntry
		overlap := s.query.overlap(s.x.at(int(p.id)), s.x.measure)
		s.found.offer(Match{Index: p.id, Overlap: overlap, Size: s.x.sizes[p.id]})
	}
	s.work.Compared += len(left)
	s.pending = s.pending[:0]
}

// need is slightly below the overlap that the query needs with a vector of a size.
func (s *Searcher) need(size float64) float64 {
	base, slope := s.needed()
	if s.x.measure == measure.Cosine {
		size = math.Sqrt(size)
	}
	return base + slope*size
}

// needed returns need as a line over Index.extents.
func (s *Searcher) needed() (base, slope float64) {
	slope = s.found.wanted() * below
	if s.x.measure == measure.Cosine {
		return 0, slope * s.query.root
	}
	return slope * float64(s.query.size), slope
}

// prepared is a query with the values that the search needs of it.
type prepared struct {
	size    uint64
	root    float64   // of it
	entries []entry   // its features that the index knows, by rank
	known   []entry   // entries of a query that is not in the index
	keys    []uint64  // scratch
	shares  []float64 // of its tails at these entries
	most    []float64 // the most that each entry can have in common with a vector
	rest    []uint64  // the sum of most from each entry on
	bits    []uint16  // of its entries in the sieve

	// slots holds the entries at distinct places, if they are few; free slots have rank and weight
	// 0.
	slots      []entry
	shift      int
	multiplier uint32
	places     []uint32
	// weights holds those of the entries by rank where they are many; the others are 0. It takes 4 bytes a
	// feature of the index from the first such query on.
	weights []uint32
}

func (q *prepared) prepare(x *Index, entries []entry, size uint64) {
	q.entries, q.size, q.root = entries, size, math.Sqrt(float64(size))
	q.bits = q.bits[:0]
	q.shares = slices.Grow(q.shares[:0], len(entries))[:len(entries)]
	q.rest = slices.Grow(q.rest[:0], len(entries))[:len(entries)]
	q.most = slices.Grow(q.most[:0], len(entries))[:len(entries)]
	tail, rest := uint64(0), uint64(0)
	for i, e := range slices.Backward(entries) {
		most := uint64(min(e.weight, x.largest[e.rank]))
		if x.measure == measure.Cosine {
			most = uint64(e.weight) * uint64(x.largest[e.rank])
		}
		tail += x.size(e.weight)
		rest = min(rest+most, 1<<63) // of no more than 2⁶² each
		q.shares[i], q.most[i], q.rest[i] = x.share(tail, size), float64(most), rest
	}
	for _, e := range entries {
		q.bits = append(q.bits, x.sieve.bit(e.rank))
	}
	q.places = q.places[:0]
	if q.spread(); len(q.places) == 0 && len(entries) > 0 {
		if q.weights == nil {
			q.weights = make([]uint32, len(x.starts)-1)
		}
		for _, e := range entries {
			q.weights[e.rank] = e.weight
		}
	}
}

const (
	// mostSpread is the most features for which spread looks for separate slots; there are as many
	// slots as the square of their number, at most 128 KiB.
	mostSpread    = 128
	mostSlotsBits = 14
	spreadTries   = 16
)

// spread gives every feature a slot of its own, if it soon finds a multiplier that does: with as
// many slots as the square of their number, two in five multipliers succeed.
func (q *prepared) spread() {
	n := len(q.entries)
	if n > mostSpread {
		return
	}
	if q.slots == nil {
		q.slots = make([]entry, 1<<mostSlotsBits)
	}
	q.shift = 32 - min(2*bits.Len(uint(n)), mostSlotsBits)
	q.multiplier = 0x9e3779b1 // 2³² over the golden ratio, odd
	for tries := 0; !q.fill() && tries < spreadTries; tries++ {
		q.multiplier = q.multiplier*0x2c1b3c6d + 0x12fd2a42 // odd again
	}
}

// fill puts the entries into the slots; it fails if two share a slot.
func (q *prepared) fill() bool {
	for _, e := range q.entries {
		at := e.rank * q.multiplier >> q.shift
		if q.slots[at].weight != 0 {
			q.release()
			return false
		}
		q.slots[at] = e
		q.places = append(q.places, at)
	}
	return true
}

// release frees the slots and the weights.
func (q *prepared) release() {
	if len(q.places) == 0 && q.weights != nil {
		for _, e := range q.entries {
			q.weights[e.rank] = 0
		}
	}
	for _, at := range q.places {
		q.slots[at] = entry{}
	}
	q.places = q.places[:0]
}

// overlap is simjoin.Overlap of the query and a vector. It costs a step for each entry of the vector, and
// no step waits for the one before. Merging two vectors of 700 entries cost half of the time of joining discs by
// the 3-grams of their tracks: which one goes on cannot be predicted.
func (q *prepared) overlap(v []entry, m measure.Measure) (sum uint64) {
	if len(q.places) == 0 {
		for _, e := range v {
			if w := uint64(q.weights[e.rank]); m == measure.Cosine {
				sum += w * uint64(e.weight)
			} else {
				sum += min(w, uint64(e.weight))
			}
		}
		return sum
	}
	slots := q.slots
	for _, e := range v {
		slot := slots[e.rank*q.multiplier>>q.shift]
		w := uint64(0)
		if slot.rank == e.rank {
			w = uint64(slot.weight)
		}
		if m == measure.Cosine {
			sum += w * uint64(e.weight)
		} else {
			sum += min(w, uint64(e.weight))
		}
	}
	return sum
}

// matches keeps the best of the matches offered.
type matches struct {
	rule  *rule
	size  uint64  // of the query
	near  float64 // see least
	guess float64 // see Searcher.rounds
	floor uint64  // the least score
	heap  []Match // once it has k matches, the worst first
	order []place // see appendTo
}

// place is where a match is in the heap, after what it is sorted by. Its fields are those of other entries that are sorted, so
// that one sort is compiled for all.
type place struct{ Key, Value uint64 }

func (m *matches) reset(r *rule, size, floor uint64) {
	m.rule, m.size, m.guess, m.floor, m.heap = r, size, 0, floor, m.heap[:0]
	m.near = max(r.leastNear, r.near(float64(floor)/measure.ScoreOne)*below)
}

// least is slightly below the similarity that another match needs, 0 if any is enough. For Jaccard
// it is i/(a+b).
func (m *matches) least() float64 { return m.near }

// wanted is the larger one of least and the guess of the round.
func (m *matches) wanted() float64 { return max(m.near, m.guess) }

func (m *matches) full() bool { return len(m.heap) == m.rule.k }

// better orders matches: the more similar one, then the smaller number.
func better(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
}

// beyond reports that no vector within a bound, with at most this much in common with the query, is
// among the best. It decides on whole numbers, so it is exact for vectors that can only equal the
// worst of the best and come behind it by number: among equal vectors a search ends as soon as it
// has k.
func (m *matches) beyond(most uint64, b bound) bool {
	worst := Match{Score: m.floor, Index: absent}
	if m.full() && len(m.heap) > 0 {
		worst = m.heap[0]
	}
	if worst.Score == 0 {
		return false
	}
	return better(Match{Score: m.rule.mostScore(most, m.size, b.size), Index: b.id}, worst) > 0
}

// mostScore returns the largest Score of a vector of size a with vectors of size b or more that
// have at most this much in common.
func (r *rule) mostScore(inter, a, b uint64) uint64 {
	if r.measure != measure.Cosine {
		inter = min(inter, a)
		return r.measure.Score(inter, a, max(b, inter))
	}
	i1, i0 := bits.Mul64(inter, inter)
	if p1, p0 := bits.Mul64(a, b); i1 > p1 || i1 == p1 && i0 >= p0 {
		return measure.ScoreOne
	}
	return measure.Cosine.Score(inter, a, b)
}

// offer keeps a match if it is among the best so far.
func (m *matches) offer(c Match) {
	c.Score = m.rule.measure.Score(c.Overlap, m.size, c.Size)
	if c.Overlap == 0 || c.Score < m.floor || m.rule.hasLeast && !m.rule.least.Reached(c.Overlap, m.size, c.Size) {
		return
	}
	switch k := m.rule.k; {
	case k == 0 || len(m.heap) < k:
		m.heap = append(m.heap, c)
		if len(m.heap) != k {
			return
		}
		heapify(m.heap)
	case better(c, m.heap[0]) < 0:
		m.heap[0] = c
		sink(m.heap, 0)
	default:
		return
	}
	m.near = max(m.near, m.rule.near(float64(m.heap[0].Score)/measure.ScoreOne)*below)
}

// heapify makes matches a heap, the worst first.
func heapify(h []Match) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
}

// sink moves match i down to its place in a heap.
func sink(h []Match, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && better(h[child], h[child+1]) < 0 {
			child++
		}
		if better(h[child], h[i]) <= 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// near returns about what is bounded, of a score's part of one: the cosine, or i/(a+b).
func (r *rule) near(score float64) float64 {
	if r.measure == measure.Cosine {
		return math.Sqrt(score)
	}
	return score / (1 + score)
}

// appendTo appends the matches, the best first.
func (m *matches) appendTo(dst []Match) []Match {
	m.order = m.order[:0]
	for i, c := range m.heap {
		m.order = append(m.order, place{^c.Score, uint64(c.Index)<<32 | uint64(i)})
	}
	slices.SortFunc(m.order, func(a, b place) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	for _, p := range m.order {
		dst = append(dst, m.heap[uint32(p.Value)])
	}
	return dst
}
