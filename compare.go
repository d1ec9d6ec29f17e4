package alike

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// Comparison is the result of Compare.
type Comparison struct {
	TextScheme   string     `json:"text_scheme"`
	FeaturesA    int        `json:"features_a"` // distinct shingles
	FeaturesB    int        `json:"features_b"`
	Intersection int        `json:"intersection"`
	Union        int        `json:"union"`
	Jaccard      float64    `json:"jaccard"` // 0 when either text is empty
	Estimates    []Estimate `json:"estimates"`
	Passages     []Passage  `json:"passages"` // longest first
}

// Similarity returns another measure of the two texts, of a in b if it is directed. It is
// 0 when they have nothing in common. For WeightedJaccard compare the texts with
// shingle.Options.Multiset.
func (c *Comparison) Similarity(m measure.Measure) float64 {
	return m.Similarity(uint64(c.Intersection), uint64(c.FeaturesA), uint64(c.FeaturesB))
}

// Containments returns how much of a is in b, and how much of b in a.
func (c *Comparison) Containments() (aInB, bInA float64) {
	inter, a, b := uint64(c.Intersection), uint64(c.FeaturesA), uint64(c.FeaturesB)
	return measure.Containment.Similarity(inter, a, b), measure.Containment.Similarity(inter, b, a)
}

// Estimate is the similarity that the signatures of a scheme show.
type Estimate struct {
	Scheme        string  `json:"scheme"`
	Equal         int     `json:"equal"` // components that agree; 0 for bottomk, which has none
	Similarity    float64 `json:"similarity"`
	StandardError float64 `json:"standard_error"` // in theory, at the exact similarity
}

// Passage is a run of tokens that two texts share.
type Passage struct {
	Tokens int    `json:"tokens"`
	A      Place  `json:"a"`
	B      Place  `json:"b"`
	Text   string `json:"text"` // as in a, unchanged
}

// Place is the position of a passage in a text.
type Place struct {
	Start int `json:"start"` // offset of the first token, in bytes as they were given, the mark included
	End   int `json:"end"`   // offset of the end of the last token
	Line  int `json:"line"`  // line of Start, counted from 1
}

// ComparisonSchemes returns the schemes that Compare uses for estimates when none are
// given: one of every kind, with k components and the given seed.
func ComparisonSchemes(k int, seed uint64) ([]minhash.Scheme, error) {
	lines := []string{
		"oph k=%d bits=32 seed=%d",
		"oph k=%d bits=8 seed=%d",
		"oph k=%d bits=1 seed=%d",
		"kmins k=%d bits=32 seed=%d family=multiplyshift",
		"kmins k=%d bits=32 seed=%d family=xor",
	}
	schemes := make([]minhash.Scheme, len(lines))
	for i, line := range lines {
		var err error
		if schemes[i], err = minhash.ParseScheme(fmt.Sprintf(line, k, seed)); err != nil {
			return nil, err
		}
	}
	return schemes, nil
}

// Compare compares two texts, given in UTF-8 or as the bytes of a file that begins with a byte order mark, of UTF-8 or
// UTF-16: the exact Jaccard similarity of their shingle sets, its estimate by every scheme, and the shared passages at
// least as long as a shingle. O(n log n) in the number of tokens.
func Compare(a, b []byte, options shingle.Options, schemes ...minhash.Scheme) (*Comparison, error) {
	for _, scheme := range schemes {
		if err := recipe.Fits(scheme, options); err != nil {
			return nil, err
		}
	}
	sets, err := recipe.New(recipe.Options{Features: options})
	if err != nil {
		return nil, err
	}
	a, inA := bom.Text(a)
	b, inB := bom.Text(b)
	maker := sets.NewSetMaker()
	setA, setB := maker.AppendSet(nil, a), maker.AppendSet(nil, b)
	c := &Comparison{TextScheme: options.String(), FeaturesA: len(setA), FeaturesB: len(setB)}
	c.Intersection = simjoin.Intersection(setA, setB)
	c.Union = len(setA) + len(setB) - c.Intersection
	if c.Union > 0 {
		c.Jaccard = float64(c.Intersection) / float64(c.Union)
	}
	for _, scheme := range schemes {
		e, err := estimate(scheme, options, setA, setB, c.Jaccard)
		if err != nil {
			return nil, err
		}
		c.Estimates = append(c.Estimates, e)
	}
	c.Passages, err = sharedPassages(a, b, options)
	placesA, placesB := inA.Places(a), inB.Places(b)
	for i := range c.Passages {
		c.Passages[i].A.in(placesA)
		c.Passages[i].B.in(placesB)
	}
	return c, err
}

// estimate sketches both sets. An empty set is similar to nothing.
func estimate(scheme minhash.Scheme, options shingle.Options, a, b []uint64, jaccard float64) (Estimate, error) {
	e := Estimate{Scheme: scheme.String(), StandardError: scheme.StandardError(jaccard)}
	if len(a) == 0 || len(b) == 0 {
		return e, nil
	}
	r, err := recipe.New(recipe.Options{Features: options, Sketch: scheme})
	if err != nil {
		return e, err
	}
	comparer := r.NewComparer(true)
	sketcher := scheme.NewSketcher()
	sigA, sigB := make([]uint32, scheme.Words()), make([]uint32, scheme.Words())
	sketcher.Sketch(sigA, a)
	sketcher.Sketch(sigB, b)
	e.Equal = comparer.Equal(sigA, sigB)
	e.Similarity, _ = comparer.Signatures(sigA, sigB)
	return e, nil
}

func sharedPassages(a, b []byte, options shingle.Options) ([]Passage, error) {
	tokenizer, err := text.New(options.Text)
	if err != nil {
		return nil, err
	}
	linesA, linesB := lineStarts(a), lineStarts(b)
	shared := passage.InTexts(tokenizer, a, b, cmp.Or(options.N, shingle.DefaultN))
	passages := make([]Passage, len(shared))
	for i, p := range shared {
		passages[i] = Passage{
			Tokens: p.Tokens,
			A:      place(p.StartA, p.EndA, linesA),
			B:      place(p.StartB, p.EndB, linesB),
			Text:   string(bytes.ToValidUTF8(a[p.StartA:p.EndA], []byte("\uFFFD"))),
		}
	}
	return passages, nil
}

// in turns the place in a text into that in its file.
func (p *Place) in(file *bom.Places) { p.Start, p.End = file.InFile(p.Start), file.InFile(p.End) }

func place(start, end int, lines []int) Place {
	line, found := slices.BinarySearch(lines, start)
	if !found {
		line--
	}
	return Place{Start: start, End: end, Line: line + 1}
}

// lineStarts returns the offset of every line's first byte.
func lineStarts(doc []byte) []int {
	starts := []int{0}
	for i, c := range doc {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}
