package corpus

import (
	"io"

	"github.com/alike-dev/alike/corpus/internal/codec"
)

const (
	// headBytes of a compressed file tell how tightly it is packed.
	headBytes = 128 << 10
	// leastHeaded is the least size of a file that is asked: of a smaller one, trying costs more than packing faster
	// saves.
	leastHeaded = 2 << 20
)

// PackLike lets gzip and zstd be packed faster, in larger parts, if the beginning of in, a file of the same compression
// with 2 MiB or more, does not become larger by that than it is there. So the output of what was packed in a hurry is, too,
// and nothing is packed less tightly than it was for the sake of speed. Call it before the first Write, and when in has
// returned a block.
func (w *Writer) PackLike(in *File) {
	if w.compress == nil || w.compress.Fast == nil {
		return
	}
	if head := headOf(in); len(head) > 0 && w.compress.Fast.Suffices(codec.Name(in.src.Compression), head) {
		w.compress = w.compress.Fast
	}
}

// headOf returns the first stored bytes of a file; none if it is small, or they are not known.
func headOf(f *File) []byte {
	switch {
	case f.headed != nil:
		return f.headed.head
	case f.file == nil || f.size < leastHeaded:
		return nil
	}
	head := make([]byte, headBytes)
	n, _ := f.file.ReadAt(head, 0) // Next tells errors
	return head[:n]
}

// headed is a reader that remembers what its stream begins with.
type headed struct {
	from io.Reader
	head []byte // nil: nothing was read yet
	at   int
	err  error // behind the head
}

func (h *headed) Read(p []byte) (int, error) {
	if h.head == nil {
		h.head = make([]byte, headBytes)
		n, err := io.ReadFull(h.from, h.head)
		if h.head = h.head[:n]; err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		h.err = err
	}
	if h.at < len(h.head) {
		n := copy(p, h.head[h.at:])
		h.at += n
		return n, nil
	}
	if h.err != nil {
		return 0, h.err
	}
	return h.from.Read(p)
}
