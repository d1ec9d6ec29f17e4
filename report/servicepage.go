package report

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
)

// Service writes the page of a service. It has no script or style of its own, and works without the script it names.
func Service(w io.Writer, p *ServicePage) error {
	title := "alike"
	if p.Name != "" {
		title += ": " + p.Name
	}
	content, err := p.content()
	if err != nil {
		return err
	}
	return rendered(w,
		el("meta", attr("name", "viewport"), attr("content", "width=device-width, initial-scale=1")),
		el("meta", attr("name", "referrer"), attr("content", "no-referrer")),
		el("title", say(title)),
		el("link", attr("rel", "stylesheet"), attr("href", "/page/page.css")),
		el("script", attr("src", "/page/page.js"), attr("defer")),
		el("body", p.header(), el("main", g.If(p.Problem != "", el("p", class("problem"), attr("role", "alert"), say(p.Problem))), content)),
	)
}

func (p *ServicePage) header() g.Node {
	links := g.Map(p.Collections, func(c ServiceCollection) g.Node {
		return el("a", attr("href", "/?collection="+url.QueryEscape(c.Name)), g.If(c.Name == p.Name, attr("aria-current", "page")), say(c.Name))
	})
	if p.CollectionsLeft > 0 {
		links = append(links, soft(sayf("and %d others", p.CollectionsLeft)))
	}
	return el("header", el("h1", el("a", attr("href", "/"), say("alike"))), el("nav", attr("aria-label", "collections"), links),
		g.If(p.SignedIn, el("form", attr("method", "post"), attr("action", "/page/logout"), el("button", say("Sign out")))))
}

func (p *ServicePage) content() (g.Node, error) {
	switch {
	case p.Login:
		return p.login(), nil
	case p.Name == "":
		return p.collections(), nil
	}
	return p.collection()
}

func (p *ServicePage) login() g.Node {
	return g.Group{
		el("h2", say("Sign in")),
		el("form", attr("method", "post"), attr("action", "/page/login"), class("row"), hidden("next", p.Next),
			el("label", say("Token "), el("input", attr("type", "password"), attr("name", "token"), attr("required"), attr("autocomplete", "current-password"))),
			say(" "), el("button", say("Sign in"))),
		note(say("The token stays in a cookie that scripts cannot read, until the browser is closed.")),
	}
}

func hidden(name, value string) g.Node {
	return el("input", attr("type", "hidden"), attr("name", name), attr("value", value))
}

func (p *ServicePage) collections() g.Node {
	title := el("h2", say("Collections"))
	if len(p.Collections) == 0 {
		return g.Group{title, el("p", say("There is no collection that you may read. "), el("code", say("PUT /v1/collections/NAME")), say(" makes one."))}
	}
	return g.Group{title, el("table", heads("name", "#documents", "#checked", "#duplicates", "share"), g.Map(p.Collections, func(c ServiceCollection) g.Node {
		duplicates := share(c.Duplicates, c.Checked)
		width := fmt.Sprintf("%.1f", 100*float64(c.Duplicates)/float64(max(1, c.Checked)))
		return el("tr", el("td", el("a", attr("href", "/?collection="+url.QueryEscape(c.Name)), say(c.Name))), count(c.Documents), count(c.Checked), count(c.Duplicates),
			el("td", el("svg", class("share"), attr("viewBox", "0 0 100 10"), attr("preserveAspectRatio", "none"), attr("role", "img"),
				attr("aria-label", "duplicates: "+duplicates), el("rect", attr("width", width), attr("height", "10"))), say(" "+duplicates)))
	}))}
}

