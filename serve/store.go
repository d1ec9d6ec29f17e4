package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fence"
	"github.com/alike-dev/alike/internal/ordered"
	"github.com/alike-dev/alike/vfs"
)

// The folder of a store:
//
//	NAME.json      the settings of a collection; it is there if this file is
//	NAME           its index
//	NAME.removed   an index that is being removed
const (
	settingsSuffix = ".json"
	removedSuffix  = ".removed"
)

// isName tells whether a collection or a table may have a name: [a-z0-9][a-z0-9_-]{0,62} is a file's name on every
// system, and needs no quoting in a URL.
func isName[T string | []byte](name T) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || i > 0 && (c == '-' || c == '_')) {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 63
}

// replicas are stores with the same collections; nil: the process is alone.
type replicas interface {
	changesOf(name string, x *index.Index, at *logPlace) changes
	// catchUp returns when the store has what any replica has answered for before the call.
	catchUp() error
}

type store struct {
	fs         vfs.FS
	dir        string // "": in memory
	durability Durability
	memory     int64 // ceiling of each index; 0: none
	now        func() time.Time
	lazy       *lazyFS // with Interval
	replicas   replicas

	changing sync.Mutex // held while collections are made and removed
	mu       sync.RWMutex
	all      map[string]*collection
}

// openStore opens all collections of a folder.
func openStore(fsys vfs.FS, dir string, durability Durability, memory int64, now func() time.Time) (s *store, err error) {
	fsys = fence.Around(fsys, dir)
	s = &store{fs: fsys, dir: dir, durability: durability, memory: memory, now: now, all: map[string]*collection{}}
	if dir == "" {
		return s, nil
	}
	if durability == Interval {
		s.lazy = newLazyFS(fsys)
		s.fs = s.lazy
	}
	made, err := durable.MkdirAll(fsys, dir, 0o777)
	if err != nil {
		return nil, err
	}
	if err := durable.SyncNames(fsys, made); err != nil {
		return nil, err
	}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, file := range names {
		if name, ok := strings.CutSuffix(file, removedSuffix); ok && isName(name) {
			err = s.clearAway(filepath.Join(dir, file))
		} else if name, ok := strings.CutSuffix(file, settingsSuffix); ok && isName(name) {
			err = s.load(name)
		} else if ordered.IsSnapshot(file) {
			err = errors.New("a snapshot of replicas: give the server their log, or another folder")
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", file, err), s.close())
		}
	}
	return s, nil
}

func (s *store) load(name string) error {
	f, err := s.fs.Open(filepath.Join(s.dir, name+settingsSuffix))
	if err != nil {
		return err
	}
	defer f.Close()
	body, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	settings, err := parseSettings(body)
	if err != nil {
		return err
	}
	o, err := settings.options(s.now)
	if err != nil {
		return err
	}
	return s.open(name, settings, o, nil)
}

// open opens or makes the index of a collection, and publishes it.
func (s *store) open(name string, settings settings, o index.Options, at *logPlace) (err error) {
	var x *index.Index
	if s.dir == "" {
		x, err = index.New(o)
	} else {
		x, err = index.OpenOrCreate(filepath.Join(s.dir, name), index.OpenOptions{Options: o, FS: s.fs, Memory: s.memory})
	}
	if err != nil {
		return err
	}
	s.put(name, settings, x, at)
	return nil
}

// put publishes a collection. at is its place in the log of replicas, nil without.
func (s *store) put(name string, settings settings, x *index.Index, at *logPlace) {
	var by changes = &alone{applied{x}, s.durability != Memory}
	if at != nil {
		by = s.replicas.changesOf(name, x, at)
	}
	c := newCollection(name, settings, x, by)
	c.log = at
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[name] = c
}

// get returns a collection, nil if there is none. It may be closed.
func (s *store) get(name string) *collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all[name]
}

// take removes a collection and returns it, nil if there is none. It is not closed.
func (s *store) take(name string) *collection {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[name]
	delete(s.all, name)
	return c
}

var errNoCollection = &Problem{Status: http.StatusNotFound, Detail: "there is no collection of this name"}

// use returns a collection, which stays open until done is called.
func (s *store) use(name string) (c *collection, done func(), err error) {
	c, done, err = s.useNow(name)
	if err != nil && s.replicas != nil { // another replica may have made it
		if err := s.replicas.catchUp(); err != nil {
			return nil, nil, err
		}
		return s.useNow(name)
	}
	return c, done, err
}

