package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/alike-dev/alike/index"
)

// errConflict is the answer to a check of an id that another text has.
var errConflict = &Problem{Status: http.StatusConflict, Field: idField, Detail: "is that of another text in the collection; PUT replaces it"}

// check appends the answer to a request for one document; with add a new one is added.
func (c *collection) check(dst, body []byte, add bool) (answer []byte, err error) {
	k := c.checkers.Get().(*checker)
	defer c.checkers.Put(k)
	if err := k.parser.document(body, "", &k.d); err != nil {
		return dst, err
	}
	d := &k.d
	verdicts, err := c.decide(k, add)
	if errors.Is(err, errSucceeded) {
		err = c.changes.succeeded(func(by *collection) error {
			dst, err = by.check(dst, body, add)
			return err
		})
		return dst, err
	}
	if err != nil {
		return dst, err
	}
	var evidence []byte
	if d.evidence {
		if evidence, err = c.evidence(d, &verdicts[0]); err != nil {
			return dst, err
		}
	}
	dst, ok := appendAnswer(dst, d.Columns[digestColumn], &verdicts[0], evidence)
	if !ok {
		return dst, errConflict
	}
	if add {
		c.repeats.add(&verdicts[0])
	}
	return dst, nil
}

// decide decides about the document of a checker.
func (c *collection) decide(k *checker, add bool) ([]index.Verdict, error) {
	if !add {
		if err := c.changes.catchUp(); err != nil {
			return nil, err
		}
		k.asked.Reset()
		k.asked.Add(k.d.Document)
		return c.index.Ask(k.asked)
	}
	k.batch.Reset()
	k.batch.Add(k.d.Document)
	decision, err := c.changes.check(k.batch, [][]byte{k.d.filter})
	if err == nil && len(decision.large) > 0 {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	return decision.wait()
}

// replace adds a document under an id, in place of the one that has it.
func (c *collection) replace(id string, body []byte) (answer []byte, err error) {
	p := c.parsers.Get().(*parser)
	defer c.parsers.Put(p)
	var d document
	if err := p.document(body, id, &d); err != nil {
		return nil, err
	}
	b := c.index.NewBatch()
	b.Add(d.Document)
	replaced, err := c.changes.put(b, id, d.Columns[digestColumn])
	if errors.Is(err, errSucceeded) {
		err = c.changes.succeeded(func(by *collection) error {
			answer, err = by.replace(id, body)
			return err
		})
		return answer, err
	}
	if err != nil {
		return nil, err
	}
	answer = strconv.AppendBool([]byte(`{"replaced":`), replaced)
	return append(answer, '}', '\n'), nil
}

func (c *collection) search(dst, body []byte) (answer []byte, err error) {
	p := c.parsers.Get().(*parser)
	defer c.parsers.Put(p)
	s, err := c.parseSearch(p, body)
	if err != nil {
		return dst, err
	}
	s.o.Passages = s.o.Passages || s.evidence && c.hasPassages()
	matches, err := c.find(&s)
	if err != nil {
		return dst, err
	}
	var why json.RawMessage
	if s.evidence {
		if why, err = c.evidenceOf(&s, len(matches)); err != nil {
			return dst, err
		}
	}
	list := make([]foundDocument, 0, len(matches))
	for _, m := range matches {
		list = append(list, foundDocument{string(m.ID), m.Similarity, metadata(m.Columns), sharedOf(m.Passages)})
	}
	out, err := marshal(struct {
		Matches  []foundDocument `json:"matches"`
		Evidence json.RawMessage `json:"evidence,omitempty"`
	}{list, why})
	return append(dst, out...), err
}

// appendAnswer appends the answer to a check. A repeated check of a document that was added is answered as the first
// one; ok is false, and nothing is appended, if the id is that of another text. digest is the text's.
func appendAnswer(dst, digest []byte, v *index.Verdict, evidence []byte) (answer []byte, ok bool) {
	isNew := v.New
	if v.Known {
		if len(v.Columns) <= digestColumn || string(v.Columns[digestColumn]) != string(digest) {
			return dst, false
		}
		isNew = true
	}
	if isNew {
		dst = append(dst, `{"new":true`...)
	} else {
		dst = appendQuoted(append(dst, `{"new":false,"duplicate_of":`...), v.Of)
		dst = appendSimilarity(append(dst, `,"similarity":`...), v.Similarity)
	}
	if v.Late {
		dst = append(dst, `,"late":true`...)
	}
	if evidence != nil {
		dst = append(append(dst, `,"evidence":`...), evidence...)
	}
	return append(dst, '}', '\n'), true
}

func appendSimilarity(dst []byte, s float64) []byte { return strconv.AppendFloat(dst, s, 'f', 6, 64) }
