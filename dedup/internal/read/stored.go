package read

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/recipe"
)

// Fields, or columns, of stored fingerprints, besides the id.
const (
	SchemeField    = "scheme"    // recipe.Recipe.Signature
	SignatureField = "signature" // the packed signature, in base64 or hexadecimal
	IDBytesField   = "id_bytes"  // of an id that is not UTF-8, in base64
)

// StoredFields are the last of Options.Corpus.Fields if records are stored fingerprints.
var StoredFields = []string{SchemeField, IDBytesField}

// storedReader reads the signatures of records. It has scratch memory and belongs to one
// goroutine.
type storedReader struct {
	at         int    // of StoredFields in Record.Fields
	line       []byte // of the run's scheme
	size       int    // of a whole signature
	packed, id []byte
}

func newStoredReader(r recipe.Recipe, o *corpus.Options) *storedReader {
	return &storedReader{
		at: len(o.Fields) - len(StoredFields), line: []byte(r.Signature()),
		size: len(r.AppendBinary(nil, make([]uint32, r.Words()))),
	}
}

// open returns the signature of a record, and turns the record into one of a document with its id
// and fields. The slices are valid until the next call.
func (s *storedReader) open(record *corpus.Record) (packed []byte, err error) {
	scheme, id := record.Fields[s.at], record.Fields[s.at+1]
	record.Fields = record.Fields[:s.at]
	if scheme == nil {
		return nil, fault.Because(corpus.ErrMissingField, "no field %q, which says how the signature was made; use the output of alike sketch", SchemeField)
	}
	if !bytes.Equal(scheme, s.line) {
		return nil, fault.Because(fault.ErrScheme,
			"its scheme is %q, and that of the run %q: fingerprints can be compared only if they were made in the same way", scheme, s.line)
	}
	if id != nil {
		if s.id, err = base64.StdEncoding.AppendDecode(s.id[:0], id); err != nil {
			return nil, fault.Because(corpus.ErrMalformed, "field %q is no base64 (%v); make the fingerprint again", IDBytesField, err)
		}
		record.ID = s.id
	}
	if len(record.Text) == 2*s.size {
		if s.packed, err = hex.AppendDecode(s.packed[:0], record.Text); err == nil {
			return s.packed, nil
		}
	}
	if s.packed, err = base64.StdEncoding.AppendDecode(s.packed[:0], record.Text); err != nil {
		return nil, damagedSignature(err)
	}
	return s.packed, nil
}

func damagedSignature(err error) error {
	return fault.Because(corpus.ErrMalformed, "damaged signature (%v); make the fingerprint again", err)
}
