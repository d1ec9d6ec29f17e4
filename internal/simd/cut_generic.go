package simd

import (
	"encoding/binary"
	"math/bits"
)

// cutVariant names an implementation of cutBlocks.
type cutVariant int

const (
	cutGo cutVariant = iota
	cutAVX2
	cutAVX512
)

func (v cutVariant) String() string { return [...]string{"go", "avx2", "avx512"}[v] }

// swarClasses holds the classes of ASCII as ranges: a character is part of a token if it
// is in one of three, or if it is in none and invert is set. The first one, if it is
// folded, are the capitals.
type swarClasses struct {
	from, to [3]uint64 // what to add to a byte so that its top bit says ≥ first, > last
	invert   uint64
	fold     uint64 // highBits if capitals are folded
	solo     uint64 // all ones if every character is a token
}

func newSWARClasses(rule ASCIIRule, fold bool) swarClasses {
	ranges := [3][2]uint64{{'A', 'Z'}, {'a', 'z'}, {'0', '9'}}
	var s swarClasses
	switch rule {
	case ASCIINonSpace:
		ranges = [3][2]uint64{{'A', 'Z'}, {'\t', '\r'}, {' ', ' '}}
		s.invert = highBits
	case ASCIIEach:
		ranges = [3][2]uint64{{'A', 'Z'}, {1, 0}, {1, 0}}
		s.invert, s.solo = highBits, 1<<64-1
	}
	for i, r := range ranges {
		s.from[i], s.to[i] = (0x80-r[0])*ones, (0x80-r[1]-1)*ones
	}
	if fold {
		s.fold = highBits
	}
	return s
}

// ascii folds a block into text and returns which of its bytes are parts of tokens, as if
// there were nothing but ASCII, and which are above 0x7f if any is.
func (s *swarClasses) ascii(text, src *[wordBlock]byte) (token uint64, high bool) {
	var any uint64
	for i := 0; i < wordBlock; i += 8 {
		x := binary.LittleEndian.Uint64(src[i:])
		any |= x
		in, capital := s.word(x)
		binary.LittleEndian.PutUint64(text[i:], x|capital&s.fold>>2)
		token |= gather(in) << i
	}
	return token, any&highBits != 0
}

// word returns, in the top bits of bytes, which of eight are parts of tokens, and which
// are capitals.
func (s *swarClasses) word(x uint64) (in, capital uint64) {
	low := x &^ highBits
	capital = (low + s.from[0]) &^ (low + s.to[0]) &^ x & highBits
	in = (low+s.from[1])&^(low+s.to[1]) | (low+s.from[2])&^(low+s.to[2])
	if s.invert != 0 {
		return ^(in | x) & highBits, capital
	}
	return (in&^x | capital) & highBits, capital
}

// utf8Masks returns which bytes of a block lead a sequence, which continue one, and which
// are capitals that are folded.
func (s *swarClasses) utf8Masks(src *[wordBlock]byte) (lead, cont, capital uint64) {
	for i := 0; i < wordBlock; i += 8 {
		x := binary.LittleEndian.Uint64(src[i:])
		_, c := s.word(x)
		lead |= gather(x&(x<<1)&highBits) << i
		cont |= gather(x&^(x<<1)&highBits) << i
		capital |= gather(c&s.fold) << i
	}
	return lead, cont, capital
}

// A blockEdge is what one block has to know about the one before.
type blockEdge struct {
	run, solo, spans, changed uint64 // bytes of the last code point that are in this one
	lastRun, lastToken        uint64 // 1: the last byte was part of one
	lastPlain                 uint64 // 1: and of a code point that a mark may follow
}

// masks are those of the code points of a block.
type masks struct {
	run, solo uint64
	changed   uint64 // bytes of code points that no mark may follow
	marks     uint64 // lead bytes of marks
	bad       uint64 // bytes before which to stop
	swaps     uint64 // lead bytes of code points to be swapped
	spans     uint64 // all bytes of sequences
}

