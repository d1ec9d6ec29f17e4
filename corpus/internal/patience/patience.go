// Package patience says how often requests to object stores are repeated, and after which pauses.
package patience

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Patience is how often a request is made. A server that refuses with a request to come later is asked for a minute: an
// object store gives a prefix of names some thousand requests a second until it has divided it. One that does not answer
// is given up earlier, as then it is rather an address that is wrong.
type Patience struct {
	Tries          int           // if there is no answer, or a broken one
	Refused        int           // if the server refuses for now: the error has a method RetryAfter() time.Duration
	Pause, Longest time.Duration // before the second try, doubling up to Longest
}

// Usual is that for all requests: 12 seconds, and a minute for a server that refuses.
var Usual = Patience{Tries: 8, Refused: 20, Pause: 200 * time.Millisecond, Longest: 5 * time.Second}

// Wait waits after the failure err of a try, which counts from 1: as long as the server asks for, or otherwise a random
// time around the pause, so that many clients do not return at once. It returns err if the request was made often enough,
// and the error of the context if that ends earlier.
func (p Patience) Wait(ctx context.Context, try int, err error) error {
	var refusal interface{ RetryAfter() time.Duration }
	most, asked := p.Tries, time.Duration(0)
	if errors.As(err, &refusal) {
		most, asked = p.Refused, refusal.RetryAfter()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if try >= most {
		return err
	}
	pause := p.Longest
	if try < 16 {
		pause = min(p.Pause<<(try-1), p.Longest)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(pause/2+rand.N(pause/2+1), asked)):
		return nil
	}
}
