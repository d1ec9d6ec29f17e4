package stage

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/recipe"
)

const cardHasField = 1 // a flag of Cards and Members

// sketch emits three rows for every document: one with its digest and band keys, one with its name,
// and a card with the facts that clustering needs.
func sketch(t *task) error {
	maker := t.plan.recipe.NewMaker(recipe.MakerOptions{})
	var keys []uint64
	var payload []byte
	empty, documents := int64(0), uint64(0)
	n, err := t.in.Documents(t.ctx, everything, func(d *Document) error {
		if d.Damaged {
			if t.plan.Command == Pairs {
				return nil
			}
			return t.out.add(Damaged, t.number, nil, d.Position)
		}
		documents++
		made := maker.Make(d.Text)
		defer maker.Trim()
		class := t.plan.hashed(made.Digest[0])
		fromPlace, flags := uint64(0), uint64(0)
		if d.Made {
			fromPlace = 1
		}
		if d.Field != nil {
			flags = cardHasField
		}
		hash := hashing.Bytes(d.Name)
		if err := t.out.add(Names, t.plan.hashed(hash), d.Name, hash, d.Position, uint64(class)<<1|fromPlace); err != nil {
			return err
		}
		payload = appendPart(appendPart(payload[:0], d.Name), d.Field)
		if err := t.out.add(Cards, t.number, payload, d.Position, uint64(len(d.Text)), flags); err != nil {
			return err
		}
		if made.Features == 0 {
			empty++
			return nil
		}
		keys = maker.AppendKeys(keys[:0])
		return t.out.add(Rows, class, appendWords(payload[:0], keys), d.Position, made.Digest[0], hashing.Mix(made.Digest[1])>>32)
	})
	if err != nil {
		return err
	}
	if t.plan.Command == Pairs {
		err = t.out.add(Totals, 0, nil, documents)
	}
	return errors.Join(err, t.count(CountRead, n.Read), t.count(CountSkipped, n.Skipped), t.count(CountEmpty, empty))
}

// names finds documents that have the name of an earlier document; they are skipped. One exception: if
// the earlier document has the name as its id, and the name of the later one was made of its path and
// line, then the earlier one is skipped.
func names(t *task) error {
	shelf, err := t.shelved(0, 4, Names)
	if err != nil {
		return err
	}
	type bearer struct {
		name     []byte
		position uint64
		class    int
		made     bool
	}
	var first []bearer
	skip := func(b, other bearer) error {
		return errors.Join(t.out.add(Skips, b.class, nil, b.position),
			t.out.add(Repeats, t.plan.TaskOf(b.position), nil, b.position, other.position))
	}
	last := uint64(0)
	err = shelf.each(func(hash uint64, r row) error {
		if hash != last {
			first, last = first[:0], hash
		}
		b := bearer{position: r.words[1], class: int(r.words[2] >> 1), made: r.words[2]&1 != 0}
		if b.class >= t.plan.Partitions {
			return errParts
		}
		for i, earlier := range first {
			if string(earlier.name) != string(r.payload) {
				continue
			}
			if b.made && !earlier.made {
				b.name = earlier.name
				first[i] = b
				return skip(earlier, b)
			}
			return skip(b, earlier)
		}
		b.name = slices.Clone(r.payload)
		first = append(first, b)
		return nil
	})
	return errors.Join(err, shelf.close())
}

