package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/recipe"
)

// A Damage is stored data that differ from what was written.
type Damage struct {
	What string // document of slot 7, id "a", …
	Err  error
}

func (d Damage) Error() string { return d.What + ": " + d.Err.Error() }

// Verify reads everything that an index in a folder has stored and checks it: the checksums of Pebble and of
// each value; each document against its keys, digest and signature, which are made again from its text where
// that is stored; ids against documents. told is called for each damage; damage of the store's files ends a
// part of the check, and is reported with the file. Verify returns how many documents it has read. The index
// can be used meanwhile, but must not be closed.
func (x *Index) Verify(ctx context.Context, told func(Damage)) (documents int64, err error) {
	s, ok := x.store.(*diskStore)
	if !ok {
		return 0, errors.New("index: it is in memory, there is nothing to check")
	}
	if _, err := s.queue.drain(); err != nil {
		return 0, err
	}
	c := &checking{x: x.collection, engine: s.engine, view: x.view.Load(), told: told, finder: newFinder(x.collection),
		maker: x.options.Recipe.NewMaker(recipe.MakerOptions{Signature: true})}
	c.buckets = buckets{view: c.view, most: x.options.BucketCap}
	defer func() { err = errors.Join(err, c.buckets.close(), c.lookup.close()) }()
	if c.lookup, err = s.engine.newIDLookup(c.view.Next); err != nil {
		return 0, err
	}
	for _, part := range []func(context.Context) error{c.settled, c.blocks, c.filters, c.records, c.keys, c.ids, c.notes, c.history} {
		if err := part(ctx); err != nil {
			if ctx.Err() != nil {
				return c.documents, ctx.Err()
			}
			told(Damage{"store", err})
		}
	}
	return c.documents, nil
}

type checking struct {
	x         *collection
	engine    *engine
	view      *view
	told      func(Damage)
	finder    *finder
	maker     *recipe.Maker
	documents int64
	lookup    *idLookup          // of ids, as they were when the check began
	known     bitset.Set[uint64] // settled documents, from the first slot of the view on, that had facts when the check began
	buckets   buckets            // as they were at some moment after that
	slots     []uint64
}

func (c *checking) tell(err error, format string, args ...any) {
	c.told(Damage{fmt.Sprintf(format, args...), err})
}

// settled finds the settled documents, so that checking their keys does not ask the store for each key.
func (c *checking) settled(ctx context.Context) error {
	if c.view.settled <= c.view.First {
		return nil
	}
	c.known = bitset.New[uint64](int(c.view.settled - c.view.First))
	return c.engine.each(keyFacts, c.view.First, c.view.settled, func(slot uint64, _ []byte) error {
		c.known.Add(slot - c.view.First)
		return ctx.Err()
	})
}

// has is like view.has, but may be true for a settled document that has gone since the check began.
func (c *checking) has(slot uint64) bool {
	at := slot - c.view.First
	return slot >= c.view.First && c.known.Has(at) || c.view.has(slot)
}

// blocks checks that memory agrees with the blocks.
func (c *checking) blocks(ctx context.Context) error {
	return c.engine.each(keyBlock, max(c.view.First, c.view.settled)&^(chunkDocs-1), c.view.Next, func(start uint64, value []byte) error {
		body, err := unseal(value, start)
		if err == nil {
			_, err = parseBlock(body, c.x.judge.words, func(i int, d *arrival, dead bool) error {
				if slot := start + uint64(i); slot >= max(c.view.First, c.view.settled) && c.view.has(slot) && c.view.chunk(slot).digests[slot%chunkDocs] != d.digest {
					return fmt.Errorf("%w: document of slot %d has another digest in memory", errDamaged, slot)
				}
				return nil
			})
		}
		if err != nil {
			c.tell(err, "block of slot %d", start)
		}
		return ctx.Err()
	})
}

