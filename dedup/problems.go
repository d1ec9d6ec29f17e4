package dedup

import (
	"errors"
	"io/fs"

	"github.com/alike-dev/alike/corpus"
)

// kinds are the reasons for which records and files are skipped. Their order is
// part of the format of parts.
var kinds = [...]error{
	nil, corpus.ErrMalformed, corpus.ErrMissingField, corpus.ErrNotString, corpus.ErrTooLong, corpus.ErrFieldCount,
	corpus.ErrTruncated, corpus.ErrCorrupt, corpus.ErrChanged, corpus.ErrNoFiles, corpus.ErrLoop, corpus.ErrNotRegular,
	corpus.ErrUnsupported, corpus.ErrUnavailable, corpus.ErrBomb, fs.ErrNotExist, fs.ErrPermission,
}

// kindOf returns the number of the first kind that an error is of, 0 if of none.
func kindOf(err error) byte {
	for i, kind := range kinds[1:] {
		if errors.Is(err, kind) {
			return byte(i + 1)
		}
	}
	return 0
}

// restored is an error that reads as one met earlier and is of the same kind.
type restored struct {
	kind error
	text string
}

func (r *restored) Error() string { return r.text }

func (r *restored) Unwrap() error { return r.kind }

func restoredError(kind byte, text string) error {
	if int(kind) >= len(kinds) {
		kind = 0
	}
	return &restored{kinds[kind], text}
}
