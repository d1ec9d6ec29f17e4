package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/eval"
)

// plotPoints is how many points of a curve are drawn at most.
const plotPoints = 1000

// The drawing, in pixels: the area of the curve stands at left and top.
const (
	plotWidth, plotHeight = 960, 560
	plotLeft, plotTop     = 70, 60
	areaWidth, areaHeight = plotWidth - plotLeft - 30, plotHeight - plotTop - 60
)

// plotJoinScores draws precision over recall, with the decision and the best cut, as SVG.
func plotJoinScores(cmd *cobra.Command, path string, s *alike.JoinScores) error {
	var curve []eval.Point
	least := min(s.Decision.Precision, s.Best.Precision)
	for i, p := range s.Curve {
		if n := len(s.Curve); n <= plotPoints || i*plotPoints/n != (i+1)*plotPoints/n {
			curve = append(curve, p)
			least = min(least, p.Precision)
		}
	}
	if len(curve) < 2 {
		return fmt.Errorf("--plot %s: %d points make no curve: too few pairs were considered", path, len(curve))
	}
	d := drawing{floor: min(int(least*10), 9), over: "recall", figure: "precision"}
	d.axes()
	d.add(`<polyline fill="none" stroke="#0074d9" points="`)
	for _, p := range curve {
		d.add("%.1f,%.1f ", d.x(p.Recall), d.y(p.Precision))
	}
	d.add("\"/>\n")
	d.label(0, "#0074d9", "cut by probability")
	d.point(1, "#00a03c", "decision", s.Decision.Precision, s.Decision.Recall)
	d.point(2, "#d92b2b", "best cut", s.Best.Precision, s.Best.Recall)
	return d.write(cmd, path)
}

// drawing is an SVG of a figure, up to 1, over another one, from 0 to 1.
type drawing struct {
	svg    bytes.Buffer
	floor  int    // the figure at the bottom, in tenths
	over   string // name of what runs from left to right
	figure string // and of what runs upwards
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.svg, format, args...) }

func (d *drawing) x(over float64) float64 { return plotLeft + over*areaWidth }

func (d *drawing) y(figure float64) float64 {
	floor := float64(d.floor) / 10
	return plotTop + (1-figure)/(1-floor)*areaHeight
}

// write ends the drawing and writes it to a file.
func (d *drawing) write(cmd *cobra.Command, path string) error {
	d.add("</svg>\n")
	return writeOutput(cmd, path, func(w io.Writer) error {
		_, err := d.svg.WriteTo(w)
		return err
	})
}

// axes begins the drawing with a line for each tenth.
func (d *drawing) axes() {
	d.add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n", plotWidth, plotHeight)
	d.add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n")
	bottom := plotTop + areaHeight
	for i := range 11 {
		x := d.x(float64(i) / 10)
		d.add("<path stroke=\"#ddd\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f</text>\n", x, plotTop, bottom, x, bottom+20, float64(i)/10)
	}
	for i := d.floor; i <= 10; i++ {
		y := d.y(float64(i) / 10)
		d.add("<path stroke=\"#ddd\" d=\"M%d %.1fh%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n", plotLeft, y, areaWidth, plotLeft-8, y+4, float64(i)/10)
	}
	d.add("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", plotLeft+areaWidth/2, bottom+44, d.over)
	d.add("<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", plotTop+areaHeight/2, d.figure)
}

// label writes a line of the legend, which stands above the area.
func (d *drawing) label(i int, color, text string) {
	d.key(plotLeft+280*i, 26, color, text)
}

// key writes a colour and what it stands for.
func (d *drawing) key(x, y int, color, text string) {
	d.add("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x, y, color, x+20, y+11, text)
}

func (d *drawing) point(i int, color, name string, precision, recall float64) {
	d.add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", d.x(recall), d.y(precision), color)
	d.label(i, color, fmt.Sprintf("%s %.3f, %.3f", name, precision, recall))
}

// curveColors are those of the curves, which differ for people who see no red and green as well.
var curveColors = [mostCurves]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#8a7a00"}

// mostCurves is how many curves a drawing has room for.
const mostCurves = 8
