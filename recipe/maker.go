package recipe

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
)

// LongText is the length in bytes from which the features of a text are used block by block, if
// MakerOptions do not set another: their memory would exceed that of the text.
const LongText = 1 << 20

// blockFeatures is how many features a block of such a text has, 32 KiB.
const blockFeatures = 4 << 10

// trimFrom is the most features for which scratch memory is kept for the next text.
const trimFrom = 1 << 20

// A Step is a part of making a document, for callers that measure time.
type Step uint8

const (
	StepFeatures Step = iota // features, or all the work of a TextScheme
	StepSketch               // digest and signature
)

// MakerOptions say what a Maker makes in addition to features and digest.
type MakerOptions struct {
	Signature bool // make signatures, even if there are no keys
	Long      int  // see LongText; 0: LongText
	// Whole is called with the number of features of a long text, and reports whether Set must return
	// them. nil: no.
	Whole func(features int) bool
	// Short says which sets are short: a text with a short set has no keys and no signature.
	Short ShortSets
	Lap   func(Step) // if set, called at the end of a step
}

// ShortSets separates sets that are found by all of their features from sets that are found by keys.
type ShortSets struct {
	Most int // most features of a short set; 0: no set is short
	Near int // most features of a set that can be similar to a short one, at least Most
}

// A Maker applies a recipe to texts. It owns scratch memory, allocates nothing for a document once
// warm (except for long texts), and belongs to one goroutine.
type Maker struct {
	options   MakerOptions
	banding   func(dst []uint64, signature []uint32) []uint64 // nil: no keys
	byDigest  bool                                            // the digest of features decides about equality; otherwise that of the signature
	shingler  *shingle.Shingler                               // nil: texts
	sketcher  Sketcher
	texts     TextSketcher
	sampler   *minhash.BottomKSketcher // nil: no keys of samples
	sample    int                      // its size
	few       *distinct.Few            // nil: no sets are short
	short     bool                     // the set of the current text is short
	features  []uint64
	block     []uint64 // of the features of a long text
	bytes     []byte   // of the signature of a TextSketcher
	signature []uint32 // empty: not made
	decode    func(dst []uint32, packed []byte) ([]uint32, error)
	taken     []uint32 // the signature of Take
	none      []uint32 // the signature of a text without features; nil: not known yet
	within    Within   // see Within
}

// Made is the result for a text, in addition to what the Maker holds until the next text.
type Made struct {
	Features int // with repeats; 0: the document is similar to nothing
	// Digest is equal for equal documents: 96 of its bits count. Documents are equal if their features
	// are, whatever their order; if a Hamming distance decides, and under a TextScheme, if their
	// signatures are.
	Digest [2]uint64
}

// NewMaker returns a maker. The recipe must be made by New or Parse.
func (r Recipe) NewMaker(o MakerOptions) *Maker {
	if o.Long == 0 {
		o.Long = LongText
	}
	m := &Maker{options: o, decode: r.DecodeBinary, byDigest: r.texts == nil && r.decision != byDistance}
	switch {
	case r.decision == byDistance:
		m.banding = r.blocks.AppendKeys
	case r.banding.Bands > 0:
		m.banding = r.banding.AppendKeys
	}
	if o.Signature || m.banding != nil {
		m.signature = make([]uint32, r.Words())
	}
	if r.texts != nil {
		m.texts = r.texts.NewSketcher()
		return m
	}
	m.shingler = newShingler(r.features)
	if o.Short.Most > 0 {
		m.few = distinct.NewFew(o.Short.Near)
	}
	if r.sample.Size > 0 {
		m.sampler, m.sample = NewSampler(r.sample.Size, r.SampleSeed()), r.sample.Size
	}
	if len(m.signature) > 0 {
		m.sketcher = r.sketch.NewSketcher()
	}
	return m
}

// Within sets the value of the next texts, for recipes that compare within values.
func (m *Maker) Within(w Within) { m.within = w }

// Make computes features, digest and signature of a text.
func (m *Maker) Make(text []byte) (made Made) {
	m.reset()
	switch {
	case m.texts != nil:
		made.Features = m.makeText(text)
		m.lap(StepFeatures)
	case len(text) > m.options.Long:
		made = m.makeLong(text)
	default:
		m.features = m.shingler.AppendFeatures(m.features[:0], text)
		m.lap(StepFeatures)
		m.addFeatures(&made, m.features)
		if m.isShort(); m.sketcher != nil && !m.short {
			m.sketcher.Sketch(m.signature, m.features)
		}
		m.lap(StepSketch)
	}
	if !m.byDigest && len(m.signature) > 0 {
		made.Digest = signatureDigest(m.signature)
	}
	made.within(m.within)
	return made
}

