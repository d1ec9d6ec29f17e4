package corpus

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Writer writes one file under a temporary name beside the target, and gives
// it its name when it is whole:
//
//	w, err := corpus.Create(path, corpus.Zstd, threads)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Commit
//	w.Write(record) …
//	err = w.Commit()
//
// Compressed output is cut every 4 MiB of input into gzip members, zstd frames
// or bzip2 streams of their own. So they are compressed in parallel, the bytes
// do not depend on the number of threads, and the file can be read in parallel
// again. A Writer belongs to one goroutine.
type Writer struct {
	fs         vfs.FS
	path, temp string
	file       vfs.File
	unsynced   []string // folders with entries that are not on disk yet

	compress *compressor // nil: plain
	partSize int
	part     *part         // being filled
	parts    int           // sent
	queue    chan *part    // in order, to the goroutine that writes
	free     chan *part    // parts that can be filled; as many as may be under way
	written  chan struct{} // closed when that goroutine has ended

	failed   atomic.Pointer[error]
	volatile bool // needs not survive a power failure
	ended    bool
}

// partSize is how much input becomes one member, frame or stream. It is part of
// what makes the bytes of an output.
const partSize = 4 << 20

// plainSize is how much of a plain file is written at once.
const plainSize = 1 << 20

// part is one piece of the output on its way: filled by Write, compressed by a
// goroutine of its own, written in order.
type part struct {
	in, out []byte
	err     error
	ready   sync.WaitGroup
}

// Create is CreateOn the file system of the operating system.
func Create(path string, c Compression, threads int) (*Writer, error) {
	return CreateOn(vfs.Default, path, c, threads)
}

// CreateOn begins to write path on a file system, and makes its folder if need
// be. threads bounds how many parts are compressed at once (0 = GOMAXPROCS).
// There are threads+1 of them, unless Limit says less, and each takes about 10
// MiB (gzip), 16 MiB (zstd) or 28 MiB (bzip2) with its compressor. Nothing
// stands under the name path until Commit; what stood there before stays until
// then.
func CreateOn(fs vfs.FS, path string, c Compression, threads int) (*Writer, error) {
	return create(fs, path, c, threads, partSize)
}

func create(fs vfs.FS, path string, c Compression, threads, partSize int) (*Writer, error) {
	compress, err := compressorOf(c)
	if err != nil {
		return nil, err
	}
	w := &Writer{fs: fs, path: path, compress: compress, partSize: partSize}
	if err := w.makeFolder(fs.PathDir(path)); err != nil {
		return nil, err
	}
	if err := w.openTemp(); err != nil {
		return nil, err
	}
	if compress == nil {
		w.partSize, w.part = plainSize, &part{}
		return w, nil
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
	return w, nil
}

// Limit bounds the memory of a compressed file to about so many bytes, at the
// cost of parallelism and never below one part. It is to be called before the
// first Write. The bytes of the file do not depend on it.
func (w *Writer) Limit(memory int64) {
	if w.compress == nil {
		return
	}
	for int64(len(w.free)) > max(1, memory/w.compress.memory) {
		<-w.free
	}
}

// makeFolder makes a folder, and notes which folders have got a new entry.
func (w *Writer) makeFolder(dir string) error {
	w.unsynced = append(w.unsynced, dir)
	for at := dir; ; {
		if _, err := w.fs.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parent := w.fs.PathDir(at)
		if parent == at {
			break
		}
		w.unsynced = append(w.unsynced, parent)
		at = parent
	}
	return w.fs.MkdirAll(dir, 0o777)
}

// openTemp makes the temporary file, with the permissions of any new file. Its
// name has nothing of the target's, which may be as long as a name may be.
func (w *Writer) openTemp() (err error) {
	w.temp = w.fs.PathJoin(w.fs.PathDir(w.path), ".alike-"+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
	w.file, err = w.fs.Create(w.temp, vfs.WriteCategoryUnspecified)
	return err
}

// Write appends p to the file. An error, of this or an earlier write, stays
// until Abort.
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

// send hands the part on. At most as many parts exist as free had at first, so
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
	p.ready.Go(func() { p.out, p.err = w.compress.part(p.out[:0], p.in) })
	w.queue <- p
}

// writeParts writes compressed parts in order until the queue is closed. After
// an error it only lets them pass.
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
		_, err = w.file.Write(data)
	}
	if err != nil {
		w.failed.Store(&err)
	}
}

// Commit writes what is left, makes it durable, and gives the file its name.
// After an error the temporary file is gone, and nothing has the name that had
// not had it before; but if the folder cannot be synced, the file has its name
// already.
func (w *Writer) Commit() (err error) {
	if w.ended {
		return fs.ErrClosed
	}
	defer w.Abort()
	// A compressed file of nothing has one part too: a file without a byte would
	// be a truncated one.
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
	if !w.volatile {
		if err := w.file.Sync(); err != nil {
			return err
		}
	}
	err = w.file.Close()
	w.file = nil
	if err != nil {
		return err
	}
	if err := w.fs.Rename(w.temp, w.path); err != nil {
		return err
	}
	w.temp = ""
	if w.volatile {
		return nil
	}
	for _, dir := range w.unsynced {
		if err := syncFolder(w.fs, dir); err != nil {
			return err
		}
	}
	return nil
}

// Abort ends the writing and removes the temporary file. After Commit it does
// nothing.
func (w *Writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	w.drain()
	if w.file != nil {
		_ = w.file.Close() // what is in it is not wanted any more
	}
	if w.temp != "" {
		_ = w.fs.Remove(w.temp) // the error that led here says more
	}
}

// drain waits until all parts sent were written, and ends the goroutine.
func (w *Writer) drain() {
	if w.queue != nil {
		close(w.queue)
		<-w.written
		w.queue = nil
	}
}

// syncFolder makes a rename durable. Where folders cannot be synced it does
// nothing.
func syncFolder(on vfs.FS, dir string) error {
	d, err := on.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
