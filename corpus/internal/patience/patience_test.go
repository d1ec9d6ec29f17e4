package patience

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type refusal struct{ after time.Duration }

func (refusal) Error() string               { return "slow down" }
func (r refusal) RetryAfter() time.Duration { return r.after }

// failing makes a request that always fails, and returns how often it was made, within which time.
func failing(ctx context.Context, p Patience, failure error) (tries int, took time.Duration, err error) {
	start := time.Now()
	for err == nil {
		tries++
		err = p.Wait(ctx, tries, failure)
	}
	return tries, time.Since(start), err
}

func TestAServerThatRefusesIsAskedForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, took, err := failing(t.Context(), Usual, refusal{})
		if !errors.As(err, &refusal{}) || took < 45*time.Second || took > 75*time.Second {
			t.Errorf("asked for %v, then %v", took, err)
		}
		_, took, _ = failing(t.Context(), Usual, errors.New("no route"))
		if took < 7*time.Second || took > 17*time.Second {
			t.Errorf("asked for %v without an answer", took)
		}
	})
}

func TestPausesDifferAndAreAsLongAsTheServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, one, _ := failing(t.Context(), Usual, refusal{})
		_, other, _ := failing(t.Context(), Usual, refusal{})
		if one == other {
			t.Errorf("two clients return at the same time, after %v", one)
		}
		tries, took, _ := failing(t.Context(), Usual, refusal{after: 20 * time.Second})
		if took < time.Duration(tries-1)*20*time.Second {
			t.Errorf("%d tries in %v", tries, took)
		}
	})
}

func TestTheContextEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, took, err := failing(ctx, Usual, refusal{after: time.Hour})
		if !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}