// reset begins a text, or begins the same one again.
func (m *Maker) reset() {
	m.short = false
	if m.sampler != nil {
		m.sampler.Reset()
	}
	if m.few != nil {
		m.few.Reset()
	}
}

// isShort determines whether the set of the text is short, once all features are taken.
func (m *Maker) isShort() {
	if m.few != nil {
		values, ok := m.few.Values()
		m.short = ok && len(values) <= m.options.Short.Most
	}
}

// addFeatures adds features of the text to the results.
func (m *Maker) addFeatures(made *Made, features []uint64) {
	made.add(features)
	if m.few != nil {
		m.few.Add(features)
	}
	if m.sampler != nil {
		m.sampler.Add(features)
	}
}

// Take does for a stored signature, packed by Recipe.AppendBinary, what Make does for a text: it
// computes digest, signature and keys. Documents are equal if their signatures are. The features are
// unknown: their number is reported as 1, or as 0 if the signature is that of a text without
// features. The error says how the bytes are damaged. The Maker must make signatures.
func (m *Maker) Take(packed []byte) (made Made, err error) {
	if m.none == nil {
		m.Make(nil)
		m.none = slices.Clone(m.signature)
	}
	m.features = m.features[:0]
	if m.taken, err = m.decode(m.taken[:0], packed); err != nil {
		return made, err
	}
	copy(m.signature, m.taken)
	if !slices.Equal(m.taken, m.none) {
		made.Features = 1
	}
	made.Digest = signatureDigest(m.taken)
	made.within(m.within)
	m.lap(StepSketch)
	return made, nil
}

func (m *Maker) lap(step Step) {
	if m.options.Lap != nil {
		m.options.Lap(step)
	}
}

// Signature returns the signature of the text, empty if none is made. For a text without features it
// means nothing.
func (m *Maker) Signature() []uint32 { return m.signature }

// AppendHashes appends the hashes of the text's distinct features if there are at most
// ShortSets.Near.
func (m *Maker) AppendHashes(dst []uint32) []uint32 {
	if m.few == nil {
		return dst
	}
	if values, ok := m.few.Values(); ok {
		for _, v := range values {
			dst = append(dst, uint32(hashing.Mix(v^uint64(m.within))>>32))
		}
	}
	return dst
}

// AppendKeys appends the keys of the text: Recipe.Keys of them, or none if its set is short.
func (m *Maker) AppendKeys(dst []uint64) []uint64 {
	from := len(dst)
	dst = m.appendKeys(dst)
	if m.within != 0 {
		for i, key := range dst[from:] {
			dst[from+i] = m.within.Key(key)
		}
	}
	return dst
}

func (m *Maker) appendKeys(dst []uint64) []uint64 {
	switch {
	case m.short:
		return dst
	case m.sampler != nil:
		end := len(dst) + m.sample
		for dst = m.sampler.Append64(dst); len(dst) < end; {
			dst = append(dst, NoKey)
		}
		return dst
	case m.banding == nil:
		return dst
	}
	return m.banding(dst, m.signature)
}

// Set returns the text's features as an ascending set, whatever their value, which is valid until the next text. For a
// long text it is empty unless Whole asked for it.
func (m *Maker) Set() []uint64 {
	m.features = shingle.Set(m.features)
	return m.features
}

// Trim frees the memory that an unusually long text needed.
func (m *Maker) Trim() {
	if cap(m.features) > m.options.Long {
		m.features = nil
	}
}

// makeText uses a TextSketcher. Its bytes become words, four each.
func (m *Maker) makeText(text []byte) (features int) {
	m.bytes, features = m.texts.AppendSketch(m.bytes[:0], text)
	if len(m.signature) == 0 {
		return features
	}
	appendBytes(m.signature[:0], m.bytes)
	return features
}

// appendBytes appends bytes as words, four each, the lowest first. The last word may be partial.
func appendBytes(dst []uint32, src []byte) []uint32 {
	for ; len(src) >= 4; src = src[4:] {
		dst = append(dst, binary.LittleEndian.Uint32(src))
	}
	if len(src) > 0 {
		var last [4]byte
		copy(last[:], src)
		dst = append(dst, binary.LittleEndian.Uint32(last[:]))
	}
	return dst
}

