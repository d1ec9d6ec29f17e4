package pieces

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/text"
)

// coverSlowly is appendRows by its words: of the streaks that have a token the first of those that reach farthest.
func coverSlowly(tokens []text.Token, run []streak, first, end int) (rows []Row) {
	for at := first; at < end; {
		best := -1
		for i, s := range run {
			if s.first <= at && s.end > at && (best < 0 || s.end > run[best].end) {
				best = i
			}
		}
		s := run[best]
		to := min(s.end, end)
		if at > first {
			rows[len(rows)-1].End = tokens[at].Start
		}
		rows = append(rows, Row{tokens[at].Start, tokens[to-1].End, Source{s.source.Document, s.source.At + uint32(at-s.first)}})
		at = to
	}
	return rows
}

func TestRunsAreCoveredByTheStreaksThatReachFarthest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := &Cutter{}
	for i := range 400 {
		c.tokens = append(c.tokens, text.Token{Start: 3 * i, End: 3*i + 2})
	}
	for range 2000 {
		var run []streak
		first := r.IntN(20)
		end := first
		for at := first; len(run) == 0 || end < 360 && r.IntN(20) > 0; at = min(at+1+r.IntN(8), end) { // they overlap, or meet
			s := streak{at, at + 1 + r.IntN(30), Source{uint64(r.IntN(3)), uint32(r.IntN(100))}}
			if last := len(run) - 1; last >= 0 && run[last].first == at {
				break
			}
			run, end = append(run, s), max(end, s.end)
		}
		from := first + r.IntN(end-first)
		to := from + 1 + r.IntN(end-from)
		if got, want := c.appendRows(nil, run, from, to), coverSlowly(c.tokens, run, from, to); !slices.Equal(got, want) {
			t.Fatalf("%v from %d to %d: %v, want %v", run, from, to, got, want)
		}
	}
}
