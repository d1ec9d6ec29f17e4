package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/fault"
)

// withIndex opens an index for the time of use, in at most o.Memory bytes; 0: as much as it needs. A command that runs
// under a holder uses the index that is open there.
func withIndex(ctx context.Context, dir string, o index.OpenOptions, use func(x *index.Index) error) (err error) {
	if h := holderOf(ctx); h != nil {
		return h.use(dir, o.ReadOnly, use)
	}
	x, err := index.Open(dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return use(x)
}

// A holder keeps an index open between commands.
type holder struct {
	dir    string
	memory int64
	x      *index.Index // nil: closed
	writes bool
}

// heldKey is the key under which a command finds its holder in its context.
type heldKey struct{}

// holderOf returns the holder that a command runs under; nil: it is a process of its own.
func holderOf(ctx context.Context) *holder {
	h, _ := ctx.Value(heldKey{}).(*holder)
	return h
}

// open opens the index unless it is open for what is wanted.
func (h *holder) open(readOnly bool) (err error) {
	if h.x != nil && (readOnly || h.writes) {
		return nil
	}
	if err := h.close(); err != nil {
		return err
	}
	if h.x, err = index.Open(h.dir, index.OpenOptions{ReadOnly: readOnly, Memory: h.memory}); err != nil {
		h.x = nil
		return err
	}
	h.writes = !readOnly
	return nil
}

func (h *holder) close() (err error) {
	if h.x != nil {
		err, h.x = h.x.Close(), nil
	}
	return err
}

// use is withIndex for a command that runs under h.
func (h *holder) use(dir string, readOnly bool, use func(x *index.Index) error) error {
	if filepath.Clean(dir) != filepath.Clean(h.dir) {
		return usagef("%s is held here, and not %s", fault.Shown(h.dir), fault.Shown(dir))
	}
	if err := h.open(readOnly); err != nil {
		return err
	}
	err := use(h.x)
	if err != nil && !readOnly {
		// A write that failed leaves an index that takes no more of them: the next command opens it anew.
		return errors.Join(err, h.close())
	}
	return err
}
