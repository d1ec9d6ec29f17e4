// Package among keeps an index of the documents of a folder, somewhere else, and brings it up to date when it is opened:
//
//	folder/ ──Find──► states of files ──compare──► changed, gone ──► index ──► searchers
//	cache/KEY/ files.json (states), N/ (the index), N.sizes, lock
//
// Use it to ask again and again about files that people edit. For a collection of its own take package index.
//
// A file whose size and times are as before is not read again. Of files that are one document only changed ones are
// read; if a file of records has changed, everything is. The list of states is removed before the index is changed and
// written when it is complete, so that a killed process costs a new build and never a wrong answer.
package among

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/feed"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// Options say what to index, and where the index is.
type Options struct {
	Inputs []string // as of corpus.Find; not standard input
	Corpus corpus.Options
	Index  index.Options
	// Cache is the folder that holds the indexes; "": alike in the user's folder for caches. If it cannot be written,
	// the index is in memory, and is made at every call.
	Cache   string
	Threads int   // 0: all processors
	Memory  int64 // ceiling of the process; 0: none
	// OnSkip, if set, receives every record that cannot be read, of files that are read.
	OnSkip func(*corpus.Problem) error
	// OnNotice, if set, is told why the index is in memory, and that no document has the field of the ids.
	OnNotice func(error)
}

// Opened is an index that is up to date.
type Opened struct {
	Index   *index.Index
	Sizes   index.Sizes // of its documents, if they are kept
	Skipped int64       // records of all files that cannot be read
	Read    int         // files that were read by this call

	from     Options
	states   map[string]string // of the files, by label
	problems int               // inputs that could not be listed
}

// Current tells whether the inputs are as they were when the index was opened: then opening it again would give the same.
// It costs a look at each file's size and times, and may be called while the index is asked, from other goroutines too.
func (o *Opened) Current(ctx context.Context) (bool, error) {
	sources, problems, err := corpus.Find(ctx, o.from.Inputs, o.from.Corpus)
	if err != nil {
		return false, err
	}
	return len(problems) == o.problems && maps.Equal(o.states, statesOf(sources)), nil
}

// files is the content of filesFile.
type files struct {
	Index   string            `json:"index"` // name of its folder
	Skipped int64             `json:"skipped"`
	States  map[string]string `json:"states"` // by the label of a file
}

const (
	filesFile = "files.json"
	lockFile  = "lock"
)

// Open returns the index of the inputs. The caller closes it; meanwhile other processes may open it too, and change it.
func Open(ctx context.Context, o Options) (*Opened, error) {
	sources, problems, err := corpus.Find(ctx, o.Inputs, o.Corpus)
	if err != nil {
		return nil, err
	}
	for i := range problems {
		if o.OnSkip != nil {
			if err := o.OnSkip(&problems[i]); err != nil {
				return nil, err
			}
		}
	}
	seen := o.Corpus.Watch()
	opened, err := o.open(ctx, sources, int64(len(problems)))
	if err != nil {
		return nil, err
	}
	if opened.Read == len(sources) && seen.LacksIDs(o.Corpus) && o.OnNotice != nil {
		o.OnNotice(setting.Errorf("%s", o.Corpus.NoIDs()))
	}
	opened.from, opened.states, opened.problems = o, statesOf(sources), len(problems)
	return opened, nil
}

