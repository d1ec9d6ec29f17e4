package stage

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/measure"
)

// A fate is a row of Fates: what becomes of a document of a cluster of two or more.
type fate struct {
	position          uint64
	size              uint64 // of the cluster
	removed           bool
	similarity        float64
	name, first, kept []byte  // names of the document, of the first one of the cluster, and of the kept one
	file              uint32  // of the kept one
	probability       float64 // of a cluster of records; NaN: it is not known
}

// send sends the fate to the task of the document. It uses the memory of payload, and returns it.
func (f *fate) send(t *task, payload []byte) ([]byte, error) {
	payload = appendPart(appendPart(appendPart(payload, f.name), f.first), f.kept)
	payload = binary.LittleEndian.AppendUint32(payload, f.file)
	if t.plan.Join != nil {
		payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(f.probability))
	}
	of := f.size << 1
	if f.removed {
		of |= 1
	}
	return payload, t.out.add(Fates, t.plan.TaskOf(f.position), payload, f.position, of, math.Float64bits(f.similarity))
}

// readFate reads a row of Fates. Its names are those of the row.
func readFate(r row) (f fate, err error) {
	f = fate{position: r.words[0], size: r.words[1] >> 1, removed: r.words[1]&1 != 0, similarity: math.Float64frombits(r.words[2])}
	rest := r.payload
	for _, name := range []*[]byte{&f.name, &f.first, &f.kept} {
		if *name, rest, err = cutPart(rest); err != nil {
			return f, err
		}
	}
	switch len(rest) {
	case 12:
		f.probability = math.Float64frombits(binary.LittleEndian.Uint64(rest[4:]))
	case 4:
		f.probability = math.NaN()
	default:
		return f, errParts
	}
	f.file = binary.LittleEndian.Uint32(rest)
	return f, nil
}

// tagger makes the tags of the documents of a task, in ascending order.
type tagger struct {
	fates, cards *shelf
	fate, card   extsort.Lookup
}

func newTagger(t *task, fates *shelf) (*tagger, error) {
	cards, err := t.shelved(0, 8, Cards)
	if err != nil {
		return nil, err
	}
	return &tagger{fates, cards, t.lookup(fates.sorted), t.lookup(cards.sorted)}, nil
}

// of returns the tag of the document at a position. One that is alone is a cluster of its own.
func (g *tagger) of(position uint64) (Tag, error) {
	if at, clustered := g.fate.Find(position); clustered {
		r, err := g.fates.row(at)
		if err != nil {
			return Tag{}, err
		}
		f, err := readFate(r)
		return Tag{tagging.Tag{Cluster: string(f.first), Size: f.size, Duplicate: f.removed, Of: string(f.kept), Similarity: f.similarity}, f.file}, err
	}
	at, ok := g.card.Find(position)
	if !ok {
		return Tag{}, errors.Join(errParts, g.fate.Err(), g.card.Err())
	}
	r, err := g.cards.row(at)
	if err != nil {
		return Tag{}, err
	}
	name, _, err := cutPart(r.payload)
	return Tag{Tag: tagging.Tag{Cluster: string(name), Size: 1}}, err
}

// send sends the tags of the documents that are kept.
func (g *tagger) send(t *task, keeps func(position uint64) bool) error {
	var line []byte
	return t.each(Cards, func(r row) error {
		position := r.words[0]
		if !keeps(position) {
			return nil
		}
		tag, err := g.of(position)
		if err != nil {
			return err
		}
		line = strconv.AppendUint(append(line[:0], '['), position, 10)
		line = append(tagging.AppendJSON(append(line, ','), []byte(tag.Cluster)), ',')
		line = strconv.AppendUint(line, tag.Size, 10)
		if tag.Duplicate {
			line = append(tagging.AppendJSON(append(line, ','), []byte(tag.Of)), ',')
			line = append(measure.AppendSimilarity(line, tag.Similarity), ']')
		} else {
			line = append(line, ",null,null]"...)
		}
		return t.out.add(TagRows, t.number, line)
	})
}

// shownProbability returns the probability for a list: empty if it is not known.
func (f *fate) shownProbability() string {
	if math.IsNaN(f.probability) {
		return ""
	}
	return string(measure.AppendSimilarity(nil, f.probability))
}
