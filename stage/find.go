package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/recipe"
)

// Flags of Cards and Members.
const (
	cardHasField = 1 << iota
	cardWhole    // the document is a file of its own
)

// sketch emits three rows for every document: one with its digest and band keys, one with its name,
// and a card with the facts that clustering needs.
func sketch(t *task) error {
	maker := newRowMaker(t.plan.recipe)
	reference := t.ofReferences()
	var payload []byte
	empty, documents := int64(0), uint64(0)
	n, err := t.in.Documents(t.ctx, everything, func(d *Document) error {
		if d.Damaged {
			if t.plan.Command == Pairs || reference {
				return nil
			}
			return t.out.add(Damaged, t.number, nil, d.Position)
		}
		if t.plan.References > 0 && !reference && strings.HasPrefix(string(d.Name), engine.AgainstPrefix) {
			return fmt.Errorf("%q, the id of a document, begins as the names of references may: give it another id", d.Name)
		}
		documents++
		digest, features := maker.make(d.Text, t.plan.within().of(d))
		defer maker.trim()
		class := t.plan.hashed(digest[0])
		fromPlace, flags := uint64(0), uint64(0)
		if d.Made {
			fromPlace = 1
		}
		if d.Field != nil {
			flags = cardHasField
		}
		if d.Whole {
			flags |= cardWhole
		}
		hash := hashing.Bytes(d.Name)
		if err := t.out.add(Names, t.plan.hashed(hash), d.Name, hash, d.Position, uint64(class)<<1|fromPlace); err != nil {
			return err
		}
		payload = appendPart(appendPart(payload[:0], d.Name), d.Field)
		if reference {
			payload = appendPart(payload, d.Place)
		}
		payload = t.plan.within().append(payload, d.Within)
		if err := t.out.add(Cards, t.number, payload, d.Position, uint64(len(d.Text)), flags); err != nil {
			return err
		}
		if features == 0 {
			empty++
			return nil
		}
		keys, wanted := maker.keys()
		if !wanted {
			return nil
		}
		payload = appendWords(payload[:0], keys)
		if t.plan.Whole {
			payload = binary.LittleEndian.AppendUint64(payload, maker.textDigest(d.Text, digest, t.plan.within().of(d)))
		}
		return t.out.add(Rows, class, payload, d.Position, digest[0], uint64(engine.Check(digest)))
	})
	if err == nil && t.plan.comparesHot() {
		err = t.out.add(Totals, 0, nil, documents)
	}
	if err != nil {
		return err
	}
	if reference {
		return errors.Join(t.count(CountReferences, n.Read), t.count(CountReferencesSkipped, n.Skipped))
	}
	return errors.Join(t.count(CountRead, n.Read), t.count(CountSkipped, n.Skipped), t.count(CountEmpty, empty))
}

// ofReferences tells whether the task, of a stage that divides rows by documents, has those of references.
func (t *task) ofReferences() bool { return t.plan.FirstFiles[t.number] < t.plan.References }

// rowMaker makes the digests and keys of documents. Without keys, documents with equal sets are equal, and the size of
// the set takes the place of the keys.
type rowMaker struct {
	recipe recipe.Recipe
	maker  *recipe.Maker
	sets   *recipe.SetMaker // nil: there are keys, and maker makes them
	words  []uint64
}

func newRowMaker(r recipe.Recipe) *rowMaker {
	m := &rowMaker{recipe: r}
	if r.Keys() == 0 {
		m.sets = r.NewSetMaker()
	} else {
		m.maker = r.NewMaker(recipe.MakerOptions{})
	}
	return m
}

// make returns the digest of a text with a value, and the number of its features, 0 if it is similar to nothing.
func (m *rowMaker) make(text []byte, within recipe.Within) (digest [2]uint64, features int) {
	if m.sets == nil {
		m.maker.Within(within)
		made := m.maker.Make(text)
		return made.Digest, made.Features
	}
	m.words = within.Set(m.sets.AppendSet(m.words[:0], text))
	return recipe.Digest(m.words), len(m.words)
}

// keys returns the keys of the text, or the size of its set, and whether the text may be similar to a copy of itself.
func (m *rowMaker) keys() (keys []uint64, wanted bool) {
	if m.sets == nil {
		m.words = m.maker.AppendKeys(m.words[:0])
		return m.words, true
	}
	n := uint64(len(m.words))
	m.words = append(m.words[:0], n)
	return m.words, m.recipe.Threshold().Reached(n, n, n)
}

