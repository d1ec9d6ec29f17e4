package dedup

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus"
)

// feeder hands the blocks of many files to many workers. A worker stays with
// its file until that ends; then it opens the next one or, when none is left,
// helps with a file that others are still reading. So many small files, a few
// compressed streams and one huge file all keep every worker busy.
type feeder struct {
	sources []corpus.Source
	options corpus.Options
	wanted  func(file int) bool // nil: all

	mu   sync.Mutex
	next int         // first source not opened yet
	open []*openFile // files that may have blocks left
}

// openFile is a file with the workers that read it.
type openFile struct {
	*corpus.File
	index int // in feeder.sources
	users int
	ended bool

	advanced atomic.Int64
}

// advance returns how many bytes of the file were taken since the last call.
func (o *openFile) advance() int64 {
	n := o.BytesRead()
	return n - o.advanced.Swap(n)
}

func newFeeder(sources []corpus.Source, options corpus.Options, wanted func(file int) bool) *feeder {
	return &feeder{sources: sources, options: options, wanted: wanted}
}

// take fills b with a block, of file current where that has one left, and
// returns its file. At the end of all files it returns io.EOF. Another error
// belongs to the returned file, which yields nothing more; the caller goes on
// with take(nil, b).
func (f *feeder) take(current *openFile, b *corpus.Block) (*openFile, error) {
	for {
		if current == nil {
			var err error
			if current, err = f.join(); err != nil {
				return current, err
			}
		}
		err := current.Next(b)
		if err == nil {
			return current, nil
		}
		f.leave(current)
		if err != io.EOF { // exactly: damage may wrap one
			return current, err
		}
		current = nil
	}
}

// join opens the next file or, when all are open, joins the one with the fewest
// workers.
func (f *feeder) join() (*openFile, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.next < len(f.sources) {
		index := f.next
		f.next++
		if f.wanted != nil && !f.wanted(index) {
			continue
		}
		file, err := corpus.Open(f.sources[index], f.options)
		if err != nil {
			return &openFile{index: index}, err
		}
		opened := &openFile{File: file, index: index, users: 1}
		f.open = append(f.open, opened)
		return opened, nil
	}
	var best *openFile
	for _, o := range f.open {
		if !o.ended && (best == nil || o.users < best.users) {
			best = o
		}
	}
	if best == nil {
		return nil, io.EOF
	}
	best.users++
	return best, nil
}

// leave marks o as ended and closes it when its last worker has left.
func (f *feeder) leave(o *openFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.ended = true
	o.users--
	if o.users == 0 {
		f.drop(o)
	}
}

// drop closes o. Reading is over, so an error of closing tells nothing.
func (f *feeder) drop(o *openFile) {
	_ = o.Close()
	for i, other := range f.open {
		if other == o {
			f.open = append(f.open[:i], f.open[i+1:]...)
			return
		}
	}
}

// close closes what workers left open when they stopped before the end.
func (f *feeder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.open) > 0 {
		f.drop(f.open[0])
	}
}

// stop keeps files after index from being opened.
func (f *feeder) stop(index int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sources = f.sources[:min(len(f.sources), index+1)]
}
