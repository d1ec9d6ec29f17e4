package index

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// tables writes tables of the store, in the order of keys, which Pebble ingests unchanged. It belongs
// to one goroutine; put starts another one that waits for the disk.
type tables struct {
	folder *folder
	engine *engine
	name   string // tells its files from those of other tables at the same time
	full   uint64 // bytes after which a table is complete
	plain  bool   // values are hashes, which no compression makes smaller
	n      int    // number of files begun
	paths  []string
	w      *sstable.Writer // nil: no table is begun
	since  int             // bytes put since the table's size was last asked for
	given  chan error      // receives the result of the last hand-over by put; nil: none is under way
}

// askAfter is how many bytes are put into a table before its size is asked for again. Asking takes as
// long as putting one key.
const askAfter = 4 << 10

func (t *tables) isFull() bool {
	if t.w == nil || t.since < askAfter && t.full > askAfter {
		return false
	}
	t.since = 0
	return t.w.Raw().EstimatedSize() > t.full
}

// room begins a table if there is none or the current one is full.
func (t *tables) room() error {
	if t.isFull() {
		if err := t.end(); err != nil {
			return err
		}
	}
	return t.begin()
}

func (t *tables) begin() error {
	if t.w != nil {
		return nil
	}
	path := t.folder.path(fmt.Sprint(settleFile, t.name, t.n, newSuffix))
	f, err := t.folder.fs.Create(path) // not the guarded file system: here an error can be returned
	if err != nil {
		return err
	}
	t.n++
	t.paths = append(t.paths, path)
	format := t.engine.db.FormatMajorVersion().MaxTableFormat()
	o := t.engine.options.MakeWriterOptions(1, format) // 0 does not compress, and a table of the lowest level has no deletions
	if t.plain {
		o.Compression = sstable.NoCompression
	}
	t.w, t.since = sstable.NewWriter(objstorageprovider.NewFileWritable(plainFile{f}), o), 0
	return nil
}

// end completes the current table and waits for those that put has handed over. They are durable then.
func (t *tables) end() (err error) {
	err = t.taken()
	if t.w != nil {
		err = errors.Join(err, t.w.Close())
		t.w = nil
	}
	return err
}

// taken waits until the store has the tables that put has handed over.
func (t *tables) taken() error {
	if t.given == nil {
		return nil
	}
	err := <-t.given
	t.given = nil
	return err
}

// ingest gives the complete tables to the store: all of them or none.
func (t *tables) ingest() error {
	paths := t.paths
	t.paths = nil
	return t.engine.ingest(paths)
}

// handOver completes the current table, and gives all tables to the store.
func (t *tables) handOver() error {
	if err := t.end(); err != nil {
		return err
	}
	return t.ingest()
}

// put writes a key, and hands over each full table. The next table is written while the disk takes that
// one.
func (t *tables) put(key, value []byte) error {
	if t.isFull() {
		if err := t.taken(); err != nil {
			return err
		}
		w, paths, given := t.w, t.paths, make(chan error, 1)
		t.w, t.paths, t.given = nil, nil, given
		go func() {
			err := w.Close()
			if err == nil {
				err = t.engine.ingest(paths)
			}
			given <- err
		}()
	}
	return t.set(key, value)
}

func (t *tables) abort() error {
	err := t.end()
	for _, path := range t.paths {
		if e := t.folder.fs.Remove(path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func (t *tables) set(key, value []byte) error {
	if err := t.begin(); err != nil {
		return err
	}
	t.since += len(key) + len(value)
	return t.w.Set(key, value)
}

func (t *tables) unset(key []byte) error {
	if err := t.begin(); err != nil {
		return err
	}
	t.since += len(key)
	return t.w.Delete(key)
}
