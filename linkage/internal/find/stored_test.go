package find

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

func TestItemsComeBackFromTheirFile(t *testing.T) {
	space := scratch.New(scratch.Options{FS: vfs.OS, Parent: t.TempDir()})
	s, err := newStoredItems(space, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int][]uint32{0: {0, 1, 1 << 31}, 1: {}, 3: {7}, 4: slices.Repeat([]uint32{5}, 1)}
	w := itemWriter{to: s}
	for _, row := range []int{3, 4, 0, 1} {
		w.add(uint32(row), want[row])
	}
	w.flush()
	if err := errors.Join(w.err, s.finish()); err != nil {
		t.Fatal(err)
	}
	var met atomic.Int64
	if err := s.Each(t.Context(), 2, func() (func(int, []uint32) error, func() error) {
		return func(i int, items []uint32) error {
			met.Add(int64(i + 1))
			if !slices.Equal(items, want[i]) {
				return fmt.Errorf("row %d has %v, want %v", i, items, want[i])
			}
			return nil
		}, func() error { return nil }
	}); err != nil || met.Load() != 12 {
		t.Errorf("%v after rows of the sum %d", err, met.Load())
	}
	s.frames[0].rows++
	if err := s.Each(t.Context(), 1, func() (func(int, []uint32) error, func() error) {
		return func(int, []uint32) error { return nil }, func() error { return nil }
	}); !errors.Is(err, scratch.ErrDamaged) {
		t.Errorf("a frame with too few rows: %v", err)
	}
	if err := errors.Join(s.close(), space.Close()); err != nil {
		t.Fatal(err)
	}
}
