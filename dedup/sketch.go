package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/lsh"
)

// Fingerprint is a document's signature under the run's scheme.
type Fingerprint struct {
	ID        []byte
	Signature []uint32 // of an empty document: all ones
	Features  int      // with repeats; 0: an empty document
}

// Sketch calls emit for every document of config.Inputs in input order. What does not
// fit in Config.Memory goes to disk.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (summary *Summary, err error) {
	config.Candidates, config.Verify = CandidatesLSH, VerifySketch
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
	var id []byte
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
		if err := emit(Fingerprint{id, signature, features}); err != nil {
			return items, 0, err
		}
		items++
	}
	return items, 0, nil
}
