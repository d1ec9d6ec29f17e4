// Package report writes results as a page for people to read: one HTML file that needs no other
// file, makes no requests, and opens from a disk. Dedup shows what was removed from a corpus, Pairs
// why records of tables were linked.
package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	g "maragu.dev/gomponents"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage"
)

var (
	//go:embed pairs.js
	pairsJS string
	//go:embed pairs.css
	pairsStyle string
)

// Limits of what is shown of a pair, so that a page stays small whatever the tables hold.
const (
	mostRunes    = 600 // of a value
	mostOthers   = 30  // columns that were not compared
	mostFeatures = 8   // that labels have changed
)

// page is the data of the page's script.
type page struct {
	Key       string   `json:"key"` // under which a browser keeps verdicts: other pairs have another key
	Tables    []string `json:"tables"`
	Header    string   `json:"header"` // first row of the labels
	Total     int      `json:"total"`
	Links     int      `json:"links"`
	Threshold float64  `json:"threshold"`
	ByWhole   bool     `json:"byWhole"`
	Pairs     []pair   `json:"pairs"`
}

type pair struct {
	A           string   `json:"a"`
	B           string   `json:"b"`
	Row         string   `json:"row,omitempty"`      // of the labels, up to the verdict
	RowBytes    []byte   `json:"rowBytes,omitempty"` // in place of Row, where that is not UTF-8
	Probability float64  `json:"probability"`
	Similarity  float64  `json:"similarity"`
	Link        bool     `json:"link"`
	Steps       []step   `json:"steps"`
	Values      []values `json:"values"`
}

// step is a bar of the waterfall.
type step struct {
	Name  string   `json:"name"`
	Adds  float64  `json:"adds"`
	Parts []step   `json:"parts,omitempty"` // the bar is their sum
	Notes []string `json:"notes,omitempty"`
}

// values are the values of a column in both records.
type values struct {
	Name       string  `json:"name"`
	A          []Word  `json:"a"`
	B          []Word  `json:"b"`
	Compared   bool    `json:"compared"`
	Similarity float64 `json:"similarity"` // −1 where there is none
}

// Pairs writes a page that shows the evidence of a join: how the score of each pair comes about,
// column by column and word by word, and both records side by side. Verdicts given there with the
// keys y, n and u are saved as labels, a CSV file in the form that alike.ReadVerdicts reads, with
// the names in header as its first row. tables are the names of the joined files. O(evidence).
func Pairs(w io.Writer, r *linkage.Result, tables, header []string) error {
	v := &r.Evidence
	head, err := csvRow(header...)
	if err != nil {
		return err
	}
	p := page{Tables: tables, Header: string(head), Total: v.Candidates, Links: v.Links, Threshold: v.Threshold, ByWhole: v.ByWhole, Pairs: []pair{}}
	var key uint64
	for i := range v.Pairs {
		shown, err := explained(&v.Pairs[i])
		if err != nil {
			return err
		}
		key = hashing.Mix(key ^ hashing.Bytes(v.Pairs[i].A) + hashing.Mix(hashing.Bytes(v.Pairs[i].B)))
		p.Pairs = append(p.Pairs, shown)
	}
	p.Key = fmt.Sprintf("%016x", key)
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	page := document{title: "why pairs are links, or not", style: pairsStyle, script: pairsJS, data: string(data), body: pairsBody(r.Kinds)}
	return page.write(w)
}

// kindsOf lists the kinds of pairs that the candidates show.
func kindsOf(kinds []linkage.Kind) g.Node {
	if len(kinds) == 0 {
		return nil
	}
	rows := g.Map(kinds, func(k linkage.Kind) g.Node {
		var agree, examples []string
		for _, name := range k.Agree {
			agree = append(agree, shown(name))
		}
		for _, ids := range k.Examples {
			examples = append(examples, shown(ids[0])+" and "+shown(ids[1]))
		}
		return el("tr", el("td", say(cmp.Or(strings.Join(agree, ", "), "no column"))), count(int64(k.Candidates)),
			el("td", g.If(k.Taken, say("taken for one thing"))), el("td", say(strings.Join(examples, "; "))))
	})
	return el("details", el("summary", say("Kinds of pairs among the candidates")),
		wide("kinds of pairs", heads("most agree in", "#candidates", "", "examples"), rows))
}

