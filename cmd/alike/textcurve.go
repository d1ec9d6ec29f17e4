package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// The size of a curve of text: columns between the points at 0 and 1, and lines above the one at 0. A column in twelve
// is marked: 0.20 apart.
const (
	curveColumns = 60
	curveLines   = 12
	curveMarks   = 5
)

// printCurve draws probabilities at similarities from 0 to 1, the same distance apart, which never fall.
func printCurve(w io.Writer, probabilities []float64) {
	level := func(column int) int { // the line of the curve in a column
		at := float64(column) * float64(len(probabilities)-1) / curveColumns
		before, part := math.Modf(at)
		p := probabilities[int(before)]
		if part > 0 {
			p += (probabilities[int(before)+1] - p) * part
		}
		return int(math.Round(p * curveLines))
	}
	for line := curveLines; line >= 0; line-- {
		axis := '┤'
		if level(0) == line {
			axis = '┼'
		}
		var curve strings.Builder
		for column := range curveColumns {
			from, to := level(column), level(column+1)
			switch {
			case line < from || line > to:
				curve.WriteRune(' ')
			case from == to:
				curve.WriteRune('─')
			case line == from:
				curve.WriteRune('╯')
			case line == to:
				curve.WriteRune('╭')
			default:
				curve.WriteRune('│')
			}
		}
		fmt.Fprintf(w, " %.2f %c%s\n", float64(line)/curveLines, axis, strings.TrimRight(curve.String(), " "))
	}
	fmt.Fprintf(w, "      └%s┬\n     ", strings.Repeat("┬"+strings.Repeat("─", curveColumns/curveMarks-1), curveMarks))
	for mark := range curveMarks {
		fmt.Fprintf(w, "%-*.2f", curveColumns/curveMarks, float64(mark)/curveMarks)
	}
	fmt.Fprintf(w, "1.00\n            probability of becoming a candidate, by similarity\n")
}
