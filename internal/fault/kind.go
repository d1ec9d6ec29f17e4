package fault

import (
	"errors"
	"io/fs"
)

// The kinds. Package corpus documents those of reading.
var (
	ErrMalformed    = errors.New("malformed record")
	ErrMissingField = errors.New("missing field")
	ErrNotString    = errors.New("text is not a string")
	ErrTooLong      = errors.New("record too long")
	ErrFieldCount   = errors.New("wrong number of fields")
	ErrTruncated    = errors.New("unexpected end of data")
	ErrCorrupt      = errors.New("corrupt data")
	ErrChanged      = errors.New("file changed while it was read")
	ErrNoFiles      = errors.New("no files")
	ErrLoop         = errors.New("symbolic link loop")
	ErrNotRegular   = errors.New("not a regular file")
	ErrUnsupported  = errors.New("unsupported format")
	ErrUnavailable  = errors.New("object storage does not deliver")
	ErrBomb         = errors.New("decompression bomb")
	ErrScheme       = errors.New("another scheme")     // of a stored fingerprint: not that of the run
	ErrRepeatedName = errors.New("repeated id")        // another document has the same name
	ErrKnownName    = errors.New("id is in the index") // a document in the index, which is not alike, has the same name
	ErrNoTime       = errors.New("no time")            // of an event: missing, or in no form that is read
)

// ErrUsage marks a mistake of the caller, as opposed to one of the data; it is no kind of problem.
var ErrUsage = errors.New("wrong usage")

// kinds are all kinds, and two of the operating system. Their order is part of a stored format: add new ones at
// the end.
var kinds = [...]error{
	nil, ErrMalformed, ErrMissingField, ErrNotString, ErrTooLong, ErrFieldCount, ErrTruncated, ErrCorrupt, ErrChanged, ErrNoFiles, ErrLoop,
	ErrNotRegular, ErrUnsupported, ErrUnavailable, ErrBomb, fs.ErrNotExist, fs.ErrPermission, ErrScheme, ErrRepeatedName, ErrKnownName, ErrNoTime,
}

// KindNumber returns the number of the first kind that an error has, 0 if it has none.
func KindNumber(err error) byte {
	for i, kind := range kinds[1:] {
		if errors.Is(err, kind) {
			return byte(i + 1)
		}
	}
	return 0
}

// NumberedKind returns the kind with a number, nil if there is none.
func NumberedKind(number byte) error {
	if int(number) >= len(kinds) {
		return nil
	}
	return kinds[number]
}

// Kinds is the number of kinds, with that of errors of none.
const Kinds = len(kinds)

// KindName returns the kind of an error in words that are the same for all errors of the kind, such as "malformed
// record"; "other" if it has none.
func KindName(err error) string {
	return NumberedName(KindNumber(err))
}

// NumberedName returns the name of the kind with a number.
func NumberedName(number byte) string {
	if kind := NumberedKind(number); kind != nil {
		return kind.Error()
	}
	return "other"
}
