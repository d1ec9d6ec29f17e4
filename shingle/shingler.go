package shingle

import (
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/text"
)

// base is the C of the package comment. It is 3 modulo 8, so its powers have the longest
// period possible modulo 2⁶⁴: 2⁶² steps.
const base = hashing.Key1

// A Shingler turns documents into features. It owns scratch memory, allocates
// nothing once warm, and belongs to one goroutine; make one for each.
type Shingler struct {
	options Options
	tokens  *text.Tokenizer
	n       int
	baseN   uint64     // base to the n-th power
	seen    *counter   // of tokens; nil if Repetitions is off
	made    *counter   // of features; nil if Multiset is off
	plain   []uint64   // features of a block before they are weighed
	units   unitHasher // replaces all fields below, for options with a Hash

	// The last n token hashes before the current block (zeros if there are fewer), then
	// those of the block.
	window []uint64
	hash   uint64 // polynomial of the last n tokens before the block
	total  int    // tokens before the block
}

// New returns a shingler, or the error of o.Validate.
func New(o Options) (*Shingler, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	tokens, err := text.New(o.Text)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Shingler{options: o, tokens: tokens, n: o.N, baseN: 1}
	if o.Hash != "" {
		s.units = newUnitHasher(o.Hash, o.N, !o.Text.NoFold)
		return s, nil
	}
	for range o.N {
		s.baseN *= base
	}
	if o.Repetitions {
		s.seen = newCounter()
	}
	if o.Multiset {
		s.made = newCounter()
	}
	return s, nil
}

// Options returns the options of the shingler, with the default n filled in.
func (s *Shingler) Options() Options { return s.options }

// AppendFeatures appends the features of doc, one for every shingle in document order:
// tokens − n + 1 of them, or 1 if there are fewer than n tokens, or 0 if there are none.
// With Weights it appends each as often as it weighs.
// It costs O(len(doc)), whatever n is. (A Hash has other rules, and costs O(n·len(doc)).)
//
// It processes the document in blocks, so that the token hashes of a block are used while
// they are in the first-level cache.
func (s *Shingler) AppendFeatures(dst []uint64, doc []byte) []uint64 {
	for from := 0; from < len(doc); {
		dst, from = s.AppendFeaturesFrom(dst, doc, from)
	}
	return dst
}

// AppendFeaturesFrom processes one block of doc: it appends the features of the shingles
// that end in doc[from:next], and returns next, where the next block begins, which is
// len(doc) after the last one. Blocks are those of text.Tokenizer.AppendHashesFrom, a few
// kilobytes. from must be 0 or the result of the previous call for the same document.
//
// It lets a caller use the features of each block before it makes the next ones, so a
// document of any length needs the memory of one block.
func (s *Shingler) AppendFeaturesFrom(dst []uint64, doc []byte, from int) ([]uint64, int) {
	if from == 0 {
		s.begin()
	}
	if s.units != nil {
		return s.units.appendFrom(dst, doc, from)
	}
	before := len(dst)
	s.window, from = s.tokens.AppendHashesFrom(s.window, doc, from)
	block := s.window[s.n:]
	if s.seen != nil {
		s.seen.number(block)
	}
	// The n-th token completes the first shingle; the ones before it have zeros in place of
	// tokens, and no feature.
	early := min(max(s.n-1-s.total, 0), len(block))
	s.total += len(block)
	for i := range early {
		s.hash = s.hash*base + block[i]
	}
	dst, s.hash = s.roll(dst, s.hash, early)
	kept := copy(s.window, s.window[len(block):])
	s.window = s.window[:kept]
	if from == len(doc) && s.total > 0 && s.total < s.n {
		dst = append(dst, feature(s.hash, featureKey(s.total)))
	}
	if s.made != nil {
		s.made.number(dst[before:])
	}
	if w := s.options.Weights; w != nil && w.Of != nil {
		s.plain = append(s.plain[:0], dst[before:]...)
		dst = w.append(dst[:before], s.plain)
	}
	return dst, from
}

// begin prepares for the first block of a document.
func (s *Shingler) begin() {
	if s.units != nil {
		s.units.reset()
		return
	}
	s.window = slices.Grow(s.window[:0], s.n)[:s.n]
	clear(s.window)
	s.hash, s.total = 0, 0
	if s.seen != nil {
		s.seen.reset()
	}
	if s.made != nil {
		s.made.reset()
	}
}

// roll adds the tokens of the window's block to h, from the one numbered early on, and
// appends a feature for each:
//
//	h = h·C + t − t_old·Cⁿ
//
// Only the first product is in the chain from one step to the next.
func (s *Shingler) roll(dst []uint64, h uint64, early int) ([]uint64, uint64) {
	enter := s.window[s.n+early:]
	leave := s.window[early:][:len(enter)]
	dst = slices.Grow(dst, len(enter))
	out := dst[len(dst):][:len(enter)]
	h = simd.Roll(out, enter, leave, h, base, s.baseN, hashing.Key2, featureKey(s.n))
	return dst[:len(dst)+len(enter)], h
}

func featureKey(n int) uint64 { return hashing.Key3 ^ uint64(n) }

func feature(h, key uint64) uint64 { return hashing.Fold(h^hashing.Key2, key) }

// A counter numbers the occurrences of hashes, of tokens or features: a hash table with linear probing,
// at most half full. Each slot holds the round (the document) in which it was filled, so clearing costs
// nothing.
type counter struct {
	slots []slot
	shift uint // 64 − log₂ len(slots)
	used  int
	round uint32
}

type slot struct {
	token uint64
	round uint32
	count uint32
}

const firstSlots = 1 << 10

func newCounter() *counter {
	c := new(counter)
	c.resize(firstSlots)
	return c
}

// reset forgets all hashes.
func (c *counter) reset() {
	c.used = 0
	if c.round++; c.round == 0 { // after 2³² documents old rounds would be valid again
		clear(c.slots)
		c.round = 1
	}
}

// number replaces every hash that occurs for the j-th time since reset, j > 1, by a hash that also
// depends on j.
func (c *counter) number(tokens []uint64) {
	for i, t := range tokens {
		if 2*c.used >= len(c.slots) {
			c.resize(2 * len(c.slots))
		}
		s := c.find(t)
		if s.round != c.round {
			*s = slot{token: t, round: c.round}
			c.used++
		}
		if s.count++; s.count > 1 {
			tokens[i] = hashing.Fold(t^hashing.Key3, hashing.Key2^uint64(s.count))
		}
	}
}

// find returns the slot of a token, or a free slot for it. Multiplying spreads tokens whose top bits are
// equal.
func (c *counter) find(token uint64) *slot {
	mask := len(c.slots) - 1
	for i := int(token * hashing.Key0 >> c.shift); ; i++ {
		s := &c.slots[i&mask]
		if s.round != c.round || s.token == token {
			return s
		}
	}
}

// resize moves the tokens of this round to a table of size slots, a power of two.
func (c *counter) resize(size int) {
	old := c.slots
	c.slots = make([]slot, size)
	c.shift = uint(bits.LeadingZeros64(uint64(size))) + 1
	for _, s := range old {
		if s.round == c.round {
			*c.find(s.token) = s
		}
	}
}