// makeLong is Make for a text of any length. All features are in memory at once only if Whole or the
// scheme asks for it.
func (m *Maker) makeLong(text []byte) (made Made) {
	seq, inBlocks := m.sketcher.(minhash.SeqSketcher)
	whole := m.sketcher != nil && !inBlocks
	if inBlocks {
		seq.SketchSeq(m.signature, func(yield func([]uint64) bool) {
			made = Made{}
			m.reset()
			for block := range m.blocksOf(text) {
				m.addFeatures(&made, block)
				if !yield(block) {
					return
				}
			}
		})
		m.lap(StepSketch)
	} else {
		for block := range m.blocksOf(text) {
			m.addFeatures(&made, block)
		}
	}
	m.isShort()
	m.features = m.features[:0]
	if m.options.Whole != nil && m.options.Whole(made.Features) || whole {
		m.features = m.shingler.AppendFeatures(make([]uint64, 0, made.Features), text)
	}
	m.lap(StepFeatures)
	if whole {
		m.sketcher.Sketch(m.signature, m.features)
		m.lap(StepSketch)
	}
	return made
}

func newShingler(o shingle.Options) *shingle.Shingler {
	s, err := shingle.New(o)
	if err != nil {
		panic("recipe: options that were valid are not: " + err.Error())
	}
	return s
}

// A SetMaker makes sets of texts only. It owns scratch memory, allocates nothing but room for sets
// once warm, and belongs to one goroutine.
type SetMaker struct{ shingler *shingle.Shingler }

// NewSetMaker returns a maker of sets. The recipe must not use a TextScheme.
func (r Recipe) NewSetMaker() *SetMaker { return &SetMaker{newShingler(r.features)} }

// AppendSet appends the ascending set of a text's features.
func (m *SetMaker) AppendSet(dst []uint64, text []byte) []uint64 {
	start := len(dst)
	dst = m.AppendFeatures(dst, text)
	return dst[:start+len(shingle.Set(dst[start:]))]
}

// AppendFeatures appends the features of a text in their order, with repeats.
func (m *SetMaker) AppendFeatures(dst []uint64, text []byte) []uint64 {
	return m.shingler.AppendFeatures(dst, text)
}

// AppendShare is AppendSet of the features for which keep returns true. Others are not sorted and
// need no room.
func (m *SetMaker) AppendShare(dst []uint64, text []byte, keep func(feature uint64) bool) []uint64 {
	start := len(dst)
	for from := 0; from < len(text); {
		kept := len(dst)
		dst, from = m.shingler.AppendFeaturesFrom(dst, text, from)
		for _, feature := range dst[kept:] {
			if keep(feature) {
				dst[kept] = feature
				kept++
			}
		}
		dst = dst[:kept]
	}
	return dst[:start+len(shingle.Set(dst[start:]))]
}

// blocksOf makes the features of a text, block by block.
func (m *Maker) blocksOf(text []byte) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		block := m.block[:0]
		defer func() { m.block = block }()
		for from := 0; from < len(text); {
			block, from = m.shingler.AppendFeaturesFrom(block, text, from)
			if len(block) >= blockFeatures || from == len(text) {
				if !yield(block) {
					return
				}
				block = block[:0]
			}
		}
	}
}

// Digest returns the digest of features; their order does not matter, but repeats do.
func Digest(features []uint64) [2]uint64 {
	var made Made
	made.add(features)
	return made.Digest
}

// add adds features to the digest: two sums over 64-bit hashes, the second of a product that
// is not linear in them.
func (d *Made) add(features []uint64) {
	sum, products := simd.Digest(features)
	d.Features += len(features)
	d.Digest[0] += sum
	d.Digest[1] += products + uint64(len(features))
}

// within makes the digest that of a document with the value.
func (d *Made) within(w Within) {
	d.Digest[0] ^= uint64(w)
	d.Digest[1] ^= hashing.Mix(uint64(w))
}

// signatureDigest returns the digest of a signature: two chains of hashes, the first of which alone
// distinguishes all signatures of 64 bits.
func signatureDigest(signature []uint32) (d [2]uint64) {
	d[1] = hashing.Key1
	for i := 0; i < len(signature); i += 2 {
		w := uint64(signature[i])
		if i+1 < len(signature) {
			w |= uint64(signature[i+1]) << 32
		}
		d[0] = hashing.Mix(d[0] ^ w)
		d[1] = hashing.Mix(d[1]*hashing.Key1 + w)
	}
	return d
}
