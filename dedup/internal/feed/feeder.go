package feed

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus"
)

// Feeder hands the blocks of many files to many workers. A worker stays with
// its file until that ends; then it opens the next one or, when none is left,
// helps with a file that others are still reading. So many small files, a few
// compressed streams and one huge file all keep every worker busy.
type Feeder struct {
	sources []corpus.Source
	opener  *Opener
	layouts *Layouts
	wanted  func(file int) bool                 // nil: all
	done    func(file int) func(seq int64) bool // blocks of a file to leave out; nil: none

	mu      sync.Mutex
	next    int         // first source not opened yet
	open    []*OpenFile // files that may have blocks left
	opening int         // files that workers are about to open
	opened  *sync.Cond  // one of them is open, or cannot be
}

// OpenFile is a file with the workers that read it.
type OpenFile struct {
	*corpus.File
	Index  int // in feeder.sources
	users  int
	ended  bool
	failed bool

	advanced atomic.Int64
	Blocks   atomic.Int64 // handed out
}

// Advance returns how many bytes of the file were taken since the last call.
func (o *OpenFile) Advance() int64 {
	n := o.BytesRead()
	return n - o.advanced.Swap(n)
}

// ErrFileEnd is what take returns to the last worker that leaves a file at its end.
var ErrFileEnd = errors.New("end of file")

func NewFeeder(
	sources []corpus.Source, opener *Opener, layouts *Layouts, wanted func(file int) bool, done func(file int) func(seq int64) bool,
) *Feeder {
	f := &Feeder{sources: sources, opener: opener, layouts: layouts, wanted: wanted, done: done}
	f.opened = sync.NewCond(&f.mu)
	return f
}

// Take fills b with a block, of file current if that has one left, and returns its file. At the end
// of all files it returns io.EOF. Any other error belongs to the returned file, which yields no
// more blocks; it is ErrFileEnd if the file is whole. The caller continues with Take(nil, b).
func (f *Feeder) Take(current *OpenFile, b *corpus.Block) (*OpenFile, error) {
	for {
		if current == nil {
			var err error
			if current, err = f.join(); err != nil {
				return current, err
			}
		}
		err := current.Next(b)
		if err == nil {
			if b.Seq == 0 {
				f.layouts.keep(current.Index, current.File)
			}
			current.Blocks.Add(1)
			return current, nil
		}
		last := f.leave(current, err)
		if err != io.EOF { // compared directly: an error of damage may wrap one
			return current, err
		}
		if last {
			return current, ErrFileEnd
		}
		current = nil
	}
}

// join opens the next file or, when all are open, joins the one with the fewest workers. Files are
// opened outside the lock, because with many small ones that is a good part of the work.
func (f *Feeder) join() (*OpenFile, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.next < len(f.sources) {
		index := f.next
		f.next++
		if f.wanted == nil || f.wanted(index) {
			return f.openNext(index)
		}
	}
	for {
		var best *OpenFile
		for _, o := range f.open {
			if !o.ended && (best == nil || o.users < best.users) {
				best = o
			}
		}
		if best != nil {
			best.users++
			return best, nil
		}
		if f.opening == 0 {
			return nil, io.EOF
		}
		f.opened.Wait()
	}
}

// openNext opens a source. f.mu is held, before and after.
func (f *Feeder) openNext(index int) (*OpenFile, error) {
	f.opening++
	f.mu.Unlock()
	file, err := f.opener.Open(index)
	if err == nil && f.done != nil {
		if done := f.done(index); done != nil {
			file.Skip(done)
		}
	}
	f.mu.Lock()
	f.opening--
	f.opened.Broadcast()
	if err != nil {
		return &OpenFile{Index: index}, err
	}
	opened := &OpenFile{File: file, Index: index, users: 1}
	f.open = append(f.open, opened)
	return opened, nil
}

// leave marks o as ended, by err, and closes it when its last worker has left. It tells whether
// this was the last worker of a file without error.
func (f *Feeder) leave(o *OpenFile, err error) (last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.ended = true
	o.failed = o.failed || err != io.EOF
	o.users--
	if o.users > 0 {
		return false
	}
	f.drop(o)
	return !o.failed
}

// drop closes o. Reading is over, so an error of closing does not matter.
func (f *Feeder) drop(o *OpenFile) {
	_ = o.Close()
	for i, other := range f.open {
		if other == o {
			f.open = append(f.open[:i], f.open[i+1:]...)
			return
		}
	}
}

// Close closes files that are still open because workers stopped before the end.
func (f *Feeder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.open) > 0 {
		f.drop(f.open[0])
	}
	f.opener.Close()
}

// Stop prevents files after index from being opened.
func (f *Feeder) Stop(index int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sources = f.sources[:min(len(f.sources), index+1)]
	f.opener.stop(index)
}

// Layouts keeps the layouts of files whose records are parsed again apart from their file, so that
// a file need not be opened again for its header or its byte order mark.
type Layouts struct {
	mu   sync.Mutex
	of   map[int]corpus.Layout // by source
	last corpus.Layout         // stored once for consecutive tables with the same layout
}

