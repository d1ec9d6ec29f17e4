package stage

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/shingle"
)

// With Whole a text is removed only for one in which nearly all of it stands: see places.WholeShare. Similar pairs go to
// tasks by hash, which ask for the texts. What many texts have weighs little there; one task counts it.
//
//	classes → some representatives → what many have ┐
//	verify, hot → similar pairs → their texts ──────┴→ pairs of which one text stands in the other

// drawn returns how many words of a row are for drawing: the digest by which a text gets its order.
func drawn(p *Plan) int {
	if p.Whole {
		return 1
	}
	return 0
}

// drawing finds the representatives of a task that have the least orders.
type drawing struct {
	t   *task
	all []draw
}

type draw struct{ order, position uint64 }

func (d *drawing) add(r row) {
	if !d.t.plan.Whole || len(r.payload) < 8 {
		return
	}
	order := places.CountedOrder(binary.LittleEndian.Uint64(r.payload[len(r.payload)-8:]))
	if d.all = append(d.all, draw{order, r.words[0]}); len(d.all) == 4*places.CountedMost {
		d.cut()
	}
}

func (d *drawing) cut() {
	sorting.Func(d.all, func(a, b draw) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.position, b.position)) })
	d.all = d.all[:min(len(d.all), places.CountedMost)]
}

// send asks for the texts, and tells of how many they are.
func (d *drawing) send(representatives int) error {
	if !d.t.plan.Whole {
		return nil
	}
	d.cut()
	for _, one := range d.all {
		if err := d.t.out.add(Draws, d.t.plan.TaskOf(one.position), nil, one.position, one.order); err != nil {
			return err
		}
	}
	return d.t.out.add(Represented, 0, nil, uint64(representatives))
}

// draws sends the beginnings of texts by which it is counted what many have. A nil pointer sends none.
type draws struct {
	t     *task
	asked extsort.Lookup
	order uint64 // of the document that was asked for last
	is    bool   // it is drawn
}

func newDraws(t *task) (*draws, error) {
	if !t.plan.Whole {
		return nil, nil
	}
	sorted, err := t.sorted(8, Draws)
	if err != nil {
		return nil, err
	}
	return &draws{t: t, asked: t.lookup(sorted)}, nil
}

// has tells whether a document is drawn. Positions must ascend from call to call.
func (d *draws) has(position uint64) bool {
	if d != nil {
		d.order, d.is = d.asked.Find(position)
	}
	return d != nil && d.is
}

// send sends the document that was asked for last, if it is drawn.
func (d *draws) send(of *Document) error {
	if d == nil || !d.is {
		return nil
	}
	return d.t.out.add(Drawn, 0, of.Text[:min(len(of.Text), places.CountedEach)], d.order, uint64(len(of.Text)))
}

// featuresOf returns those by which texts are normalised.
func featuresOf(p *Plan) shingle.Options {
	features, _ := p.recipe.Features()
	return features
}

// common counts what many texts have, for all tasks that ask how texts stand in others.
func common(t *task) error {
	whole := 0
	if err := t.each(Represented, func(r row) error { whole += int(r.words[0]); return nil }); err != nil {
		return err
	}
	drawn, err := t.shelved(0, 4, Drawn)
	if err != nil {
		return err
	}
	reader := places.NewReader(featuresOf(t.plan))
	var texts []*places.Text
	var counting places.Counting
	err = drawn.each(func(order uint64, r row) error {
		if places.CanCount(order, whole) && counting.Takes(int(r.words[1])) {
			texts = append(texts, reader.Read(r.payload))
		}
		return nil
	})
	if err != nil {
		return err
	}
	payload := appendWords(nil, places.NewCommon(texts, whole).AppendFeatures(nil))
	for partition := range t.plan.Partitions {
		if err := t.out.add(Common, partition, payload); err != nil {
			return err
		}
	}
	return nil
}

// similar sends a similar pair to the task that asks whether one of its texts stands in the other.
func (t *task) similar(in Stream, a, b uint64) error {
	return t.out.add(in, t.plan.hashed(min(a, b)), nil, min(a, b), max(a, b))
}

func hotSimilar(p *Plan) Stream { return when(p.Whole && p.comparesHot(), HotSimilar) }

