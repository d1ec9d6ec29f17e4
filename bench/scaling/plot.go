package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/wcharczuk/go-chart/v2"
)

// plot draws the two plots.
func plot(o *options, cells [][]cell) error {
	ideal := make([]float64, len(o.threads))
	one := make([]float64, len(o.threads))
	for i, threads := range o.threads {
		ideal[i], one[i] = float64(threads)/float64(o.threads[0]), 1
	}
	err := draw(o, o.plot+"-speedup.svg", "speed-up", ideal, func(i int) []float64 { return speedup(o, cells[i]) })
	if err != nil {
		return err
	}
	return draw(o, o.plot+"-efficiency.svg", "efficiency", one, func(i int) []float64 { return efficiency(o, cells[i]) })
}

const (
	width, height = 800, 500
	letter        = 7  // pixels of a letter in the legend
	apart         = 30 // pixels between two labels of the axis of threads, at least
)

// draw draws a line for every folder, and the ideal line. The axis of threads is logarithmic.
func draw(o *options, path, what string, ideal []float64, of func(folder int) []float64) error {
	x := make([]float64, len(o.threads))
	for i, threads := range o.threads {
		x[i] = math.Log2(float64(threads))
	}
	names := len("ideal")
	lines := []chart.Series{chart.ContinuousSeries{
		Name: "ideal", XValues: x, YValues: ideal,
		Style: chart.Style{StrokeDashArray: []float64{5, 5}, StrokeColor: chart.ColorAlternateGray},
	}}
	most := slices.Max(ideal)
	for i, folder := range o.folders {
		y := of(i)
		lines = append(lines, chart.ContinuousSeries{Name: filepath.Base(folder), XValues: x, YValues: y, Style: chart.Style{DotWidth: 3}})
		names, most = max(names, utf8.RuneCountInString(filepath.Base(folder))), max(most, slices.Max(y))
	}
	left := 70 + letter*names // room for the legend
	values := valueTicks(most)
	graph := chart.Chart{
		Width: width + left, Height: height,
		Background: chart.Style{Padding: chart.Box{Top: 50, Left: left, Right: 20, Bottom: 20}},
		XAxis:      chart.XAxis{Name: "threads", Ticks: threadTicks(o.threads, x)},
		YAxis:      chart.YAxis{Name: what, Ticks: values, Range: &chart.ContinuousRange{Max: values[len(values)-1].Value}},
		// An axis without a line; its labels would overlap in a corner.
		YAxisSecondary: chart.YAxis{Style: chart.Hidden()},
		Series:         lines,
	}
	graph.Elements = []chart.Renderable{chart.LegendLeft(&graph)}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := graph.Render(chart.SVG, file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// threadTicks labels the numbers of threads, at x, as far as the labels do not overlap.
func threadTicks(threads []int, x []float64) (ticks []chart.Tick) {
	gap := (slices.Max(x) - slices.Min(x)) * apart / width
	for i, n := range threads {
		near := func(t chart.Tick) bool { return math.Abs(t.Value-x[i]) < gap }
		if !slices.ContainsFunc(ticks, near) {
			ticks = append(ticks, chart.Tick{Value: x[i], Label: strconv.Itoa(n)})
		}
	}
	return ticks
}

// valueTicks labels an axis from 0 to most, or a little more, in about ten round steps.
func valueTicks(most float64) (ticks []chart.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(most/10)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if step*factor >= most/10*0.999 { // not more than ten because of rounding
			step *= factor
			break
		}
	}
	for i := range int(math.Ceil(most/step-0.001)) + 1 {
		value := float64(i) * step
		ticks = append(ticks, chart.Tick{Value: value, Label: strconv.FormatFloat(value, 'g', 3, 64)})
	}
	return ticks
}
