package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/advise"
	"github.com/alike-dev/alike/text"
)

//go:embed advice.html
var adviceHTML string

var advicePage = sync.OnceValue(func() *template.Template {
	f := still()
	f["pairs"], f["style"] = pairCount, plotted
	return parsed("advice", f, adviceHTML)
})

// advicePairs is how many pairs of each part of the histogram can be opened.
const advicePairs = 2

// advice is the data of the page of an advice.
type advice struct {
	*advise.Advice
	Flags, Mark    string
	Others, Copies []bar
	Chance         string // points of polylines in a square of 100 by 100; "": none
	Candidate      string
	Parts          []advicePart
}

// advicePart is the pairs of a part of the histogram.
type advicePart struct {
	ID, Title string
	Pairs     []advicePair
}

type advicePair struct {
	advise.Pair
	PartsA, PartsB []part
}

// Advice writes a page that shows how alike the pairs of a corpus are by the recipe that a sample says, with pairs
// of all similarities side by side. flags are the recipe as flags. The size of the page does not grow with the corpus.
func Advice(w io.Writer, a *advise.Advice, flags string) error {
	p := advice{Advice: a, Flags: flags, Mark: fmt.Sprintf("%.1f", 100*a.Chosen.Threshold)}
	if d := a.Distribution(advicePairs); d != nil {
		if err := p.draw(d); err != nil {
			return err
		}
	}
	return advicePage().Execute(w, &p)
}

func (p *advice) draw(d *advise.Distribution) error {
	most := 1.0
	for i := range advise.Bins {
		most = max(most, d.Copies[i]+d.Others[i], d.Chance[i])
	}
	height := func(pairs float64) float64 { return 100 * math.Log1p(pairs) / math.Log1p(most) }
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		return err
	}
	var chance strings.Builder
	for i := range advise.Bins {
		if d.Chance[i] > 0 {
			fmt.Fprintf(&chance, "%.1f,%.1f ", (float64(i)+0.5)*100/advise.Bins, 100-height(d.Chance[i]))
		}
		if len(d.Pairs[i]) == 0 {
			continue
		}
		all := d.Copies[i] + d.Others[i]
		title := fmt.Sprintf("%.2f to %.2f: %s copies, %s others", float64(i)/advise.Bins, float64(i+1)/advise.Bins, pairCount(d.Copies[i]), pairCount(d.Others[i]))
		p.Others, p.Copies = append(p.Others, logBar(i, height(all), title)), append(p.Copies, logBar(i, height(d.Copies[i]), title))
		group := advicePart{ID: fmt.Sprintf("s%d", i), Title: title}
		for _, pair := range d.Pairs[i] {
			x := advicePair{Pair: pair}
			x.PartsA, x.PartsB = differences(tokenizer, pair.TextA, pair.TextB)
			group.Pairs = append(group.Pairs, x)
		}
		p.Parts = append(p.Parts, group)
	}
	p.Chance = strings.TrimSpace(chance.String())
	if d.Candidate != nil {
		p.Candidate = curve(d.Candidate)
	}
	return nil
}

// logBar is a bar of a histogram of advise.Bins parts.
func logBar(i int, height float64, title string) bar {
	const width = 100.0 / advise.Bins
	return bar{
		X: fmt.Sprintf("%.2f", width*float64(i)), Y: fmt.Sprintf("%.2f", 100-height),
		Width: fmt.Sprintf("%.2f", width*0.9), Height: fmt.Sprintf("%.2f", height), Title: title, Link: fmt.Sprintf("#s%d", i),
	}
}

// pairCount rounds an expected number.
func pairCount(n float64) string { return humanize.Comma(int64(n + 0.5)) }
