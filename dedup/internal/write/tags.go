package write

import (
	"errors"
	"math"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/measure"
)

// TagNames are the fields that say of a record what would be removed; with references TagIn as well.
var TagNames = []string{"cluster", "cluster_size", "duplicate_of", "similarity"}

// TagIn is the field with the file of the document in TagNames' duplicate_of.
const TagIn = "duplicate_in"

// A tag says of a document what TagNames ask for.
type tag struct {
	cluster    string
	size       uint64
	duplicate  bool // the rest is set
	of, in     string
	similarity float64
}

// tagger makes the tags of documents in ascending order. It belongs to one goroutine.
type tagger struct {
	docs, labels, kept                 doctable.Namer
	label, size, removed, similarities extsort.Lookup
}

// newTagger returns the tagger of the documents from first on. The caller closes it.
func (o *Options) newTagger(first uint32) *tagger {
	from := func(s *extsort.Sorted) extsort.Lookup { return extsort.Lookup{Reader: s.ReaderFrom(uint64(first))} }
	c := o.Clusters
	return &tagger{
		docs: doctable.Namer{Cursor: o.Table.Scanner()}, labels: doctable.Namer{Cursor: o.Table.Cursor()}, kept: doctable.Namer{Cursor: o.Table.Cursor()},
		label: from(c.Labels), size: from(c.Sizes), removed: from(c.Removed), similarities: from(c.Similarities),
	}
}

// of returns the tag of a document. One that is alone is a cluster of its own.
func (t *tagger) of(doc uint32) (tag, error) {
	label, clustered := t.label.Find(uint64(doc))
	if !clustered {
		return tag{cluster: t.docs.ID(doc), size: 1}, t.err()
	}
	g := tag{cluster: t.labels.ID(uint32(label))}
	g.size, _ = t.size.Find(uint64(doc))
	var kept uint64
	if kept, g.duplicate = t.removed.Find(uint64(doc)); g.duplicate {
		g.of, g.in, g.similarity = t.kept.ID(uint32(kept)), t.kept.Label(uint32(kept)), 1 // a copy
		if bits, ok := t.similarities.Find(uint64(doc)); ok {
			g.similarity = math.Float64frombits(bits)
		}
	}
	return g, t.err()
}

func (t *tagger) err() error {
	return errors.Join(t.docs.Err, t.labels.Err, t.kept.Err, t.label.Err(), t.size.Err(), t.removed.Err(), t.similarities.Err())
}

func (t *tagger) close() error {
	return errors.Join(t.label.Close(), t.size.Close(), t.removed.Close(), t.similarities.Close())
}

// values appends the tag as cells of a table, in which what is null is empty, or as values of JSON.
func (g *tag) values(dst [][]byte, in, json bool) [][]byte {
	text := func(s string) []byte { return []byte(s) }
	var of, from, similarity []byte
	if json {
		text = func(s string) []byte { return tagging.AppendJSON(nil, []byte(s)) }
		of, from, similarity = []byte("null"), []byte("null"), []byte("null")
	}
	if g.duplicate {
		of, from, similarity = text(g.of), text(g.in), measure.AppendSimilarity(nil, g.similarity)
	}
	dst = append(dst, text(g.cluster), strconv.AppendUint(nil, g.size, 10), of, similarity)
	if in {
		dst = append(dst, from)
	}
	return dst
}

// CarryTags tells whether records of a format can have the fields; kept.csv has those of others.
func CarryTags(f corpus.Format) bool { return f != corpus.Text && f != corpus.Lines }

// NewTags returns the fields with a prefix; beside references there is TagIn too.
func NewTags(prefix string, references bool) *tagging.Fields {
	names := TagNames
	if references {
		names = append(names[:len(names):len(names)], TagIn)
	}
	return tagging.New(prefix, names...)
}

// tagsIn tells whether TagIn is one of the fields.
func (o *Options) tagsIn() bool { return len(o.Tags.Names) > len(TagNames) }

// A recordTagger adds tags to the records of one open file.
type recordTagger struct {
	*tagger
	o        *Options
	json     bool
	comma    byte
	encoding corpus.Encoding
	values   [][]byte
	out      []byte
}

// recordTagger returns the tagger of a file whose documents begin with first. The caller closes it.
func (k *keptWriter) recordTagger(file int, first uint32, in *corpus.File) *recordTagger {
	return &recordTagger{
		tagger: k.newTagger(first), o: &k.Options, encoding: in.Encoding(),
		json: k.Table.Sources[file].Format == corpus.JSONL, comma: in.Comma(),
	}
}

// header returns a file's header with the names of the tags.
func (r *recordTagger) header(raw []byte) []byte {
	if r.json {
		return raw
	}
	return r.recode(raw, func(dst, raw []byte) []byte { return r.o.Tags.AppendHeader(dst, raw, r.comma) })
}

// record returns a record with its tags; it is valid until the next call.
func (r *recordTagger) record(doc uint32, raw []byte) ([]byte, error) {
	g, err := r.of(doc)
	if err != nil {
		return nil, err
	}
	return r.recode(raw, func(dst, raw []byte) []byte {
		r.values = g.values(r.values[:0], r.o.tagsIn(), r.json)
		if r.json {
			return r.o.Tags.AppendObject(dst, raw, r.values)
		}
		return tagging.AppendRow(dst, raw, r.comma, r.values)
	}), nil
}

// recode applies change to bytes of the file, which are in its encoding.
func (r *recordTagger) recode(raw []byte, change func(dst, raw []byte) []byte) []byte {
	if !r.encoding.Wide() {
		r.out = change(r.out[:0], raw)
		return r.out
	}
	inUTF8 := r.encoding.Append(nil, raw)
	r.out = r.encoding.AppendBack(r.out[:0], change(nil, inUTF8))
	return r.out
}
