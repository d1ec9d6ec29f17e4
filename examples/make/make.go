package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/plant"
)

// document is one text of the corpus, and the original that it goes back to.
type document struct {
	title, text string
	family      int // number of the original
	file        int // number of the file it is in
	id          string
}

// writer draws texts from the grammar. Draws come from the generator's raw
// numbers, so that the corpus does not change with the Go version.
type writer struct {
	random *rand.PCG
	fixed  map[string]string // what {Name} stands for in the text at hand
}

func (w *writer) below(n int) int { return int((w.random.Uint64() >> 32) % uint64(n)) }

// text writes a text on a topic: an opening, some of the topic's sentences in
// any order, an end.
func (w *writer) text(t topic) (title, text string) {
	w.fixed = make(map[string]string)
	title = w.sentence(t.titles[w.below(len(t.titles))])
	parts := []string{w.sentence(t.opening[w.below(len(t.opening))])}
	order := w.shuffled(len(t.body))
	for _, i := range order[:5+w.below(len(order)-5)] {
		parts = append(parts, w.sentence(t.body[i]))
	}
	parts = append(parts, w.sentence(t.close[w.below(len(t.close))]))
	return title, strings.Join(parts, " ")
}

// shuffled returns the numbers below n in random order.
func (w *writer) shuffled(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := w.below(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}

// sentence expands a rule and makes it a sentence.
func (w *writer) sentence(rule string) string {
	s := w.expand(rule)
	for {
		at := strings.Index(s, "~ ")
		if at < 0 {
			break
		}
		n := ""
		if strings.ContainsRune("aeiou", rune(s[at+2]|0x20)) {
			n = "n"
		}
		s = s[:at] + n + s[at+1:]
	}
	first := strings.IndexFunc(s, func(r rune) bool { return r != '"' })
	return s[:first] + strings.ToUpper(s[first:first+1]) + s[first+1:]
}

// expand replaces the slots of a rule.
func (w *writer) expand(rule string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(rule, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, _ := strings.Cut(after, "}")
		b.WriteString(w.slot(name))
		rule = rest
	}
}

func (w *writer) slot(name string) string {
	if lo, hi, isRange := strings.Cut(name, ".."); isRange {
		from, _ := strconv.Atoi(lo)
		to, _ := strconv.Atoi(hi)
		return strconv.Itoa(from + w.below(to-from+1))
	}
	if lower := strings.ToLower(name); lower != name {
		if w.fixed[name] == "" {
			w.fixed[name] = w.slot(lower)
		}
		return w.fixed[name]
	}
	list := words[name]
	if list == nil {
		panic(fmt.Sprintf("the grammar has no list %q", name))
	}
	return w.expand(list[w.below(len(list))])
}

// kinds of copies, by turns.
var kinds = []plant.Edits{
	{Exact: 1},
	{MinRate: 0.005, MaxRate: 0.015},
	{MinRate: 0.01, MaxRate: 0.02, Replace: 1},
	{Restyle: 1},
	{MinRate: 0.01, MaxRate: 0.03},
	{MinRate: 0.005, MaxRate: 0.01, Move: 1},
	{Truncate: 1},
	{MinRate: 0.05, MaxRate: 0.12},
}

// Numbers of originals and copies, and how many of the copies are copied again.
const (
	originals = 170
	copies    = 48
	again     = 8
)

// documents writes the originals, then the copies and the copies of copies.
func documents() []document {
	w := writer{random: rand.NewPCG(2024, 5)}
	var all []document
	for i := range originals {
		title, text := w.text(topics[i%len(topics)])
		all = append(all, document{title: title, text: text, family: i})
	}
	var editor plant.Editor
	pick := w.shuffled(originals)
	for i := range copies + again {
		of := originals + 5*(i-copies) // of the copies, every fifth
		if i < copies {
			of = pick[i-i/12] // every twelfth copies the same as the one before
		}
		text := editor.Append(nil, []byte(all[of].text), w.random.Uint64(), kinds[i%len(kinds)])
		all = append(all, document{title: all[of].title, text: string(text), family: all[of].family})
	}
	order := w.shuffled(len(all))
	shuffled := make([]document, len(all))
	for i, j := range order {
		shuffled[i] = all[j]
	}
	return shuffled
}
