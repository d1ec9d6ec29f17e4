package main

import (
	"os"
	"path/filepath"
	"strconv"

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

// draw draws a line for every folder, and the ideal line.
func draw(o *options, path, what string, ideal []float64, of func(folder int) []float64) error {
	x := make([]float64, len(o.threads))
	ticks := make([]chart.Tick, len(o.threads))
	for i, threads := range o.threads {
		x[i] = float64(threads)
		ticks[i] = chart.Tick{Value: x[i], Label: strconv.Itoa(threads)}
	}
	graph := chart.Chart{
		Width:      800,
		Height:     500,
		Background: chart.Style{Padding: chart.Box{Top: 50, Left: 160, Right: 20, Bottom: 20}},
		XAxis:      chart.XAxis{Name: "threads", Ticks: ticks},
		YAxis:      chart.YAxis{Name: what, Range: &chart.ContinuousRange{Min: 0, Max: ideal[len(ideal)-1]}},
		// An axis without a line; its labels would overlap in a corner.
		YAxisSecondary: chart.YAxis{Style: chart.Hidden()},
		Series: []chart.Series{chart.ContinuousSeries{
			Name: "ideal", XValues: x, YValues: ideal,
			Style: chart.Style{StrokeDashArray: []float64{5, 5}, StrokeColor: chart.ColorAlternateGray},
		}},
	}
	for i, folder := range o.folders {
		graph.Series = append(graph.Series, chart.ContinuousSeries{
			Name: filepath.Base(folder), XValues: x, YValues: of(i),
			Style: chart.Style{DotWidth: 3},
		})
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
