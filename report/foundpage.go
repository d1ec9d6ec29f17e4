package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

//go:embed found.html
var foundHTML string

//go:embed found.js
var foundJS string

// plotStyle is the style of plots, of the pages that have some.
//
//go:embed plots.css
var plotStyle string

var foundPage = sync.OnceValue(func() *template.Template {
	return parsed("found", scripted(foundJS), foundHTML)
})

// foundData is the data of the template.
type foundData struct {
	FoundOf
	Pairs, Documents, Clusters, Largest int64 // listed
	Bars                                []bar
	Most                                int64 // the highest bar
	Axis                                []string
	Start                               int // part of the scale with the least value that is listed
	Parts                               int
	Data                                foundScript
	Shown                               []shownCluster
	Sampled, Considered                 bool // not all pairs are shown; some were not listed
	Common                              common
	Matrices                            []matrix
}

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

type shownCluster struct {
	*foundCluster
	Members        []shownMember
	More           int
	A, B           string
	PartsA, PartsB []part
}

type shownMember struct{ Name, Group string }

// matrix counts pairs, or removed documents, by the groups of their documents.
type matrix struct {
	What, Of  string
	Left, Top []string
	Counts    [][]int64
}

// Write writes the page. O(pairs + documents).
func (f *Found) Write(w io.Writer) error {
	data, err := f.data()
	if err != nil {
		return err
	}
	return foundPage().Execute(w, data)
}

func (f *Found) data() (*foundData, error) {
	d := &foundData{FoundOf: f.of, Pairs: int64(f.kept), Clusters: int64(len(f.all)), Parts: f.scale.n - 1, Sampled: len(f.sample) < len(f.pairs), Considered: f.kept < len(f.pairs)}
	counts := make([]int64, f.scale.n)
	d.Start = f.scale.n - 1
	for _, p := range f.pairs {
		at := f.scale.part(p.value)
		counts[at]++
		if p.listed {
			d.Start = min(d.Start, at)
		}
	}
	d.Most = slices.Max(counts)
	for _, c := range f.all {
		d.Documents += int64(c.Size)
		d.Largest = max(d.Largest, int64(c.Size))
	}
	decimals := max(0, int(math.Ceil(-math.Log10(f.scale.step)-1e-9)))
	at := func(part int) string {
		return fmt.Sprintf("%.*f", decimals, float64(f.scale.first+part)*f.scale.step)
	}
	d.Bars = barsOf(counts, at, func(n int64) float64 { return math.Log1p(float64(n)) })
	for i := range 5 {
		d.Axis = append(d.Axis, at(i*(f.scale.n-1)/4))
	}
	header, err := csvRow(f.of.Header...)
	if err != nil {
		return nil, err
	}
	d.Data = foundScript{f.scale.first, f.scale.step, decimals, f.levels.Pairs, f.levels.Clusters, f.levels.Documents, f.levels.Largest, string(header), nil, f.of.Of, f.of.Two}
	if d.Data.Rows, err = f.rows(); err != nil {
		return nil, err
	}
	if d.Shown, err = f.showClusters(); err != nil {
		return nil, err
	}
	if d.Common, err = f.common(); err != nil {
		return nil, err
	}
	for by, of := range []string{"source", f.of.By} {
		if len(f.groups[by].names) > 1 {
			d.Matrices = append(d.Matrices, f.matrix(by, of))
		}
	}
	return d, nil
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

func (f *Found) showClusters() (all []shownCluster, err error) {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		return nil, err
	}
	for _, c := range f.shown {
		s := shownCluster{foundCluster: c, More: c.Size - len(c.members), A: cut(f.docs[c.weakest.a].name, shownName), B: cut(f.docs[c.weakest.b].name, shownName)}
		for _, doc := range c.members {
			s.Members = append(s.Members, shownMember{cut(f.docs[doc].name, shownName), f.groupOf(doc)})
		}
		if a, b := f.texts[c.weakest.a], f.texts[c.weakest.b]; a != nil && b != nil {
			s.PartsA, s.PartsB = differences(tokenizer, a, b)
		}
		all = append(all, s)
	}
	return all, nil
}

// common finds what the sampled documents of clusters apart have in common.
func (f *Found) common() (common, error) {
	words, err := text.New(text.Options{})
	if err != nil {
		return common{}, err
	}
	var texts [][]byte
	for _, doc := range slices.Sorted(maps.Keys(f.apart)) {
		if f.apart[doc] != nil {
			texts = append(texts, f.apart[doc])
		}
	}
	return newCommon("documents, one of a cluster", len(texts), passage.Common(words, texts, passage.Often(len(texts)), mostCommon)), nil
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
	slices.SortFunc(groups, func(a, b int32) int {
		if weights[a] != weights[b] {
			return int(max(-1, min(1, weights[b]-weights[a])))
		}
		return int(a - b)
	})
	return groups
}
