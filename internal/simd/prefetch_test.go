package simd

import "testing"

// Prefetch changes nothing, at either end of memory that exists.
func TestPrefetchChangesNothing(t *testing.T) {
	values := make([]uint64, 1<<16)
	for i := range values {
		values[i] = uint64(i)
	}
	for i := range values {
		Prefetch(&values[i])
	}
	for i, v := range values {
		if v != uint64(i) {
			t.Fatalf("value %d became %d", i, v)
		}
	}
}
