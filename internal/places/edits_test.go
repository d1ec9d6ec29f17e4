package places_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/places"
)

// slowDistance is the distance by its definition.
func slowDistance(a, b []uint64) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0]
		row[0] = i + 1
		for j, y := range b {
			changed := before
			if x != y {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

func TestDistanceIsThatOfItsDefinition(t *testing.T) {
	var e places.Edits
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.Uint64Range(0, rapid.Uint64Range(1, 30).Draw(t, "letters"))
		a := rapid.SliceOfN(letters, 1, 200).Draw(t, "a")
		b := rapid.SliceOfN(letters, 0, 200).Draw(t, "b")
		if rapid.Bool().Draw(t, "copy") {
			b = append(append(b[:min(len(b), 5)], a...), b[min(len(b), 5):]...)
		}
		want, wantPart := slowDistance(a, b), len(a)
		for from := range b {
			for to := from; to <= len(b); to++ {
				if len(b) < 30 || to == from+len(a) {
					wantPart = min(wantPart, slowDistance(a, b[from:to]))
				}
			}
		}
		whole, part := e.Distance(a, b)
		if whole != want || part > wantPart || len(b) < 30 && part != wantPart {
			t.Fatalf("%d, want %d; of a part %d, want %d", whole, want, part, wantPart)
		}
	})
}

func TestTextsAreLaidBesideEachOtherWithTheFewestEdits(t *testing.T) {
	var e places.Edits
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.Uint64Range(0, rapid.Uint64Range(1, 30).Draw(t, "letters"))
		a := rapid.SliceOfN(letters, 1, 200).Draw(t, "a")
		b := rapid.SliceOfN(letters, 1, 200).Draw(t, "b")
		if rapid.Bool().Draw(t, "copy") {
			b = append(append(b[:min(len(b), 5)], a...), b[min(len(b), 5):]...)
		}
		edits, i, j := 0, len(a), len(b)
		e.Align(a, b, func(x, y int, with places.Beside) {
			switch with {
			case places.Both:
				if i, j = i-1, j-1; x != i || y != j {
					t.Fatalf("%d, %d, want %d, %d", x, y, i, j)
				}
				if a[x] != b[y] {
					edits++
				}
			case places.OnlyA:
				if i, edits = i-1, edits+1; x != i || y != min(j, len(b)-1) {
					t.Fatalf("%d, %d alone, want %d, %d", x, y, i, j)
				}
			case places.OnlyB:
				if j, edits = j-1, edits+1; y != j || x != min(i, len(a)-1) {
					t.Fatalf("%d, %d alone, want %d, %d", x, y, i, j)
				}
			}
		})
		if want := slowDistance(a, b); edits != want || i != 0 || j != 0 {
			t.Fatalf("%d edits, want %d; left %d, %d", edits, want, i, j)
		}
	})
}
