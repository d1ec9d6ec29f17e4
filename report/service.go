package report

import (
	_ "embed"
	"html"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/passage"
)

var (
	//go:embed service.css
	serviceStyle string
	//go:embed service.js
	serviceScript string
)

// ServiceStyle and ServiceScript return the style and the script of the page that Service writes, which names them as
// /page/page.css and /page/page.js.
func ServiceStyle() string  { return sharedStyle + serviceStyle }
func ServiceScript() string { return serviceScript }

// ServicePage is what the page of a service shows. Texts of any kind may be in it; the page shows them as text.
type ServicePage struct {
	Problem         string // what could not be done; "": nothing
	Login           bool   // ask for a token
	Next            string // query of the view that is shown after that
	SignedIn        bool
	Collections     []ServiceCollection
	CollectionsLeft int // that are not in Collections

	Name         string // of the collection that is open; "": none
	Rule, Recipe string
	Counters     []ServiceCounter

	Repeated     []ServiceCluster // documents with the most duplicates since the server began
	Clusters     []ServiceCluster // of what was found
	ClustersLeft int

	Asked    bool   // for what is like a document or a text
	ID       string // of the document; "": a text
	Text     string // shown for changes
	Meta     string
	Form     string // pasted or opened: that which asks again
	Link     string // of this view; "": the text is too long
	Slider   bool   // the threshold can be changed, from Floor to 1
	Floor    string
	Least    string
	Found    []float64 // similarities of all documents found, highest first
	More     bool      // there may be more of them
	Rows     []ServiceRow
	RowsLeft int
	Pair     *ServicePair
}

// ServiceCollection is a collection with its counts.
type ServiceCollection struct {
	Name                           string
	Documents, Checked, Duplicates int64
}

// ServiceCluster is documents that are alike: the first of them, how many, and the similarities between them.
type ServiceCluster struct {
	Label, Open    string // of the first one, and the address of its view
	Size           int64
	Inner, Weakest string // the mean, and that without which it falls apart
	Pair           string // address of the weakest link's view; "": one of them is not kept
}

// ServiceCounter is a count by its name in the statistics.
type ServiceCounter struct {
	Name, Label string
	Value       int64
}

// ServiceRow is a document that was found.
type ServiceRow struct {
	ID, Label      string // Label is a part of a long id
	Similarity     string
	Open           string // address of its own view
	Hidden, Chosen bool
}

// ServicePair is a text and a document, aligned by Align.
type ServicePair struct {
	Label, Similarity, Meta string
	Passages                int
	Left, Right             []Piece
}

// A Piece is a piece of a text that is compared with another one.
type Piece struct {
	Text    string
	Passage int  // number of the shared passage, from 1 in the order of the first text; 0: none
	Alone   bool // the other text does not have it
	Left    int  // bytes that are left out after all other pieces; Text is empty then
}

// markup is more than a piece adds to the bytes of its text.
const markup = 64

// Align cuts two texts where their shared passages begin and end, and returns the pieces of each in order. What would
// make a page larger than most bytes, for each text, is left out. O(n log n) in the number of spans, and O(text).
func Align(a, b []byte, spans []passage.Span, most int) (left, right []Piece) {
	spans = slices.Clone(spans)
	sorting.Func(spans, func(x, y passage.Span) int { return x.StartA - y.StartA })
	inA, inB := make([]numbered, len(spans)), make([]numbered, len(spans))
	for i, s := range spans {
		inA[i], inB[i] = numbered{s.StartA, s.EndA, i + 1}, numbered{s.StartB, s.EndB, i + 1}
	}
	sorting.Func(inB, func(x, y numbered) int { return x.start - y.start })
	return pieces(a, inA, most), pieces(b, inB, most)
}

type numbered struct{ start, end, passage int }

// pieces cuts a text at places, which are in order and do not overlap.
func pieces(doc []byte, places []numbered, most int) (all []Piece) {
	at := 0
	add := func(end, passage int) bool {
		if end <= at {
			return true
		}
		piece := strings.ToValidUTF8(string(doc[at:end]), "\uFFFD")
		cost := len(html.EscapeString(piece)) + markup
		if room := (most - markup) / len("&#34;"); cost > most && room > 0 {
			piece = strings.ToValidUTF8(string(doc[at:min(end, at+room)]), "")
			end, cost = min(end, at+room), most
		}
		if cost > most {
			return false
		}
		most -= cost
		all = append(all, Piece{Text: piece, Passage: passage, Alone: passage == 0 && plain(piece) != ""})
		at = end
		return most > 0
	}
	for _, p := range append(places, numbered{start: len(doc), end: len(doc)}) {
		if !add(p.start, 0) || !add(p.end, p.passage) {
			break
		}
	}
	if at < len(doc) {
		all = append(all, Piece{Left: len(doc) - at})
	}
	return all
}