func (s *store) useNow(name string) (c *collection, done func(), err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c = s.all[name]
	if c == nil {
		return nil, nil, errNoCollection
	}
	c.users.RLock()
	return c, c.users.RUnlock, nil
}

func (s *store) names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := make([]string, 0, len(s.all))
	for name := range s.all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// optionsOf returns the options of a collection that may be made.
func (s *store) optionsOf(name string, settings settings) (o index.Options, err error) {
	if !isName(name) {
		return o, unprocessable("collection", "takes 1 to 63 of a-z, 0-9, _ and -, with a letter or digit first")
	}
	if o, err = settings.options(s.now); err == nil && s.dir == "" && o.Keys == index.KeysOnDisk {
		err = unprocessable("keys", "on disk need a server with a folder for data")
	}
	return o, err
}

// create makes a collection. One that is there with equal settings stays as it is; made is then false. at is its place
// in the log of replicas, nil without.
func (s *store) create(name string, settings settings, at *logPlace) (made bool, err error) {
	o, err := s.optionsOf(name, settings)
	if err != nil {
		return false, err
	}
	body, err := json.Marshal(settings)
	if err != nil {
		return false, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if there := s.get(name); there != nil {
		other, err := json.Marshal(there.settings)
		if err == nil && string(other) != string(body) {
			err = &Problem{Status: http.StatusConflict, Detail: "the collection is there with other settings: take another name, or delete it first"}
		}
		return false, err
	}
	if s.dir == "" {
		return true, s.open(name, settings, o, at)
	}
	switch err := s.clear(name); {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, durable.ErrForeign):
		return false, &Problem{Status: http.StatusConflict, Detail: "there is a folder of this name that is no collection's: take another name"}
	case err != nil:
		return false, err
	}
	err = writeWhole(s.fs, filepath.Join(s.dir, name+settingsSuffix), func(to io.Writer) error {
		_, err := to.Write(body)
		return err
	})
	if err != nil {
		return false, err
	}
	return true, s.open(name, settings, o, at)
}

// clear removes what is left of a collection that was removed.
func (s *store) clear(name string) error {
	removed := filepath.Join(s.dir, name+removedSuffix)
	if err := s.clearAway(removed); err != nil {
		return err
	}
	folder := filepath.Join(s.dir, name)
	err := s.owns(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.fs.Rename(folder, removed)
	}
	if err != nil {
		return err
	}
	return s.fs.RemoveAll(removed)
}

// clearAway removes a folder with what is left of an index.
func (s *store) clearAway(folder string) error {
	err := s.owns(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.fs.RemoveAll(folder)
}

// owns is an error if a folder of the store is not a collection's, and fs.ErrNotExist if there is none.
func (s *store) owns(folder string) error {
	if _, err := s.fs.Stat(folder); err != nil {
		return err
	}
	err := index.CheckOwn(s.fs, folder)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: somebody else has put it among the collections; move it away", err)
}

// remove ends a collection when no request uses it any more. Its settings go first: without them it is none.
func (s *store) remove(name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	c := s.take(name)
	if c == nil {
		return errNoCollection
	}
	var err error
	if s.dir != "" {
		if err = s.fs.Remove(filepath.Join(s.dir, name+settingsSuffix)); err == nil {
			err = durable.SyncDir(s.fs, s.dir)
		}
	}
	err = errors.Join(err, c.close())
	if err == nil && s.dir != "" {
		err = s.clear(name)
	}
	return err
}

// close closes all collections when no request uses them.
func (s *store) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		err = errors.Join(err, c.close())
	}
	s.all = map[string]*collection{}
	return err
}

// run does what the durability needs until the context ends.
func (s *store) run(ctx context.Context) {
	if s.lazy != nil {
		s.lazy.run(ctx)
	}
}

// ready is an error if a collection takes no more writes.
func (s *store) ready() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for name, c := range s.all {
		if c.index.Stats().Failed {
			return fmt.Errorf("collection %s: %w", name, index.ErrReadOnly)
		}
	}
	return nil
}

// writeWhole writes a file that is whole, and on disk, or not there.
func writeWhole(on vfs.FS, path string, write func(to io.Writer) error) error {
	f, err := durable.Create(on, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := buffered(f, write); err != nil {
		return err
	}
	return f.Commit()
}

// buffered writes to a file in large pieces.
func buffered(file io.Writer, write func(to io.Writer) error) error {
	to := bufio.NewWriterSize(file, 1<<18)
	if err := write(to); err != nil {
		return err
	}
	return to.Flush()
}
