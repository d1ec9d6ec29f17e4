package index

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// diskStore is the store of an index in a folder: Pebble, and around it what the writer needs.
type diskStore struct {
	x       *collection // nil: nothing is loaded yet
	folder  *folder
	engine  *engine
	queue   *queue
	applier *applier
	settler *settler // nil: keys are in memory
}

func newDiskStore(f *folder) *diskStore {
	e := &engine{broken: make(chan struct{}), pieceSize: pieceSize}
	q := newQueue(e)
	return &diskStore{folder: f, engine: e, queue: q, applier: &applier{queue: q}}
}

func (s *diskStore) inMemory() bool { return false }

func (s *diskStore) get(_ *view, slot uint64, dst []byte) ([]byte, error) {
	if queued, ok := s.queue.appendRecord(dst, slot); ok {
		body, err := unseal(queued[len(dst):], slot)
		return queued[:len(dst)+len(body)], err
	}
	value, closer, err := s.engine.db.Get(slotKey(nil, keyRecord, slot))
	if errors.Is(err, pebble.ErrNotFound) {
		if s.x.view.Load().has(slot) {
			return dst, fmt.Errorf("document of slot %d: %w: it is missing", slot, errDamaged)
		}
		return dst, fmt.Errorf("slot %d: %w", slot, errGone)
	}
	if err != nil {
		return dst, fmt.Errorf("document of slot %d: %w", slot, asDamage(err))
	}
	body, isCopy, err := s.engine.record(value, slot)
	switch {
	case err == nil && isCopy && len(dst) == 0:
		dst = body
	case err == nil:
		dst = append(dst, body...)
	default:
		err = fmt.Errorf("document of slot %d: %w", slot, err)
	}
	return dst, errors.Join(err, closer.Close())
}

func (s *diskStore) slotOf(id []byte) (slot uint64, found bool, err error) {
	return s.applier.slotOf(id)
}

func (s *diskStore) note(name string) ([]byte, error) { return s.engine.note(name) }

func (s *diskStore) apply(c *changes) error {
	if s.settler != nil {
		s.settler.late.keys = append(s.settler.late.keys, c.late.keys...)
		s.settler.late.dead = append(s.settler.late.dead, c.late.dead...)
	}
	return s.applier.apply(c)
}

func (s *diskStore) settle(all bool) error { return s.settler.settle(all) }

func (s *diskStore) sync() error { return s.queue.sync() }

func (s *diskStore) err() error { return s.engine.err() }

func (s *diskStore) bytes(*view) int64 { return s.engine.bytes() }

func (s *diskStore) keyBytes() int64 { return s.engine.keyBytes() }

// load opens the store and reads from it the data that memory holds. state is what STATE says, if that is known.
func (s *diskStore) load(o OpenOptions, readOnly bool, state *lines) (*writer, error) {
	o.share()
	store := s.folder.path(storeDir)
	s.engine.onDisk, s.engine.cache, s.engine.filterBytes = o.Keys == KeysOnDisk, o.Cache, int64(o.Recipe.Keys()+1)*10/8
	s.engine.pieceSize = cmp.Or(o.pieceBytes, pieceSize)
	s.applier.byID, s.applier.history = o.ByID, uint64(o.History)
	if err := s.engine.open(store, s.engine.setOptions(s.folder.forPebble(s.engine.fail), readOnly, cmp.Or(o.memTable, memTableSize))); err != nil {
		return nil, fmt.Errorf("index: %s: %w", store, asDamage(err))
	}
	if err := s.engine.findLong(); err != nil {
		return nil, fmt.Errorf("index: %s: %w", store, err)
	}
	s.x = newCollection(o.withDefaults())
	s.x.store, s.x.ceiling = s, ceiling{memory: o.Memory, beside: o.Beside, keys: o.Keys}
	if s.engine.onDisk {
		s.settler = &settler{x: s.x, folder: s.folder, queue: s.queue, applier: s.applier, tailKeys: cmp.Or(o.TailKeys, DefaultTailKeys)}
	}
	w := newWriter(s.x)
	if o.Few && o.ReadOnly && s.settler == nil && o.Window.Age == 0 {
		if done, err := openFew(w, s.applier, cmp.Or(o.Threads, runtime.GOMAXPROCS(0)), state); done || err != nil {
			return w, err
		}
	}
	return w, load(w, s.applier, s.settler, o.Threads)
}

// close writes everything to tables, so that the log is empty, and releases the folder.
func (s *diskStore) close(whole bool) (err error) {
	if whole {
		if v := s.x.view.Load(); v.Next-v.settled >= chunkDocs {
			err = s.settler.settle(true) // so that opening has nothing to load
		} else {
			err = s.settler.finish()
		}
		if err == nil {
			err = s.queue.sync()
		}
		if err == nil {
			err = s.engine.flush()
		}
	} else {
		s.settler.stop()
	}
	err = errors.Join(err, s.closeStore())
	if err == nil && whole {
		err = s.folder.writeState(s.x, true)
	}
	return errors.Join(err, s.folder.release())
}

// closeStore closes Pebble, unless it has failed and would block.
func (s *diskStore) closeStore() error {
	if s.engine.db == nil || s.engine.err() != nil {
		return nil
	}
	_, err := s.queue.drain()
	return errors.Join(err, s.applier.ids.close(), s.engine.do(s.engine.db.Close))
}

// abandon releases everything that open has taken.
func (s *diskStore) abandon() error {
	return errors.Join(s.closeStore(), s.folder.release())
}

// compactChunk merges the blocks of a chunk into one, without the data of dead documents.
func (s *diskStore) compactChunk(v *view, from uint64) error {
	to := min(from+chunkDocs, v.Next)
	var docs []arrival
	var start uint64
	blocks := 0
	err := s.engine.each(keyBlock, from, to, func(at uint64, value []byte) error {
		body, err := unseal(value, at)
		if err != nil {
			return fmt.Errorf("block of slot %d: %w", at, err)
		}
		if blocks++; blocks == 1 {
			start = at
		}
		_, err = parseBlock(body, s.x.judge.words, func(_ int, d *arrival, dead bool) error {
			docs = append(docs, arrival{keys: slices.Clone(d.keys), digest: d.digest, words: slices.Clone(d.words), time: d.time})
			return nil
		})
		return err
	})
	if err != nil || blocks == 0 {
		return err
	}
	b := s.engine.db.NewBatch()
	block := appendBlock(nil, s.x.judge.words, docs, func(i int) bool {
		slot := start + uint64(i)
		return slot < v.First || v.chunk(slot).isDead(slot)
	})
	err = errors.Join(
		b.DeleteRange(slotKey(nil, keyBlock, from), slotKey(nil, keyBlock, to), nil),
		b.DeleteRange(slotKey(nil, keyFilter, from), slotKey(nil, keyFilter, to), nil),
		b.DeleteRange(slotKey(nil, keyDead, from), slotKey(nil, keyDead, to), nil),
		b.Set(slotKey(nil, keyBlock, start), sealed(block, start), nil),
		b.Set(slotKey(nil, keyFilter, start), sealed(appendFilter(nil, docs), start), nil),
	)
	if err != nil {
		return err
	}
	return s.queue.commit(b)
}
