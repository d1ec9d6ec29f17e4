package model

import "github.com/alike-dev/alike/linkage/internal/compare"

// FillUnseen gives levels that no candidate had when the model was learned, whose evidence is exactly 0, that of the nearest
// lower level that was seen: more alike speaks for a match at least as much. Levels below the lowest that was seen get its
// evidence if that is against a match. Without this, values that are equal would say nothing where all matches had errors.
func (m *Model) FillUnseen() {
	for f := range m.Width {
		of := m.Evidence[f*compare.Levels : (f+1)*compare.Levels]
		for _, r := range compare.Runs(f == m.Width-1) {
			fillRun(of[r.From:r.To])
			for l := r.From; r.Below > 0 && l < r.To && of[l] == 0; l++ {
				of[l] = of[r.Below+l-r.From]
			}
		}
	}
}

// fillRun fills the evidence of levels that stand for more and more similarity.
func fillRun(of []float64) {
	last := 0.0
	for l, x := range of {
		switch {
		case x == 0:
			of[l] = last
			continue
		case last == 0: // the lowest level that was seen
			for below := range of[:l] {
				of[below] = min(0, x)
			}
		}
		last = x
	}
}
