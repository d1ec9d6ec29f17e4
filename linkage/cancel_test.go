package linkage

import (
	"context"
	"errors"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/roomtest"
)

// A join that is cancelled anywhere asks at most once more for each goroutine and each level of
// calls: no further stage is begun, and no stage goes on.
func TestAJoinEndsWhereverItIsCancelled(t *testing.T) {
	left, right := people(150, 0.7)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), Threads: 2, Evidence: 5}
	one := c
	one.Right = ""
	for _, few := range []int{manyRecords, 100} {
		for what, c := range map[string]Config{"two tables": c, "one table": one} {
			c.limits.many = few
			whole := roomtest.NewEndsAt(1 << 40)
			r, err := Join(whole, c)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			all := whole.Asked.Load()
			if all < 30 {
				t.Errorf("%s: asked %d times only", what, all)
			}
			for n := int64(1); n < all*9/10; n += max(1, all/16) { // goroutines ask more or less often
				ctx := roomtest.NewEndsAt(n)
				if _, err := Join(ctx, c); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, cancelled at step %d of %d: %v", what, n, all, err)
				}
				if more := ctx.Asked.Load() - n; more > 8 {
					t.Errorf("%s, cancelled at step %d of %d: %d more steps", what, n, all, more)
				}
			}
		}
	}
}

func TestReadingCandidatesEndsWhenItIsCancelled(t *testing.T) {
	left, right := people(400, 1)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), Threads: 1}
	f, r, err := prepare(t.Context(), &c, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Memory.Close()
	whole, err := compare.NewRecords(t.Context(), input(&c, f, r.Columns))
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := f.Nearest(t.Context(), whole, 200)
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	n := 0
	for _, err = range find.Each(roomtest.NewEndsAt(2), pairs) {
		n++
	}
	if !errors.Is(err, context.Canceled) || n != 2*find.ReadAtOnce {
		t.Errorf("%d candidates were read after %d: %v", n, 2*find.ReadAtOnce, err)
	}
}