// textDigest returns the digest of a text's features, of which the digests of make are that of their set if there are no keys.
func (m *rowMaker) textDigest(text []byte, made [2]uint64, within recipe.Within) uint64 {
	if m.sets == nil {
		return made[0]
	}
	if m.maker == nil {
		m.maker = m.recipe.NewMaker(recipe.MakerOptions{})
	}
	m.maker.Within(within)
	return m.maker.Make(text).Digest[0]
}

func (m *rowMaker) trim() {
	if m.maker != nil {
		m.maker.Trim()
	}
}

// bearer is a document that has a name.
type bearer struct {
	engine.Bearer
	name     []byte
	position uint64
	class    int
}

// names finds documents that have the name of another one; see engine.SameName.
func names(t *task) error {
	shelf, err := t.shelved(0, 4, Names)
	if err != nil {
		return err
	}
	var first []bearer
	last := uint64(0)
	return shelf.each(func(hash uint64, r row) error {
		if hash != last {
			first, last = first[:0], hash
		}
		b := bearer{position: r.words[1], class: int(r.words[2] >> 1)}
		if b.class >= t.plan.Partitions {
			return errParts
		}
		b.Made, b.Reference = r.words[2]&1 != 0, t.plan.reference(b.position)
		for i := range first {
			if string(first[i].name) == string(r.payload) {
				return settleName(t, &first[i], &b)
			}
		}
		b.name = slices.Clone(r.payload)
		first = append(first, b)
		return nil
	})
}

// settleName emits what happens to two documents of one name. earlier is the bearer from then on.
func settleName(t *task, earlier, later *bearer) error {
	skip := func(b, other *bearer) error {
		return errors.Join(t.out.add(Skips, b.class, nil, b.position), t.out.add(Repeats, t.plan.TaskOf(b.position), nil, b.position, other.position))
	}
	switch engine.SameName(earlier.Bearer, later.Bearer) {
	case engine.RenameEarlier:
		err := t.out.add(Renames, t.plan.TaskOf(earlier.position), nil, earlier.position)
		later.name = earlier.name
		*earlier = *later
		return err
	case engine.SkipEarlier:
		err := skip(earlier, later)
		later.name = earlier.name
		*earlier = *later
		return err
	}
	return skip(later, earlier)
}

// classes collects documents with equal digests in classes. The first document of a class represents it:
// only its keys are handed to the next stage.
func classes(t *task) error {
	skipped, err := t.sorted(8, Skips)
	if err != nil {
		return err
	}
	var positions []uint64
	var sizes []uint32 // of sets, without keys
	drawing := drawing{t: t}
	digests, err := t.sort("digests", 2, func(to *extsort.Appender) error {
		skips := t.lookup(skipped)
		return t.each(Rows, func(r row) error {
			number, position := len(positions), r.words[0]
			positions = append(positions, position)
			if t.plan.recipe.Keys() == 0 && len(r.payload) >= 8 {
				sizes = append(sizes, uint32(binary.LittleEndian.Uint64(r.payload)))
			}
			if _, skip := skips.Find(position); skip {
				return nil
			}
			return to.Add(r.words[1], r.words[2]<<32|uint64(uint32(number)))
		})
	})
	if err != nil {
		return err
	}
	first := bitset.New[uint32](len(positions)) // rows that are the first of their class
	var all engine.Classes
	rep := uint32(0)
	err = digests.Visit(func(e extsort.Entry) error {
		number := uint32(e.Value)
		if all.Begins(e.Key, e.Value>>32) {
			rep = number
			first.Add(number)
			return nil
		}
		size := uint64(0)
		if len(sizes) > 0 {
			size = uint64(sizes[rep])
		}
		return sendCopy(t, positions[rep], positions[number], size)
	})
	if err != nil {
		return err
	}
	number := uint32(0)
	if err := t.count(CountRepresentatives, int64(first.Len())); err != nil {
		return err
	}
	err = t.each(Rows, func(r row) error {
		at := number
		number++
		if !first.Has(at) {
			return nil
		}
		drawing.add(r)
		return sendRepresentative(t, r)
	})
	return errors.Join(err, drawing.send(first.Len()))
}

// sendCopy emits that a document is equal to a representative, whose set has size features.
func sendCopy(t *task, rep, position, size uint64) error {
	if t.plan.Command == Pairs {
		return t.out.add(Copies, t.plan.TaskOf(rep), nil, rep, size, position)
	}
	return errors.Join(t.out.add(Copies, t.plan.TaskOf(position), nil, rep, size, position),
		t.out.add(CopyEdges, t.number/mergeWidth, nil, rep, position))
}

