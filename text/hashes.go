package text

import (
	"slices"

	"github.com/alike-dev/alike/internal/simd"
)

// AppendHashes appends the hash of every token of doc, in document order. It
// costs O(len(doc)).
func (t *Tokenizer) AppendHashes(dst []uint64, doc []byte) []uint64 {
	for from := 0; from < len(doc); {
		dst, from = t.AppendHashesFrom(dst, doc, from)
	}
	return dst
}

// AppendTokens appends every token of doc, in document order: the same tokens as
// AppendHashes, with their places. It costs O(len(doc)), several times as much as
// AppendHashes.
func (t *Tokenizer) AppendTokens(dst []Token, doc []byte) []Token {
	g := &t.general
	g.normalForm(doc, true)
	p := 0 // index of the origin in which the last token began
	g.eachToken(func(hash uint64, token span) {
		for g.origins[p].normal.end <= token.start {
			p++
		}
		q := p
		for g.origins[q].normal.end < token.end {
			q++
		}
		dst = append(dst, Token{hash, g.origins[p].docStart(token.start), g.origins[q].docEnd(token.end)})
	})
	return dst
}

// AppendNormal appends the normal form of doc: the result of the first four steps. Chars
// and Graphemes leave out invalid bytes; the other tokenisers replace each by a
// separator. Only the presence of separators is certain, not which they are. It costs
// O(len(doc)).
func (t *Tokenizer) AppendNormal(dst, doc []byte) []byte {
	t.general.normalForm(doc, false)
	return append(dst, t.general.normal...)
}

// blockSize is about how many bytes AppendHashesFrom processes: the tokens of a block
// should fit in the first-level cache together with the block, even if every byte is a
// token.
const blockSize = 4 << 10

// AppendHashesFrom processes one block of doc: it appends the hashes of the tokens from
// doc[from:] on, and returns where the next block begins, which is len(doc) after the
// last one. A block is a few kilobytes and ends between two tokens; with UAX29,
// Graphemes, MinLength or a Filter it is the whole document. from must be 0 or the result
// of the previous call for the same document.
//
// It lets a caller use the hashes while they are in the cache.
func (t *Tokenizer) AppendHashesFrom(dst []uint64, doc []byte, from int) ([]uint64, int) {
	kept := len(dst)
	next := len(doc)
	switch t.fast {
	case generalOnly:
		dst = t.general.appendHashes(dst, doc)
	case fastSegments:
		dst = t.appendSegments(dst, doc)
	case fastASCII:
		dst, next = t.appendVisible(dst, doc, from)
	default:
		dst, next = t.appendBlock(dst, doc, from)
	}
	if t.stop != nil {
		dst = t.dropStopWords(dst, kept)
	}
	return dst, next
}

// appendBlock alternates between the fast path for ASCII, the fast path for all scripts,
// and scan.
func (t *Tokenizer) appendBlock(dst []uint64, doc []byte, at int) ([]uint64, int) {
	limit := min(at+blockSize, len(doc))
	for at < limit {
		begin := at
		switch t.fast {
		case fastWords:
			end := asciiWordEnd(doc, limit)
			n := 0
			dst, n = simd.AppendWordHashes(dst, doc[at:end], !t.options.NoFold)
			at += n
		case fastChars:
			dst, at = t.appendASCIIChars(dst, doc, at, limit)
		}
		if at >= limit {
			return dst, at
		}
		few := at-begin < fewASCII
		if t.fast == fastWords && at > begin {
			// Byte at-1 is a separator. If a combining mark begins at byte at, the two may
			// compose: < and U+0338 are ≮.
			at--
		}
		if few {
			return t.appendWide(dst, doc, at, limit)
		}
		dst, at = t.scan(dst, doc, at, limit)
	}
	return dst, at
}

// asciiWordEnd returns the least end ≥ limit for which the kernel may be given doc[:end]:
// no ASCII word crosses it, and a non-ASCII byte that follows is included, so that the
// kernel stops before the word that touches it.
func asciiWordEnd(doc []byte, limit int) int {
	for limit < len(doc) {
		c := doc[limit]
		switch {
		case c >= 0x80:
			return limit + 1
		case c-'0' >= 10 && c|0x20-'a' >= 26:
			return limit
		}
		limit++
	}
	return limit
}

// appendASCIIChars processes doc[at:limit] up to the first code point that is not ASCII,
// and leaves out the character before it, which may compose with it.
func (t *Tokenizer) appendASCIIChars(dst []uint64, doc []byte, at, limit int) ([]uint64, int) {
	dst = slices.Grow(dst, limit-at)
	out := dst[len(dst) : len(dst)+limit-at]
	text := doc[at:limit]
	text = text[:len(out)]
	for i, c := range text {
		if c >= 0x80 {
			n := max(i-1, 0)
			return dst[:len(dst)+n], at + n
		}
		out[i] = t.asciiChars[c&0x7f]
	}
	n := len(text)
	if limit < len(doc) && doc[limit] >= 0x80 {
		n--
	}
	return dst[:len(dst)+n], at + n
}

// appendVisible processes a block for fastASCII.
func (t *Tokenizer) appendVisible(dst []uint64, doc []byte, from int) ([]uint64, int) {
	next := min(from+blockSize, len(doc))
	t.visible = AppendASCII(t.visible[:0], doc[from:next], !t.options.NoFold)
	dst = slices.Grow(dst, len(t.visible))
	out := dst[len(dst):][:len(t.visible)]
	for i, c := range t.visible {
		out[i] = t.asciiChars[c&0x7f]
	}
	return dst[:len(dst)+len(out)], next
}

// dropStopWords removes the stop words from hashes[from:]. All later steps know tokens by
// their hashes only, so comparing hashes is exact.
func (t *Tokenizer) dropStopWords(hashes []uint64, from int) []uint64 {
	kept := hashes[:from]
	for _, h := range hashes[from:] {
		if _, isStop := t.stop[h]; !isStop {
			kept = append(kept, h)
		}
	}
	return kept
}
