package ordered

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
)

// state is what replicas share beside the machine: the same on all after the same entry.
type state struct {
	Applied   uint64              // number of the last entry
	Chain     uint64              // of all entries up to it, with their outcomes
	Last      uint64              // hash of the last entry
	Now       int64               // see advance
	Proposers map[uint64]proposer // by their numbers
	Members   map[string]member   // by their names
}

// proposer is what is known of a process that has proposed.
type proposer struct {
	Count uint64 // of its last entry
	Entry uint64 // number of that
}

// member is what a replica has last said of itself.
type member struct {
	Knows    int    // the newest version of the rules that it knows
	Snapshot uint64 // last entry of its newest snapshot that outlives the process; 0: none
	Seen     int64  // when, in nanoseconds
}

// mostProposers is of how many processes the last entry is known: an entry that is sent again is seldom older.
const mostProposers = 1024

// silence is how long a member that says nothing is thought to be there.
const silence = time.Hour

func newState() state {
	return state{Proposers: map[uint64]proposer{}, Members: map[string]member{}}
}

// repeats tells whether an entry of the proposer was applied already.
func (s *state) repeats(h *head) bool { return h.count <= s.Proposers[h.proposer].Count }

// outOfTurn tells whether the entry before this one of the proposer was not applied.
func (s *state) outOfTurn(h *head) bool {
	return h.count > s.Proposers[h.proposer].Count+1
}

// note notes an entry of the proposer.
func (s *state) note(h *head, number uint64) {
	s.Proposers[h.proposer] = proposer{h.count, number}
	if len(s.Proposers) > mostProposers {
		oldest := h.proposer
		for id, p := range s.Proposers {
			if p.Entry < s.Proposers[oldest].Entry {
				oldest = id
			}
		}
		delete(s.Proposers, oldest)
	}
}

// hello is an operation by which a replica tells of itself.
type hello struct {
	Name     string `json:"name"`
	Knows    int    `json:"knows"`
	Snapshot uint64 `json:"snapshot,omitempty"`
	Leaves   bool   `json:"leaves,omitempty"`
}

// The first byte of an operation: of the replicas' own, or the machine's.
const (
	opHello   = 'h'
	opMachine = 'm'
	opNothing = 'n'
)

// hear takes a hello.
func (s *state) hear(body []byte) {
	var h hello
	if json.Unmarshal(body, &h) != nil {
		return
	}
	for name, m := range s.Members {
		if s.Now-m.Seen > int64(silence) {
			delete(s.Members, name)
		}
	}
	if h.Leaves {
		delete(s.Members, h.Name)
		return
	}
	s.Members[h.Name] = member{h.Knows, h.Snapshot, s.Now}
}

// knows returns the newest version of the rules that all members know, at least 1.
func (s *state) knows() int {
	least := math.MaxInt
	for _, m := range s.Members {
		least = min(least, m.Knows)
	}
	if least == math.MaxInt {
		return 1
	}
	return max(least, 1)
}

// oldest returns the last entry of the oldest snapshot among the newest ones of all members, 0 if none has any.
func (s *state) oldest() uint64 {
	var all []uint64
	for _, m := range s.Members {
		if m.Snapshot > 0 {
			all = append(all, m.Snapshot)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}

// advance advances the time to that of an entry: the earlier one of its proposer's clock and the log's, so that one which is
// wrong advances nothing; and never back.
func (s *state) advance(proposed, at int64) { s.Now = max(s.Now, min(proposed, at)) }

// next makes the entry with its outcomes the last one.
func (s *state) next(number uint64, entry, sum []byte) {
	s.Applied, s.Last = number, xxh3.Hash(entry)
	var b [32]byte
	for i, n := range []uint64{s.Chain, number, s.Last, xxh3.Hash(sum)} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	s.Chain = xxh3.Hash(b[:])
}

// chains are the chains at the last entries.
type chains struct {
	first uint64 // entry of the oldest that is known
	ring  [1 << 16]uint64
}

// begin forgets all but the chain of a state.
func (c *chains) begin(s *state) {
	c.first = s.Applied
	c.put(s)
}

func (c *chains) put(s *state) { c.ring[s.Applied%uint64(len(c.ring))] = s.Chain }

// differs tells whether the chain at an entry is known, and another one. last is the last entry that was applied.
func (c *chains) differs(at, chain, last uint64) bool {
	if at < c.first || at > last || last-at >= uint64(len(c.ring)) {
		return false
	}
	return c.ring[at%uint64(len(c.ring))] != chain
}

// past is how far the replica was at a moment.
type past struct{ applied, chain uint64 }