// collection is the view of a collection: counts, what can be asked, and what was found.
func (p *ServicePage) collection() (g.Node, error) {
	counters := g.Map(p.Counters, func(c ServiceCounter) g.Node {
		return el("div", el("dt", say(c.Label)), el("dd", attr("data-counter", c.Name), say(humanize.Comma(c.Value))))
	})
	all := g.Group{
		el("h2", say(p.Name)),
		note(say(p.Rule + " · " + p.Recipe)),
		el("dl", class("counters"), attr("id", "counters"), attr("data-collection", p.Name), counters),
		el("div", class("ask"), p.forText(), p.forDocument()),
	}
	if p.Asked {
		found, err := p.found()
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	if len(p.Repeated) > 0 {
		all = append(all, el("h2", say("Most repeated")),
			note(say("A document and what came like it since the server began, which was not added. Similarities are those to the document.")),
			clusterRows(p.Repeated))
	}
	return all, nil
}

func (p *ServicePage) forText() g.Node {
	return el("form", attr("id", "pasted"), attr("method", "post"), attr("action", "/"), attr("enctype", "multipart/form-data"), hidden("collection", p.Name),
		el("label", class("field"), say("A text "),
			// A browser leaves out a line feed that follows the tag.
			el("textarea", attr("id", "text"), attr("name", "text"), attr("dir", "auto"), say("\n"+p.Text))),
		el("div", class("row"), el("label", say("or a file "), el("input", attr("id", "file"), attr("type", "file"), attr("name", "file"))), say(" "),
			el("button", say("Find what is like it"))),
		note(say("Nothing is added to the collection.")))
}

func (p *ServicePage) forDocument() g.Node {
	return el("form", attr("id", "opened"), attr("method", "post"), attr("action", "/"), hidden("collection", p.Name),
		el("label", class("field"), say("A document, by its id "), el("input", attr("name", "id"), attr("value", p.ID), attr("dir", "auto"), attr("required"))),
		el("div", class("row"), el("button", say("Open"))))
}

func clusterRows(all []ServiceCluster) g.Node {
	return el("table", heads("document", "#size", "#inner similarity", "#weakest link"), g.Map(all, func(c ServiceCluster) g.Node {
		weakest := g.Node(say(c.Weakest))
		if c.Pair != "" {
			weakest = el("a", attr("href", c.Pair), weakest)
		}
		return el("tr", el("td", el("a", attr("href", c.Open), isolated(c.Label))), count(c.Size), number(c.Inner), el("td", class("number"), weakest))
	}))
}

// found shows what is like the document or the text that was asked for.
func (p *ServicePage) found() (g.Node, error) {
	least := 0.0
	if p.Slider {
		var err error
		if least, err = strconv.ParseFloat(p.Least, 64); err != nil {
			return nil, fmt.Errorf("report: least similarity: %w", err)
		}
	}
	all := g.Group{el("h2", say("Like "), p.asked()), g.If(p.Meta != "", meta(p.Meta)), p.foundCount(least)}
	if p.Link == "" {
		all = append(all, note(say("The text is too long for a link, and is not kept in the page: choose the file again to ask anew.")))
	}
	all = append(all, p.chart(least), p.slider(), p.rows())
	if len(p.Clusters) > 0 {
		from := ""
		if p.Least != "" {
			from = ", " + p.Least + " and above"
		}
		all = append(all, el("h2", say("Clusters of what was found")),
			note(sayf("Documents that are alike among themselves%s: their number, the mean similarity of alike pairs, and the link without which they fall apart.", from)),
			clusterRows(p.Clusters), g.If(p.ClustersLeft > 0, note(sayf("and %d smaller ones", p.ClustersLeft))))
	}
	if p.Pair != nil {
		all = append(all, p.sideBySide(p.Pair))
	}
	return all, nil
}

// asked names what was asked for.
func (p *ServicePage) asked() g.Node {
	if p.ID == "" {
		return say("the text")
	}
	return isolated(p.ID)
}

func meta(s string) g.Node { return el("pre", class("meta"), say(s)) }

func (p *ServicePage) foundCount(least float64) g.Node {
	similarities, above := make([]string, len(p.Found)), 0
	for i, s := range p.Found {
		similarities[i] = fmt.Sprintf("%.4f", s)
		if s >= least {
			above++
		}
	}
	total := strconv.Itoa(len(p.Found))
	if p.Slider {
		total = "of " + total
	}
	if p.More {
		total += " or more"
	}
	says := g.Group{
		el("output", attr("id", "count"), attr("data-all", strings.Join(similarities, " ")), say(strconv.Itoa(above))), say(" " + total + " found"),
	}
	if p.Link != "" {
		says = append(says, say(" · "), el("a", attr("id", "link"), attr("href", p.Link), say("link to this view")))
	}
	return el("p", says)
}

func (p *ServicePage) chart(least float64) g.Node {
	var counts [50]int64
	for _, s := range p.Found {
		counts[max(0, min(len(counts)-1, int(s*float64(len(counts)))))]++
	}
	bars := histogram(counts[:])
	if len(bars) == 0 {
		return nil
	}
	return g.Group{
		el("svg", class("chart"), square(), attr("role", "img"), attr("aria-label", "documents by similarity, from 0 to 1"), rectangles(bars),
			g.If(p.Slider, upright(fmt.Sprintf("%.1f", 100*least), attr("id", "mark")))),
		el("div", class("scale"), spans(unit)),
	}
}

func (p *ServicePage) slider() g.Node {
	if !p.Slider {
		return nil
	}
	return el("div", class("row slider"), el("label", attr("for", "threshold"), say("Least similarity "), el("output", attr("id", "least"), say(p.Least))),
		el("input", attr("id", "threshold"), attr("type", "range"), attr("name", "threshold"), attr("form", p.Form), attr("min", p.Floor), attr("max", "1"), attr("step", "0.01"), attr("value", p.Least)),
		g.If(p.Link != "", el("button", attr("form", p.Form), say("Count again"))))
}

func (p *ServicePage) rows() g.Node {
	if len(p.Rows) == 0 {
		return nil
	}
	return g.Group{
		el("ol", attr("id", "matches"), g.Map(p.Rows, func(r ServiceRow) g.Node {
			name := isolated(r.Label)
			if p.Link != "" {
				name = el("button", attr("form", p.Form), attr("name", "with"), attr("value", r.ID), g.If(r.Chosen, attr("aria-current", "true")), name)
			}
			return el("li", attr("data-similarity", r.Similarity), g.If(r.Hidden, attr("hidden")), g.If(r.Chosen, class("chosen")),
				el("span", say(r.Similarity)), name, el("a", attr("href", r.Open), say("open")))
		})),
		g.If(p.RowsLeft > 0, note(sayf("and %d that are less alike", p.RowsLeft))),
	}
}

func (p *ServicePage) sideBySide(pair *ServicePair) g.Node {
	var passages g.Group
	if pair.Passages > 0 {
		passages = g.Group{
			sayf("%d shared %s: ", pair.Passages, some(pair.Passages, "passage", "passages")), el("kbd", say("n")), say(" next, "),
			el("kbd", say("p")), say(" previous; a passage leads to the other side. "),
		}
	}
	right := g.Group{isolated(pair.Label)}
	if pair.Similarity != "" {
		right = append(right, say(" · "+pair.Similarity))
	}
	return g.Group{
		el("h2", say("Side by side")),
		note(passages, el("span", class("same"), say("What both have")), say(", and "), el("mark", say("what only one has")), say(".")),
		el("div", class("both"),
			el("section", attr("aria-label", "what was asked for"), el("h3", p.asked()),
				el("div", attr("id", "left"), attr("dir", "auto"), attr("tabindex", "0"), pieceNodes(pair.Left, "a", "b"))),
			el("section", attr("aria-label", "what is like it"), el("h3", right),
				el("div", attr("id", "right"), attr("dir", "auto"), attr("tabindex", "0"), pieceNodes(pair.Right, "b", "a")), g.If(pair.Meta != "", meta(pair.Meta)))),
	}
}

// pieceNodes shows the pieces of a side. A passage leads to that of the other side.
func pieceNodes(all []Piece, side, other string) g.Group {
	return g.Map(all, func(p Piece) g.Node {
		if p.Passage == 0 {
			return shownPart(p.Text, p.Alone, p.Left, "bytes")
		}
		number := strconv.Itoa(p.Passage)
		return el("a", class("same"), attr("id", side+number), attr("href", "#"+other+number), say(p.Text))
	})
}
