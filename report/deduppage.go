package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/text"
)

//go:embed dedup.js
var dedupJS string

//go:embed dedup.css
var dedupStyle string

type removal struct {
	*dedup.Report
	*text.Tokenizer
	beside map[[2]string]g.Node // what has been made of two texts: the least alike pair of a cluster is often an example too
}

// Dedup writes a page that shows what was removed and why: counts, similarities, cluster sizes, and
// removed texts next to the kept ones, with the parts marked that only one of them has. It can be
// dedup.Config.Report. O(report), whose size does not grow with the corpus.
func Dedup(w io.Writer, r *dedup.Report) error {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		return err
	}
	p := removal{r, tokenizer, map[[2]string]g.Node{}}
	page := document{title: "what was removed", style: plotStyle + dedupStyle, script: dedupJS, body: g.Group{
		p.head(), p.counts(), p.similarities(), p.clusters(), p.examples(),
		common("kept documents, drawn at random", r.Sampled, r.Repeated), p.across(), p.values(), p.files(),
	}}
	return page.write(w)
}

func (p *removal) head() g.Node {
	s := &p.Summary
	title := g.Group{el("h1", sayf("%s of %s documents removed (%s)", humanize.Comma(s.Removed), humanize.Comma(s.Read), share(s.Removed, s.Read)))}
	if s.Tagged != nil {
		title = g.Group{
			el("h1", sayf("%s of %s documents are duplicates", humanize.Comma(*s.Tagged), humanize.Comma(s.Read))),
			el("p", say("They were tagged, and nothing was removed: what is called removed below would be.")),
		}
	}
	rule := decided(s)
	if s.CandidateMethod == dedup.MethodLSH && s.Verify == "exact" {
		rule += " Every similarity was verified by the texts themselves."
	}
	return g.Group{title, el("p", say(rule)), g.If(s.TextScheme != "", note(sayf("%s · %s", s.TextScheme, s.SketchScheme)))}
}

// ofRecords tells whether records were compared, and not texts.
func (p *removal) ofRecords() bool { return p.Summary.CandidateMethod == dedup.MethodRecords }

func (p *removal) counts() g.Node {
	s := &p.Summary
	rows := g.Group{counted("read", s.Read), kept(s.Kept, s.Empty)}
	if s.Tagged != nil {
		rows = append(rows, counted("tagged", *s.Tagged, say("with the document that would be kept instead")))
	} else {
		remark := "removed.csv has them all"
		if s.Known > 0 {
			remark = humanize.Comma(s.Known) + " like a document of the index; " + remark
		}
		if !p.ofRecords() {
			remark = humanize.Comma(p.Copies) + " of them copies; " + remark
		}
		rows = append(rows, counted("removed", s.Removed, say(remark)))
	}
	rows = append(rows, skipped(s.Skipped), counted("clusters", s.Clusters, say("of two or more documents; clusters.csv has their members")))
	if s.References > 0 {
		rows = append(rows, counted("references", s.References, say("nothing of them was removed")))
	}
	rows = append(rows, counted("pairs compared", s.Candidates, sayf("%s of them alike", humanize.Comma(s.Verified))))
	if s.BucketsCapped > 0 {
		rows = append(rows, counted("large buckets", s.BucketsCapped, say("of which not all pairs were compared")))
	}
	return el("table", rows)
}

func (p *removal) similarities() g.Node {
	bars := histogram(p.Similarities[:])
	var figures g.Group
	if len(bars) > 0 {
		of := ""
		if !p.ofRecords() {
			of = " that are no copies"
		}
		figures = append(figures, el("figure",
			el("figcaption", sayf("Removed documents%s, by their similarity to the document that was kept; the highest bar is %s", of,
				humanize.Comma(slices.Max(p.Similarities[:])))),
			plot("img", "histogram of similarities", rectangles(bars)), axis(unit...)))
		if !p.ofRecords() {
			figures = append(figures, p.slider())
		}
	}
	if len(p.Recall) > 0 {
		figures = append(figures, el("figure",
			el("figcaption", say("Share of the pairs that are found, by their similarity; the line is the threshold")),
			plot("img", "share of pairs found by similarity", upright(fmt.Sprintf("%.1f", 100*p.Summary.Threshold)), polyline(curve(p.Recall))),
			axis(unit...)))
	}
	if len(figures) == 0 {
		return nil
	}
	return g.Group{el("h2", say("How alike")), el("div", class("plots"), figures)}
}

// slider counts what another threshold would have left.
func (p *removal) slider() g.Node {
	least := slices.IndexFunc(p.Similarities[:], func(n int64) bool { return n > 0 })
	return el("figure",
		el("figcaption", el("label", attr("for", "least"), say("Had only documents been removed that are at least so similar to the one that was kept:"))),
		el("input", attr("type", "range"), attr("id", "least"), attr("min", "0"), attr("max", strconv.Itoa(len(p.Similarities))), attr("value", strconv.Itoa(least)),
			attr("data-counts", strings.Trim(fmt.Sprint(p.Similarities), "[]")), attr("data-copies", strconv.FormatInt(p.Copies, 10)),
			attr("data-documents", strconv.FormatInt(p.Summary.Kept+p.Summary.Removed, 10))),
		el("p", el("output", attr("id", "least-says"), attr("for", "least"))),
		el("noscript", class("soft"), say("The counts need JavaScript; the histogram has them too.")))
}

