package report

import (
	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/passage"
)

// common shows the passages that many documents have: of what these are, and in how many they were looked for.
func common(of string, sampled int, passages []passage.Repeated) g.Node {
	if len(passages) == 0 {
		return nil
	}
	return g.Group{
		el("h2", say("Passages that many documents have")),
		el("p", sayf("In %s %s, these runs of 8 words or more stand in at least %d: notices, menus, licences. They make documents alike that are not. "+
			"Those with the most words over all documents come first.", humanize.Comma(int64(sampled)), of, passage.Often(sampled))),
		el("table", class("common"), heads("#documents", "#words", "passage"), g.Map(passages, func(p passage.Repeated) g.Node {
			return el("tr", count(int64(p.Texts)), count(int64(p.Tokens)), el("td", attr("dir", "auto"), say(cut(string(p.Text), shownPassage))))
		})),
	}
}

// matrix counts pairs, or removed documents, by the groups of their documents.
type matrix struct {
	What, Of  string
	Left, Top []string
	Counts    [][]int64
}

func (m *matrix) table() g.Node {
	top := el("tr", el("td"), g.Map(m.Top, func(name string) g.Node { return el("th", class("number"), isolated(name)) }))
	rows := g.Group{}
	for i, row := range m.Counts {
		rows = append(rows, el("tr", el("th", isolated(m.Left[i])), g.Map(row, func(n int64) g.Node {
			if n == 0 {
				return number("")
			}
			return count(n)
		})))
	}
	return wide(m.What+" by "+m.Of, top, rows)
}
