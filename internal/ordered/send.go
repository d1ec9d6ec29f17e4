package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// proposal is an operation on its way.
type proposal struct {
	op   []byte // with its kind
	done chan result
}

type result struct {
	outcome any
	err     error
}

// flight is an entry on its way.
type flight struct {
	count uint64
	ops   []*proposal
	back  chan struct{} // closed when it came back
}

// ErrUnconfirmed says that the log has not confirmed an operation: it may be applied later or not.
var ErrUnconfirmed = errors.New("the log has not confirmed the operation")

// A Pending is an operation that was proposed.
type Pending struct{ p *proposal }

// Begin proposes an operation behind all that this goroutine has proposed before.
func (r *Replica) Begin(op []byte) (Pending, error) { return r.begin(opMachine, op) }

func (r *Replica) begin(kind byte, op []byte) (Pending, error) {
	if err := r.problem(); err != nil {
		return Pending{}, err
	}
	if len(op)+1+mostOpOverhead+headSize > r.c.Log.MostBytes() {
		return Pending{}, fmt.Errorf("%w: %d bytes", ErrTooLarge, r.c.Log.MostBytes())
	}
	p := &proposal{append(append(make([]byte, 0, len(op)+1), kind), op...), make(chan result, 1)}
	select {
	case r.out.queue <- p:
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

// say tells the others of this replica.
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

// An outbox sends the operations of a replica, one entry after the other.
type outbox struct {
	c     *Config
	ctx   context.Context
	id    uint64 // of this process
	queue chan *proposal
	past  *atomic.Pointer[past] // how far the replica is

	mu     sync.Mutex
	flight *flight // nil: none
}

// send makes entries of the operations that wait, and sends one after the other.
func (o *outbox) send() {
	var over *proposal // did not fit into the last entry
	var entry []byte
	for count := uint64(1); ; count++ {
		f := &flight{count: count, back: make(chan struct{})}
		if over == nil {
			select {
			case over = <-o.queue:
			case <-o.ctx.Done():
				return
			}
		}
		entry = append(entry[:0], make([]byte, headSize)...)
		entry, over = o.fill(entry, f, over)
		o.sendUntilBack(f, entry)
	}
}

// fill puts an operation, and those that wait, into an entry, and returns the one that did not fit.
func (o *outbox) fill(entry []byte, f *flight, p *proposal) (_ []byte, over *proposal) {
	most := min(o.c.Log.MostBytes(), mostEntry)
	for {
		if len(f.ops) > 0 && len(entry)+len(p.op)+mostOpOverhead > most {
			return entry, p
		}
		entry = appendOp(entry, p.op)
		f.ops = append(f.ops, p)
		select {
		case p = <-o.queue:
		default:
			return entry, nil
		}
	}
}

// mostEntry is how large entries of several operations get: the log works on one while the next one is made.
const mostEntry = 512 << 10

// sendUntilBack sends an entry until it comes back from the log.
func (o *outbox) sendUntilBack(f *flight, entry []byte) {
	o.mu.Lock()
	o.flight = f
	o.mu.Unlock()
	now := o.c.Now().UnixNano()
	for wait := resendAfter; ; wait = min(2*wait, 8*resendAfter) {
		h := head{proposer: o.id, count: f.count, now: now}
		if p := o.past.Load(); p != nil {
			h.applied, h.chain = p.applied, p.chain
		}
		h.append(entry[:0]) // its place is left free
		ctx, cancel := context.WithTimeout(o.ctx, wait)
		err := o.c.Log.Append(ctx, entry)
		if errors.Is(err, ErrTooLarge) {
			cancel()
			o.finish(f, func(int) result { return result{err: err} })
			return
		}
		if err != nil && o.ctx.Err() == nil {
			o.c.Report.Warn("an entry was not confirmed, and is sent again", "error", err)
		}
		select {
		case <-f.back:
			cancel()
			return
		case <-ctx.Done():
			cancel()
		}
		if o.ctx.Err() != nil {
			o.finish(f, func(int) result { return result{err: context.Canceled} })
			return
		}
	}
}

const resendAfter = time.Second

// finish answers whoever waits for the operations of a flight, if it is under way.
func (o *outbox) finish(f *flight, of func(i int) result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.flight != f {
		return
	}
	o.flight = nil
	for i, p := range f.ops {
		p.done <- of(i)
	}
	close(f.back)
}

// mine returns the flight of an entry, nil if it is not one that is on its way from here.
func (o *outbox) mine(h *head) *flight {
	if h.proposer != o.id {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.flight == nil || o.flight.count != h.count {
		return nil
	}
	return o.flight
}