func (p *removal) clusters() g.Node {
	if len(p.Overview.Sizes) == 0 {
		return nil
	}
	return g.Group{
		el("h2", say("Clusters")),
		el("table", heads("#documents in a cluster", "#clusters", ""), sizes(p.Overview.Sizes)),
		el("h2", say("Clusters, the most suspicious first")),
		el("p", say("The largest ones, and those with the removed documents that are least like the one that was kept. What the other text does not have is marked.")),
		g.Map(p.Suspicious, p.suspect),
	}
}

func sizes(of []dedup.ReportSizes) g.Group {
	most := int64(1)
	for _, s := range of {
		most = max(most, s.Clusters)
	}
	return g.Map(of, func(s dedup.ReportSizes) g.Node {
		width := fmt.Sprintf("width: %.1f%%", max(0.5, 100*float64(s.Clusters)/float64(most)))
		return el("tr", number(fmt.Sprintf("%s to %s", humanize.Comma(int64(s.Least)), humanize.Comma(int64(s.Most)))), count(s.Clusters),
			el("td", class("track"), el("i", attr("style", width))))
	})
}

// suspect is a cluster that opens.
func (p *removal) suspect(c dedup.ReportSuspect) g.Node {
	title, least := g.Group{sayf("%d documents", c.Size)}, &c.Least
	if least.Removed == "" {
		title = append(title, say(", all copies"))
	} else {
		title = append(title, sayf(", the least alike %.6f: ", least.Similarity), isolated(least.Removed), say(", removed for "), isolated(least.Kept))
	}
	members := g.Map(c.Members, func(m dedup.ReportMember) g.Node {
		value := "kept"
		if m.Similarity != 0 {
			value = fmt.Sprintf("%.6f", m.Similarity)
		}
		return el("li", isolated(m.Name), say(" "), soft(say(value)))
	})
	if more := c.Size - len(c.Members); more > 0 {
		members = append(members, el("li", class("soft"), sayf("and %d others", more)))
	}
	return el("details", el("summary", title), el("ul", class("members"), members), g.Iff(least.Removed != "", func() g.Node { return p.texts(least) }))
}

// texts shows a removed text and the kept one.
func (p *removal) texts(e *dedup.ReportExample) g.Node {
	if e.RemovedText == nil || e.KeptText == nil {
		return note(say("The texts are not shown: they are long, or would have to be decompressed once more."))
	}
	both := [2]string{string(e.RemovedText), string(e.KeptText)}
	if _, ok := p.beside[both]; !ok {
		p.beside[both] = beside(differences(p.Tokenizer, e.RemovedText, e.KeptText))
	}
	return p.beside[both]
}

func (p *removal) examples() g.Node {
	if len(p.Examples) == 0 {
		return nil
	}
	all := g.Group{
		el("h2", say("Removed, and kept in its place")),
		el("p", say("Half of these are the removed documents that are least like what was kept, where a mistake would show first. The others are drawn at random. "+
			"Two documents may be less alike than the threshold asks for, if others connect them. What the other text does not have is marked.")),
	}
	for i := range p.Examples {
		e := &p.Examples[i]
		all = append(all, el("details", g.If(i < openAtFirst, attr("open")),
			el("summary", sayf("%.6f ", e.Similarity), isolated(e.Removed), say(", removed for "), isolated(e.Kept)), p.texts(e)))
	}
	return all
}

func (p *removal) across() g.Node {
	return g.Map(p.Across, func(a dedup.ReportAcross) g.Node {
		m := across(&a)
		return g.Group{
			el("h2", say("Removed, by "), isolated(m.Of), say(", and kept in their place")),
			el("p", say("A row is where removed documents are, a column where those are that were kept.")),
			m.table(),
		}
	})
}

// mostValues is how many values of a field are shown.
const mostValues = 50

func (p *removal) values() g.Node {
	of := p.Summary.Counted()
	if of == nil {
		return nil
	}
	all := of.ByRemoved()
	shown := all[:min(len(all), mostValues)]
	return g.Group{
		el("h2", say("By "), isolated(of.Field)),
		g.If(p.Summary.Within != nil, el("p", say("Only documents with the same value were compared."))),
		g.If(len(shown) < len(of.Values) || of.Others != nil,
			el("p", sayf("The %d values with the most removed are shown; the summary has more.", len(shown)))),
		wide("removed by value", heads("value", "#documents", "#removed", "#share"), g.Map(shown, func(v dedup.ValueCounts) g.Node {
			name := g.Node(soft(say("none")))
			if v.Value != "" {
				name = say(v.Value)
			}
			return el("tr", el("td", el("bdi", name)), count(v.Documents), count(v.Removed), number(share(v.Removed, v.Documents)))
		})),
	}
}

func (p *removal) files() g.Node {
	if len(p.Inputs) == 0 {
		return nil
	}
	return g.Group{
		el("h2", say("Files")),
		el("table", heads("file", "#documents", "#removed", "#share"), g.Map(p.Inputs, func(f dedup.ReportInput) g.Node {
			return el("tr", el("td", isolated(f.Name)), count(f.Documents), count(f.Removed), number(share(f.Removed, f.Documents)))
		})),
		g.If(p.OtherInputs > 0, note(sayf("and %d others, from which less was removed", p.OtherInputs))),
	}
}
