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

// swarClasses holds the classes of ASCII as ranges: a character is part of a token if it is in one
// of three ranges or, if invert is set, in none. If capitals are folded, the first range are the
// capitals.
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

// ascii folds a block into text and returns which of its bytes would be parts of tokens if all were
// ASCII, and whether any byte is above 0x7f.
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

// word returns, in the top bits of bytes, which of eight bytes are parts of tokens, and which are
// capitals.
func (s *swarClasses) word(x uint64) (in, capital uint64) {
	low := x &^ highBits
	capital = (low + s.from[0]) &^ (low + s.to[0]) &^ x & highBits
	in = (low+s.from[1])&^(low+s.to[1]) | (low+s.from[2])&^(low+s.to[2])
	if s.invert != 0 {
		return ^(in | x) & highBits, capital
	}
	return (in&^x | capital) & highBits, capital
}

// A utf8Block says where the sequences of a block are.
type utf8Block struct {
	two, three uint64 // first bytes of sequences of two and three bytes
	cont       uint64 // continuation bytes
	four       uint64 // first bytes of longer sequences, and bytes that are invalid as first bytes
}

func utf8Masks(src *[wordBlock]byte) (u utf8Block) {
	for i := 0; i < wordBlock; i += 8 {
		x := binary.LittleEndian.Uint64(src[i:])
		lead := x & (x << 1) & highBits
		three := lead & (x << 2)
		u.two |= gather(lead&^three) << i
		u.three |= gather(three) << i
		u.four |= gather(three&(x<<3)) << i
		u.cont |= gather(x&^(x<<1)&highBits) << i
	}
	u.three &^= u.four
	return u
}

// capitals returns which bytes of a block are capitals that are folded.
func (s *swarClasses) capitals(src *[wordBlock]byte) (m uint64) {
	for i := 0; i < wordBlock; i += 8 {
		_, capital := s.word(binary.LittleEndian.Uint64(src[i:]))
		m |= gather(capital&s.fold) << i
	}
	return m
}

// A blockEdge is what a block needs to know of the block before.
type blockEdge struct {
	run, solo, spans, changed, joins uint64 // bytes of the last code point that lie in this block
	lastRun, lastSolo, lastToken     uint64 // 1: the last byte was part of one
	lastPlain                        uint64 // 1: … of a code point that a mark may follow
}

// masks are the masks of the code points of a block.
type masks struct {
	run, solo uint64
	changed   uint64 // bytes of code points that no mark may follow
	marks     uint64 // lead bytes of marks
	late      uint64 // lead bytes of those that may follow anything
	joins     uint64 // bytes of marks that are part of a token
	bad       uint64 // bytes before which to stop
	swaps     uint64 // lead bytes of code points to be swapped, or that change their token
	spans     uint64 // all bytes of sequences
}

// cutBlocksGeneric is the pure Go twin of the kernels. It returns the number of starts,
// of ends and of swaps, and where it stopped.
func cutBlocksGeneric(k *Classes, c *Cuts, src []byte, blocks int) (starts, ends, swaps, stop int) {
	var edge blockEdge
	for base := 0; base < blocks*wordBlock; base += wordBlock {
		block := (*[wordBlock]byte)(src[base:])
		token, high := k.swar.ascii((*[wordBlock]byte)(c.text[base:]), block)
		lastRun, lastSolo, lastToken, lastPlain := edge.lastRun, edge.lastSolo, edge.lastToken, edge.lastPlain
		m := masks{run: edge.run, solo: edge.solo, changed: edge.changed, spans: edge.spans, joins: edge.joins}
		var cont uint64
		if high || edge.spans != 0 {
			u := utf8Masks(block)
			cont = u.cont
			m.bad = u.four
			edge = k.sequences(&m, (*[wordBlock + 4]byte)(src[base:]), &u)
			if m.marks != 0 {
				m.changed |= k.swar.capitals(block)
			}
		}
		if k.swar.fold != 0 && block[wordBlock-1]-'A' < 26 {
			m.changed |= 1 << 63
		}
		m.run |= token &^ k.swar.solo
		m.solo |= token & k.swar.solo
		all := m.run | m.solo
		plain := all &^ m.changed
		behind := m.marks &^ (plain<<1 | lastPlain)
		m.swaps |= behind & m.late
		m.bad |= behind &^ m.late
		// Marks in a row that follow a solo belong to it: adding a one where they begin carries
		// through all of them.
		ofSolo := m.joins &^ (m.joins + m.joins&(m.solo<<1|lastSolo))
		m.run &^= ofSolo
		start := m.solo&^cont | m.run&^(m.run<<1|lastRun)
		end := (all<<1 | lastToken) & (^all | start)
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
		edge.lastRun, edge.lastSolo = m.run>>63, (m.solo|ofSolo)>>63
		edge.lastToken, edge.lastPlain = all>>63, plain>>63
	}
	return starts, ends, swaps, blocks * wordBlock
}

