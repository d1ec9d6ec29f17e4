package dedup

import (
	"context"
	"errors"
)

// Fingerprint is a document's signature under the run's scheme.
type Fingerprint struct {
	ID        []byte
	Signature []uint32 // of an empty document: all ones; nil under Config.Texts
	Packed    []byte   // the signature in the form that the scheme stores
	Features  int      // with repeats; 0: an empty document
}

// Sketch calls emit for every document of config.Inputs in input order. Data that do not fit in
// Config.Memory go to disk.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (summary *Summary, err error) {
	recipe, err := config.SketchRecipe()
	if err != nil {
		return nil, err
	}
	config = config.withDefaults()
	if err := config.validateReading(); err != nil {
		return nil, err
	}
	r := newRunOf(config, recipe)
	defer func() { err = errors.Join(err, r.close(err == nil)) }()
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
	c := r.table.Scanner()
	var id, packed []byte
	for i := range r.table.Docs {
		doc := uint32(i)
		if r.table.Skipped.Has(doc) {
			continue
		}
		id = c.AppendID(id[:0], doc)
		features := int(c.Doc(doc).Features)
		signature := c.Signature(doc)
		if err := errors.Join(c.Err, ctx.Err()); err != nil {
			return items, 0, err
		}
		packed = r.recipe.AppendBinary(packed[:0], signature)
		f := Fingerprint{ID: id, Packed: packed, Features: features}
		if r.config.Texts == nil {
			f.Signature = signature
		}
		if err := emit(f); err != nil {
			return items, 0, err
		}
		items++
	}
	return items, 0, nil
}
