package corpus

import (
	"fmt"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// The kinds of problems, for errors.Is.
var (
	ErrMalformed    = fault.ErrMalformed    // a record that is invalid in its format
	ErrMissingField = fault.ErrMissingField // no field or column of the text
	ErrNotString    = fault.ErrNotString    // the text is not a string
	ErrTooLong      = fault.ErrTooLong      // a record over Options.MaxRecord
	ErrFieldCount   = fault.ErrFieldCount   // a row with more or fewer fields than the header
	ErrTruncated    = fault.ErrTruncated    // a compressed or Parquet file that ends too soon
	ErrCorrupt      = fault.ErrCorrupt      // damage, or a file that cannot be read any further
	ErrChanged      = fault.ErrChanged      // the file is not the one that Find has seen
	ErrNoFiles      = fault.ErrNoFiles      // no input, or a folder with nothing in it
	ErrLoop         = fault.ErrLoop         // a symbolic link that leads back to itself
	ErrNotRegular   = fault.ErrNotRegular   // a FIFO, socket or device
	ErrUnsupported  = fault.ErrUnsupported  // a format or feature that is not read here
	ErrBomb         = fault.ErrBomb         // a small file that expands without an end

	// ErrUnavailable, as an error of Open or Next, means that the object store is out of
	// reach, or that access or the context has ended; nothing is wrong with the object.
	// Another run can read the missing records, so it is better to fail than to count them
	// as skipped.
	ErrUnavailable = fault.ErrUnavailable
)

// A Problem is something that could not be read, with its place. Each counts as one
// record read and skipped.
type Problem struct {
	Path   string // as the user knows it; for standard input its Name
	Line   int64  // 1-based; 0 = unknown
	Offset int64  // in the decoded stream; 0 = start or unknown
	ID     string // the record's own id; "" = it has none, or it could not be read
	Err    error
}

// Kind returns the kind of the problem in a few words, the same for all problems of a kind: "malformed record",
// "missing field", "record too long" and so on; "other" if it is of none. Use it to count problems.
func (p *Problem) Kind() string { return fault.KindName(p.Err) }

// Place returns the file as messages name it, with :line if the line is known.
func (p *Problem) Place() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", fault.Shown(p.Path), p.Line)
	}
	return fault.Shown(p.Path)
}

// Error returns "file:line: reason; remedy". A path with line ends, control
// characters or bytes that are not UTF-8 is put in quotes as Go does: a message
// is one line and does nothing to a terminal.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s: %v", p.Place(), p.Err)
}

// Unwrap returns the reason.
func (p *Problem) Unwrap() error { return p.Err }

// openError is the Problem of a file that the system cannot open.
func openError(path string, err error) error { return &Problem{Path: path, Err: fault.File(err)} }

func tooLong(limit int64) error {
	return fault.Because(ErrTooLong, "record is longer than %d bytes; raise the limit (%s) to read it", limit, setting.MaxRecord)
}

func missingField(want string, have []string) error {
	if len(have) == 0 {
		return fault.Because(ErrMissingField, "no field %q: the record has no fields", want)
	}
	return fault.Because(ErrMissingField, "no field %q, there are: %s; name the field with the text (%s)",
		want, fault.List(have), setting.TextField)
}