func (c *checking) filters(ctx context.Context) error {
	return c.engine.each(keyFilter, c.view.First&^(chunkDocs-1), c.view.Next, func(start uint64, value []byte) error {
		if _, err := parseFilter(value, start); err != nil {
			c.tell(err, "filter of slot %d", start)
		}
		return ctx.Err()
	})
}

// records checks all records, and that each document has one.
func (c *checking) records(ctx context.Context) error {
	want := c.view.First
	missing := func(to uint64) {
		for ; want < to; want++ {
			if c.view.has(want) {
				c.tell(fmt.Errorf("%w: it is missing", errDamaged), "document of slot %d", want)
			}
		}
	}
	err := c.engine.each(keyRecord, c.view.First, c.view.Next, func(slot uint64, value []byte) error {
		missing(slot)
		want = slot + 1
		if !c.has(slot) {
			if slot < c.view.settled && c.engine.hasKey(slotKey(nil, keyRecord, slot)) {
				c.tell(fmt.Errorf("%w: time, digest and sketch are missing", errDamaged), "document of slot %d", slot)
			}
			return ctx.Err() // nil: it has gone meanwhile
		}
		body, _, err := c.engine.record(value, slot)
		if errors.Is(err, errGone) {
			return ctx.Err()
		}
		c.documents++
		if err == nil {
			err = c.record(slot, body)
		}
		if err != nil {
			c.tell(err, "document of slot %d", slot)
		}
		return ctx.Err()
	})
	if err == nil {
		missing(c.view.Next)
	}
	return err
}

// record checks one record against memory.
func (c *checking) record(slot uint64, body []byte) error {
	r, err := parseRecord(body)
	if err != nil {
		return err
	}
	if _, err := parseColumns(r.columns); err != nil {
		return err
	}
	if c.x.options.ByID {
		if at, found, err := c.lookup.slot(r.id); err != nil || (!found || at != slot) && c.x.view.Load().has(slot) {
			return errors.Join(err, fmt.Errorf("%w: id %q leads to slot %d", errDamaged, r.id, at))
		}
	}
	if err := c.linked(slot, r); err != nil || r.kind != bodyText {
		return err
	}
	held := &c.finder.held
	if alive, err := c.view.facts(slot, held); err != nil || !alive {
		return err
	}
	v, err := c.x.valueIn(r)
	if err != nil {
		return err
	}
	c.maker.Within(v.Within)
	if made := c.maker.Make(r.body); made.Digest != held.digest {
		return fmt.Errorf("%w: the digest is not that of the text", errDamaged)
	}
	if words := c.x.judge.appendWords(nil, c.maker.Signature()); !slices.Equal(words, held.words) {
		return fmt.Errorf("%w: the signature is not that of the text", errDamaged)
	}
	return nil
}

// linked checks that a settled document is found by its keys: by all of them, unless a bucket is full, or by
// the key of its digest if it equals an earlier document.
func (c *checking) linked(slot uint64, r record) (err error) {
	if slot >= c.view.settled {
		return nil
	}
	a, err := c.finder.again(c.view, slot, r)
	if err != nil {
		return err
	}
	missing, err := c.missing(slot, a.keys)
	if err == nil && len(missing) > 0 { // it may have got them since
		err = c.buckets.close()
		c.buckets.disk = nil
		if err == nil {
			missing, err = c.missing(slot, a.keys)
		}
	}
	if err != nil || len(missing) == 0 || !c.engine.hasFacts(slot) {
		return err
	}
	if !c.x.window.expires() && !slices.Contains(missing, a.ways-1) {
		before := *c.view
		before.Next = slot
		if copies, err := c.finder.copies(&before, a.keys[a.ways-1], a.digest); err != nil || len(copies) > 0 {
			return err
		}
	}
	return fmt.Errorf("%w: %d of %d keys are missing", errDamaged, len(missing), len(a.keys))
}