// classes collects documents with equal digests in classes. The first document of a class represents it:
// only its keys are handed to the next stage.
func classes(t *task) error {
	skipped, err := t.sorted(8, Skips)
	if err != nil {
		return err
	}
	var positions []uint64
	digests, err := t.space.Sorted(t.ctx, t.space.Sorting("digests", 2, 64), func(to *extsort.Appender) error {
		skips := extsort.NewLookup(skipped)
		err := t.each(Rows, func(r row) error {
			number, position := len(positions), r.words[0]
			positions = append(positions, position)
			if _, skip := skips.Find(position); skip {
				return nil
			}
			return to.Add(r.words[1], r.words[2]<<32|uint64(uint32(number)))
		})
		return errors.Join(err, skips.Close())
	})
	if err = errors.Join(err, skipped.Close()); err != nil {
		return err
	}
	first := make([]uint64, (len(positions)+63)/64) // a bit for each row: it is the first of its class
	begun, last, rep := false, extsort.Entry{}, uint64(0)
	err = digests.Visit(func(e extsort.Entry) error {
		number := uint32(e.Value)
		if !begun || e.Key != last.Key || e.Value>>32 != last.Value>>32 {
			begun, last, rep = true, e, positions[number]
			first[number/64] |= 1 << (number % 64)
			return nil
		}
		position := positions[number]
		if t.plan.Command == Pairs {
			return t.out.add(Copies, t.plan.TaskOf(rep), nil, rep, position)
		}
		return errors.Join(t.out.add(Copies, t.plan.TaskOf(position), nil, rep, position),
			t.out.add(CopyEdges, t.number/mergeWidth, nil, rep, position))
	})
	if err = errors.Join(err, digests.Close()); err != nil {
		return err
	}
	number := uint32(0)
	return t.each(Rows, func(r row) error {
		at := number
		number++
		if first[at/64]>>(at%64)&1 == 0 {
			return nil
		}
		if len(r.payload) != 8*t.plan.recipe.Keys() {
			return errParts
		}
		for keys := r.payload; len(keys) > 0; keys = keys[8:] {
			key := binary.LittleEndian.Uint64(keys)
			if err := t.out.add(Keys, t.plan.hashed(key), nil, key, r.words[0]); err != nil {
				return err
			}
		}
		return nil
	})
}

// group collects documents with equal keys in buckets. The pairs of a bucket are candidates.
func group(t *task) error {
	keys, err := t.sorted(2, Keys)
	if err != nil {
		return err
	}
	g := &grouper{t: t}
	wants, err := t.space.Sorted(t.ctx, t.space.Sorting("wants", 4, 64), func(wants *extsort.Appender) error {
		hot, err := t.space.Sorted(t.ctx, t.space.Sorting("hot", 8, 64), func(hot *extsort.Appender) error {
			g.wants, g.hot = wants, hot
			return g.all(keys)
		})
		if err != nil {
			return err
		}
		return g.emitHot(hot)
	})
	if err = errors.Join(err, keys.Close()); err != nil {
		return err
	}
	return errors.Join(t.ask(Wants, wants), t.count(CountCapped, g.capped))
}

// grouper makes buckets of documents that come in the order of their keys.
type grouper struct {
	t       *task
	members []uint64 // of the open bucket; if it is over the cap, its hubs and some of the other members
	size    int64    // of the bucket
	done    int      // how many leading members were emitted already
	capped  int64    // buckets over the cap
	wants   *extsort.Appender
	hot     *extsort.Appender // for Pairs. Key: a member of a bucket over the cap, Value: the bucket's number
	levels  []uint8           // of the buckets over the cap
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
	if g.t.plan.Command == Pairs {
		for _, position := range g.members[g.done:] {
			if err := g.hot.Add(position, uint64(len(g.levels))); err != nil {
				return err
			}
		}
	}
	err := g.emit(lsh.Hubs)
	g.done = min(lsh.Hubs, len(g.members))
	g.members = g.members[:g.done]
	return err
}

// end ends a bucket.
func (g *grouper) end() (err error) {
	if limit := g.t.plan.BucketCap; g.size > int64(limit) {
		if len(g.members) > g.done {
			err = g.piece()
		}
		g.capped++
		g.levels = append(g.levels, uint8(forecast.HotLevel(g.size, limit)))
	} else if len(g.members) > 1 {
		err = g.emit(len(g.members) - 1)
	}
	g.members, g.size, g.done = g.members[:0], 0, 0
	return err
}

// emitHot emits, for each document of a bucket over the cap, the level of the smallest such bucket that
// contains it.
func (g *grouper) emitHot(hot *extsort.Sorted) error {
	last, level := uint64(0), uint8(forecast.HotLevels)
	flush := func() error {
		if level == forecast.HotLevels {
			return nil
		}
		return g.t.out.add(Hot, g.t.plan.TaskOf(last), nil, last, uint64(level))
	}
	err := hot.Visit(func(e extsort.Entry) error {
		if e.Key != last {
			if err := flush(); err != nil {
				return err
			}
			last, level = e.Key, forecast.HotLevels
		}
		level = min(level, g.levels[e.Value])
		return nil
	})
	return errors.Join(err, flush(), hot.Close())
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
