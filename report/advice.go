package report

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/advise"
	"github.com/alike-dev/alike/text"
)

// advicePairs is how many pairs of each part of the histogram can be opened.
const advicePairs = 2

//go:embed advice.css
var adviceStyle string

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
	page := document{title: "which recipe finds the copies", style: plotStyle + adviceStyle, body: g.Group{p.head(), p.rows(), p.distribution()}}
	return page.write(w)
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

func (p *advice) head() g.Node {
	return g.Group{
		el("h1", say(p.Chosen.String())),
		el("p", sayf("Chosen: %s.", p.Reason)),
		el("p", el("code", say(p.Flags))),
		note(sayf("%s documents; a sample of %d texts, with %d pairs that are surely copies and %d that may be.",
			pairCount(p.Whole), p.Documents, p.Advice.Copies, p.Doubtful)),
	}
}

func (p *advice) rows() g.Node {
	if len(p.Rows) == 0 {
		return nil
	}
	return g.Group{
		el("h2", say("Recipes")),
		wide("recipes", heads("recipe", "#pairs", "#wrong", "#from … to", "#found", "#F1", "#seconds"), g.Map(p.Rows, func(r advise.Row) g.Node {
			f1 := fmt.Sprintf("%.3f", r.F1)
			if r.F1To > 0 {
				f1 += fmt.Sprintf(" (%.2f–%.2f)", r.F1From, r.F1To)
			}
			wrong, between := fmt.Sprintf("%.3f", r.Wrong), fmt.Sprintf("%.3f … %.3f", r.WrongFrom, r.WrongTo)
			if r.Pairs < 0.5 {
				wrong, between = "unknown", ""
			}
			return el("tr", g.If(r.Recipe == p.Chosen, class("chosen")), el("td", say(r.Recipe.String())), number(pairCount(r.Pairs)),
				number(wrong), number(between),
				number(fmt.Sprintf("%.3f", r.Found)), number(f1), number(fmt.Sprintf("%.3g", r.Seconds)))
		})),
		note(say("Expected for all documents: pairs of distinct texts, the share of them that are no copies, the share of all copies that are found, " +
			"seconds of one core. The last row is the default.")),
	}
}

// distribution shows how alike pairs are, and pairs of each similarity.
func (p *advice) distribution() g.Node {
	if len(p.Others) == 0 {
		return nil
	}
	mark := upright(p.Mark)
	candidate := note(say("All pairs from the threshold on are found."))
	if p.Candidate != "" {
		candidate = el("figure", el("figcaption", say("Probability of becoming a candidate, by similarity")),
			plot("img", "probability of becoming a candidate", mark, polyline(p.Candidate)))
	}
	return g.Group{
		el("h2", say("How alike")),
		el("div", class("plots"),
			el("figure", class("large"),
				el("figcaption", say("Pairs by their similarity, as the logarithm of their number: copies, above them in grey others that share something. "+
					"The curve is what chance gives, the broken line the threshold. A bar leads to pairs of its similarity.")),
				plot("group", "histogram of similarities", rectangles(p.Others, class("others")), rectangles(p.Copies), mark,
					g.If(p.Chance != "", polyline(p.Chance))),
				axis(unit...)),
			candidate),
		el("h2", say("Pairs")),
		el("p", say("Some of each similarity. What the other text does not have is marked.")),
		g.Map(p.Parts, func(part advicePart) g.Node {
			return el("section", attr("id", part.ID), el("h3", say(part.Title)), g.Map(part.Pairs, func(x advicePair) g.Node {
				return el("details", el("summary", sayf("%.3f ", x.Similarity), isolated(x.A), say(", "), isolated(x.B), say(" "), soft(sayf("cover %.2f", x.Cover))),
					beside(x.PartsA, x.PartsB))
			}))
		}),
	}
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
