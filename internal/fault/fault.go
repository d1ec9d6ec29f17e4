// Package fault words errors of inputs and outputs: each reads as a reason and a remedy, and is of
// one of a few kinds for errors.Is.
//
// Package corpus exports the kinds. The packages below it, and the engine, word their errors here,
// so that all messages read alike.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/setting"
)

// reason is an error with a text of its own and a kind.
type reason struct {
	kind error
	text setting.Text
	// cause is the error of the operating system or a decoder, if there is one.
	cause error
}

func (r *reason) Error() string { return r.text.String() }

// Explain returns the text with every setting named by name, see setting.Explain.
func (r *reason) Explain(name func(field string) string) string { return r.text.Explain(name) }

func (r *reason) Unwrap() []error {
	if r.cause != nil {
		return []error{r.kind, r.cause}
	}
	return []error{r.kind}
}

// InWorkFolder adds to an error that it occurred in the work folder.
func InWorkFolder(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("work folder: %w", err)
}

// Because returns an error of a kind. Arguments may be setting.Names and setting.Texts.
func Because(kind error, format string, args ...any) error {
	return &reason{kind: kind, text: setting.Textf(format, args...)}
}

// Caused is Because for an error that has a cause, which errors.Is and errors.As find too.
func Caused(kind, cause error, format string, args ...any) error {
	return &reason{kind: kind, text: setting.Textf(format, args...), cause: cause}
}

// File words an error of the operating system about a file, with the remedy.
func File(err error) error {
	cause := err
	var pe *fs.PathError
	if errors.As(err, &pe) {
		cause = pe.Err
	}
	text := cause.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = "no such file or folder; check the name"
	case errors.Is(err, fs.ErrPermission):
		text = "permission denied; make it readable or leave it out"
	}
	return Caused(cause, err, "%s", text)
}

func Stream(err error) error { return Caused(ErrCorrupt, err, "cannot read any further (%v)", err) }

// Unread marks an error of reading an object of an object store, to tell it from errors of
// decoders. It is ErrUnavailable if the way to the store failed, not the object itself: then
// another run may read the object.
type Unread struct{ Err error }

func (u *Unread) Error() string { return u.Err.Error() }
func (u *Unread) Unwrap() error { return u.Err }

func (u *Unread) Is(target error) bool {
	return target == ErrUnavailable && !errors.Is(u.Err, ErrChanged) && !errors.Is(u.Err, fs.ErrNotExist) && !errors.Is(u.Err, fs.ErrInvalid)
}

// Shown returns a name from the data (of a file, a column, a field) in a form that is fit for a
// message: quoted, as Go does it, if it has line ends, control characters, invisible characters or
// those that change the direction of writing, or bytes that are not UTF-8, if it is empty, or begins or ends with a space.
func Shown(name string) string {
	if strings.TrimSpace(name) != name || name == "" {
		return strconv.Quote(name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(name)
		}
	}
	return name
}

// ShownPair returns two names that belong together as Shown, and one of them if they are equal.
func ShownPair(left, right string) string {
	if left == right {
		return Shown(left)
	}
	return Shown(left) + "=" + Shown(right)
}

// List joins names for a message, but no more than one can read.
func List(names []string) string {
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
