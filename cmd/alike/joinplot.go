package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/wcharczuk/go-chart/v2"

	"github.com/alike-dev/alike"
)

// apart separates the names of the legend from its lines if letters are wider than those that the
// chart measures.
const apart = "          "

// plotPoints is how many points of a curve are drawn at most.
const plotPoints = 1000

// plotJoinScores draws precision over recall, with the decision and the best cut, as SVG.
func plotJoinScores(cmd *cobra.Command, path string, s *alike.JoinScores) error {
	var recall, precision []float64
	least := min(s.Decision.Precision, s.Best.Precision)
	for i, p := range s.Curve {
		if n := len(s.Curve); n <= plotPoints || i*plotPoints/n != (i+1)*plotPoints/n {
			recall, precision = append(recall, p.Recall), append(precision, p.Precision)
			least = min(least, p.Precision)
		}
	}
	if len(recall) < 2 {
		return fmt.Errorf("--plot %s: %d points make no curve: too few pairs were considered", path, len(recall))
	}
	var ticks []chart.Tick
	for i := range 11 {
		ticks = append(ticks, chart.Tick{Value: float64(i) / 10, Label: fmt.Sprintf("%.1f", float64(i)/10)})
	}
	floor := float64(int(least*10)) / 10
	if floor >= 1 {
		floor = 0.9
	}
	point := func(name string, r, p float64, color int) chart.ContinuousSeries {
		return chart.ContinuousSeries{Name: fmt.Sprintf("%s %.3f, %.3f", name, p, r) + apart, XValues: []float64{r, r}, YValues: []float64{p, p},
			Style: chart.Style{StrokeWidth: 2, DotWidth: 5, DotColor: chart.GetDefaultColor(color), StrokeColor: chart.GetDefaultColor(color)}}
	}
	graph := chart.Chart{
		Width: 960, Height: 560,
		Background:     chart.Style{Padding: chart.Box{Top: 30, Left: 220, Right: 30, Bottom: 20}},
		XAxis:          chart.XAxis{Name: "recall", Ticks: ticks, Range: &chart.ContinuousRange{Min: 0, Max: 1}},
		YAxis:          chart.YAxis{Name: "precision", Ticks: ticks[int(floor*10+0.5):], Range: &chart.ContinuousRange{Min: floor, Max: 1}},
		YAxisSecondary: chart.YAxis{Style: chart.Hidden()},
		Series: []chart.Series{
			chart.ContinuousSeries{Name: "cut by probability" + apart, XValues: recall, YValues: precision},
			point("decision", s.Decision.Recall, s.Decision.Precision, 1),
			point("best cut", s.Best.Recall, s.Best.Precision, 2),
		},
	}
	graph.Elements = []chart.Renderable{chart.LegendLeft(&graph)}
	return writeOutput(cmd, path, func(w io.Writer) error { return graph.Render(chart.SVG, w) })
}
