package ordered

import (
	"bufio"
	"encoding/binary"
	"errors"
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
	Now    time.Time // when it was proposed, by the clock of the proposer
	Ops    [][]byte  // operations; valid while the entry is applied
	Knows  int       // the newest version of the rules that all replicas know
	Own    bool      // whether somebody here waits for the outcomes
}

// head is what an entry says beside its operations:
//
//	version 1, proposer 8, count 8, time 8, applied 8, chain 8, then of each operation: size uvarint, bytes
//
// Of version 1 an entry follows any one of its proposer that has a smaller count, since there was one on its way at a time.
type head struct {
	version  byte
	proposer uint64 // random, of a process
	count    uint64 // of the proposer's entries, from 1 on
	now      int64  // nanoseconds
	applied  uint64 // last entry that the proposer had applied
	chain    uint64 // see chain.next, at that entry
}

const (
	entryVersion = 2
	headSize     = 1 + 5*8
)

func (h *head) append(dst []byte) []byte {
	dst = append(dst, h.version)
	for _, n := range []uint64{h.proposer, h.count, uint64(h.now), h.applied, h.chain} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

var errNoEntry = errors.New("no entry of this version")

// parseEntry reads an entry. The operations are views of it.
func parseEntry(b []byte, ops [][]byte) (h head, _ [][]byte, err error) {
	if len(b) < headSize || b[0] < 1 || b[0] > entryVersion {
		return h, nil, errNoEntry
	}
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[1+8*i:]) }
	h = head{b[0], n(0), n(1), int64(n(2)), n(3), n(4)}
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
const mostOpOverhead = binary.MaxVarintLen64

func appendOp(dst, op []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(op))), op...)
}
