package model

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

func TestLevelsThatWereNotSeenSayWhatLowerOnesDo(t *testing.T) {
	m := &Model{Width: 2, Evidence: make([]float64, 2*compare.Levels)}
	m.Evidence[3], m.Evidence[7], m.Evidence[compare.Equal+2] = -2, 1, 4
	m.Evidence[compare.Levels+8] = 3 // of another column, where even the lowest level seen speaks for a match
	m.FillUnseen()
	if got, want := m.Evidence[:9], []float64{0, -2, -2, -2, -2, -2, -2, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if m.Evidence[compare.Equal] != 1 || m.Evidence[compare.Equal+9] != 4 {
		t.Errorf("equal values: %v, rare ones: %v; want 1 and 4", m.Evidence[compare.Equal], m.Evidence[compare.Equal+9])
	}
	if got := m.Evidence[compare.Levels+7]; got != 0 {
		t.Errorf("below the lowest level: %v, want 0", got)
	}
	if got := m.Evidence[compare.Levels-1]; got != 0 {
		t.Errorf("nearness that no pair had: %v, want 0", got)
	}
}
