//go:build unix

package corpus

import (
	"io"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/alike-dev/alike/internal/durable"
)

// fileAt is a regular file, opened without os: that asks of each file whether it can be waited for, by five more calls of
// the system, which is a tenth of the work on a folder of small texts.
type fileAt struct {
	path string
	size int64

	reads sync.RWMutex // the number of a closed file may be that of another one
	fd    int          // -1: closed
}

// openRegular opens a regular file, and tells its state except Changed. The error is ErrNotRegular if it is none.
func openRegular(path string) (RandomAccess, durable.State, error) {
	var st unix.Stat_t
	// A file that has become a FIFO would wait for a writer.
	if err := unix.Stat(path, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, durable.State{}, ErrNotRegular
	}
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, durable.State{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if _, err = again(func() (int, error) { return 0, unix.Fstat(fd, &st) }); err != nil {
		_ = unix.Close(fd)
		return nil, durable.State{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	f := &fileAt{path: path, size: st.Size, fd: fd}
	return f, durable.State{Size: st.Size, Modified: unix.TimespecToNsec(st.Mtim), Inode: uint64(st.Ino)}, nil
}

// again repeats a call that a signal interrupts.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}

// mostRead is the most that one call reads: some systems refuse 2 GiB.
const mostRead = 1 << 30

func (f *fileAt) ReadAt(b []byte, at int64) (n int, err error) {
	f.reads.RLock()
	defer f.reads.RUnlock()
	if f.fd < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: os.ErrClosed}
	}
	for n < len(b) {
		m, err := again(func() (int, error) { return unix.Pread(f.fd, b[n:min(len(b), n+mostRead)], at+int64(n)) })
		switch {
		case err != nil:
			return n, &fs.PathError{Op: "read", Path: f.path, Err: err}
		case m <= 0:
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

func (f *fileAt) Size() int64 { return f.size }

func (f *fileAt) Close() error {
	f.reads.Lock()
	defer f.reads.Unlock()
	if f.fd < 0 {
		return &fs.PathError{Op: "close", Path: f.path, Err: os.ErrClosed}
	}
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}