// pairsBody is what the script fills, and the kinds of pairs.
func pairsBody(kinds []linkage.Kind) g.Group {
	option := func(value, says string) g.Node { return el("option", attr("value", value), say(says)) }
	probability := func(id, value string) g.Node {
		return el("input", attr("id", id), attr("type", "number"), attr("min", "0"), attr("max", "1"), attr("step", "0.01"), attr("value", value))
	}
	return g.Group{
		el("header", el("h1", attr("id", "title")), say(" "), soft(say("written by alike")), el("p", attr("id", "about")), kindsOf(kinds)),
		el("nav",
			el("form", attr("id", "filter"),
				el("label", say("Show "), el("select", attr("id", "kind"), option("", "all pairs"), option("link", "links"), option("other", "no links"),
					option("open", "without a verdict"), option("against", "verdict against the decision"))),
				el("label", say("Probability "), probability("least", "0"), say(" to "), probability("most", "1")),
				el("label", say("Order "), el("select", attr("id", "order"), option("unsure", "least sure first"), option("high", "most probable first"),
					option("low", "least probable first"))),
				el("span", attr("id", "count"), class("soft")),
				el("button", attr("type", "button"), attr("id", "save"), say("Save labels"))),
			el("ul", attr("id", "list"), attr("role", "listbox"), attr("tabindex", "0"), attr("aria-label", "pairs"))),
		el("main", attr("id", "pair"), attr("aria-live", "polite")),
	}
}

func explained(e *linkage.Explained) (p pair, err error) {
	p = pair{A: shown(string(e.A)), B: shown(string(e.B)), Probability: e.Probability, Similarity: e.Similarity, Link: e.Link, Steps: steps(e)}
	row, err := csvRow(string(e.A), string(e.B), "")
	if row = bytes.TrimSuffix(row, []byte("\n")); utf8.Valid(row) {
		p.Row = string(row)
	} else {
		p.RowBytes = row
	}
	for _, c := range e.Columns {
		p.Values = append(p.Values, side(&c.Values, true))
	}
	for i := range e.Others[:min(len(e.Others), mostOthers)] {
		p.Values = append(p.Values, side(&e.Others[i], false))
	}
	return p, err
}

// csvRow returns a row of CSV with its line feed.
func csvRow(fields ...string) ([]byte, error) {
	var row bytes.Buffer
	w := csv.NewWriter(&row)
	err := w.Write(fields)
	w.Flush()
	return row.Bytes(), err
}

func side(v *linkage.Values, compared bool) values {
	a, b := shown(v.A), shown(v.B)
	s := values{Name: shown(v.Left), A: Words(a, b), B: Words(b, a), Compared: compared, Similarity: v.Similarity}
	if v.Right != "" && v.Right != v.Left {
		s.Name += " = " + shown(v.Right)
	}
	return s
}

// shown is the beginning of a value, with U+FFFD for bytes that are not UTF-8.
func shown(s string) string {
	end, n := len(s), 0
	for i := range s {
		if n == mostRunes {
			end = i
			break
		}
		n++
	}
	text := strings.ToValidUTF8(s[:end], "\uFFFD")
	if left := utf8.RuneCountInString(s[end:]); left > 0 {
		text += fmt.Sprintf(" … (%d more)", left)
	}
	return text
}

