package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// tableFile is how large a table with keys gets. Its Bloom filter is read as a whole.
const tableFile = 8 << 20

// settleFile begins the names of tables that are being written.
const settleFile = "settle"

// tables writes tables of the store, in the order of keys, which Pebble takes in as they are. It
// belongs to one goroutine.
type tables struct {
	s     *disk
	name  string // tells its files from those of others at the same time
	full  uint64 // bytes after which a table is complete
	n     int    // files begun
	paths []string
	w     *sstable.Writer // nil: none is begun
}

func (t *tables) isFull() bool { return t.w != nil && t.w.Raw().EstimatedSize() > t.full }

// room begins a table, if there is none, or another one if that is full.
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
	path := t.s.fs.PathJoin(t.s.dir, fmt.Sprint(settleFile, t.name, t.n, newSuffix))
	f, err := t.s.fs.Create(path, "alike-settle") // not the guarded one: here an error can be returned
	if err != nil {
		return err
	}
	t.n++
	t.paths = append(t.paths, path)
	format := t.s.db.FormatMajorVersion().MaxTableFormat()
	t.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), t.s.options.MakeWriterOptions(0, format))
	return nil
}

// end completes the table that was begun. It is on disk then.
func (t *tables) end() (err error) {
	if t.w != nil {
		err = t.w.Close()
		t.w = nil
	}
	return err
}

// ingest gives the tables that are complete to the store: all of them or none.
func (t *tables) ingest() error {
	paths := t.paths
	if len(paths) == 0 {
		return nil
	}
	t.paths = nil
	return t.s.do(func() error { return t.s.db.Ingest(context.Background(), paths) })
}

// handOver completes the table that was begun, and gives all to the store.
func (t *tables) handOver() error {
	if err := t.end(); err != nil {
		return err
	}
	return t.ingest()
}

// put writes a key, and hands over each table when it is full.
func (t *tables) put(key, value []byte) error {
	if t.isFull() {
		if err := t.handOver(); err != nil {
			return err
		}
	}
	return t.set(key, value)
}

func (t *tables) abort() error {
	err := t.end()
	for _, path := range t.paths {
		if e := t.s.fs.Remove(path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func (t *tables) set(key, value []byte) error {
	if err := t.begin(); err != nil {
		return err
	}
	return t.w.Set(key, value)
}

// remove removes the slots of a kind from one up to another.
func (t *tables) remove(kind byte, from, to uint64) error {
	if from >= to {
		return nil
	}
	if err := t.begin(); err != nil {
		return err
	}
	return t.w.DeleteRange(slotKey(nil, kind, from), slotKey(nil, kind, to))
}

func isSettleFile(name string) bool {
	return strings.HasPrefix(name, settleFile) && strings.HasSuffix(name, newSuffix)
}

// sweep removes what a process has left that ended while it settled, or made the index.
func (s *disk) sweep() error {
	names, err := s.fs.List(s.dir)
	for _, name := range names {
		if name == begunFile || isSettleFile(name) {
			err = errors.Join(err, s.fs.Remove(s.fs.PathJoin(s.dir, name)))
		}
	}
	return err
}