// keep keeps the layout of an open file that cannot be read in place, of which a block was read.
func (l *Layouts) keep(index int, file *corpus.File) {
	source := file.Source()
	if _, known := source.Layout(); known || source.InPlace() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if layout := file.Layout(); !layout.Equal(l.last) {
		l.last = layout
	}
	if l.of == nil {
		l.of = map[int]corpus.Layout{}
	}
	l.of[index] = l.last
}

// Find returns the layout of a source. It opens the source if another process has read it.
func (l *Layouts) Find(ctx context.Context, index int, source corpus.Source, o corpus.Options) (corpus.Layout, error) {
	if layout, ok := source.Layout(); ok {
		return layout, nil
	}
	l.mu.Lock()
	layout, ok := l.of[index]
	l.mu.Unlock()
	if ok {
		return layout, nil
	}
	file, err := corpus.Open(ctx, source, o)
	if err != nil {
		return layout, err
	}
	var b corpus.Block
	defer b.Release()
	if err := file.Next(&b); err != nil && err != io.EOF {
		return layout, errors.Join(err, file.Close())
	}
	l.keep(index, file)
	return file.Layout(), file.Close()
}

// Opener opens sources in their order. Opening an object sends its first
// request, so the following objects are opened too: then many small objects
// cost the time of their bytes, not a network round trip each.
//
//	asked for  │ being opened or open, up to aheadFiles and their memory │ not begun
//	─ ─ 4 ─ 5 ─┼─ 6 ─ 7 ─ 8 ─ 9 ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─┼─ ─ ─ ─ ─
//
// It is safe for concurrent use; each source may be opened once.
type Opener struct {
	ctx     context.Context // of the files, until they are closed
	sources []corpus.Source
	options corpus.Options
	room    int64               // bytes that objects opened ahead may hold
	wanted  func(file int) bool // nil: all

	mu    sync.Mutex
	ahead map[int]*opening
	bytes int64 // that objects opened ahead may hold
	next  int   // first source that was neither asked for nor opened ahead
	end   int   // no source from there on is opened ahead
	wg    sync.WaitGroup
}

// opening is a source that is being opened; done is closed when it is open.
type opening struct {
	file *corpus.File
	err  error
	done chan struct{}
}

// Objects are opened ahead while they are fewer than aheadFiles and their first requests ask for no
// more than openBytes together: as much as one object holds while it is read.
const (
	aheadFiles = 32
	openBytes  = 8 << 20
	firstBytes = 2 << 20 // of the first request for an object, at most
)

// NewOpener returns an opener for the wanted sources. Objects that it opens ahead hold no more than
// limit bytes of memory, if that is not 0.
func NewOpener(ctx context.Context, sources []corpus.Source, options corpus.Options, limit int64, wanted func(file int) bool) *Opener {
	room := int64(openBytes)
	if limit > 0 {
		room = min(room, limit)
	}
	return &Opener{ctx: ctx, sources: sources, options: options, room: room, wanted: wanted, ahead: map[int]*opening{}, end: len(sources)}
}

// Open opens a source. The caller closes the file.
func (o *Opener) Open(file int) (*corpus.File, error) {
	if !o.sources[file].Remote() {
		return corpus.Open(o.ctx, o.sources[file], o.options)
	}
	o.mu.Lock()
	asked := o.ahead[file]
	if asked == nil {
		asked = o.begin(file)
	}
	delete(o.ahead, file)
	o.bytes -= o.holds(file)
	o.next = max(o.next, file+1)
	o.goAhead()
	o.mu.Unlock()
	<-asked.done
	return asked.file, asked.err
}

// goAhead begins to open as many of the next objects as the limits allow. o.mu is held.
func (o *Opener) goAhead() {
	for ; o.next < o.end && len(o.ahead) < aheadFiles; o.next++ {
		if !o.sources[o.next].Remote() || o.wanted != nil && !o.wanted(o.next) {
			continue
		}
		if o.bytes+o.holds(o.next) > o.room {
			return
		}
		o.begin(o.next)
	}
}

// begin begins to open a source. o.mu is held.
func (o *Opener) begin(file int) *opening {
	begun := &opening{done: make(chan struct{})}
	o.ahead[file] = begun
	o.bytes += o.holds(file)
	o.wg.Go(func() {
		begun.file, begun.err = corpus.Open(o.ctx, o.sources[file], o.options)
		close(begun.done)
	})
	return begun
}

// holds returns how many bytes an object holds that is open and not read yet.
func (o *Opener) holds(file int) int64 { return min(o.sources[file].Size, firstBytes) }

// stop prevents files behind after from being opened ahead.
func (o *Opener) stop(after int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end = min(o.end, after+1)
}

// Close closes sources that were opened ahead and not asked for. No Open may be under way.
func (o *Opener) Close() {
	o.wg.Wait()
	for _, begun := range o.ahead {
		if begun.err == nil {
			_ = begun.file.Close() // nothing was read
		}
	}
	clear(o.ahead)
}
