package engine

import (
	"strconv"
	"unicode"
)

// AgainstPrefix begins the name of a reference whose own name is also that of an input. Its place follows.
const AgainstPrefix = "against://"

// Bearer is one of several documents with the same name, on the same side of two collections.
type Bearer struct {
	Made      bool // the name was made of its place
	Reference bool // a document to compare with, and not an input
	Renamed   bool // a reference that bears AgainstPrefix already
}

// Verdict says what happens to two documents with one name.
type Verdict uint8

const (
	SkipLater     Verdict = iota // the first one is used
	SkipEarlier                  // a name made of a place stays with the document at that place
	RenameEarlier                // a reference gives its name to the input, and is named by AgainstPrefix
)

// SameName decides about two documents with one name, of which earlier comes first.
func SameName(earlier, later Bearer) Verdict {
	switch {
	case earlier.Reference && !later.Reference && !earlier.Renamed:
		return RenameEarlier
	case later.Made && !earlier.Made:
		return SkipEarlier
	}
	return SkipLater
}

// AppendLineName appends a name in the form of a line of a list: unchanged, unless it holds control
// characters or line separators or begins with a quotation mark. Then it is quoted as in Go, which
// strconv.Unquote undoes.
func AppendLineName(dst, name []byte) []byte {
	for i, r := range string(name) {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || i == 0 && r == '"' {
			return strconv.AppendQuote(dst, string(name))
		}
	}
	return append(dst, name...)
}
