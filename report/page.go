package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/text"
)

// Pages are made by functions, and not from html/template: where a template can be run, the linker keeps every exported
// method of every type, for the template might name it. That made the whole program a sixth larger.

var (
	//go:embed style.css
	sharedStyle string
	//go:embed plots.css
	plotStyle string // of the pages that have plots
)

// document is a page that is one file and asks for nothing: its policy lets only its own script run.
type document struct {
	title  string
	style  string // beyond sharedStyle
	script string // "": none
	data   string // JSON for the script; "": none
	body   g.Group
}

func (d *document) write(w io.Writer) error {
	policy, scripts := "default-src 'none'; style-src 'unsafe-inline'", g.Group{}
	if d.data != "" {
		scripts = append(scripts, el("script", attr("id", "data"), attr("type", "application/json"), g.Raw(d.data)))
	}
	if d.script != "" {
		sum := sha256.Sum256([]byte(d.script))
		policy += "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		scripts = append(scripts, el("script", g.Raw(d.script)))
	}
	return rendered(w,
		el("meta", attr("http-equiv", "Content-Security-Policy"), attr("content", policy)),
		el("meta", attr("name", "viewport"), attr("content", "width=device-width, initial-scale=1")),
		el("title", say("alike: "+d.title)),
		el("style", g.Raw(sharedStyle+d.style)),
		el("body", d.body, scripts),
	)
}

// rendered writes a page of the nodes of its head and of its body, which is the last of them.
func rendered(w io.Writer, nodes ...g.Node) error {
	out := bufio.NewWriter(w)
	head, body := g.Group(nodes[:len(nodes)-1]), nodes[len(nodes)-1]
	page := g.Group{g.Raw("<!DOCTYPE html>\n"), el("html", attr("lang", "en"), el("head", el("meta", attr("charset", "utf-8")), head), body), say("\n")}
	if err := page.Render(out); err != nil {
		return err
	}
	return out.Flush()
}

// el is an element of a page with its attributes and what is in it. It, attr, class, say and sayf are not inlined: each place
// that calls them would have a copy of the library's code, and the pages 700 kB.
//
//go:noinline
func el(name string, children ...g.Node) g.Node { return g.El(name, children...) }

//go:noinline
func attr(name string, value ...string) g.Node { return g.Attr(name, value...) }

//go:noinline
func class(names string) g.Node { return attr("class", names) }

// say is text.
//
//go:noinline
func say(s string) g.Node { return g.Text(s) }

//go:noinline
func sayf(format string, a ...any) g.Node { return g.Textf(format, a...) }

// isolated is a name that people gave, whatever its direction of writing.
func isolated(s string) g.Node { return el("bdi", say(s)) }

func soft(children ...g.Node) g.Node { return el("span", class("soft"), g.Group(children)) }

// note is a paragraph that explains.
func note(children ...g.Node) g.Node { return el("p", class("soft"), g.Group(children)) }

// count is a cell with a number of things.
func count(n int64) g.Node { return number(humanize.Comma(n)) }

// number is a cell of a column of numbers.
func number(s string) g.Node { return el("td", class("number"), say(s)) }

// heads is the first row of a table: "#" before a name makes its column one of numbers.
func heads(names ...string) g.Node {
	return el("tr", g.Map(names, func(name string) g.Node {
		if name, ok := strings.CutPrefix(name, "#"); ok {
			return el("th", class("number"), say(name))
		}
		return el("th", say(name))
	}))
}

// counted is a row of a table of counts: what is counted, how many, and what is to be said of it.
func counted(of string, n int64, remark ...g.Node) g.Node {
	return el("tr", el("th", say(of)), count(n), el("td", remark...))
}

// skipped is the row of documents that could not be used.
func skipped(n int64) g.Node {
	return counted("skipped", n, g.If(n > 0, say("they could not be used; each was named when the program ran")))
}

// kept is the row of documents that were kept.
func kept(n, empty int64) g.Node {
	return counted("kept", n, g.If(empty > 0, sayf("%s of them without a text", humanize.Comma(empty))))
}

// wide holds a table that may be wider than the page.
func wide(label string, table ...g.Node) g.Node {
	return el("div", class("wide"), attr("tabindex", "0"), attr("role", "region"), attr("aria-label", label), el("table", table...))
}

// plot is a drawing in a square of 100 by 100. role tells whether parts of it can be chosen: group, or img.
func plot(role, label string, shapes ...g.Node) g.Node {
	return el("div", class("plot"), el("svg", square(), attr("role", role), attr("aria-label", label), g.Group(shapes)))
}

// square are the attributes of a drawing of 100 by 100 that is stretched.
func square() g.Group {
	return g.Group{attr("viewBox", "0 0 100 100"), attr("preserveAspectRatio", "none")}
}

func axis(marks ...string) g.Node { return el("div", class("axis"), spans(marks)) }

// unit is the marks of an axis from 0 to 1.
var unit = []string{"0", "0.25", "0.5", "0.75", "1"}

func spans(texts []string) g.Group {
	return g.Map(texts, func(s string) g.Node { return el("span", say(s)) })
}

// bar is a bar of a histogram, in a square of 100 by 100.
type bar struct {
	X, Y, Width, Height string
	Title               string
	Link                string // address of what it stands for; "": none
}

