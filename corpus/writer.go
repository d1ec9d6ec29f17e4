package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	dsnet "github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
	path, temp string
	file       *os.File
	plain      *bufio.Writer // nil if compressed

	compress func(dst, src []byte) ([]byte, error)
	partSize int
	part     *part         // being filled
	parts    int           // sent
	queue    chan *part    // in order, to the goroutine that writes
	free     chan *part    // parts that can be filled; as many as may be under way
	written  chan struct{} // closed when that goroutine has ended

	failed atomic.Pointer[error]
	ended  bool
}

// partSize is how much input becomes one member, frame or stream. It is part of
// what makes the bytes of an output.
const partSize = 4 << 20

// part is one piece of the output on its way: filled by Write, compressed by a
// goroutine of its own, written in order.
type part struct {
	in, out []byte
	err     error
	ready   sync.WaitGroup
}

// temporaries numbers the temporary files of this process.
var temporaries atomic.Int64

// Create begins to write path, whose folder is made if need be. threads bounds
// how many parts are compressed at once (0 = GOMAXPROCS); each takes about 9
// MiB. Nothing stands under the name path until Commit; what stood there
// before stays until then.
func Create(path string, c Compression, threads int) (*Writer, error) {
	return create(path, c, threads, partSize)
}

func create(path string, c Compression, threads, partSize int) (*Writer, error) {
	w := &Writer{path: path, partSize: partSize}
	switch c {
	case Plain:
	case Gzip:
		w.compress = gzipPart
	case Zstd:
		w.compress = zstdPart
	case Bzip2:
		w.compress = bzip2Part
	default:
		return nil, fmt.Errorf("unknown compression %q", string(c))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	if err := w.openTemp(); err != nil {
		return nil, err
	}
	if c == Plain {
		w.plain = bufio.NewWriterSize(w.file, 1<<20)
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

// openTemp makes the temporary file, with the permissions of any new file.
func (w *Writer) openTemp() error {
	dir, base := filepath.Split(w.path)
	for {
		n := temporaries.Add(1)
		w.temp = filepath.Join(dir, "."+base+"."+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(n, 10)+".tmp")
		f, err := os.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			w.file = f
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// Write appends p to the file. An error, of this or an earlier write, stays
// until Abort.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fs.ErrClosed
	}
	if w.plain != nil {
		return w.plain.Write(p)
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

// send hands the part on. At most threads+1 parts exist, so neither the queue
// nor the number of goroutines grows beyond that.
func (w *Writer) send() {
	p := w.part
	w.part = nil
	w.parts++
	p.ready.Go(func() { p.out, p.err = w.compress(p.out[:0], p.in) })
	w.queue <- p
}

// writeParts writes compressed parts in order until the queue is closed. After
// an error it only lets them pass.
func (w *Writer) writeParts() {
	defer close(w.written)
	for p := range w.queue {
		p.ready.Wait()
		err := p.err
		if w.failed.Load() == nil {
			if err == nil {
				_, err = w.file.Write(p.out)
			}
			if err != nil {
				w.failed.Store(&err)
			}
		}
		w.free <- p
	}
}

// Commit writes what is left, makes it durable, and gives the file its name.
// After an error the temporary file is gone, and nothing has the name that had
// not had it before.
func (w *Writer) Commit() (err error) {
	if w.ended {
		return fs.ErrClosed
	}
	defer w.Abort()
	if w.plain != nil {
		if err := w.plain.Flush(); err != nil {
			return err
		}
	} else {
		// A compressed file of nothing has one part too: a file without a byte
		// would be a truncated one.
		if w.part == nil && w.parts == 0 {
			w.part = <-w.free
		}
		if w.part != nil {
			w.send()
		}
		w.drain()
		if err := w.failed.Load(); err != nil {
			return *err
		}
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	err = w.file.Close()
	w.file = nil
	if err != nil {
		return err
	}
	if err := os.Rename(w.temp, w.path); err != nil {
		return err
	}
	w.temp = ""
	return syncFolder(filepath.Dir(w.path))
}

// Abort ends the writing and removes the temporary file. After Commit it does
// nothing.
func (w *Writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	if w.plain == nil {
		w.drain()
	}
	if w.file != nil {
		w.file.Close()
	}
	if w.temp != "" {
		os.Remove(w.temp)
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
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && runtime.GOOS != "windows" && !errors.Is(err, errors.ErrUnsupported) {
		var pe *fs.PathError
		if errors.As(err, &pe) && errors.Is(pe.Err, fs.ErrInvalid) {
			return nil
		}
		return err
	}
	return nil
}

var gzipWriters, zstdWriters, bzip2Writers sync.Pool

func gzipPart(dst, src []byte) ([]byte, error) {
	z, _ := gzipWriters.Get().(*gzip.Writer)
	if z == nil {
		z = gzip.NewWriter(nil)
	}
	defer gzipWriters.Put(z)
	out := bytes.NewBuffer(dst)
	z.Reset(out)
	return writePart(z, out, src)
}

func zstdPart(dst, src []byte) ([]byte, error) {
	z, _ := zstdWriters.Get().(*zstd.Encoder)
	if z == nil {
		var err error
		if z, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)); err != nil {
			return dst, err
		}
	}
	defer zstdWriters.Put(z)
	return z.EncodeAll(src, dst), nil
}

func bzip2Part(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	z, _ := bzip2Writers.Get().(*dsnet.Writer)
	if z == nil {
		var err error
		if z, err = dsnet.NewWriter(out, &dsnet.WriterConfig{Level: 9}); err != nil {
			return dst, err
		}
	} else if err := z.Reset(out); err != nil {
		return dst, err
	}
	defer bzip2Writers.Put(z)
	return writePart(z, out, src)
}

// writePart compresses src by z into out.
func writePart(z io.WriteCloser, out *bytes.Buffer, src []byte) ([]byte, error) {
	if _, err := z.Write(src); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
