package objects

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/internal/patience"
	"github.com/alike-dev/alike/internal/fault"
)

// alike itself, not the clients, retries requests that fail with corpus.ErrUnavailable,
// so that all stores are treated in the same way. Requests for the bytes of an object are
// the exception: package corpus repeats those from where they broke.

// retry makes a request until it succeeds, fails for good or has been tried often enough.
// limit bounds the time of one try; 0: no limit.
func retry(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	for try := 1; ; try++ {
		err := once(ctx, limit, request)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, corpus.ErrUnavailable):
			return err
		}
		if err := patience.Usual.Wait(ctx, try, err); err != nil {
			return err
		}
	}
}

func once(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err := request(ctx)
	if limit > 0 && errors.Is(err, context.DeadlineExceeded) {
		return fault.Caused(corpus.ErrUnavailable, err, "no answer within %v; check the network and the endpoint", limit)
	}
	return err
}

// isPassing reports whether a status stands for a temporary state of the server.
func isPassing(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

// longestAfter bounds the wait that a server can ask for.
const longestAfter = time.Minute

// retryAfter returns how long a server asks to wait before the next try, given in seconds
// or as a date; 0: it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), int64(longestAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return min(max(date.Sub(now), 0), longestAfter)
	}
	return 0
}

// refused is the error of an answer that reports a temporary state.
func refused(cause error, why string, h http.Header) error {
	err := fault.Caused(corpus.ErrUnavailable, cause, "the server refuses (%s); try again later", why)
	return &postponed{err, retryAfter(h, time.Now())}
}

// postponed is an error with the time that the server asks to wait before the next try;
// 0: it does not say.
type postponed struct {
	error
	after time.Duration
}

func (p *postponed) Unwrap() error { return p.error }

// RetryAfter returns how long the server asks to wait.
func (p *postponed) RetryAfter() time.Duration { return p.after }
