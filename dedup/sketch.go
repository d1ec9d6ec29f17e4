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

// Sketch calls emit for every document of config.Inputs in input order. Memory
// is that of all signatures.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (summary *Summary, err error) {
	config.Candidates, config.Verify = CandidatesLSH, VerifySketch
	config.Banding = lsh.Params{Bands: 1, Rows: 1, MinBands: 1} // none is used: any scheme will do
	r, err := newRun(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.banding = lsh.Params{}
	if err := r.findSources(ctx); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	err = r.clock.stage("emit", 0, func() (int64, int64, error) { return r.emitSketches(ctx, emit) })
	if err != nil {
		return nil, err
	}
	r.clock.stop()
	r.summary.Kept = r.summary.Read - r.summary.Skipped
	return r.summary, nil
}

func (r *run) emitSketches(ctx context.Context, emit func(Fingerprint) error) (items, bytes int64, err error) {
	t := r.table
	var id []byte
	for i := range t.docs {
		doc := uint32(i)
		if t.docs[doc].skipped {
			continue
		}
		if err := ctx.Err(); err != nil {
			return items, 0, err
		}
		id = t.appendID(id[:0], doc)
		if err := emit(Fingerprint{id, t.signature(doc), int(t.docs[doc].features)}); err != nil {
			return items, 0, err
		}
		items++
	}
	return items, 0, nil
}