// cutBlocksGeneric is the pure Go twin of the kernels. It returns the number of starts,
// of ends and of swaps, and where it stopped.
func cutBlocksGeneric(k *Classes, c *Cuts, src []byte, blocks int) (starts, ends, swaps, stop int) {
	var edge blockEdge
	for base := 0; base < blocks*wordBlock; base += wordBlock {
		block := (*[wordBlock]byte)(src[base:])
		token, high := k.swar.ascii((*[wordBlock]byte)(c.text[base:]), block)
		m := masks{run: edge.run, solo: edge.solo, changed: edge.changed, spans: edge.spans}
		var cont uint64
		if high || edge.spans != 0 {
			var lead, capital uint64
			lead, cont, capital = k.swar.utf8Masks(block)
			m.changed |= capital
			left := k.sequences(&m, src[base:], lead)
			m.bad |= cont ^ m.spans&^lead
			edge.run, edge.solo, edge.spans, edge.changed = left.run, left.solo, left.spans, left.changed
		} else if k.swar.fold != 0 && block[wordBlock-1]-'A' < 26 {
			m.changed = 1 << 63
		}
		m.run |= token &^ k.swar.solo
		m.solo |= token & k.swar.solo
		plain := m.run &^ m.changed
		m.bad |= m.marks &^ (plain<<1 | edge.lastPlain)
		all := m.run | m.solo
		start := m.solo&^cont | m.run&^(m.run<<1|edge.lastRun)
		end := (all<<1 | edge.lastToken) & (^all | start)
		if m.bad != 0 {
			valid := m.bad&-m.bad - 1
			start, end, m.swaps = start&valid, end&valid, m.swaps&valid
		}
		starts = appendPlaces(&c.starts, starts, base, start)
		ends = appendPlaces(&c.ends, ends, base, end)
		for ; m.swaps != 0; m.swaps &= m.swaps - 1 {
			c.swaps[swaps] = uint16(base + bits.TrailingZeros64(m.swaps))
			swaps++
		}
		if m.bad != 0 {
			return starts, ends, swaps, base + bits.TrailingZeros64(m.bad)
		}
		edge.lastRun, edge.lastToken, edge.lastPlain = m.run>>63, all>>63, plain>>63
	}
	return starts, ends, swaps, blocks * wordBlock
}

// sequences looks up the sequences that the bytes of lead begin, and returns what the
// last one leaves to the next block.
func (k *Classes) sequences(m *masks, src []byte, lead uint64) (next blockEdge) {
	if lead == 0 {
		return next
	}
	var span uint64
	var c class
	for l := lead; l != 0; l &= l - 1 {
		p := bits.TrailingZeros64(l)
		x := binary.LittleEndian.Uint32(src[p:])
		d := &utf8Leads[uint8(x)]
		c = ClassStop
		if x&d.mask == d.want {
			c = k.of[uint16((x&d.bits<<12|x>>2&0xfc0|x>>16&0x3f)>>(d.shift&31))]
		}
		span = d.span
		here := span << p
		m.spans |= here
		m.run |= here & -uint64(c&ClassRun)
		m.solo |= here & -uint64(c&ClassSolo>>1)
		if c > ClassRun|ClassSolo {
			m.special(c, here, 1<<p)
		}
	}
	next.spans = span >> (bits.LeadingZeros64(lead) + 1)
	next.run = next.spans & -uint64(c&ClassRun)
	next.solo = next.spans & -uint64(c&ClassSolo>>1)
	if c&(ClassSwap|ClassLastMark) != 0 {
		next.changed = next.spans
	}
	return next
}

// special notes what is special about a code point of some bytes.
func (m *masks) special(c class, bytes, lead uint64) {
	if c&ClassStop != 0 {
		m.bad |= lead
	}
	if c&ClassSwap != 0 {
		m.swaps |= lead
	}
	if c&(ClassMark|ClassLastMark) != 0 {
		m.marks |= lead
	}
	if c&(ClassSwap|ClassLastMark) != 0 {
		m.changed |= bytes
	}
}

// appendPlaces appends the positions of the bits of m, each plus base, to list, of which n
// are used.
func appendPlaces(list *[CutBytes + 2*wordBlock]uint16, n, base int, m uint64) int {
	out := list[n : n+wordBlock]
	i := 0
	for ; m != 0; m &= m - 1 {
		out[i&(wordBlock-1)] = uint16(base + bits.TrailingZeros64(m))
		i++
	}
	return n + i
}

// utf8Lead says by its first byte how to decode a sequence of two or three bytes from four
// bytes x, read as a little-endian word: it is valid if x&mask == want, and its number is
// what is left of the bits of three bytes, strung together, when those behind the
// sequence's own are shifted out.
type utf8Lead struct {
	mask, want, bits uint32
	shift            uint8
	span             uint64 // one bit for each of its bytes
}

var utf8Leads = func() (t [256]utf8Lead) {
	for c := range t {
		l := &t[c]
		switch {
		case c >= 0xc2 && c < 0xe0:
			*l = utf8Lead{mask: 0xc000, want: 0x8000, bits: 0x1f, shift: 6, span: 3}
		case c == 0xe0: // the second byte is at least 0xa0, else it were too long
			*l = utf8Lead{mask: 0xc0e000, want: 0x80a000, bits: 0x0f, span: 7}
		case c == 0xed: // the second byte is below 0xa0, else it were a surrogate
			*l = utf8Lead{mask: 0xc0e000, want: 0x808000, bits: 0x0f, span: 7}
		case c > 0xe0 && c < 0xf0:
			*l = utf8Lead{mask: 0xc0c000, want: 0x808000, bits: 0x0f, span: 7}
		default: // four bytes, or not UTF-8: never equal
			*l = utf8Lead{want: 1, span: 1}
		}
	}
	return t
}()