// sendRepresentative emits what finds the pairs of a representative, given by its row.
func sendRepresentative(t *task, r row) error {
	p, position := t.plan, r.words[0]
	switch {
	case p.recipe.Keys() == 0:
		return wantInChunks(t, position)
	case len(r.payload) != 8*p.recipe.Keys()+8*drawn(p):
		return errParts
	case p.recipe.Sample().Size > 0:
		if err := t.out.add(Looks, p.TaskOf(position), nil, position); err != nil || p.reference(position) {
			return err // nothing is looked for that contains a reference
		}
	}
	for keys := r.payload[:8*p.recipe.Keys()]; len(keys) > 0; keys = keys[8:] {
		key := binary.LittleEndian.Uint64(keys)
		if key == recipe.NoKey && p.recipe.Sample().Size > 0 {
			continue
		}
		if err := t.out.add(Keys, p.hashed(key), nil, key, position); err != nil {
			return err
		}
	}
	return nil
}

// group collects documents with equal keys in buckets. The pairs of a bucket are candidates.
func group(t *task) error {
	keys, err := t.sorted(2, Keys)
	if err != nil {
		return err
	}
	g := &grouper{t: t}
	wants, err := t.sort("wants", 4, func(wants *extsort.Appender) error {
		g.wants = wants
		return t.withHot(func(h *hotBuckets) error {
			g.hot = h
			return g.all(keys)
		})
	})
	if err != nil {
		return err
	}
	return t.ask(Wants, wants)
}

// grouper makes buckets of documents that come in the order of their keys.
type grouper struct {
	t       *task
	members []uint64 // of the open bucket; if it is over the cap, its hubs and some of the other members
	size    int64    // of the bucket
	done    int      // how many leading members were emitted already
	key     uint64
	wants   *extsort.Appender
	hot     *hotBuckets
	payload []byte
}

// all makes a bucket for each key.
func (g *grouper) all(keys *extsort.Sorted) error {
	last := uint64(0)
	err := keys.Visit(func(e extsort.Entry) error {
		if e.Key != last {
			if err := g.end(); err != nil {
				return err
			}
			last = e.Key
		}
		g.key = e.Key
		return g.add(e.Value)
	})
	if err != nil {
		return err
	}
	return g.end()
}

// add adds a document to the bucket. A bucket over the cap is emitted piece by piece: each piece has the
// hubs and some of the other members. As in lsh.EachPair, only pairs with a hub are candidates then.
func (g *grouper) add(position uint64) error {
	g.members = append(g.members, position)
	if g.size++; len(g.members) <= g.t.plan.BucketCap {
		return nil
	}
	return g.piece()
}

// piece emits the collected members of a bucket over the cap, and keeps its hubs for the next piece.
func (g *grouper) piece() error {
	for _, position := range g.members[g.done:] {
		if err := g.hot.add(g.key, position); err != nil {
			return err
		}
	}
	err := g.emit(lsh.Hubs)
	g.done = min(lsh.Hubs, len(g.members))
	g.members = g.members[:g.done]
	return err
}

func (g *grouper) end() (err error) {
	if limit := g.t.plan.BucketCap; g.size > int64(limit) {
		if len(g.members) > g.done {
			err = g.piece()
		}
		g.hot.end(g.size)
	} else if len(g.members) > 1 {
		err = g.emit(len(g.members) - 1)
	}
	g.members, g.size, g.done = g.members[:0], 0, 0
	return err
}

// emit emits a bucket. Its first members will be compared with all later ones. All pairs go to the task
// of the bucket's smallest member, so that only this task needs the texts. Where a pair must share
// several buckets, one task must count them all, so each pair goes to the task of its first document.
func (g *grouper) emit(first int) error {
	if g.t.plan.recipe.MinKeys() == 1 {
		return g.emitTo(g.t.plan.hashed(g.members[0]), first, g.members)
	}
	for i := range min(first, len(g.members)-1) {
		if err := g.emitTo(g.t.plan.hashed(g.members[i]), 1, g.members[i:]); err != nil {
			return err
		}
	}
	return nil
}

func (g *grouper) emitTo(task, first int, members []uint64) error {
	g.payload = appendWords(g.payload[:0], members)
	for _, position := range members {
		if err := g.wants.Add(position, uint64(task)); err != nil {
			return err
		}
	}
	return g.t.out.add(Buckets, task, g.payload, uint64(first))
}
