package scratch

import (
	"math"
	"testing"
)

// 0 stands for any amount, so a share must not come out as 0.
func TestAShareOfLittleMemoryIsLittle(t *testing.T) {
	for _, memory := range []int64{1, 2, 7, 100, 64 << 20, math.MaxInt64} {
		s := New(Options{Ceiling: memory, Threads: 7})
		for _, n := range []int64{1, 2, 8} {
			if share := s.Share(n); share < 1 || share > max(memory/n, 1) {
				t.Errorf("memory %d: a share of 1/%d is %d", memory, n, share)
			}
		}
	}
	for _, memory := range []int64{64 << 20, math.MaxInt64} {
		if share := New(Options{Ceiling: memory, Threads: 1}).Share(1); share < memory/4 {
			t.Errorf("memory %d: %d for data", memory, share)
		}
	}
	if share := New(Options{Threads: 7}).Share(2); share != 0 {
		t.Errorf("without a limit a share is %d", share)
	}
}
