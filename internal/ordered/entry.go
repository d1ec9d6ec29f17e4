package ordered

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Writer and Reader are what snapshots are written to and read from.
type (
	Writer = io.Writer
	Reader = *bufio.Reader
)

// An Entry is an entry of the log on its way into a Machine.
type Entry struct {
	Number uint64
	Now    time.Time // when it was proposed, never before an earlier one: see state.advance
	Ops    [][]byte  // operations; valid while the entry is applied
	Knows  int       // the newest version of the rules that all replicas know
	Own    bool      // whether somebody here waits for the outcomes
}

// head is what an entry says beside its operations:
//
//	version 1 byte, proposer 8, count 8, time 8, applied 8, chain 8, then of each operation: size uvarint, bytes
type head struct {
	proposer uint64 // random, of a process
	count    uint64 // of the proposer's entries, from 1 on
	now      int64  // nanoseconds
	applied  uint64 // last entry that the proposer had applied
	chain    uint64 // see chain.next, at that entry
}

const (
	entryVersion = 3
	mostVersion  = 31 // nothing else that is put into a log begins with 1 to 31
	headSize     = 1 + 5*8
)

func (h *head) append(dst []byte) []byte {
	dst = append(dst, entryVersion)
	for _, n := range []uint64{h.proposer, h.count, uint64(h.now), h.applied, h.chain} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

var errNoEntry = errors.New("no entry of this version")

// parseEntry reads an entry. The operations are views of it.
func parseEntry(b []byte, ops [][]byte) (h head, _ [][]byte, err error) {
	if len(b) > 0 && 0 < b[0] && b[0] <= mostVersion && b[0] != entryVersion {
		return h, nil, fmt.Errorf("the log has an entry of version %d, and this program knows %d: %w", b[0], entryVersion, ErrVersion)
	}
	if len(b) < headSize || b[0] != entryVersion {
		return h, nil, errNoEntry
	}
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[1+8*i:]) }
	h = head{n(0), n(1), int64(n(2)), n(3), n(4)}
	for rest := b[headSize:]; len(rest) > 0; {
		size, k := binary.Uvarint(rest)
		if k <= 0 || size > uint64(len(rest)-k) {
			return h, nil, errNoEntry
		}
		ops = append(ops, rest[k:k+int(size):k+int(size)])
		rest = rest[k+int(size):]
	}
	return h, ops, nil
}

// mostOpOverhead is what an operation takes beside its bytes.
const mostOpOverhead = binary.MaxVarintLen64 + 1

func appendOp(dst []byte, kind byte, op []byte) []byte {
	return append(append(binary.AppendUvarint(dst, uint64(1+len(op))), kind), op...)
}
