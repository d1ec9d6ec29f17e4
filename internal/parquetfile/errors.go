package parquetfile

import (
	"errors"
	"fmt"
)

// Kinds of errors of a file, for errors.Is. The text of an error says more.
var (
	ErrNotParquet  = errors.New("not a Parquet file")
	ErrTruncated   = errors.New("a Parquet file without its end")
	ErrCorrupt     = errors.New("corrupt Parquet data")
	ErrEncrypted   = errors.New("encrypted Parquet file")
	ErrUnsupported = errors.New("not supported in a Parquet file")
	ErrChanged     = errors.New("the file became shorter while it was read")
	ErrUnreadable  = errors.New("a part of a Parquet file cannot be read")
)

// IsDamage tells whether err is one of the kinds above, and not an error of writing.
func IsDamage(err error) bool {
	for _, kind := range [...]error{ErrNotParquet, ErrTruncated, ErrCorrupt, ErrEncrypted, ErrUnsupported, ErrChanged, ErrUnreadable} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// errPanic marks panics that guard has caught.
var errPanic = errors.New("unexpected")

// guard turns a panic of a codec or of this package over damaged data into an error.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %w: %v", ErrCorrupt, errPanic, r)
	}
}
