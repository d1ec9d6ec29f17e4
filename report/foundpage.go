package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

//go:embed found.js
var foundJS string

//go:embed found.css
var foundStyle string

// foundScript is the data of the script.
type foundScript struct {
	First     int        `json:"first"`
	Step      float64    `json:"step"`
	Decimals  int        `json:"decimals"`
	Pairs     []int      `json:"pairs"`
	Clusters  []int      `json:"clusters"`
	Documents []int      `json:"documents"`
	Largest   []int      `json:"largest"`
	Header    string     `json:"header"`
	Rows      []foundRow `json:"rows"`
	Of        string     `json:"of"`
	Two       bool       `json:"two"`
}

// foundRow is a pair of the sample.
type foundRow struct {
	A     string  `json:"a"`
	B     string  `json:"b"`
	TextA string  `json:"ta,omitempty"` // the beginning
	TextB string  `json:"tb,omitempty"`
	Value float64 `json:"v"`
	Row   string  `json:"row,omitempty"` // of a list of verdicts, without the verdict; "": a name is too long, or not UTF-8
}

// Write writes the page. O(pairs + documents).
func (f *Found) Write(w io.Writer) error {
	script, counts, err := f.forScript()
	if err != nil {
		return err
	}
	data, err := json.Marshal(script)
	if err != nil {
		return err
	}
	clusters, err := f.clusters()
	if err != nil {
		return err
	}
	often, sampled, err := f.common()
	if err != nil {
		return err
	}
	page := document{title: "pairs that were found", style: plotStyle + foundStyle, script: foundJS, data: string(data), body: g.Group{
		el("main", f.head(), f.thresholds(script, counts), clusters, common("documents, one of a cluster", sampled, often), f.matrices()),
	}}
	return page.write(w)
}

// forScript returns the data of the script, and the number of pairs in each part of the scale.
func (f *Found) forScript() (data *foundScript, counts []int64, err error) {
	counts = make([]int64, f.scale.n)
	for _, p := range f.pairs {
		counts[f.scale.part(p.value)]++
	}
	header, err := csvRow(f.of.Header...)
	if err != nil {
		return nil, nil, err
	}
	rows, err := f.rows()
	if err != nil {
		return nil, nil, err
	}
	decimals := max(0, int(math.Ceil(-math.Log10(f.scale.step)-1e-9)))
	return &foundScript{
		f.scale.first, f.scale.step, decimals, f.levels.Pairs, f.levels.Clusters, f.levels.Documents, f.levels.Largest, string(header), rows, f.of.Of, f.of.Two,
	}, counts, nil
}

func (f *Found) head() g.Node {
	documents, largest := 0, 0
	for _, c := range f.all {
		documents, largest = documents+c.Size, max(largest, c.Size)
	}
	pairs, clusters := int64(f.kept), int64(len(f.all))
	rule := fmt.Sprintf("%s They connect %s %s to %s %s", f.of.Decided, humanize.Comma(int64(documents)), f.of.Of, humanize.Comma(clusters),
		some(clusters, "cluster", "clusters"))
	if clusters > 0 {
		rule += ", the largest of " + humanize.Comma(int64(largest))
	}
	return g.Group{el("h1", sayf("%s %s %s", humanize.Comma(pairs), some(pairs, "pair", "pairs"), f.of.Title)), el("p", say(rule+"."))}
}