// askTexts asks for the texts of the similar pairs of a task.
func askTexts(t *task) error {
	wants, err := t.sort("wants", 2, func(to *extsort.Appender) (err error) {
		for _, in := range []Stream{Similar, hotSimilar(t.plan)} {
			err = errors.Join(err, t.each(in, func(r row) error {
				return errors.Join(to.Add(r.words[0], uint64(t.number)), to.Add(r.words[1], uint64(t.number)))
			}))
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.ask(TextWants, wants)
}

// readTexts sends the texts that are asked for, with their sizes: of their sets where texts are removed for larger sets.
func readTexts(t *task) error {
	wants, err := newWants(t, 2, TextWants)
	if err != nil {
		return err
	}
	maker := newSetMaker(t.plan.recipe)
	var payload []byte
	_, err = t.in.Documents(t.ctx, wants.has, func(d *Document) error {
		if d.Damaged {
			return nil
		}
		size := len(d.Text)
		if t.plan.edges.RemovesParts {
			size = len(maker.make(d.Text, t.plan.within().of(d))) / 8
		}
		payload = append(binary.LittleEndian.AppendUint64(payload[:0], uint64(size)), d.Text...)
		return wants.send(Texts, d.Position, payload)
	})
	return wants.end(err)
}

// wholes leaves the pairs of which one text stands in the other, and links them.
func wholes(t *task) error {
	var features []uint64
	if err := t.each(Common, func(r row) error { features = wordsOf(features, r.payload); return nil }); err != nil {
		return err
	}
	sent, err := newPayloads(t, Texts)
	if err != nil {
		return err
	}
	pairs, err := t.sorted(4, Similar, hotSimilar(t.plan))
	if err != nil {
		return err
	}
	w := &wholeTexts{
		t: t, sent: sent, links: cluster.New(len(sent.positions)), held: map[int]places.Side{},
		reader: places.NewWholeReader(featuresOf(t.plan), places.CommonOf(features)),
	}
	partial := int64(0)
	err = pairs.VisitOnce(func(e extsort.Entry) error {
		stays, err := w.pair(e.Key, e.Value)
		if err == nil && !stays {
			partial++
		}
		return errors.Join(err, t.ctx.Err())
	})
	return errors.Join(err, t.count(CountPartial, partial))
}

// heldBytes is about how much memory texts take that a task holds until they are asked for again.
const heldBytes = 16 << 20

// wholeTexts judges pairs of texts.
type wholeTexts struct {
	t      *task
	sent   *payloads
	links  *cluster.UnionFind // by numbers of texts
	reader *places.Reader
	judge  places.Judge
	held   map[int]places.Side
	bytes  int // of those held
}

// pair emits a pair if one text stands in the other.
func (w *wholeTexts) pair(a, b uint64) (stays bool, err error) {
	i, ofA, err := w.side(a)
	if err != nil {
		return false, err
	}
	j, ofB, err := w.side(b)
	if err != nil || w.judge.Partial(ofA, ofB) {
		return false, err
	}
	if w.links.Union(uint32(i), uint32(j)) {
		err = w.t.out.add(ForestEdges, w.t.number/mergeWidth, nil, a, b)
	}
	return true, errors.Join(err, w.t.out.add(Standing, w.t.plan.TaskOf(a), nil, a, b))
}

// side returns a text of a pair, and its number.
func (w *wholeTexts) side(position uint64) (number int, s places.Side, err error) {
	number, found := w.sent.find(position)
	if !found {
		return 0, s, missing(position)
	}
	if s, held := w.held[number]; held {
		return number, s, nil
	}
	payload, err := w.sent.of(number)
	if err == nil && len(payload) < 8 {
		err = errParts
	}
	if err != nil {
		return 0, s, err
	}
	s = places.Side{Size: binary.LittleEndian.Uint64(payload), Text: w.reader.Read(payload[8:]), Reference: w.t.plan.reference(position)}
	if w.bytes += s.Text.Bytes(); w.bytes > heldBytes {
		clear(w.held)
		w.bytes = s.Text.Bytes()
	}
	w.held[number] = s
	return number, s, nil
}
