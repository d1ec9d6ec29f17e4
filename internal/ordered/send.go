package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// proposal is an operation on its way.
type proposal struct {
	kind byte
	op   []byte
	done chan result
}

type result struct {
	outcome any
	err     error
}

// flight is an entry on its way.
type flight struct {
	count uint64
	now   int64 // when it was made
	ops   []*proposal
	entry []byte
}

// ErrUnconfirmed says that the log has not confirmed an operation: it may be applied later or not.
var ErrUnconfirmed = errors.New("the log has not confirmed the operation")

// errUnknown says that the log has lost the entry before those on their way.
var errUnknown = errors.New("the log has lost what was sent before them")

// A Pending is an operation that was proposed.
type Pending struct{ p *proposal }

// Begin proposes an operation behind all that this goroutine has proposed before. It stays the replica's.
func (r *Replica) Begin(op []byte) (Pending, error) { return r.begin(opMachine, op) }

// MostOp is how many bytes an operation may have.
func MostOp(log Log) int { return log.MostBytes() - mostOpOverhead - headSize }

func (r *Replica) begin(kind byte, op []byte) (Pending, error) {
	if err := r.problem(); err != nil {
		return Pending{}, err
	}
	if len(op) > MostOp(r.c.Log) {
		return Pending{}, fmt.Errorf("%w: %d bytes", ErrTooLarge, r.c.Log.MostBytes())
	}
	p := &proposal{kind, op, make(chan result, 1)}
	select {
	case r.out.queue <- p:
		r.out.queued(p)
		return Pending{p}, nil
	case <-r.ctx.Done():
		return Pending{}, context.Canceled
	}
}

// Wait returns the outcome of an operation, or ErrUnconfirmed when the context ends first.
func (r *Replica) Wait(ctx context.Context, of Pending) (any, error) {
	select {
	case done := <-of.p.done:
		return done.outcome, done.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, context.Cause(ctx))
	case <-r.ctx.Done():
		return nil, context.Canceled
	}
}

// Propose is Begin and Wait.
func (r *Replica) Propose(ctx context.Context, op []byte) (any, error) {
	of, err := r.Begin(op)
	if err != nil {
		return nil, err
	}
	return r.Wait(ctx, of)
}

// Barrier returns when everything is applied here that was confirmed, and so answered by any replica, before the call.
func (r *Replica) Barrier(ctx context.Context) error {
	of, err := r.begin(opNothing, nil)
	if err == nil {
		_, err = r.Wait(ctx, of)
	}
	return err
}

func (r *Replica) say(h hello, limit time.Duration) error {
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	of, err := r.begin(opHello, body)
	if err == nil {
		_, err = r.Wait(ctx, of)
	}
	return err
}

// An outbox sends the operations of a replica as entries, some of which are on their way at once. Each has the number after
// that of the one before, and is applied behind that only: so one that gets lost is sent again with all that come behind it,
// and operations keep their order.
type outbox struct {
	c       *Config
	ctx     context.Context
	queue   chan *proposal
	past    *atomic.Pointer[past] // how far the replica is
	waiting atomic.Int64          // bytes of operations in the queue
	enough  atomic.Int64          // how many of them are worth a further entry
	changed chan struct{}         // has room for one: something has changed that send waits for

	mu      sync.Mutex
	id      uint64    // of this process, until it gives up entries
	flights []*flight // in their order
	missing bool      // one came back without the one before it
	unknown bool      // and the log does not know the one before the first of them
	spare   [][]byte  // memory of entries
}

const (
	// mostFlights is how many entries are on their way at once. The log writes many by one sync.
	mostFlights = 4
	// flightPart is what part of a full entry must wait for each that is on its way already, before a further one is made: an
	// entry costs its log and all replicas something by itself.
	flightPart = 4
	// mostEntry is how large entries of several operations get: the log works on one while the next one is made.
	mostEntry = 512 << 10

	resendAfter = time.Second
	missedAfter = 50 * time.Millisecond // then a missing one is sent again: it may only be late
)

// queued is called when an operation is in the queue.
func (o *outbox) queued(p *proposal) {
	if o.waiting.Add(int64(len(p.op))) >= o.enough.Load() {
		o.change()
	}
}

func (o *outbox) change() {
	select {
	case o.changed <- struct{}{}:
	default: // it will look
	}
}

// send makes entries of the operations that wait, and sends them until they come back.
func (o *outbox) send() {
	var over *proposal // did not fit into the last entry
	again := resending{o: o}
	for count := uint64(1); o.ctx.Err() == nil; {
		n, enough := o.underWay(), int64(math.MaxInt64)
		if 0 < n && n < mostFlights {
			enough = int64(n * o.mostBytes() / flightPart)
		}
		o.enough.Store(enough)
		if n > 0 && o.waiting.Load() < enough {
			count = again.wait(count)
			continue
		}
		if over == nil {
			select {
			case over = <-o.queue:
			case <-o.ctx.Done():
				continue
			}
		}
		f := &flight{count: count, now: o.c.Now().UnixNano()}
		over = o.fill(f, over)
		if o.start(f) {
			count++
		}
	}
	o.fail(context.Canceled)
	if over != nil {
		over.done <- result{err: context.Canceled}
	}
}

// underWay returns how many entries are on their way.
func (o *outbox) underWay() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.flights)
}

// mostBytes is how large entries of several operations get.
func (o *outbox) mostBytes() int { return min(o.c.Log.MostBytes(), mostEntry) }

