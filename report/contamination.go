package report

import (
	_ "embed"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/text"
)

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