// open opens the index of sources, of the cache where there is one.
func (o *Options) open(ctx context.Context, sources []corpus.Source, problems int64) (*Opened, error) {
	c, err := o.cache()
	if err == nil {
		err = c.take(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if o.OnNotice != nil {
			o.OnNotice(fmt.Errorf("the index of %s cannot be kept, and is made in memory: %w", fault.Shown(strings.Join(o.Inputs, ", ")), err))
		}
		return o.inMemory(ctx, sources, problems)
	}
	opened, err := c.upToDate(ctx, sources, problems)
	return opened, errors.Join(err, c.lock.Release())
}

// inMemory makes the index in memory.
func (o *Options) inMemory(ctx context.Context, sources []corpus.Source, skipped int64) (*Opened, error) {
	x, err := index.New(o.Index)
	if err != nil {
		return nil, err
	}
	more, err := o.feed(ctx, x, sources)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return &Opened{Index: x, Skipped: skipped + more, Read: len(sources)}, nil
}

// feed adds sources to an index, and returns how many of their records cannot be read.
func (o *Options) feed(ctx context.Context, x feed.Collection, sources []corpus.Source) (skipped int64, err error) {
	s, err := feed.Run(ctx, feed.Config{Index: x, Sources: sources, Corpus: o.Corpus, Threads: o.Threads, OnSkip: o.OnSkip})
	return s.Skipped, err
}

// cache is the folder of an index.
type cache struct {
	*Options
	dir  string
	lock *filelock.Lock
}

// cache returns the folder for these inputs and options.
func (o *Options) cache() (*cache, error) {
	root := o.Cache
	if root == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		root = filepath.Join(dir, "alike", "among")
	}
	here, err := os.Getwd() // labels of files are relative to it
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("1 %q %q %s %d %s %q %q %s %d", here, o.Inputs, o.Index.Recipe, o.Index.Containment, o.Index.Keep,
		o.Corpus.TextField, o.Corpus.IDField, o.Corpus.Format, o.Corpus.MaxRecord)
	sum := xxh3.HashString128(key).Bytes()
	return &cache{Options: o, dir: filepath.Join(root, hex.EncodeToString(sum[:]))}, nil
}

// waitForLock is how long another process is waited for between two attempts.
const waitForLock = 20 * time.Millisecond

// take makes the folder and locks it, when no other process holds it.
func (c *cache) take(ctx context.Context) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	for {
		var err error
		if c.lock, err = filelock.Take(vfs.OS, filepath.Join(c.dir, lockFile)); !errors.Is(err, filelock.ErrTaken) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitForLock):
		}
	}
}

// upToDate opens the index when it holds what the sources hold. The folder is locked.
func (c *cache) upToDate(ctx context.Context, sources []corpus.Source, problems int64) (*Opened, error) {
	known, now := c.known(), statesOf(sources)
	var changed []corpus.Source
	whole := true // all that has changed is one document a file
	for _, s := range sources {
		if known.States[s.Label()] != now[s.Label()] {
			changed = append(changed, s)
			whole = whole && s.Format == corpus.Text
		}
	}
	var gone [][]byte
	for label, state := range known.States {
		if _, there := now[label]; !there {
			gone = append(gone, []byte(label))
			whole = whole && strings.HasPrefix(state, wholeFile)
		}
	}
	opened := &Opened{Skipped: problems + known.Skipped, Read: len(changed)}
	var err error
	switch {
	case known.Index != "" && len(changed)+len(gone) == 0:
	case known.Index != "" && whole && known.Skipped == 0 && len(changed) <= len(sources)/2:
		err = c.change(ctx, known, now, changed, gone)
	default:
		opened.Read = len(sources)
		known, err = c.build(ctx, known, now, sources)
		opened.Skipped = problems + known.Skipped
	}
	if err != nil {
		return nil, err
	}
	opened.Index, err = index.Open(filepath.Join(c.dir, known.Index), index.OpenOptions{ReadOnly: true, Threads: c.Threads, Memory: c.Memory})
	if err != nil {
		return nil, err
	}
	if opened.Sizes, err = c.sizes(known.Index, opened.Index); err != nil {
		return nil, errors.Join(err, opened.Index.Close())
	}
	return opened, nil
}

// wholeFile begins the state of a file that is one document.
const wholeFile = "document "

func statesOf(sources []corpus.Source) map[string]string {
	states := make(map[string]string, len(sources))
	for _, s := range sources {
		state := s.State()
		if s.Format == corpus.Text {
			state = wholeFile + state
		}
		states[s.Label()] = state
	}
	return states
}

