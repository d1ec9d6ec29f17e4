package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/columns"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/learn"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
)

// mostWords is the largest number of words of a value with evidence of their own: those of most weight.
const mostWords = 16

// Options say what is explained, and how.
type Options struct {
	Pairs       int              // number of candidates
	Columns     []columns.Column // that were compared
	ByWhole     bool             // links are decided by the similarity of records
	Repetitions bool             // a repeated token of a value counts as another one
	Weights     []learn.Weight   // what was learned from labels; nil: nothing was
}

// Find explains some candidates. links are the candidates that are links, ascending; least is the probability or similarity
// from which candidates are links.
func Find(e *judge.Examiner, t *held.Tables, links []int, least float64, o Options) Evidence {
	v := Evidence{Candidates: len(e.Found.Pairs), Links: len(links), Threshold: least, ByWhole: o.ByWhole}
	unsure := make([]float64, len(e.Found.Pairs))
	for i := range unsure {
		if v.ByWhole {
			unsure[i] = math.Abs(float64(e.Found.Wholes[i]) - v.Threshold)
		} else {
			unsure[i] = math.Abs(model.LogOdds(e.Probability[i]) - model.LogOdds(v.Threshold))
		}
	}
	isLink := make([]bool, len(unsure))
	for _, i := range links {
		isLink[i] = true
	}
	v.Pairs = Each(e, t, choosePairs(unsure, isLink, o.Pairs), isLink, o)
	return v
}

// Each explains the given candidates, in this order. isLink says of each of all candidates whether it is a link.
func Each(e *judge.Examiner, t *held.Tables, candidates []int, isLink []bool, o Options) (explained []Explained) {
	x := &explainer{Examiner: e, tables: t, options: &o, cutter: record.NewCutter()}
	x.cutter.Repetitions = o.Repetitions
	if o.Weights != nil {
		x.learned = learn.Describe(e)
	}
	for _, i := range candidates {
		explained = append(explained, x.explain(i, isLink[i]))
	}
	return explained
}

// choosePairs returns n candidates to explain, the least certain first; see Evidence.
func choosePairs(unsure []float64, isLink []bool, n int) []int {
	order := make([]int, len(unsure))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(i, j int) int { return cmp.Compare(unsure[i], unsure[j]) })
	if n >= len(order) {
		return order
	}
	chosen := slices.Clone(order[:n/2])
	var links, others []int
	for place, i := range order {
		switch {
		case place < n/2:
		case isLink[i]:
			links = append(links, place)
		default:
			others = append(others, place)
		}
	}
	rest := n - n/2
	ofLinks := min(len(links), max(rest/2, rest-len(others)))
	others = others[:min(len(others), max(len(links), rest-ofLinks))]
	places := slices.Concat(evenly(links, ofLinks), evenly(others, rest-ofLinks))
	slices.Sort(places)
	for _, place := range places {
		chosen = append(chosen, order[place])
	}
	return chosen
}

// evenly returns n elements at even distances from a list, or all if there are fewer.
func evenly(list []int, n int) (some []int) {
	n = min(n, len(list))
	for i := range n {
		some = append(some, list[(2*i+1)*len(list)/(2*n)])
	}
	return some
}

// explainer explains candidates, on one goroutine.
type explainer struct {
	*judge.Examiner
	tables  *held.Tables
	options *Options
	learned *learn.Describer // nil: nothing was learned from labels
	cutter  *record.Cutter
}

// explain returns the evidence about candidate i.
func (x *explainer) explain(i int, link bool) Explained {
	p := x.Found.Pairs[i]
	v := Explained{
		A: x.tables.Left.ID(int(p.A)), B: x.tables.Other().ID(int(p.B)), Link: link,
		Similarity: float64(x.Found.Wholes[i]), Probability: x.Probability[i], Steps: x.steps(i),
	}
	values := ValuesOf(x.tables, x.options.Columns, x.Comparer, p)
	x.EachColumn(p, func(f int, _ float64, a, b uint32) {
		c := ColumnEvidence{Values: values[f], LogOdds: x.Model.Adds(f, x.Found.Of(i)[f])}
		if a > 0 && b > 0 {
			x.words(&c, f, a-1, b-1)
		}
		v.Columns = append(v.Columns, c)
	})
	if slices.ContainsFunc(v.Steps, func(s Step) bool { return s.Of == StepRivals }) {
		v.Rival = x.rival(i)
	}
	for _, name := range x.tables.Kept {
		compared := slices.ContainsFunc(values, func(v Values) bool { return v.Left == name && v.Right == name })
		if compared || slices.Contains(x.tables.IDColumns[:], name) {
			continue
		}
		other := Values{Left: name, Right: name, A: string(x.tables.KeptOf(x.tables.Left, p.A, name)), B: string(x.tables.KeptOf(x.tables.Other(), p.B, name)), Similarity: -1}
		// A column that was compared with one of another name is already among the values.
		if slices.ContainsFunc(values, func(v Values) bool { return v.Left == name }) {
			other.A = ""
		}
		if slices.ContainsFunc(values, func(v Values) bool { return v.Right == name }) {
			other.B = ""
		}
		if other.A != "" || other.B != "" {
			v.Others = append(v.Others, other)
		}
	}
	return v
}

// ValuesOf returns the values of two records in the compared columns, all of which were kept.
func ValuesOf(t *held.Tables, compared []columns.Column, c *compare.Comparer, p compare.Pair) []Values {
	values := make([]Values, len(compared))
	for i, column := range compared {
		values[i] = Values{
			Left: column.Left, Right: column.Right,
			A: string(t.KeptOf(t.Left, p.A, column.Left)), B: string(t.KeptOf(t.Other(), p.B, column.Right)),
		}
	}
	c.EachColumn(p, func(f int, s float64, _, _ uint32) { values[f].Similarity = s })
	return values
}

