package recipe

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/distinct"
)

// A recipe may compare documents only within one value of a field, such as a crawl, a language or a tenant:
// Options.Within. Then each key, hash of a feature and digest depends on the value too, and so do the sets of those that
// index them. Documents of different values meet nowhere, as if each value had a run of its own, and what is found within
// a value is the same. Signatures do not depend on it. Whoever reports a pair compares the two values themselves:
// hashes of different values may be equal.

// A Within is a hash of a value of the field. The zero Within changes nothing.
type Within uint64

// WithinOf returns the hash of a value. A field that is missing or null has the empty value.
func WithinOf(value []byte) Within {
	sum := sha256.Sum256(value) // whoever chooses values finds none with equal hashes by chance
	return Within(max(binary.LittleEndian.Uint64(sum[:]), 1))
}

// WithinNone returns the hash of the value of a document without the field: 0 if the recipe compares all documents.
func (r Recipe) WithinNone() Within {
	if r.within == "" {
		return 0
	}
	return WithinOf(nil)
}

// Key returns a key, or a hash of 64 bits, among those of documents with the value. NoKey stays.
func (w Within) Key(key uint64) uint64 {
	if w == 0 || key == NoKey {
		return key
	}
	return min(key^uint64(w), NoKey-1)
}

// Set turns an ascending set into that of a document with the value, which is ascending again, in the same memory.
func (w Within) Set(set []uint64) []uint64 {
	if w == 0 {
		return set
	}
	return set[:len(distinct.Sort(w.flip(set)))]
}

// AppendFeatures appends the features of a set that Set has returned, as they were before, in any order.
func (w Within) AppendFeatures(dst, set []uint64) []uint64 {
	from := len(dst)
	dst = append(dst, set...)
	w.flip(dst[from:])
	return dst
}

func (w Within) flip(features []uint64) []uint64 {
	for i := range features {
		features[i] ^= uint64(w)
	}
	return features
}

// Within returns the name of the field within whose values documents are compared; "": all are compared.
func (r Recipe) Within() string { return r.within }

// withinField begins the last part of the line of a recipe that compares within values.
const withinField = "within "

// withinLine returns that part: the name of the field as a literal of Go, without the character that separates parts.
func withinLine(field string) string {
	return withinField + strings.ReplaceAll(strconv.Quote(field), "|", `\x7c`)
}

// cutWithin separates the last part of a line, if it names a field.
func cutWithin(line string) (rest, field string, err error) {
	at := strings.LastIndex(line, separator)
	if at < 0 || !strings.HasPrefix(line[at+len(separator):], withinField) {
		return line, "", nil
	}
	quoted := line[at+len(separator)+len(withinField):]
	if field, err = strconv.Unquote(quoted); err != nil || field == "" {
		return line, "", fmt.Errorf("recipe: %s is no name of a field: want it in quotation marks", quoted)
	}
	return line[:at], field, nil
}