// missing returns the keys by which a document is not found although their buckets cannot have been full when
// it was added: not even with all documents that have gone since.
func (c *checking) missing(slot uint64, keys []uint64) (missing []int, err error) {
	gone := int(c.view.Next) - int(c.x.counts.live.Load())
	for i, key := range keys {
		if c.slots, err = c.buckets.append(c.slots[:0], key, c.view.Range); err != nil {
			return nil, err
		}
		if !slices.Contains(c.slots, slot) && len(c.slots)+gone < c.x.options.BucketCap {
			missing = append(missing, i)
		}
	}
	return missing, nil
}

// keys checks that keys on disk lead to documents.
func (c *checking) keys(ctx context.Context) error {
	if !c.engine.onDisk {
		return nil
	}
	it, err := newBuckets(c.engine, c.view)
	if err != nil {
		return err
	}
	return eachValue(ctx, it, func(key, _ []byte) {
		k, err := parseKeyOf(key)
		if err == nil && k.slot >= c.view.First && k.slot < c.view.settled && !c.has(k.slot) && c.engine.hasKey(key) {
			err = fmt.Errorf("%w: it leads to slot %d, where there is no document", errDamaged, k.slot)
		}
		if err != nil {
			c.tell(err, "key %x", k.print)
		}
	})
}

// ids checks that ids lead to documents that have them.
func (c *checking) ids(ctx context.Context) error {
	it, err := c.engine.ofKind(keyID)
	if err != nil {
		return err
	}
	return eachValue(ctx, it, func(key, value []byte) {
		id := key[1:]
		slot, err := parseSlotOf(id, value)
		if err == nil && slot < c.view.Next && !c.has(slot) {
			err = fmt.Errorf("%w: it leads to slot %d, where there is no document", errDamaged, slot)
		}
		if err != nil {
			c.tell(err, "id %q", id)
		}
	})
}

func (c *checking) notes(ctx context.Context) error {
	it, err := c.engine.ofKind(keyNote)
	if err != nil {
		return err
	}
	return eachValue(ctx, it, func(key, value []byte) {
		if _, err := parseNote(string(key[1:]), value); err != nil {
			c.told(Damage{"store", err})
		}
	})
}

// eachValue calls visit for the keys and values of an iterator, and closes it.
func eachValue(ctx context.Context, it *pebble.Iterator, visit func(key, value []byte)) error {
	for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			break // the iterator returns the error too
		}
		visit(it.Key(), value)
	}
	return errors.Join(it.Error(), it.Close(), ctx.Err())
}

// history checks the remembered hashes.
func (c *checking) history(ctx context.Context) error {
	return c.engine.history(func([]uint64) error { return ctx.Err() })
}

// Compact makes the folder as small as possible: it removes the data of deleted documents, and has Pebble
// rewrite all its tables. Writers wait meanwhile. Slots do not change.
func (x *Index) Compact(ctx context.Context) error {
	s, ok := x.store.(*diskStore)
	if !ok {
		return errors.New("index: it is in memory, there is nothing to compact")
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	if err := x.writer.err(); err != nil {
		return err
	}
	if err := s.settle(true); err != nil {
		return x.writer.fail(err)
	}
	if _, err := s.queue.drain(); err != nil {
		return x.writer.fail(err)
	}
	v := x.view.Load()
	for from := max(v.First, v.settled) &^ (chunkDocs - 1); from < v.Next; from += chunkDocs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.compactChunk(v, from); err != nil {
			return x.writer.fail(err)
		}
	}
	if err := s.queue.sync(); err != nil {
		return x.writer.fail(err)
	}
	if err := s.engine.flush(); err != nil {
		return x.writer.fail(err)
	}
	err := s.engine.do(func() error { return s.engine.db.Compact(ctx, []byte{0}, []byte{0xff}, true) })
	if err != nil && ctx.Err() == nil {
		return x.writer.fail(err)
	}
	return err
}
