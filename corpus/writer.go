package corpus

import (
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// A Writer writes one file under a temporary name next to the target, and renames it when
// it is whole:
//
//	w, err := corpus.Create(path, corpus.Zstd, threads)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Commit
//	w.Write(record) …
//	err = w.Commit()
//
// Every 4 MiB of input become a gzip member, a zstd frame, or a bzip2 or xz stream of
// their own. So they are compressed in parallel, the bytes do not depend on the number of
// threads, and the file, unless it is xz, can be read in parallel again. A Writer belongs
// to one goroutine.
type Writer struct {
	to       Destination
	compress *codec.Compressor // nil: plain
	partSize int
	part     *part         // being filled
	parts    int           // sent
	queue    chan *part    // in order, to the writing goroutine
	free     chan *part    // parts that can be filled; its capacity bounds the parts in use
	written  chan struct{} // closed when the writing goroutine has ended

	failed atomic.Pointer[error]
	ended  bool
}

// plainSize is how much of a plain file is written at once.
const plainSize = 1 << 20

// part is one piece of the output: filled by Write, compressed by a goroutine of its own,
// written in order.
type part struct {
	in, out []byte
	err     error
	ready   sync.WaitGroup
}

// Create begins to write the file path, and makes its folder if necessary. threads bounds
// how many parts are compressed at once (0 = GOMAXPROCS). There are threads+1 parts,
// unless Limit allows fewer, and each takes about 10 MiB (gzip), 16 MiB (zstd) or 28 MiB
// (bzip2, xz) with its compressor. Until Commit, path is not touched: an existing file
// stays.
func Create(path string, c Compression, threads int) (*Writer, error) {
	if _, err := codec.CompressorOf(codec.Name(c)); err != nil {
		return nil, err
	}
	to, err := filelock.Create(vfs.OS, path)
	if err != nil {
		return nil, err
	}
	return NewWriter(to, c, threads)
}

// NewWriter is Create for any output, such as an object of a [BucketWriter], with the
// same bytes. The Writer commits or aborts it.
func NewWriter(to Destination, c Compression, threads int) (*Writer, error) {
	compress, err := codec.CompressorOf(codec.Name(c))
	if err != nil {
		return nil, err
	}
	return newWriter(to, compress, threads, codec.PartSize), nil
}

func newWriter(to Destination, compress *codec.Compressor, threads, partSize int) *Writer {
	w := &Writer{to: to, compress: compress, partSize: partSize}
	if compress == nil {
		w.partSize, w.part = plainSize, &part{}
		return w
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	w.queue = make(chan *part, threads+1)
	w.free = make(chan *part, threads+1)
	w.written = make(chan struct{})
	for range threads + 1 { // one is being filled
		w.free <- &part{}
	}
	go w.writeParts()
	return w
}

// Limit bounds the memory of a compressed file to about so many bytes, at the cost of
// parallelism and never below one part. Call it before the first Write. The bytes of the
// file do not depend on it.
func (w *Writer) Limit(memory int64) {
	if w.compress == nil {
		return
	}
	for int64(len(w.free)) > max(1, memory/w.compress.Memory) {
		<-w.free
	}
}

// Write appends p to the file. After an error of this or an earlier write, all further
// calls return it.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fs.ErrClosed
	}
	n := len(p)
	for len(p) > 0 {
		if err := w.failed.Load(); err != nil {
			return n - len(p), *err
		}
		if w.part == nil {
			w.part = <-w.free
			w.part.in = w.part.in[:0]
		}
		m := min(len(p), w.partSize-len(w.part.in))
		w.part.in = append(w.part.in, p[:m]...)
		p = p[m:]
		if len(w.part.in) == w.partSize {
			w.send()
		}
	}
	return n, nil
}

// send passes the part on. The number of parts is fixed by the initial length of free, so
// neither the queue nor the number of goroutines grows beyond that.
func (w *Writer) send() {
	if w.compress == nil {
		w.writeOut(w.part.in, nil)
		w.part.in = w.part.in[:0]
		return
	}
	p := w.part
	w.part = nil
	w.parts++
	p.ready.Go(func() { p.out, p.err = w.compress.Part(p.out[:0], p.in) })
	w.queue <- p
}

// writeParts writes compressed parts in order until the queue is closed. After an error
// it only recycles them.
func (w *Writer) writeParts() {
	defer close(w.written)
	for p := range w.queue {
		p.ready.Wait()
		w.writeOut(p.out, p.err)
		w.free <- p
	}
}

// writeOut writes to the file, unless something has failed.
func (w *Writer) writeOut(data []byte, err error) {
	if w.failed.Load() != nil {
		return
	}
	if err == nil && len(data) > 0 {
		_, err = w.to.Write(data)
	}
	if err != nil {
		w.failed.Store(&err)
	}
}

// Commit writes the rest, makes the file durable, and renames it to its path. After an
// error the temporary file is gone and path is unchanged; but if only syncing the folder
// fails, the file already has its name.
func (w *Writer) Commit() (err error) {
	if w.ended {
		return fs.ErrClosed
	}
	defer w.Abort()
	// Even an empty compressed file has one part: a file without a byte would be a truncated
	// one.
	if w.part == nil && w.parts == 0 {
		w.part = <-w.free
		w.part.in = w.part.in[:0]
	}
	if w.part != nil {
		w.send()
	}
	w.drain()
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return w.to.Commit()
}

// Abort ends the writing and removes the temporary file. After Commit it does nothing.
func (w *Writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	w.drain()
	w.to.Abort()
}

// drain waits until all sent parts are written, and ends the goroutine.
func (w *Writer) drain() {
	if w.queue != nil {
		close(w.queue)
		<-w.written
		w.queue = nil
	}
}
