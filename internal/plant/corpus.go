package plant

import (
	"errors"
	"fmt"
)

// groupSize is the number of documents planned together; families stay within a
// group (see the package comment).
const groupSize = 64

// sampleSize is the number of documents made to estimate how many a size asks for.
const sampleSize = 2000

// Corpus defines the documents of a corpus. It is immutable: goroutines share it, each with a Maker
// of its own.
type Corpus struct {
	base     *Base
	o        Options
	length   span
	poolEnds []int64 // cumulated bytes of the pools: a pool is drawn by its size
	cuts     []cut   // with Options.Cut: the originals
	copies   uint64  // copies in a million documents
	planned  int
	order    permutation
}

// cut is an original taken unchanged from the base: sentences first to end-1 of a pool.
type cut struct {
	pool       *pool
	first, end int
}

// New plans a corpus over base, which must not change any more. Cost: a few
// thousand documents are made to learn their mean size.
func New(base *Base, o Options) (*Corpus, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Corpus{base: base, o: o, length: o.words(), copies: uint64(o.Duplicates*1e6 + 0.5)}
	var total int64
	for _, p := range base.pools {
		total += int64(len(p.data))
		c.poolEnds = append(c.poolEnds, total)
	}
	if total == 0 {
		return nil, errors.New("plant: the base texts hold no sentence of four words or more")
	}
	if o.Cut {
		c.cutBase()
	}
	if err := c.plan(); err != nil {
		return nil, err
	}
	c.order = newPermutation(c.planned, o.Seed)
	return c, nil
}

// plan sets the number of documents.
func (c *Corpus) plan() error {
	limit := int(^uint(0) >> 1)
	if c.o.Cut {
		// As many documents as the cuts suffice for as originals.
		limit = len(c.cuts) + int(uint64(len(c.cuts))*c.copies/(1e6-c.copies))
		for limit > 0 && limit-c.copiesBefore(limit) > len(c.cuts) {
			limit--
		}
		if limit == 0 {
			return fmt.Errorf("plant: no base text has %d words or more", c.length.min)
		}
	}
	switch {
	case c.o.Documents > 0:
		c.planned = c.o.Documents
	case c.o.Bytes > 0:
		c.planned = max(1, int(c.o.Bytes/c.meanBytes(limit)))
	default:
		c.planned = limit
	}
	if c.planned > limit {
		return fmt.Errorf("plant: the base texts, cut, give %d documents of the %d asked for: add texts, allow shorter documents, or recombine them",
			limit, c.planned)
	}
	return nil
}

// meanBytes returns the mean length of a line of JSONL, estimated from originals.
func (c *Corpus) meanBytes(limit int) int64 {
	m := c.NewMaker()
	var sum int64
	n := min(sampleSize, limit)
	if c.o.Cut {
		n = min(n, len(c.cuts))
	}
	step := 1
	if c.o.Cut { // neighbours are of one text: take some of every part
		step = len(c.cuts) / n
	}
	for i := range n {
		m.line = m.appendOriginal(m.line[:0], i*step)
		sum += int64(len(appendRecord(nil, 0, m.line)))
	}
	return max(1, sum/int64(n))
}

// Len returns the number of documents planned. With a size in bytes it is an estimate; a program
// that has not reached the size after them continues: unless Options.Cut is set, any number from
// Len on is a document too, an original.
func (c *Corpus) Len() int { return c.planned }

// copiesBefore returns how many of the first n documents, in planned order, are
// copies.
func (c *Corpus) copiesBefore(n int) int { return int(uint64(n) * c.copies / 1e6) }

// cutBase cuts every base text into originals of the lengths asked for. A rest that is too short at
// the end of a text joins the original before it; a text that is too short as a whole is left out.
func (c *Corpus) cutBase() {
	s := newSource(c.o.Seed, purposeOriginal, ^uint64(0))
	for _, p := range c.base.pools {
		for t, first := range p.texts {
			end := len(p.sentences)
			if t+1 < len(p.texts) {
				end = p.texts[t+1]
			}
			c.cutText(p, first, end, &s)
		}
	}
}

func (c *Corpus) cutText(p *pool, first, end int, s *source) {
	made := 0
	for first < end {
		want, words, i := c.drawLength(s), 0, first
		for i < end && words < want {
			words += p.sentences[i].words
			i++
		}
		switch {
		case words >= c.length.min:
			c.cuts = append(c.cuts, cut{p, first, i})
			made++
		case made > 0:
			c.cuts[len(c.cuts)-1].end = i
		}
		first = i
	}
}

// drawLength draws the length of an original in words, shorter ones more often.
func (c *Corpus) drawLength(s *source) int {
	u := s.unit()
	return c.length.min + int(float64(c.length.max-c.length.min+1)*float64(u*u))
}

// drawPool draws a pool in proportion to its bytes.
func (c *Corpus) drawPool(s *source) *pool {
	x := int64(s.below(int(c.poolEnds[len(c.poolEnds)-1])))
	for i, end := range c.poolEnds {
		if x < end {
			return c.base.pools[i]
		}
	}
	panic("plant: drawn number beyond the pools")
}

// place returns the position in the corpus of a planned document, and planned is its inverse.
// Beyond the plan both return their argument.
func (c *Corpus) place(planned int) int {
	if planned >= c.planned {
		return planned
	}
	return c.order.inverse(planned)
}

func (c *Corpus) plannedAt(position int) int {
	if position >= c.planned {
		return position
	}
	return c.order.at(position)
}

// group is the plan of up to groupSize documents: parent[i] is the member that
// member i copies, itself for an original. Originals come first.
type group struct {
	first     int // planned number of member 0
	size      int
	originals int
	parent    [groupSize]uint8
}

// groupOf fills g with the plan of the group of a planned document and returns the document's
// number in it.
func (c *Corpus) groupOf(planned int, g *group) (member int) {
	if planned >= c.planned {
		*g = group{first: planned, size: 1, originals: 1}
		return 0
	}
	g.first = planned - planned%groupSize
	g.size = min(groupSize, c.planned-g.first)
	// The last copy of a small group may have no original to copy.
	copies := min(g.size-1, c.copiesBefore(g.first+g.size)-c.copiesBefore(g.first))
	g.originals = g.size - copies
	s := newSource(c.o.Seed, purposeGroup, uint64(g.first))
	for i := range g.size {
		switch older := i - g.originals; {
		case older < 0:
			g.parent[i] = uint8(i)
		case older > 0 && s.chance(c.o.Chains):
			g.parent[i] = uint8(g.originals + s.below(older))
		default:
			g.parent[i] = uint8(s.below(g.originals))
		}
	}
	return planned - g.first
}

// root returns the original of a member's family.
func (g *group) root(member int) int {
	for int(g.parent[member]) != member {
		member = int(g.parent[member])
	}
	return member
}