// known returns what the folder holds, nothing if that cannot be told.
func (c *cache) known() (k files) {
	f, err := durable.OpenOwn(vfs.OS, filepath.Join(c.dir, filesFile))
	if err != nil {
		return files{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return files{}
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil && info.Size() > 0 {
		return files{}
	}
	if json.Unmarshal(data, &k) != nil || !filepath.IsLocal(k.Index) || strings.ContainsAny(k.Index, `/\`) {
		return files{}
	}
	return k
}

// forget removes the list of states: from now on the index may be anything.
func (c *cache) forget() error {
	err := os.Remove(filepath.Join(c.dir, filesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, durable.SyncDir(vfs.OS, c.dir))
}

// remember writes the list of states.
func (c *cache) remember(k files) error {
	return writeWhole(filepath.Join(c.dir, filesFile), func(to io.Writer) error { return json.NewEncoder(to).Encode(k) })
}

// change adds and deletes single documents.
func (c *cache) change(ctx context.Context, known files, now map[string]string, changed []corpus.Source, gone [][]byte) (err error) {
	if err := c.forget(); err != nil {
		return err
	}
	x, err := index.Open(filepath.Join(c.dir, known.Index), index.OpenOptions{Threads: c.Threads, Memory: c.Memory})
	if err != nil {
		return err
	}
	if _, err = x.Delete(gone...); err == nil {
		known.Skipped, err = c.feed(ctx, x, changed)
	}
	if err = errors.Join(err, x.Sync(), x.Close()); err != nil {
		return err
	}
	known.States = now
	return c.remember(known)
}

// build makes the index anew, beside the old one, which other processes may read until the next build.
func (c *cache) build(ctx context.Context, known files, now map[string]string, sources []corpus.Source) (made files, err error) {
	if err := c.forget(); err != nil {
		return made, err
	}
	if err := c.clear(known.Index); err != nil {
		return made, err
	}
	made = files{Index: strconv.FormatUint(durable.NewID(), 36), States: now}
	o := c.Index
	if bytesOf(sources) > keysInMemory {
		o.Keys = index.KeysOnDisk
	}
	b, err := index.NewBuilder(filepath.Join(c.dir, made.Index), index.BuildOptions{Options: o, Threads: c.Threads})
	if err != nil {
		return made, err
	}
	if made.Skipped, err = c.feed(ctx, b, sources); err == nil {
		_, err = b.Finish(ctx)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return made, err
	}
	return made, c.remember(made)
}

// keysInMemory is the size of inputs, in bytes, up to which all keys are read when an index is opened.
const keysInMemory = 4 << 20

func bytesOf(sources []corpus.Source) (n int64) {
	for _, s := range sources {
		n += max(s.Size, 0)
	}
	return n
}

// clear removes the indexes in the folder but one.
func (c *cache) clear(except string) error {
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if e.Name() != except && e.Name() != except+sizesSuffix && (e.IsDir() || strings.HasSuffix(e.Name(), sizesSuffix)) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(c.dir, e.Name())))
		}
	}
	return err
}

// sizesSuffix ends the name of the file with the sizes of an index:
//
//	first slot, 8 bytes | sizes, 4 bytes each | CRC-32C of all before, 4 bytes
//
// The sizes in it stay true when documents come and go, since no slot is used twice.
const sizesSuffix = ".sizes"

// sizes returns the sizes of an index's documents, and writes those that were not known. The folder is locked.
func (c *cache) sizes(name string, x *index.Index) (index.Sizes, error) {
	path := filepath.Join(c.dir, name+sizesSuffix)
	s, known := x.NewSearcher(), readSizes(path)
	s.UseSizes(known)
	all, err := s.Sizes()
	if err != nil || len(all.Of) == len(known.Of) {
		return all, err
	}
	return all, writeSizes(path, all)
}

// readSizes returns what the file holds, nothing if it is not whole.
func readSizes(path string) (s index.Sizes) {
	f, err := durable.OpenOwn(vfs.OS, path)
	if err != nil {
		return s
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < 12 || info.Size()%4 != 0 {
		return s
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return s
	}
	content, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if durable.Checksum(0, content) != sum {
		return s
	}
	s.From = binary.LittleEndian.Uint64(content)
	for b := content[8:]; len(b) > 0; b = b[4:] {
		s.Of = append(s.Of, binary.LittleEndian.Uint32(b))
	}
	return s
}

func writeSizes(path string, s index.Sizes) error {
	data := binary.LittleEndian.AppendUint64(nil, s.From)
	for _, n := range s.Of {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	data = binary.LittleEndian.AppendUint32(data, durable.Checksum(0, data))
	return writeWhole(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

// writeWhole writes a file that is whole, and on disk, or as it was before.
func writeWhole(path string, write func(to io.Writer) error) error {
	f, err := filelock.Create(vfs.OS, path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}