// histogram returns the bars of counts for equal parts of 0 to 1, without those of 0.
func histogram(counts []int64) []bar {
	from := func(part int) string { return fmt.Sprintf("%.2f", float64(part)/float64(len(counts))) }
	return barsOf(counts, from, func(n int64) float64 { return float64(n) })
}

// barsOf returns the bars of counts for equal parts, without those of 0. from says where a part begins, height is on
// any scale.
func barsOf(counts []int64, from func(part int) string, height func(n int64) float64) (all []bar) {
	most := int64(0)
	for _, n := range counts {
		most = max(most, n)
	}
	width := 100 / float64(len(counts))
	for i, n := range counts {
		if n == 0 {
			continue
		}
		tall := max(1, 100*height(n)/height(most))
		all = append(all, bar{
			X: fmt.Sprintf("%.2f", width*float64(i)), Y: fmt.Sprintf("%.2f", 100-tall),
			Width: fmt.Sprintf("%.2f", width*0.9), Height: fmt.Sprintf("%.2f", tall),
			Title: fmt.Sprintf("%s to %s: %s", from(i), from(i+1), humanize.Comma(n)),
		})
	}
	return all
}

// rectangles draws bars. Those that have a link lead to it.
func rectangles(bars []bar, attributes ...g.Node) g.Group {
	return g.Map(bars, func(b bar) g.Node {
		r := el("rect", g.Group(attributes), attr("x", b.X), attr("y", b.Y), attr("width", b.Width), attr("height", b.Height), el("title", say(b.Title)))
		if b.Link == "" {
			return r
		}
		return el("a", attr("href", b.Link), r)
	})
}

// upright is a line from the bottom to the top.
func upright(x string, attributes ...g.Node) g.Node {
	return el("line", g.Group(attributes), attr("x1", x), attr("x2", x), attr("y1", "0"), attr("y2", "100"))
}

func polyline(points string) g.Node { return el("polyline", attr("points", points)) }

// beside shows two texts side by side, with the parts marked that only one of them has.
func beside(a, b []part, before ...g.Node) g.Node {
	return el("div", class("both"), el("div", attr("dir", "auto"), g.Map(a, part.shown)), el("div", attr("dir", "auto"), g.Group(before), g.Map(b, part.shown)))
}

func (p part) shown() g.Node { return shownPart(p.Text, p.Alone, p.Left, "characters") }

// shownPart shows a piece of a text, or how much is left out.
func shownPart(text string, alone bool, left int, of string) g.Node {
	switch {
	case left > 0:
		return g.Group{say(" "), soft(sayf("… (%d %s more) …", left, of)), say(" ")}
	case alone:
		return el("mark", say(text))
	}
	return say(text)
}

// share is a part of a whole in per cent.
func share(part, whole int64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// some is the singular of a word for one thing, and the plural for others.
func some[N int | int64](n N, singular, plural string) string {
	if n == 1 {
		return singular
	}
	return plural
}

//go:embed contamination.css
var contaminationStyle string

// openAtFirst is how many of the examples of a page are open.
const openAtFirst = 3

// Contamination writes a page that shows which items of evaluation sets were found, and beside them the places where
// they stand. It can be decontaminate.Config.Page. O(page), whose size does not grow with the corpus.
func Contamination(w io.Writer, p *decontaminate.Page) error {
	tokenizer, err := text.New(text.Options{StripDiacritics: true})
	if err != nil {
		return err
	}
	var places g.Group
	for i, e := range p.Examples {
		item, found := differences(tokenizer, e.ItemText, e.Excerpt[e.Lead:])
		places = append(places, el("details", g.If(i < openAtFirst, attr("open")),
			el("summary", sayf("%.6f ", e.Score), isolated(e.Item), say(" of "), isolated(e.Set), sayf(" (%s) in ", e.Part), isolated(e.Document)),
			beside(item, found, soft(say(strings.ToValidUTF8(string(e.Excerpt[:e.Lead]), "\uFFFD"))))))
	}
	s := &p.Summary
	page := document{title: "evaluation items in training documents", style: contaminationStyle, body: g.Group{
		el("h1", sayf("%s of %s documents hold evaluation items (%s)", humanize.Comma(s.Documents), humanize.Comma(s.Read), share(s.Documents, s.Read))),
		el("p", sayf("An item counts from a score of %v on: the share of its words that stand in the document, by weight.", p.Details.Threshold)),
		el("table", counted("read", s.Read), kept(s.Kept, s.Empty), counted("removed", s.Removed), skipped(s.Skipped),
			counted("places", s.Found, say("found.csv has them all"))),
		el("h2", say("Evaluation sets")),
		el("table", heads("set", "#items", "#found", "#share"), g.Map(p.Details.Sets, func(of decontaminate.Set) g.Node {
			items, found := int64(of.Items), int64(of.Found)
			return el("tr", el("td", isolated(of.Set)), count(items), count(found), number(share(found, items)))
		})),
	}}
	if len(places) > 0 {
		page.body = append(page.body, el("h2", say("Items, and where they stand")),
			el("p", say("One place of each of the first items that were found: the item on the left, the document on the right. "+
				"What the other text does not have is marked.")), places)
	}
	return page.write(w)
}