// rival returns the likeliest other candidate with either record of candidate i; nil: there is none. O(candidates).
func (x *explainer) rival(i int) *Rival {
	best, most := -1, math.Inf(-1)
	p, one := x.Found.Pairs[i], x.tables.Right == nil
	for k, q := range x.Found.Pairs {
		if k == i || !(q.A == p.A || q.B == p.B || one && (q.A == p.B || q.B == p.A)) {
			continue
		}
		if z := x.Model.Score(x.Found.Of(k)); z > most {
			best, most = k, z
		}
	}
	if best < 0 {
		return nil
	}
	q := x.Found.Pairs[best]
	return &Rival{x.tables.Left.ID(int(q.A)), x.tables.Other().ID(int(q.B)), ValuesOf(x.tables, x.options.Columns, x.Comparer, q)}
}

// steps returns the terms whose sum is the log odds of candidate i.
func (x *explainer) steps(i int) []Step {
	steps := []Step{{StepPrior, "", x.Model.Prior}}
	add := func(of StepOf, name string, logOdds float64) {
		if of == StepColumn || math.Abs(logOdds) > 1e-9 {
			steps = append(steps, Step{of, name, logOdds})
		}
	}
	of := x.Found.Of(i)
	for f, c := range x.options.Columns {
		add(StepColumn, c.Left, x.Model.Adds(f, of[f]))
	}
	add(StepWhole, "", x.Model.Adds(len(x.options.Columns), of[len(of)-1]))
	add(StepRivals, "", x.Judged[i]-x.Model.Score(of))
	z := x.Judged[i]
	if x.learned != nil {
		features := make([]float64, x.learned.Features())
		x.learned.Put(features, i, x.Matchers[0])
		for f, w := range x.options.Weights {
			told := w.Weight * features[f]
			if f == learn.Judged {
				told -= z // this feature is the log odds so far
			}
			add(StepLabels, w.Feature, told)
		}
		z = x.Rank[i]
	}
	if p := x.Probability[i]; math.Abs(p-logistic.Probability(z)) > 1e-9 {
		add(StepChance, "", model.LogOdds(p)-z)
	}
	return steps
}

// words adds the evidence of the words of two values of column f.
func (x *explainer) words(c *ColumnEvidence, f int, a, b uint32) {
	column := &x.Columns[f]
	kind := x.options.Columns[f].Kind
	c.Apart = x.Model.Adds(f, compare.LevelOf(0))
	both := func(value uint32, token uint32) bool {
		_, ok := slices.BinarySearch(column.Tokens(value), token)
		return ok
	}
	scaled := func(mass uint64) float64 { // the part of the similarity that this mass makes
		if a == b {
			return float64(mass) / float64(max(1, column.Mass(a)))
		}
		s := column.Similarity(a, b)
		return s * float64(mass) / float64(max(1, column.Common(a, b)))
	}
	for side, text := range []string{c.A, c.B} {
		own, others := []uint32{a, b}[side], []uint32{b, a}[side]
		var words []WordEvidence
		for _, w := range x.cutter.Words([]byte(text), kind) {
			var shared, alone uint64
			for _, hash := range w.Tokens {
				token, ok := x.tables.Numbering.Token(hash)
				switch mass := column.MassOf(own, token); {
				case !ok:
				case both(others, token):
					shared += mass
				default:
					alone += mass
				}
			}
			word := WordEvidence{Text: w.Text, Right: side == 1, Alone: float64(alone) / float64(max(1, column.Mass(own)))}
			if side == 0 {
				word.Similarity = scaled(shared)
			}
			if word.Similarity > 0 || word.Alone > 0 {
				words = append(words, word)
			}
		}
		most, rest := heaviest(words)
		rest.Right = side == 1
		c.Words, c.Rest[side] = append(c.Words, most...), rest
	}
	x.wordSteps(c, f)
}

// wordSteps divides the log odds of a column among the words that its values have in common. It takes the words
// that contribute most to the similarity first. Each gets the difference that its contribution makes to the
// evidence of the level.
func (x *explainer) wordSteps(c *ColumnEvidence, f int) {
	var words []*WordEvidence
	for i := range c.Words {
		if c.Words[i].Similarity > 0 {
			words = append(words, &c.Words[i])
		}
	}
	sorting.Stable(words, func(v, w *WordEvidence) int { return cmp.Compare(w.Similarity, v.Similarity) })
	if c.Rest[0].Similarity > 0 {
		words = append(words, &c.Rest[0])
	}
	if len(words) == 0 {
		c.Apart = c.LogOdds
		return
	}
	so, told := 0.0, c.Apart
	for i, w := range words {
		so += w.Similarity
		next := c.LogOdds // the last word leads to the evidence of the values
		if i+1 < len(words) {
			next = x.Model.Adds(f, min(compare.LevelOf(so), compare.Equal-1))
		}
		w.LogOdds, told = next-told, next
	}
}

// heaviest returns the words of most weight, in their order, and the sum of the others.
func heaviest(words []WordEvidence) (most []WordEvidence, rest WordEvidence) {
	weight := func(w *WordEvidence) float64 { return w.Similarity + w.Alone }
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(i, j int) int { return cmp.Compare(weight(&words[j]), weight(&words[i])) })
	for _, i := range order[min(mostWords, len(order)):] {
		rest.Similarity += words[i].Similarity
		rest.Alone += words[i].Alone
	}
	order = order[:min(mostWords, len(order))]
	slices.Sort(order)
	for _, i := range order {
		most = append(most, words[i])
	}
	return most, rest
}
