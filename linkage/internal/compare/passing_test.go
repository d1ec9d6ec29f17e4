package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWordsThatComeAndGoAreNoExchange has offers of things in several sizes, all of which a shop names, with other words or without.
func TestWordsThatComeAndGoAreNoExchange(t *testing.T) {
	for _, others := range []int{0, 3} {
		random := rand.New(rand.NewPCG(7, 8))
		var texts [][]string
		var sizes []int
		var matches []Pair // of any size
		for thing := range 30 {
			first := len(texts)
			for range 12 {
				size := random.IntN(3)
				words := []string{fmt.Sprintf("thing%d", thing), fmt.Sprintf("size%d", size)}
				for range random.IntN(others + 1) {
					words = append(words, fmt.Sprintf("said%d", random.IntN(20)))
				}
				for b := range texts[first:] {
					matches = append(matches, Pair{A: uint32(first + b), B: uint32(len(texts))})
				}
				texts, sizes = append(texts, words), append(sizes, size)
			}
		}
		c := comparerOf(t, texts, nil)
		left := c.LeavePassing([]int{0}, matches)
		if left != (others > 0) || left != (c.Passing != nil) {
			t.Fatalf("%d other words: words were left out: %v, %v", others, left, c.Passing)
		}
		again := comparerOf(t, texts, c.Passing)
		for _, p := range matches {
			want := sizes[p.A] != sizes[p.B]
			a, b := c.Left.Cells(int(p.A))[0]-1, c.Left.Cells(int(p.B))[0]-1
			if got := c.Columns[0].exchanged(a, b); got != want || again.Columns[0].exchanged(a, b) != got {
				t.Fatalf("%v and %v: exchanged %v, want %v", texts[p.A], texts[p.B], got, want)
			}
		}
		if left && !slices.EqualFunc(again.Passing, c.Passing, slices.Equal[[]uint64]) {
			t.Errorf("%v was passed on as %v", c.Passing, again.Passing)
		}
	}
}
