package text

import (
	"slices"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
)

// A Token is a token with its place: doc[Start:End], in bytes of the original document.
// Normalisation may make several tokens of one place (½ is 1 and 2), or a token of a
// place that holds more than the token.
type Token struct {
	Hash       uint64
	Start, End int
}

// A Tokenizer turns documents into tokens. It owns scratch memory that grows to the needs
// of the longest document, allocates nothing once warm, and belongs to one goroutine;
// make one for each.
type Tokenizer struct {
	options Options
	table   *table
	pipe    memo
	fast    fastPath
	stop    map[uint64]struct{}

	wide       *wide       // state of the fast path for all scripts, nil until first used
	asciiChars [128]uint64 // hashes of the ASCII code points, for fastChars and fastASCII
	visible    []byte      // visible characters of a block, for fastASCII
	token      []byte      // the copied part of the current token, see scan

	// Scratch of the general path, see general.go.
	normal   []byte
	pieces   []piece
	words    *words.Iterator[[]byte]
	clusters *graphemes.Iterator[[]byte]
}

// A fastPath says how to process a stretch of ASCII.
type fastPath uint8

const (
	fastNone     fastPath = iota // scan does ASCII as well
	fastWords                    // words of letters and digits: the vector kernel
	fastChars                    // a table of 128 hashes
	fastASCII                    // drops everything but visible ASCII first; no scan at all
	fastSegments                 // runs of letters and numbers, otherwise the general path; no scan at all
	generalOnly                  // filters need the tokens' bytes, or the tokeniser needs whole texts: no scan at all
)

// New returns a tokenizer, or the error of o.Validate.
func New(o Options) (*Tokenizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	o.StopWords = slices.Clone(o.StopWords)
	t := &Tokenizer{options: o, table: tableFor(o), pipe: memo{pipe: newPipeline(o)}}
	if hashes := o.stopHashes(); len(hashes) > 0 {
		t.stop = make(map[uint64]struct{}, len(hashes))
		for _, h := range hashes {
			t.stop[h] = struct{}{}
		}
	}
	switch {
	case o.Tokens == UAX29 || o.Tokens == Graphemes || o.MinLength > 1 || o.Filter != nil:
		t.fast = generalOnly
		if o.Tokens == UAX29 && o.MinLength <= 1 && o.Filter == nil {
			t.fast = fastSegments
		}
		t.words = words.FromBytes(nil)
		t.clusters = graphemes.FromBytes(nil)
	case o.Tokens == Words || o.Tokens == Alnum:
		t.fast = fastWords
	case o.Tokens == Chars, o.Tokens == ASCII:
		t.fast = fastChars
		if o.Tokens == ASCII {
			t.fast = fastASCII
		}
		for c := range t.asciiChars {
			t.asciiChars[c] = hashing.Bytes(t.pipe.apply([]byte{byte(c)}))
		}
	}
	return t, nil
}

// Options returns the options of the tokenizer, with defaults filled in.
func (t *Tokenizer) Options() Options { return t.options }

// AppendHashes appends the hash of every token of doc, in document order. It
// costs O(len(doc)).
func (t *Tokenizer) AppendHashes(dst []uint64, doc []byte) []uint64 {
	for from := 0; from < len(doc); {
		dst, from = t.AppendHashesFrom(dst, doc, from)
	}
	return dst
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
		dst = t.appendGeneral(dst, doc)
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

// AppendASCII appends the characters of doc of which the tokeniser ASCII makes tokens:
// all of ASCII except white space (space and U+0009 to U+000D), letters in lower case if
// fold. It costs O(len(doc)).
func AppendASCII(dst, doc []byte, fold bool) []byte {
	dst = slices.Grow(dst, len(doc)+simd.VisibleSlack)
	n := simd.Visible(dst[len(dst):cap(dst)], doc, fold)
	return dst[:len(dst)+n]
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