// thresholds shows what another threshold would list, and pairs around it.
func (f *Found) thresholds(data *foundScript, counts []int64) g.Node {
	at := func(part int) string {
		return fmt.Sprintf("%.*f", data.Decimals, float64(f.scale.first+part)*f.scale.step)
	}
	bars := barsOf(counts, at, func(n int64) float64 { return math.Log1p(float64(n)) })
	if len(bars) == 0 {
		return nil
	}
	start := f.scale.n - 1 // the part with the least value that is listed
	for _, p := range f.pairs {
		if p.listed {
			start = min(start, f.scale.part(p.value))
		}
	}
	var marks []string
	for i := range 5 {
		marks = append(marks, at(i*(f.scale.n-1)/4))
	}
	below, from := "Pairs below the threshold of the run are not known.", "From all pairs."
	if f.kept < len(f.pairs) {
		below = "Pairs that the run considered, and did not list, are counted too."
	}
	if len(f.sample) < len(f.pairs) {
		from = fmt.Sprintf("From a sample of the pairs, as many of each step of %s as there is room for; the list itself has all.", f.of.Value)
	}
	return g.Group{
		el("h2", say("Another threshold")),
		el("div", class("plots"),
			el("figure",
				el("figcaption", sayf("Pairs by %s; the highest bar is %s, and heights are logarithms", f.of.Value, humanize.Comma(slices.Max(counts)))),
				plot("img", "histogram of pairs by "+f.of.Value, rectangles(bars)), axis(marks...)),
			el("figure",
				el("figcaption", el("label", attr("for", "least"), sayf("With a least %s of:", f.of.Value))),
				el("input", attr("type", "range"), attr("id", "least"), attr("min", "0"), attr("max", strconv.Itoa(f.scale.n-1)), attr("value", strconv.Itoa(start))),
				el("p", el("output", attr("id", "says"), attr("for", "least"))),
				note(sayf("Counted from all pairs, in steps of %v. %s", data.Step, below)),
				el("noscript", class("soft"), say("The counts need JavaScript; the histogram has them too.")))),
		el("h2", say("Pairs around it")),
		note(say(from + " Verdicts are kept by the browser, and are saved as a table that serves as truth.")),
		el("div", class("wide"), el("table", attr("id", "pairs"), el("thead", heads(f.of.Value, "a", "b", "same?")), el("tbody", attr("id", "rows")))),
		el("p", el("button", attr("type", "button"), attr("id", "save"), attr("disabled"), say("Save verdicts")), say(" "), el("span", attr("id", "judged"), class("soft"))),
	}
}

