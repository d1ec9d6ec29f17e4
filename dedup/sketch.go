package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/lsh"
)

// Fingerprint is a document's signature under the run's scheme.
type Fingerprint struct {
	ID        []byte
	Signature []uint32 // of an empty document: all ones; nil under Config.Texts
	Packed    []byte   // the signature as the scheme writes it down
	Features  int      // with repeats; 0: an empty document
}

// A TextScheme says how a signature is made straight from a text. It is for
// fingerprints of other programs, whose normalisation, tokens and hashes are not
// those of packages text and shingle.
type TextScheme interface {
	fmt.Stringer // the canonical line: equal lines, equal signatures
	Size() int   // of a signature, in bytes
	NewSketcher() TextSketcher
}

// A TextSketcher makes signatures. It owns scratch memory and belongs to one
// goroutine.
type TextSketcher interface {
	// AppendSketch appends the signature of text, of its scheme's size, and tells
	// of how many features it was made. Any bytes are a text.
	AppendSketch(dst, text []byte) (signature []byte, features int)
}

// Sketch calls emit for every document of config.Inputs in input order. What does not
// fit in Config.Memory goes to disk.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (summary *Summary, err error) {
	config.Candidates, config.Verify = CandidatesLSH, VerifySketch
	config.noPairs = true
	config.Banding = lsh.Params{Bands: 1, Rows: 1, MinBands: 1} // none is used: any scheme will do
	r, err := newRun(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(err == nil)) }()
	r.banding = lsh.Params{}
	if err := r.begin(ctx, "sketch"); err != nil {
		return nil, err
	}
	if err := r.spoolStreams(ctx); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	err = r.clock.stage("emit", 0, func() (int64, int64, error) { return r.emitSketches(ctx, emit) })
	if err == nil {
		err = r.emitted()
	}
	if err != nil {
		return nil, err
	}
	r.finish()
	r.summary.Kept = r.summary.Read - r.summary.Skipped
	return r.summary, nil
}

func (r *run) emitSketches(ctx context.Context, emit func(Fingerprint) error) (items, bytes int64, err error) {
	c := r.table.scanner()
	var id, packed []byte
	for i := range r.table.n {
		doc := uint32(i)
		if r.table.skipped.has(doc) {
			continue
		}
		id = c.appendID(id[:0], doc)
		features := int(c.doc(doc).features)
		signature := c.signature(doc)
		if err := errors.Join(c.err, ctx.Err()); err != nil {
			return items, 0, err
		}
		f := Fingerprint{ID: id, Features: features}
		if r.config.Texts != nil {
			packed = appendComponents(packed[:0], signature)
			f.Packed = packed[:r.config.Texts.Size()]
		} else {
			packed = r.config.Sketch.AppendBinary(packed[:0], signature)
			f.Signature, f.Packed = signature, packed
		}
		if err := emit(f); err != nil {
			return items, 0, err
		}
		items++
	}
	return items, 0, nil
}

// textSketcher packs the bytes of text signatures into the components of the
// table, four each.
type textSketcher struct {
	TextSketcher
	bytes []byte
}

func (s *textSketcher) sketch(dst []uint32, text []byte) (features int) {
	s.bytes, features = s.AppendSketch(s.bytes[:0], text)
	s.bytes = append(s.bytes, 0, 0, 0) // the last component may be a part
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(s.bytes[4*i:])
	}
	return features
}

// appendComponents undoes the packing.
func appendComponents(dst []byte, signature []uint32) []byte {
	for _, w := range signature {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}

// components returns how many 32-bit words of a signature the table keeps.
func (c *Config) components() int {
	if c.Texts != nil {
		return (c.Texts.Size() + 3) / 4
	}
	return c.Sketch.Words()
}

// Recipe returns the one line that says all a signature depends on but the text: how
// features are made, " | ", and how a signature is made of them; or the line of Texts.
// Signatures may be compared if their lines are equal, and only then.
func (c Config) Recipe() string {
	c = c.withDefaults()
	if c.Texts != nil {
		return c.Texts.String()
	}
	return c.Features.String() + recipeSeparator + c.Sketch.String()
}

// recipeSeparator stands between the line of the features and that of the sketch.
const recipeSeparator = " | "

// textLine says what features are made of; a text scheme says it all in its own line.
func (c *Config) textLine() string {
	if c.Texts != nil {
		return ""
	}
	return c.Features.String()
}

func (c *Config) sketchLine() string {
	if c.Texts != nil {
		return c.Texts.String()
	}
	return c.Sketch.String()
}
