package main

import (
	"fmt"

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

// mostCurves is how many curves a drawing has room for.
const mostCurves = 8

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

// curveColors are those of the curves, which differ for people who see no red and green as well.
var curveColors = [mostCurves]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#8a7a00"}

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