// fill puts an operation, and those that wait, into an entry, and returns the one that did not fit.
func (o *outbox) fill(f *flight, p *proposal) (over *proposal) {
	o.mu.Lock()
	if n := len(o.spare); n > 0 {
		f.entry, o.spare = o.spare[n-1], o.spare[:n-1]
	}
	o.mu.Unlock()
	f.entry = append(f.entry[:0], make([]byte, headSize)...)
	most := o.mostBytes()
	for {
		if len(f.ops) > 0 && len(f.entry)+len(p.op)+mostOpOverhead > most {
			return p
		}
		f.entry = appendOp(f.entry, p.kind, p.op)
		f.ops = append(f.ops, p)
		o.waiting.Add(-int64(len(p.op)))
		select {
		case p = <-o.queue:
		default:
			return nil
		}
	}
}

// start sends an entry for the first time. It is false if that can never be done.
func (o *outbox) start(f *flight) bool {
	o.mu.Lock()
	o.flights = append(o.flights, f)
	o.mu.Unlock()
	err := o.c.Log.Send(o.head(f))
	if errors.Is(err, ErrTooLarge) {
		o.finish(f, func(int) result { return result{err: err} })
		return false
	}
	if err != nil {
		o.c.Report.Warn("an entry was not sent, and is sent again", "error", err)
	}
	return true
}

// head writes what stands before the operations of an entry, and returns the entry.
func (o *outbox) head(f *flight) []byte {
	o.mu.Lock()
	h := head{proposer: o.id, count: f.count, now: f.now}
	o.mu.Unlock()
	if p := o.past.Load(); p != nil {
		h.applied, h.chain = p.applied, p.chain
	}
	h.append(f.entry[:0]) // its place is left free
	return f.entry
}

// resending is when entries are sent again. It belongs to send.
type resending struct {
	o      *outbox
	oldest *flight       // for which it waits
	pause  time.Duration // until it is sent again, longer each time
	sent   time.Time     // when it was last sent
}

// wait waits until something changes, and sends what is on its way again when that is due. It returns the number of the next
// new entry.
func (s *resending) wait(count uint64) uint64 {
	o := s.o
	o.mu.Lock()
	if len(o.flights) == 0 {
		o.mu.Unlock()
		return count
	}
	if o.flights[0] != s.oldest {
		s.oldest, s.pause, s.sent = o.flights[0], resendAfter, time.Now()
		o.missing, o.unknown = false, false
	}
	pause := s.pause
	if o.missing || o.unknown {
		pause = missedAfter
	}
	o.mu.Unlock()
	timer := time.NewTimer(time.Until(s.sent.Add(pause)))
	defer timer.Stop()
	select {
	case <-o.changed:
		return count
	case <-o.ctx.Done():
		return count
	case <-timer.C:
	}
	o.mu.Lock()
	if len(o.flights) == 0 || o.flights[0] != s.oldest { // it has come back meanwhile
		o.mu.Unlock()
		return count
	}
	unknown, all := o.unknown, slices.Clone(o.flights)
	o.missing, o.unknown = false, false
	o.mu.Unlock()
	s.sent, s.pause = time.Now(), min(2*s.pause, 8*resendAfter)
	err := errUnknown
	if !unknown {
		err = o.again(all)
	}
	if !unknown && !errors.Is(err, ErrTooLarge) {
		if err != nil && o.ctx.Err() == nil {
			o.c.Report.Warn("an entry was not confirmed, and is sent again", "error", err)
		}
		return count
	}
	// The entries before these are not in the log any more, or its servers take less than before. So nobody knows whether
	// copies of them are applied one day, and they are not sent under another name either.
	o.c.Report.Error("gives up entries on their way", "error", err, "entries", len(all))
	o.fail(ErrUnconfirmed)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.id = rand.Uint64()
	return 1
}

// again sends entries once more. Of the first one the log is asked why it has not come.
func (o *outbox) again(all []*flight) error {
	ctx, cancel := context.WithTimeout(o.ctx, resendAfter)
	defer cancel()
	err := o.c.Log.Append(ctx, o.head(all[0]))
	for _, f := range all[1:] {
		if err != nil {
			break
		}
		err = o.c.Log.Send(o.head(f))
	}
	return err
}

// finish answers whoever waits for the operations of a flight, if it is under way.
func (o *outbox) finish(f *flight, of func(i int) result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := slices.Index(o.flights, f)
	if at < 0 {
		return
	}
	o.flights = slices.Delete(o.flights, at, at+1)
	for i, p := range f.ops {
		p.done <- of(i)
	}
	if len(o.spare) < mostFlights {
		o.spare = append(o.spare, f.entry)
	}
	o.change()
}

// fail answers all that is on its way by an error.
func (o *outbox) fail(err error) {
	o.mu.Lock()
	all := slices.Clone(o.flights)
	o.mu.Unlock()
	for _, f := range all {
		o.finish(f, func(int) result { return result{err: err} })
	}
}

// mine returns the flight of an entry, nil if it is not one that is on its way from here.
func (o *outbox) mine(h *head) *flight {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.proposer != o.id {
		return nil
	}
	for _, f := range o.flights {
		if f.count == h.count {
			return f
		}
	}
	return nil
}

// outOfTurn is told that an entry came without the one before it, and the number of the last that was applied of its
// proposer.
func (o *outbox) outOfTurn(h *head, last uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.proposer != o.id || len(o.flights) == 0 || h.count < o.flights[0].count {
		return // of the past, which is applied again
	}
	o.missing, o.unknown = true, last+1 < o.flights[0].count
	o.change()
}
