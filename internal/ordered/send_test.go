package ordered

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// silentLog takes entries and does nothing.
type silentLog struct{ Log }

func (silentLog) Send([]byte) error                    { return nil }
func (silentLog) Append(context.Context, []byte) error { return nil }

// An entry may come back at the moment when it is due to be sent again. (One history in 164 met that.)
func TestAnEntryMayComeBackWhenItIsDueAgain(t *testing.T) {
	o := outbox{c: &Config{Log: silentLog{}, Report: slog.New(slog.DiscardHandler)}, ctx: t.Context(), changed: make(chan struct{}, 1), past: new(atomic.Pointer[past])}
	for n := range 3000 {
		f := &flight{count: uint64(n), entry: make([]byte, headSize)}
		o.flights = append(o.flights, f)
		s := resending{o: &o, oldest: f, sent: time.Now().Add(-time.Hour)}
		done := make(chan struct{})
		go func() {
			o.finish(f, func(int) result { return result{} })
			close(done)
		}()
		if next := s.wait(5); next != 5 {
			t.Fatalf("the next number is %d", next)
		}
		<-done
	}
}