func (f *Found) rows() (rows []foundRow, err error) {
	rows = []foundRow{}
	for _, p := range f.sample {
		a, b := f.docs[p.a].name, f.docs[p.b].name
		r := foundRow{
			A: cut(a, shownName), B: cut(b, shownName), Value: math.Round(p.value*1e6) / 1e6, TextA: f.excerpts[p.a], TextB: f.excerpts[p.b],
		}
		if r.A == a && r.B == b {
			row, err := csvRow(a, b, "")
			if err != nil {
				return nil, err
			}
			r.Row = strings.TrimSuffix(string(row), "\n")
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// cut is the beginning of a text, with U+FFFD for bytes that are not UTF-8.
func cut(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			s = s[:i] + "…"
			break
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// clusters shows those that are shown.
func (f *Found) clusters() (g.Node, error) {
	if len(f.shown) == 0 {
		return nil, nil
	}
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		return nil, err
	}
	order := fmt.Sprintf("First come clusters with the most pairs of members that were not found themselves, so that only others connect them; "+
		"then those that fall apart at the lowest %s. What the other text does not have is marked.", f.of.Value)
	if len(f.shown) < len(f.all) {
		order += fmt.Sprintf(" %d of %s are shown.", len(f.shown), humanize.Comma(int64(len(f.all))))
	}
	all := g.Group{el("h2", say("Clusters, the most suspicious first")), el("p", say(order))}
	for _, c := range f.shown {
		all = append(all, f.cluster(c, tokenizer))
	}
	return all, nil
}

func (f *Found) cluster(c *foundCluster, tokenizer *text.Tokenizer) g.Node {
	title := fmt.Sprintf("%d %s, %d %s", c.Size, f.of.Of, c.Pairs, some(c.Pairs, "pair", "pairs"))
	if c.Apart > 0 {
		title += fmt.Sprintf(", %d not found", c.Apart)
	}
	title += fmt.Sprintf("; the weakest link %.6f", c.Weakest)
	if c.Size > 2 {
		title += fmt.Sprintf(" connects %d and %d", c.Parts[0], c.Parts[1])
	}
	members := g.Map(c.members, func(doc uint32) g.Node {
		member := g.Group{isolated(cut(f.docs[doc].name, shownName))}
		if group := f.groupOf(doc); group != "" {
			member = append(member, say(" "), soft(isolated(group)))
		}
		return el("li", member)
	})
	if more := c.Size - len(c.members); more > 0 {
		members = append(members, el("li", class("soft"), sayf("and %d others", more)))
	}
	texts := note(say("The texts are not shown: they could not be read again."))
	if a, b := f.texts[c.weakest.a], f.texts[c.weakest.b]; a != nil && b != nil {
		texts = beside(differences(tokenizer, a, b))
	}
	return el("details", class("cluster"),
		el("summary", say(title+": "), isolated(cut(f.docs[c.weakest.a].name, shownName)), say(", "), isolated(cut(f.docs[c.weakest.b].name, shownName))),
		el("ul", class("members"), members), texts)
}

// common finds what the sampled documents of clusters apart have in common.
func (f *Found) common() (often []passage.Repeated, sampled int, err error) {
	words, err := text.New(text.Options{})
	if err != nil {
		return nil, 0, err
	}
	var texts [][]byte
	for _, doc := range slices.Sorted(maps.Keys(f.apart)) {
		if f.apart[doc] != nil {
			texts = append(texts, f.apart[doc])
		}
	}
	return passage.Common(words, texts, passage.Often(len(texts)), mostCommon), len(texts), nil
}

// groupOf names the groups that a document is in, as far as there are several.
func (f *Found) groupOf(doc uint32) string {
	var of []string
	for by := range f.groups {
		if n := f.docs[doc].groups[by]; n > 0 && len(f.groups[by].names) > 1 {
			of = append(of, cut(f.groups[by].names[n-1], shownName))
		}
	}
	return strings.Join(of, " · ")
}

func (f *Found) matrices() g.Node {
	var all g.Group
	for by, of := range []string{"source", f.of.By} {
		if len(f.groups[by].names) > 1 {
			m := f.matrix(by, of)
			all = append(all, el("h2", say("Pairs by "), isolated(of)), m.table())
		}
	}
	return all
}

// matrix counts listed pairs by the groups of A and B. Where both are of one collection, the order says nothing.
func (f *Found) matrix(by int, of string) matrix {
	g := &f.groups[by]
	counts := map[[2]int32]int64{}
	var weights [2]map[int32]int64
	weights[0], weights[1] = map[int32]int64{}, map[int32]int64{}
	for _, p := range f.pairs {
		if !p.listed {
			continue
		}
		key := [2]int32{f.docs[p.a].groups[by], f.docs[p.b].groups[by]}
		if !f.of.Two && key[0] > key[1] {
			key[0], key[1] = key[1], key[0]
		}
		counts[key]++
		for side, n := range key {
			weights[side][n]++
			if !f.of.Two {
				weights[1-side][n]++
			}
		}
	}
	m := matrix{What: "pairs", Of: of}
	var places [2]map[int32]int
	for side, names := range []*[]string{&m.Left, &m.Top} {
		places[side] = map[int32]int{}
		for _, n := range heaviest(weights[side]) {
			if len(*names) == shownGroups {
				*names = append(*names, "others")
				break
			}
			places[side][n] = len(*names)
			name := "not known"
			if n > 0 {
				name = cut(g.names[n-1], shownName)
			}
			*names = append(*names, name)
		}
	}
	m.Counts = make([][]int64, len(m.Left))
	for i := range m.Counts {
		m.Counts[i] = make([]int64, len(m.Top))
	}
	place := func(side int, n int32) int {
		if at, ok := places[side][n]; ok {
			return at
		}
		return shownGroups
	}
	for key, n := range counts {
		i, j := place(0, key[0]), place(1, key[1])
		if !f.of.Two && i > j {
			i, j = j, i
		}
		m.Counts[i][j] += n
	}
	return m
}

// heaviest returns groups by weight, the heaviest first.
func heaviest(weights map[int32]int64) (groups []int32) {
	for n := range weights {
		groups = append(groups, n)
	}
	sorting.Func(groups, func(a, b int32) int {
		if weights[a] != weights[b] {
			return int(max(-1, min(1, weights[b]-weights[a])))
		}
		return int(a - b)
	})
	return groups
}

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
