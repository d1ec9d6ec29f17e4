package linkage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// endsAt is a context that ends when it is asked for the n-th time whether it has, so that a test
// counts steps and no time matters. asked counts on after that.
type endsAt struct {
	context.Context
	n     int64
	asked atomic.Int64
	once  sync.Once
	done  chan struct{}
}

func newEndsAt(n int64) *endsAt {
	return &endsAt{Context: context.Background(), n: n, done: make(chan struct{})}
}

func (e *endsAt) Done() <-chan struct{} { return e.done }

func (e *endsAt) Err() error {
	if e.asked.Add(1) < e.n {
		return nil
	}
	e.once.Do(func() { close(e.done) })
	return context.Canceled
}

// A join that is cancelled anywhere asks at most once more for each goroutine and each level of
// calls: no further stage is begun, and no stage goes on.
func TestAJoinEndsWhereverItIsCancelled(t *testing.T) {
	before := manyRecords
	defer func() { manyRecords = before }()
	left, right := people(150, 0.7)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), Threads: 2, Evidence: 5}
	one := c
	one.Right = ""
	for _, few := range []int{before, 100} {
		manyRecords = few
		for what, c := range map[string]Config{"two tables": c, "one table": one} {
			whole := newEndsAt(1 << 40)
			r, err := Join(whole, c)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Finish(); err != nil {
				t.Fatal(err)
			}
			all := whole.asked.Load()
			if all < 30 {
				t.Errorf("%s: asked %d times only", what, all)
			}
			for n := int64(1); n < all*9/10; n += max(1, all/16) { // goroutines ask more or less often
				ctx := newEndsAt(n)
				if _, err := Join(ctx, c); !errors.Is(err, context.Canceled) {
					t.Errorf("%s, cancelled at step %d of %d: %v", what, n, all, err)
				}
				if more := ctx.asked.Load() - n; more > 8 {
					t.Errorf("%s, cancelled at step %d of %d: %d more steps", what, n, all, more)
				}
			}
		}
	}
}

// The long loops within a stage end too: those over the steps of the fit, the rounds of messages and
// the candidates.
func TestTheFitOfAModelEndsWhenItIsCancelled(t *testing.T) {
	c := &comparison{left: 3, right: 3, width: 2}
	for i := range uint32(3) {
		for j := range uint32(3) {
			c.pairs = append(c.pairs, pair{i, j})
			l := level(1)
			if i == j {
				l = equal
			}
			c.levels = append(c.levels, l, l)
			c.wholes = append(c.wholes, float32(l)/float32(equal))
		}
	}
	share := []float64{1}
	ran := newEndsAt(1 << 40)
	fitModel(ran, c, true, share)
	if steps := ran.asked.Load(); steps < 2*firstRounds {
		t.Fatalf("the fit asked %d times only", steps)
	}
	for n := range ran.asked.Load() {
		ctx := newEndsAt(n + 1)
		fitModel(ctx, c, true, share)
		// Each start may ask once, and so may each of its two kinds of messages in the step under way.
		if more := ctx.asked.Load() - n; more > int64(3*len(starts)+3) {
			t.Errorf("cancelled at %d: %d more steps", n, more)
		}
	}
	rounds, sent := newExclusive(newEndsAt(3), graph{c.pairs, 3, 3}), 0
	rounds.marginals(make([]float64, len(c.pairs)), nil, func(int) float64 { sent++; return 1 })
	if most := 2 * 4 * len(c.pairs); sent > most {
		t.Errorf("%d messages after two rounds, at most %d are of them", sent, most)
	}
}

func TestReadingCandidatesEndsWhenItIsCancelled(t *testing.T) {
	left, right := people(400, 1)
	c := Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right), Threads: 1}
	tables, err := prepare(t.Context(), &c, false)
	if err != nil {
		t.Fatal(err)
	}
	defer tables.memory.Close()
	whole, err := tables.records(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := tables.nearest(t.Context(), &c, whole, 200)
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	n := 0
	for _, err = range each(newEndsAt(2), pairs) {
		n++
	}
	if !errors.Is(err, context.Canceled) || n != 2*readAtOnce {
		t.Errorf("%d candidates were read after %d: %v", n, 2*readAtOnce, err)
	}
}
