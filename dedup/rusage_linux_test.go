package dedup

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// The estimate of a plan must not count what else the process or the machine does.
func TestProcessorTimeIsThatOfOneThread(t *testing.T) {
	var ended atomic.Bool
	defer ended.Store(true)
	go func() {
		for !ended.Load() {
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := processorTime()
	time.Sleep(200 * time.Millisecond)
	if slept := processorTime() - before; slept > 50*time.Millisecond {
		t.Errorf("%v while it slept", slept)
	}
	before = processorTime()
	for begun := time.Now(); processorTime()-before < 20*time.Millisecond; {
		if time.Since(begun) > time.Minute {
			t.Fatal("it does not count work")
		}
	}
}
