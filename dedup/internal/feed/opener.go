package feed

import (
	"context"
	"sync"

	"github.com/alike-dev/alike/corpus"
)

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
