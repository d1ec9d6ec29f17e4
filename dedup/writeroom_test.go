package dedup

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestFilesThatAreWrittenShareTheMemory(t *testing.T) {
	room := newWriteRoom(100)
	var taken, most atomic.Int64
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			granted, err := room.take(context.Background(), 10, int64(10+i*5)) // from a tenth to more than all
			if err != nil {
				t.Error(err)
				return
			}
			if want := min(int64(10+i*5), 100); granted != want {
				t.Errorf("file %d has %d bytes, want %d", i, granted, want)
			}
			now := taken.Add(granted)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			taken.Add(-granted)
			room.giveBack(granted)
		})
	}
	wait.Wait()
	if most.Load() > 100 {
		t.Errorf("%d bytes of 100 were taken", most.Load())
	}
}

func TestAFileThatNeedsMoreThanThereIsIsWrittenAlone(t *testing.T) {
	room := newWriteRoom(100)
	granted, err := room.take(context.Background(), 300, 900)
	if err != nil || granted != 300 {
		t.Fatalf("%d bytes, %v; want the 300 without which it cannot be written", granted, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := room.take(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("beside it another one is let in: %v", err)
	}
	room.giveBack(granted)
	if granted, err = room.take(context.Background(), 1, 100); err != nil || granted != 100 {
		t.Errorf("after it %d bytes are left, %v", granted, err)
	}
}

func TestWithoutACeilingEveryFileHasWhatItWants(t *testing.T) {
	room := newWriteRoom(0)
	for range 3 {
		if granted, err := room.take(context.Background(), 1, 1<<40); err != nil || granted != 1<<40 {
			t.Errorf("%d bytes, %v", granted, err)
		}
	}
}
