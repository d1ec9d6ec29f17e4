package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// bandFlags are bands and rows to play with, and a drawing of their S-curves.
type bandFlags struct {
	bands, rows []int
	plot        string
}

func (f *bandFlags) add(flags *pflag.FlagSet) {
	flags.IntSliceVar(&f.bands, "bands", nil, "show the S-curve of so many bands, with --rows, instead of choosing them; several numbers make several curves")
	flags.IntSliceVar(&f.rows, "rows", nil, "components a band, one number for all --bands or one for each")
	flags.StringVar(&f.plot, "plot", "", "draw the S-curves as SVG into this `file`")
}

func (f *bandFlags) wanted() bool { return len(f.bands)+len(f.rows) > 0 }

// tunings describes the bands and rows that were given.
func (f *bandFlags) tunings(t measure.Threshold, bits int) (all []*alike.Tuning, err error) {
	switch n := len(f.bands); {
	case t.Measure() != measure.Jaccard:
		return nil, fmt.Errorf("--bands and --rows go by the Jaccard similarity: leave --measure out")
	case n == 0 || len(f.rows) == 0:
		return nil, fmt.Errorf("--bands and --rows go together: give both")
	case len(f.rows) != 1 && len(f.rows) != n:
		return nil, fmt.Errorf("--bands has %d numbers and --rows %d: give one of --rows for all, or one for each", n, len(f.rows))
	case n > mostCurves:
		return nil, fmt.Errorf("--bands has %d numbers: %d are the most", n, mostCurves)
	}
	for i, bands := range f.bands {
		params := lsh.Params{Bands: bands, Rows: f.rows[min(i, len(f.rows)-1)]}
		if bands < 1 || params.Rows < 1 || bands > 1<<16 || params.Rows > 1<<16 {
			return nil, fmt.Errorf("%d bands of %d rows: take 1 to 65536 of each", bands, params.Rows)
		}
		all = append(all, alike.TuningOf(params, t.Float(), bits))
	}
	return all, nil
}

// show prints tunings, and draws them if that is wanted.
func (f *bandFlags) show(cmd *cobra.Command, tunings []*alike.Tuning, asJSON bool) error {
	if err := checkEnding("--plot", f.plot, plotEndings); err != nil {
		return err
	}
	if f.plot != "" {
		if err := plotTunings(cmd, f.plot, tunings); err != nil {
			return err
		}
	}
	if asJSON {
		if len(tunings) > 1 {
			return printJSON(cmd, tunings)
		}
		return printJSON(cmd, tunings[0])
	}
	for i, t := range tunings {
		if i > 0 {
			fmt.Fprintln(printed(cmd))
		}
		printTuning(printed(cmd), t)
	}
	return nil
}

// plotTunings draws the probability of becoming a candidate over the similarity, with the threshold.
func plotTunings(cmd *cobra.Command, path string, tunings []*alike.Tuning) error {
	d := drawing{over: "similarity", figure: "probability of becoming a candidate"}
	d.axes()
	least := tunings[0].Threshold
	if tunings[0].Jaccard > 0 {
		least = tunings[0].Jaccard // the curve goes by it
	}
	d.add("<path stroke=\"#888\" stroke-dasharray=\"4 4\" d=\"M%.1f %dV%d\"/>\n", d.x(least), plotTop, plotTop+areaHeight)
	for i, t := range tunings {
		d.add("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", curveColors[i])
		for _, p := range t.Points(plotPoints / 5) {
			d.add("%.1f,%.1f ", d.x(p.Similarity), d.y(p.Probability))
		}
		d.add("\"/>\n")
		name := fmt.Sprintf("%d × %d: %.4f", t.Bands, t.Rows, t.ExpectedRecall)
		if t.Sample > 0 {
			name = fmt.Sprintf("%d of %d: %.4f", t.Agree, t.Sample, t.ExpectedRecall)
		}
		d.key(plotLeft+210*(i%4), 12+20*(i/4), curveColors[i], name)
	}
	return d.write(cmd, path)
}

func printTuning(w io.Writer, t *alike.Tuning) {
	fmt.Fprintf(w, "threshold        %v", t.Threshold)
	if t.Measure != "" {
		fmt.Fprintf(w, " by %s", t.Measure)
	}
	if t.Jaccard > 0 {
		fmt.Fprintf(w, ", a Jaccard similarity of at least %.6g", t.Jaccard)
	}
	fmt.Fprintln(w)
	if t.Sample > 0 {
		fmt.Fprintf(w, "sample           %d features of each document\n", t.Sample)
		fmt.Fprintf(w, "agree            %d of them are in a candidate, or more\n", t.Agree)
	} else {
		fmt.Fprintf(w, "bands            %d\n", t.Bands)
		fmt.Fprintf(w, "rows             %d  (%d of %d components used)\n", t.Rows, t.Bands*t.Rows, t.Hashes)
	}
	fmt.Fprintf(w, "expected recall  %.6f at the threshold", t.ExpectedRecall)
	if t.Recall > 0 {
		fmt.Fprintf(w, ", %v asked for", t.Recall)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "\nfalse candidates: share of the pairs of a similarity that is verified in vain\n")
	for _, p := range t.FalseCandidates {
		fmt.Fprintf(w, "  %.3f  %.3g\n", p.Similarity, p.Probability)
	}
	fmt.Fprintf(w, "\nsimilarity  probability of becoming a candidate\n")
	plot := make([]float64, len(t.Curve))
	for i, p := range t.Curve {
		fmt.Fprintf(w, "  %.2f      %.6f\n", p.Similarity, p.Probability)
		plot[i] = p.Probability
	}
	fmt.Fprintln(w)
	printCurve(w, plot)
}

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
