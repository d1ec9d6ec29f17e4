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
