package extsort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// A run is a file of sorted entries. All numbers are little-endian. Checksums are CRC-32C; those
// behind the header begin with the lower half of the run's number, so that no part of one run is
// accepted in another. docs/how/formats.md describes the format in words.
//
//	header   magic "alikerun" 8 | checksum of the rest 4 | version 4 | entries a block 4 |
//	         flags 4 | length of the scheme 4 | 0 4 | number of the run 8 |
//	         scheme, zeros up to a multiple of 16
//	block…   checksum of the rest 4 | entries 4 | number of the block 8 | key 8, value 8 …
//	index    first key of every block, 8 each
//	footer   checksum of the rest 4 | checksum of the index 4 | entries 8 | blocks 8 |
//	         offset of the index 8 | length of the file 8 | magic "runalike" 8
//
// These constants are part of the format and do not change within a version.
const (
	runMagic    = "alikerun"
	runEndMagic = "runalike"
	runVersion  = 2

	headerFixed = 40
	footerBytes = 48
	maxScheme   = 1 << 16
	maxUnit     = 1 << 16 // entries of a block

	flagSum = 1 // equal keys are one
)

// swapBytes is whether memory is big-endian, unlike files.
var swapBytes = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// remedy ends the messages about runs that cannot be used.
var remedy = setting.Textf("start over with %s", setting.Fresh)

type run struct {
	name    string
	id      uint64 // identifies this run
	entries int64
	unit    int      // entries of every block but the last
	start   int64    // offset of the first block
	fences  []uint64 // first key of every block

	saved   bool     // named by Save: not to be removed before Close
	synced  bool     // on stable storage, or temporary
	pending vfs.File // the file as written, until it is synced; or nil
	file    RunFile  // open for reading; or nil
}

func corrupt(name, format string, args ...any) error {
	return setting.Errorf("%s: %w: %s; %s", name, ErrCorrupt, fmt.Sprintf(format, args...), remedy)
}

// checksum is the checksum of bytes behind the run's header.
func (r *run) checksum(b []byte) uint32 { return durable.Checksum(uint32(r.id), b) }

// bytesOf is the memory of entries.
func bytesOf(entries []Entry) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(entries))), len(entries)*entryBytes)
}

// turn converts entries between the byte orders of memory and of files.
func turn(entries []Entry) {
	if swapBytes {
		for number := range slices.Chunk(bytesOf(entries), 8) {
			slices.Reverse(number)
		}
	}
}

func appendHeader(dst []byte, unit int, sum bool, scheme string, id uint64) []byte {
	var flags uint32
	if sum {
		flags |= flagSum
	}
	start := len(dst)
	dst = append(dst, runMagic...)
	for _, v := range []uint32{0, runVersion, uint32(unit), flags, uint32(len(scheme)), 0} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	dst = binary.LittleEndian.AppendUint64(dst, id)
	dst = append(dst, scheme...)
	for (len(dst)-start)%entryBytes != 0 {
		dst = append(dst, 0)
	}
	binary.LittleEndian.PutUint32(dst[start+8:], durable.Checksum(0, dst[start+12:]))
	return dst
}

// runWriter writes a run block by block. After an error, only abort may be called.
type runWriter struct {
	run   run
	buf   []Entry // finished blocks and the one that is being filled, each after room for its header
	block int     // index in buf where that one begins
	off   int64
}

func newRunWriter(st *store, name string) (*runWriter, error) {
	file, err := st.dir.Create(name)
	if err != nil {
		return nil, fault.InWorkFolder(err)
	}
	w := &runWriter{run: run{name: name, id: durable.NewID(), unit: st.plan.chunk, pending: file}, buf: st.writeBuffer()}
	header := appendHeader(nil, w.run.unit, st.sum, st.scheme, w.run.id)
	w.run.start = int64(len(header))
	if err := w.write(header); err != nil {
		return nil, errors.Join(err, w.abort(st.dir))
	}
	w.buf = w.buf[:1]
	return w, nil
}

func (w *runWriter) write(b []byte) error {
	n, err := w.run.pending.Write(b)
	w.off += int64(n)
	if err != nil {
		return fault.InWorkFolder(err)
	}
	return nil
}

// append adds entries, which come in order.
func (w *runWriter) append(entries []Entry) error {
	w.run.entries += int64(len(entries))
	for len(entries) > 0 {
		if len(w.buf)-w.block > w.run.unit { // full
			w.closeBlock()
			if len(w.buf)+1+w.run.unit > cap(w.buf) {
				if err := w.writeOut(); err != nil {
					return err
				}
			}
			w.block = len(w.buf)
			w.buf = append(w.buf, Entry{})
		}
		n := min(len(entries), w.run.unit-(len(w.buf)-w.block-1))
		w.buf = append(w.buf, entries[:n]...)
		entries = entries[n:]
	}
	return nil
}

// closeBlock writes the header of the block that was filled.
func (w *runWriter) closeBlock() {
	block := w.buf[w.block:]
	w.run.fences = append(w.run.fences, block[1].Key)
	turn(block[1:])
	b := bytesOf(block)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(block)-1))
	binary.LittleEndian.PutUint64(b[8:], uint64(len(w.run.fences)-1))
	binary.LittleEndian.PutUint32(b, w.run.checksum(b[4:]))
}

func (w *runWriter) writeOut() error {
	err := w.write(bytesOf(w.buf))
	w.buf = w.buf[:0]
	return err
}

// finish writes what is left, and returns the run and its length in bytes.
func (w *runWriter) finish() (*run, int64, error) {
	if len(w.buf)-w.block > 1 {
		w.closeBlock()
	} else {
		w.buf = w.buf[:w.block]
	}
	if err := w.writeOut(); err != nil {
		return nil, 0, err
	}
	index := w.off
	b := bytesOf(w.buf[:cap(w.buf)])
	sum := uint32(w.run.id)
	for rest := w.run.fences; len(rest) > 0; {
		n := min(len(rest), len(b)/8)
		piece := b[:0]
		for _, key := range rest[:n] {
			piece = binary.LittleEndian.AppendUint64(piece, key)
		}
		sum = durable.Checksum(sum, piece)
		if err := w.write(piece); err != nil {
			return nil, 0, err
		}
		rest = rest[n:]
	}
	footer := binary.LittleEndian.AppendUint32(make([]byte, 4, footerBytes), sum)
	for _, v := range []int64{w.run.entries, int64(len(w.run.fences)), index, w.off + footerBytes} {
		footer = binary.LittleEndian.AppendUint64(footer, uint64(v))
	}
	footer = append(footer, runEndMagic...)
	binary.LittleEndian.PutUint32(footer, w.run.checksum(footer[4:]))
	if err := w.write(footer); err != nil {
		return nil, 0, err
	}
	return &w.run, w.off, nil
}

// abort closes the file, unless finish has tried that already, and removes it.
func (w *runWriter) abort(dir Dir) error {
	return errors.Join(w.run.close(), dir.Remove(w.run.name))
}