func steps(e *linkage.Explained) (bars []step) {
	var features []step
	column := 0
	for _, s := range e.Steps {
		bar := step{Adds: s.LogOdds}
		switch s.Of {
		case linkage.StepPrior:
			bar.Name = "any candidate"
			if slices.ContainsFunc(e.Steps, func(s linkage.Step) bool { return s.Of == linkage.StepRivals }) {
				bar.Name += ", if it had no rivals"
			}
		case linkage.StepColumn:
			c := &e.Columns[column]
			column++
			if c.Similarity < 0 {
				continue // a missing value adds nothing
			}
			bar = columnStep(c, s.LogOdds)
		case linkage.StepWhole:
			bar.Name = fmt.Sprintf("the records as a whole, similarity %.2f", e.Similarity)
		case linkage.StepRivals:
			bar.Name = "rivals of either record" + named(e.Rival)
		case linkage.StepChance:
			bar.Name = "what records without a partner find too"
		case linkage.StepLabels:
			features = append(features, step{Name: s.Name, Adds: s.LogOdds})
			continue
		}
		bars = append(bars, bar)
	}
	if len(features) == 0 {
		return bars
	}
	labels := step{Name: "what labels have taught", Parts: largest(features)}
	for _, f := range features {
		labels.Adds += f.Adds
	}
	at := len(bars)
	if e.Steps[len(e.Steps)-1].Of == linkage.StepChance {
		at--
	}
	return slices.Insert(bars, at, labels)
}

// named names a rival, and shows its values.
func named(r *linkage.Rival) string {
	if r == nil {
		return ""
	}
	text := fmt.Sprintf(", first of all %s with %s", shown(string(r.A)), shown(string(r.B)))
	before := ": "
	for _, v := range r.Columns {
		text += fmt.Sprintf("%s%s %q and %q", before, shown(v.Left), shown(v.A), shown(v.B))
		before = "; "
	}
	return text
}

// largest returns the features that contribute most, and the sum of the others as one.
func largest(features []step) []step {
	features = slices.Clone(features)
	sorting.Stable(features, func(a, b step) int { return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds)) })
	if len(features) <= mostFeatures+1 {
		return features
	}
	others := step{Name: fmt.Sprintf("%d other features", len(features)-mostFeatures)}
	for _, f := range features[mostFeatures:] {
		others.Adds += f.Adds
	}
	return append(features[:mostFeatures:mostFeatures], others)
}

// columnStep is the bar of a column; its parts are the common words.
func columnStep(c *linkage.ColumnEvidence, adds float64) step {
	bar := step{Name: fmt.Sprintf("%s, similarity %.2f", shown(c.Left), c.Similarity), Adds: adds}
	bar.Parts = []step{{Name: "without a word in common", Adds: c.Apart}}
	var alone [2][]string
	add := func(w *linkage.WordEvidence, name string, side int) {
		if w.Similarity > 0 {
			bar.Parts = append(bar.Parts, step{Name: fmt.Sprintf("%s, +%.2f of similarity", name, w.Similarity), Adds: w.LogOdds})
		}
		if w.Alone > 0 {
			alone[side] = append(alone[side], fmt.Sprintf("%s %.0f %%", name, 100*w.Alone))
		}
	}
	for i := range c.Words {
		w := &c.Words[i]
		side := 0
		if w.Right {
			side = 1
		}
		add(w, shown(w.Text), side)
	}
	for side := range c.Rest {
		add(&c.Rest[side], "other words", side)
	}
	for side, name := range []string{"left", "right"} {
		if len(alone[side]) > 0 {
			bar.Notes = append(bar.Notes, fmt.Sprintf("only %s, as a share of its value: %s", name, strings.Join(alone[side], ", ")))
		}
	}
	return bar
}

// A Word is a word of a value between white space, unchanged.
type Word struct {
	Text  string `json:"t"`
	Alone bool   `json:"m,omitempty"` // the other value exists and does not have it
}

// Words returns the words of a value, and marks those that other does not have, ignoring case and
// punctuation around them. O(len(value) + len(other)).
func Words(value, other string) []Word {
	has := map[string]bool{}
	others := strings.Fields(other)
	for _, w := range others {
		has[plain(w)] = true
	}
	words := []Word{}
	for _, w := range strings.Fields(value) {
		p := plain(w)
		words = append(words, Word{w, len(others) > 0 && p != "" && !has[p]})
	}
	return words
}

// plain is a word without case and surrounding punctuation.
func plain(w string) string {
	return strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }))
}
