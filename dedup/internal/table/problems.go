package table

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// ErrScheme is the error of a stored fingerprint that was made differently from those of the run.
var ErrScheme = errors.New("another scheme")

// kinds are the reasons why records and files are skipped. Their order is part of the format of
// parts.
var kinds = [...]error{
	nil, corpus.ErrMalformed, corpus.ErrMissingField, corpus.ErrNotString, corpus.ErrTooLong, corpus.ErrFieldCount,
	corpus.ErrTruncated, corpus.ErrCorrupt, corpus.ErrChanged, corpus.ErrNoFiles, corpus.ErrLoop, corpus.ErrNotRegular,
	corpus.ErrUnsupported, corpus.ErrUnavailable, corpus.ErrBomb, fs.ErrNotExist, fs.ErrPermission,
	ErrScheme,
}

// KindOf returns the number of the first kind that an error has, 0 if it has none.
func KindOf(err error) byte {
	for i, kind := range kinds[1:] {
		if errors.Is(err, kind) {
			return byte(i + 1)
		}
	}
	return 0
}

// restored is an error with the text and the kind of an earlier one.
type restored struct {
	kind error
	text setting.Text
}

func (r *restored) Error() string { return r.text.String() }

// Explain returns the text with every setting named by name, see alike.Explain.
func (r *restored) Explain(name func(field string) string) string { return r.text.Explain(name) }

func (r *restored) Unwrap() error { return r.kind }

// RestoredError returns an error of a kind with a text that setting.Mark has returned.
func RestoredError(kind byte, text string) error {
	if int(kind) >= len(kinds) {
		kind = 0
	}
	return &restored{kinds[kind], setting.Unmark(text)}
}

// Changed says that an input has changed since it was read.
func Changed(path string) error {
	return fmt.Errorf("%s: %w: leave the input alone during a run and start it again", fault.Shown(path), corpus.ErrChanged)
}
