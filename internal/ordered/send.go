package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	case r.queue <- p:
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

// send makes entries of the operations that wait, and sends one after the other.
func (r *Replica) send() {
	var over *proposal // did not fit into the last entry
	var entry []byte
	for count := uint64(1); ; count++ {
		f := &flight{count: count, back: make(chan struct{})}
		if over == nil {
			select {
			case over = <-r.queue:
			case <-r.ctx.Done():
				return
			}
		}
		entry = append(entry[:0], make([]byte, headSize)...)
		entry, over = r.fill(entry, f, over)
		r.sendUntilBack(f, entry)
	}
}

// fill puts an operation, and those that wait, into an entry, and returns the one that did not fit.
func (r *Replica) fill(entry []byte, f *flight, p *proposal) (_ []byte, over *proposal) {
	most := min(r.c.Log.MostBytes(), mostEntry)
	for {
		if len(f.ops) > 0 && len(entry)+len(p.op)+mostOpOverhead > most {
			return entry, p
		}
		entry = appendOp(entry, p.op)
		f.ops = append(f.ops, p)
		select {
		case p = <-r.queue:
		default:
			return entry, nil
		}
	}
}

// mostEntry is how large entries of several operations get: the log works on one while the next one is made.
const mostEntry = 512 << 10

// sendUntilBack sends an entry until it comes back from the log.
func (r *Replica) sendUntilBack(f *flight, entry []byte) {
	r.mu.Lock()
	r.flight = f
	r.mu.Unlock()
	now := r.c.Now().UnixNano()
	for wait := resendAfter; ; wait = min(2*wait, 8*resendAfter) {
		h := head{proposer: r.id, count: f.count, now: now}
		if p := r.past.Load(); p != nil {
			h.applied, h.chain = p.applied, p.chain
		}
		h.append(entry[:0]) // its place is left free
		ctx, cancel := context.WithTimeout(r.ctx, wait)
		err := r.c.Log.Append(ctx, entry)
		if errors.Is(err, ErrTooLarge) {
			cancel()
			r.finish(f, func(int) result { return result{err: err} })
			return
		}
		if err != nil && r.ctx.Err() == nil {
			r.c.Report.Warn("an entry was not confirmed, and is sent again", "error", err)
		}
		select {
		case <-f.back:
			cancel()
			return
		case <-ctx.Done():
			cancel()
		}
		if r.ctx.Err() != nil {
			r.finish(f, func(int) result { return result{err: context.Canceled} })
			return
		}
	}
}

const resendAfter = time.Second

// finish answers whoever waits for the operations of a flight, if it is under way.
func (r *Replica) finish(f *flight, of func(i int) result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flight != f {
		return
	}
	r.flight = nil
	for i, p := range f.ops {
		p.done <- of(i)
	}
	close(f.back)
}

// mine returns the flight of an entry, nil if it is not one that is on its way from here.
func (r *Replica) mine(h *head) *flight {
	if h.proposer != r.id {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flight == nil || r.flight.count != h.count {
		return nil
	}
	return r.flight
}
