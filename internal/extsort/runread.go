package extsort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/setting"
)

// openRun opens a run and checks everything but its blocks, which are checked when they are read.
func openRun(dir Dir, named Run, scheme string, sum bool) (*run, error) {
	file, err := dir.Open(named.Name)
	if err != nil {
		return nil, setting.Errorf("open %s: %w; %s", named.Name, err, remedy)
	}
	r, err := parseRun(file, named.Name, scheme, sum)
	if err == nil && r.id != named.ID {
		err = corrupt(named.Name, "another run has been put in its place")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.file, r.saved, r.synced = file, true, true
	return r, nil
}

func parseRun(file RunFile, name, scheme string, sum bool) (*run, error) {
	size, err := file.Size()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	r := &run{name: name}
	if err := r.parseHeader(file, size, scheme, sum); err != nil {
		return nil, err
	}
	if size < r.start+footerBytes {
		return nil, corrupt(name, "it ends after %d bytes", size)
	}
	footer := make([]byte, footerBytes)
	if err := readFull(file, name, footer, size-footerBytes); err != nil {
		return nil, err
	}
	if string(footer[footerBytes-8:]) != runEndMagic || binary.LittleEndian.Uint32(footer) != r.checksum(footer[4:]) {
		return nil, corrupt(name, "no footer at its end: it was cut off, or its end is damaged")
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(footer[8+8*i:]) }
	entries, blocks, index, length := number(0), number(1), number(2), number(3)
	unit := uint64(r.unit)
	if length != uint64(size) || entries > length/entryBytes || blocks != (entries+unit-1)/unit ||
		index != uint64(r.start)+entryBytes*(entries+blocks) || length != index+8*blocks+footerBytes {
		return nil, corrupt(name, "its length, %d bytes, is not that of %d entries", size, entries)
	}
	b := make([]byte, 8*blocks)
	if err := readFull(file, name, b, int64(index)); err != nil {
		return nil, err
	}
	if r.checksum(b) != binary.LittleEndian.Uint32(footer[4:]) {
		return nil, corrupt(name, "the checksum of its index does not match")
	}
	r.fences = make([]uint64, blocks)
	for i := range r.fences {
		r.fences[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if !slices.IsSorted(r.fences) {
		return nil, corrupt(name, "its index is not in order")
	}
	r.entries = int64(entries)
	return r, nil
}

func (r *run) parseHeader(file RunFile, size int64, scheme string, sum bool) error {
	header := make([]byte, headerFixed)
	if size < headerFixed {
		return corrupt(r.name, "it ends after %d bytes", size)
	}
	if err := readFull(file, r.name, header, 0); err != nil {
		return err
	}
	if string(header[:8]) != runMagic {
		return corrupt(r.name, "it does not begin like a run")
	}
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(header[8+4*i:]) }
	if v := number(1); v != runVersion {
		return setting.Errorf("%s: %w: %d, this program reads %d; %s", r.name, ErrVersion, v, runVersion, remedy)
	}
	checksum, unit, flags, length := number(0), number(2), number(3), number(4)
	r.start = (headerFixed + int64(length) + entryBytes - 1) / entryBytes * entryBytes
	if length > maxScheme || r.start > size {
		return corrupt(r.name, "a header of %d bytes", r.start)
	}
	rest := make([]byte, r.start-headerFixed)
	if err := readFull(file, r.name, rest, headerFixed); err != nil {
		return err
	}
	if durable.Checksum(durable.Checksum(0, header[12:]), rest) != checksum || unit == 0 || unit > maxUnit {
		return corrupt(r.name, "the checksum of its header does not match")
	}
	if got := string(rest[:length]); got != scheme {
		return setting.Errorf("%s: %w: it was made with %q, this is %q; %s", r.name, ErrScheme, got, scheme, remedy)
	}
	if (flags&flagSum != 0) != sum {
		return setting.Errorf("%s: %w: sums of equal keys in it: %t, wanted: %t; %s", r.name, ErrScheme, flags&flagSum != 0, sum, remedy)
	}
	r.unit, r.id = int(unit), binary.LittleEndian.Uint64(header[32:])
	return nil
}

func readFull(file RunFile, name string, b []byte, off int64) error {
	if len(b) == 0 {
		return nil
	}
	n, err := file.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return corrupt(name, "it ends after %d bytes", off+int64(n))
	}
	return fmt.Errorf("read %s: %w", name, err)
}

func (r *run) blockLen(number int) int {
	return int(min(int64(r.unit), r.entries-int64(number)*int64(r.unit)))
}

// readBlocks reads n blocks from number on into buf, headers and all. The caller
// checks each with checkBlock.
func (r *run) readBlocks(buf []Entry, number, n int) ([]Entry, error) {
	full := 1 + r.unit
	buf = buf[:(n-1)*full+1+r.blockLen(number+n-1)]
	return buf, readFull(r.file, r.name, bytesOf(buf), r.start+int64(number)*int64(full)*entryBytes)
}

// checkBlock returns the entries of a block that was read with its header.
func (r *run) checkBlock(block []Entry, number int) ([]Entry, error) {
	b := bytesOf(block)
	entries := block[1:]
	if binary.LittleEndian.Uint32(b) != r.checksum(b[4:]) ||
		int(binary.LittleEndian.Uint32(b[4:])) != len(entries) ||
		binary.LittleEndian.Uint64(b[8:]) != uint64(number) {
		return nil, corrupt(r.name, "the checksum of block %d does not match", number)
	}
	turn(entries)
	last := entries[len(entries)-1].Key
	if entries[0].Key != r.fences[number] || number+1 < len(r.fences) && last > r.fences[number+1] {
		return nil, corrupt(r.name, "block %d is not the one in its index", number)
	}
	for i := 1; i < len(entries); i++ { // otherwise the merge might never end
		if less(entries[i], entries[i-1]) {
			return nil, corrupt(r.name, "block %d is not in order", number)
		}
	}
	return entries, nil
}
