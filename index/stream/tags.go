package stream

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/setting"
)

// tags are the fields that Config.Tag adds.
type tags struct {
	names          []string
	of, similarity []byte // the names as JSON
}

func newTags(prefix string) tags {
	t := tags{names: []string{prefix + "duplicate_of", prefix + "similarity"}}
	t.of, t.similarity = appendQuoted(nil, []byte(t.names[0])), appendQuoted(nil, []byte(t.names[1]))
	return t
}

// free is an error if an object of JSON has a field with the name of a tag.
func (t *tags) free(raw []byte) error {
	written := bytes.Contains(raw, t.of) || bytes.Contains(raw, t.similarity)
	if !written && bytes.IndexByte(raw, '\\') < 0 { // a name may be written with escapes
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil // a reader with other rules has read it
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		if s, ok := name.(string); ok && slices.Contains(t.names, s) {
			return setting.Errorf("it has a field %q, which is the name of a tag too: give the tags a %s", s, setting.TagPrefix)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil
		}
	}
	return nil
}

// append appends an object of JSON with the tags.
func (t *tags) append(dst, raw []byte, v *index.Verdict) []byte {
	end := bytes.LastIndexByte(raw, '}')
	object := bytes.TrimRight(raw[:end], " \t\r\n")
	dst = append(dst, object...)
	if object[len(object)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = appendQuoted(append(append(dst, t.of...), ':'), v.Of)
	dst = appendSimilarity(append(append(append(dst, ','), t.similarity...), ':'), v.Similarity)
	return append(dst, raw[end:]...)
}
