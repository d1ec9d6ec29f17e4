package corpus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/setting"
)

// What can be wrong, for errors.Is.
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
)

// A Problem is something that was not read, with its place. Each counts as one
// record read and skipped.
type Problem struct {
	Path   string // as the user knows it; of standard input its Name
	Line   int64  // 1-based; 0 = unknown
	Offset int64  // in the decoded stream; 0 = start or unknown
	Err    error
}

// Error returns "file:line: reason; remedy". A path with line ends, control
// characters or bytes that are not UTF-8 is put in quotes as Go does: a message
// is one line and does nothing to a terminal.
func (p *Problem) Error() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", Shown(p.Path), p.Line, p.Err)
	}
	return fmt.Sprintf("%s: %v", Shown(p.Path), p.Err)
}

// Shown returns a name that comes from data (of a file, a column, a field) as it
// is fit for a message: in quotes, as Go writes them, if it has line ends, control
// characters, invisible ones or those that turn the direction of writing, or bytes
// that are not UTF-8.
func Shown(name string) string {
	for _, r := range name {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(name)
		}
	}
	return name
}

// Unwrap returns the reason.
func (p *Problem) Unwrap() error { return p.Err }

// reason is an error that reads as its own text and is one of the errors above
// for errors.Is.
type reason struct {
	kind error
	text setting.Text
	// cause is the error of the operating system or a decoder, if there is one.
	cause error
}

func (r *reason) Error() string { return r.text.String() }

// Explain returns the text with every setting as name says, see alike.Explain.
func (r *reason) Explain(name func(field string) string) string { return r.text.Explain(name) }

func (r *reason) Unwrap() []error {
	if r.cause != nil {
		return []error{r.kind, r.cause}
	}
	return []error{r.kind}
}

func because(kind error, format string, args ...any) error {
	return &reason{kind: kind, text: setting.Textf(format, args...)}
}

func tooLong(limit int64) error {
	return because(ErrTooLong, "record is longer than %d bytes; raise the limit (%s) to read it", limit, setting.MaxRecord)
}

func missingField(want string, have []string) error {
	if len(have) == 0 {
		return because(ErrMissingField, "no field %q: the record has no fields", want)
	}
	return because(ErrMissingField, "no field %q, there are: %s; name the field with the text (%s)",
		want, listNames(have), setting.TextField)
}

// listNames joins names for a message, not more of them than one can read.
func listNames(names []string) string {
	const most = 20
	list := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		list = append(list, Shown(name))
	}
	text := strings.Join(list, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