// sequences looks up the sequences that begin in a block, and returns what the last one passes on
// to the next block.
func (k *Classes) sequences(m *masks, src *[wordBlock + 4]byte, u *utf8Block) (next blockEdge) {
	var classes [wordBlock]class
	var run, solo uint64 // of first bytes
	var any class
	for l := u.two; l != 0; l &= l - 1 {
		p := lowestBit(l)
		r := uint(src[p])&0x1f<<6 | uint(src[p+1])&0x3f
		c := k.of[r&(1<<11-1)]
		if r < 1<<7 {
			c = ClassStop // too long
		}
		classes[p] = c
		any |= c
		run |= uint64(c&ClassRun) << p
		solo |= uint64(c&ClassSolo>>1) << p
	}
	for l := u.three; l != 0; l &= l - 1 {
		p := lowestBit(l)
		x := binary.LittleEndian.Uint32(src[p : p+4])
		r := uint16(x<<12 | x>>2&0xfc0 | x>>16&0x3f)
		c := k.of[r]
		if src[p] == 0xe0 && src[p+1] < 0xa0 {
			c = ClassStop // too long
		}
		classes[p] = c
		any |= c
		run |= uint64(c&ClassRun) << p
		solo |= uint64(c&ClassSolo>>1) << p
	}
	lead := u.two | u.three
	if any > ClassRun|ClassSolo {
		m.special(&classes, lead)
	}
	m.bad |= u.cont ^ (m.spans | lead<<1 | u.three<<2)
	m.run |= run | run<<1 | run&u.three<<2
	m.solo |= solo | solo<<1 | solo&u.three<<2
	next.spans = lead>>63 | u.three>>62
	next.run = run>>63 | run&u.three>>62
	next.solo = solo>>63 | solo&u.three>>62
	joins := m.marks & run
	m.joins |= joins | joins<<1 | joins&u.three<<2
	next.joins = joins>>63 | joins&u.three>>62
	next.changed = m.changed&lead>>63 | m.changed&u.three>>62
	m.changed |= m.changed&lead<<1 | m.changed&u.three<<2
	return next
}

// special records the special properties of code points.
func (m *masks) special(classes *[wordBlock]class, leads uint64) {
	for ; leads != 0; leads &= leads - 1 {
		lead := leads & -leads
		c := classes[lowestBit(leads)]
		if c&ClassStop != 0 {
			m.bad |= lead
		}
		if c&(ClassSwap|ClassRebuild) != 0 {
			m.swaps |= lead
		}
		if c&ClassLate != 0 {
			m.late |= lead
		}
		if c&(ClassMark|ClassLastMark) != 0 {
			m.marks |= lead
		}
		if c&(ClassSwap|ClassLastMark|ClassRebuild) != 0 {
			m.changed |= lead
		}
	}
}

// appendPlaces appends the positions of the bits of m, each plus base, to list, of which n
// are used.
func appendPlaces(list *[CutBytes + 2*wordBlock]uint16, n, base int, m uint64) int {
	out := list[n : n+wordBlock]
	i := 0
	for ; m != 0; m &= m - 1 {
		out[i&(wordBlock-1)] = uint16(base + lowestBit(m))
		i++
	}
	return n + i
}

// lowestBit is bits.TrailingZeros64 of m, which is not 0, in a form that lets the compiler see that
// it is below 64. It multiplies by a de Bruijn sequence and looks up the result, because the
// instruction for it that all amd64 processors have takes longer on some of them (ko 223, 294
// MB/s).
func lowestBit(m uint64) int { return int(bitNumbers[m&-m*deBruijn>>58] & (wordBlock - 1)) }

const deBruijn = 0x03f79d71b4ca8b09

var bitNumbers = func() (t [64]uint8) {
	for i := range t {
		t[uint64(1)<<i*deBruijn>>58] = uint8(i)
	}
	return t
}()
