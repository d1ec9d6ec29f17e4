package advise

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/text"
)

// view is how alike the pairs of a sample are by a recipe.
type view struct {
	Recipe           // without a threshold
	pairs  []float64 // similarities
	given  []float64 // of the examples

	chance   chance
	rarity   rarity
	features float64 // of the whole
	distinct float64 // texts of it
}

// views returns the views of all recipes, nil in brief if the data do not tell, and whom to ask about pairs. It sets the
// weights of pairs.
func views(ctx context.Context, s *Sample, w *witness, pairs, given, unrelated []pair, o Options) (all []view, third asked, err error) {
	var sets [][]uint64
	fair, _ := s.counted()
	for _, c := range w.cuts(s, o) {
		if !c.ofAll() {
			err = keepRare(ctx, s, c, sets, o.Threads) // of the cut before
		} else {
			sets, err = setsOf(ctx, w.texts, c, o.Threads)
		}
		if err != nil {
			return nil, nil, err
		}
		common, err := commons(ctx, sets, pairs, o.Threads)
		if err != nil {
			return nil, nil, err
		}
		ofGiven, err := commons(ctx, sets, given, o.Threads)
		if err != nil {
			return nil, nil, err
		}
		if c.tokens == witnessCut.tokens && c.n == witnessCut.n && c.ofAll() {
			s.weigh(pairs, common, sets)
			if o.Brief && len(given) == 0 && !weightsOf(pairs).tell() {
				return nil, nil, nil
			}
			if !o.alone() {
				if third, err = askedOf(ctx, pairs, sets, common, o.Threads); err != nil {
					return nil, nil, err
				}
			}
		}
		ofStrangers, err := commons(ctx, sets, unrelated, o.Threads)
		if err != nil {
			return nil, nil, err
		}
		var few rarity
		if fair != nil && c.ofAll() {
			drawn, err := setsOf(ctx, fair, c, o.Threads)
			if err != nil {
				return nil, nil, err
			}
			few = rarityIn(drawn, s.Distinct)
		}
		own := sets[:len(s.Documents)]
		features := 0
		for _, set := range own {
			features += len(set)
		}
		for _, m := range measures {
			if o.Banded && m != measure.Jaccard || m.ByParts() && (c.tokens == text.Words && c.n == 1 || !c.ofAll()) { // most words of a short text stand in any long one
				continue
			}
			by := newChance(similarities(m, sets, unrelated, ofStrangers), ofStrangers, s.Distinct)
			if m.ByParts() {
				by.held = holdingsOf(own, unrelated)
			}
			all = append(all, view{
				Recipe: Recipe{Tokens: c.tokens, N: c.n, Measure: m, StripDiacritics: c.strip, Rare: c.rare, Rarest: c.rarest},
				pairs:  similarities(m, sets, pairs, common), given: similarities(m, sets, given, ofGiven),
				chance:   by,
				rarity:   few,
				features: float64(features) * s.Distinct / float64(max(len(own), 1)), distinct: s.Distinct,
			})
		}
	}
	return all, third, nil
}

// cuts returns the cuts that are looked at. One of rare features comes behind that of all.
func (w *witness) cuts(s *Sample, o Options) (all []cut) {
	for _, c := range cuts {
		c.strip = w.strip
		all = append(all, c)
		if o.alone() || !slices.ContainsFunc(rareCuts, func(r cut) bool { return r.tokens == c.tokens && r.n == c.n }) {
			continue
		}
		if w.someTemplates() {
			rare := c
			rare.rare = true
			all = append(all, rare)
		}
		if w.manyApart() && s.whole() {
			rarest := c
			rarest.rarest = true
			all = append(all, rarest)
		}
	}
	if w.strip {
		all = append(all, defaultCut)
	}
	return all
}

// rowsOf returns the rows: by descending merit, the default last.
func rowsOf(views []view, pairs []pair, third asked, j *judgement, o Options) []Row {
	var rows []Row
	var byDefault Row
	for i := range views {
		t := newTally(&views[i], pairs, third, j)
		rows = append(rows, t.best(o))
		if t.view.Recipe == (Recipe{Tokens: Default.Tokens, N: Default.N, Measure: Default.Measure}) {
			byDefault = t.row(steps*Default.Threshold, &t.plain, o)
			t.complete(&byDefault)
		}
	}
	for i := range rows {
		rows[i].costly = rows[i].Seconds*1e9 > max(costAllowed, tooCostly*byDefault.Seconds*1e9)
	}
	sorting.Stable(rows, byMerit)
	isWorse := func(r Row) bool { return r.good() != rows[0].good() || r.score < rows[0].score-asGood }
	if alike := slices.IndexFunc(rows, isWorse); alike > 1 {
		sorting.Stable(rows[:alike], func(a, b Row) int { return cmp.Compare(a.Seconds, b.Seconds) })
	}
	return append(rows, byDefault)
}

// byMerit orders rows that may be chosen before others, then by descending merit.
func byMerit(a, b Row) int {
	if a.good() != b.good() {
		if a.good() {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.score, a.score)
}

// counts are numbers of pairs by the threshold that they reach, in steps.
type counts [steps + 1]float64

// reached adds up counts of pairs by the last threshold that they reach.
func (c *counts) reached() {
	for at := steps - 1; at >= 0; at-- {
		c[at] += c[at+1]
	}
}

// tally counts pairs by the thresholds that they reach by a recipe.
type tally struct {
	view     *view
	plain    counted
	third    *counted // without those that third texts take out; nil: they take out none
	byChance func(threshold float64) float64
	sampled  float64              // pairs that may be copies, as if each stood for as many
	reach    [steps + 1][]float64 // by thresholds: see view.reach
}

// counted are pairs, for the whole.
type counted struct {
	all          counts
	squares      counts   // of weights
	copies       counts   // as expected,
	least, most  counts   // as few, and as many, as there may be: by the witness,
	ofResampling []counts // or by each resampling of the examples
}

func (c *counted) add(at int, weight float64, p *pair, i int, j *judgement) {
	c.all[at] += weight
	c.squares[at] += weight * math.Abs(weight)
	c.copies[at] += weight * j.copies[i]
	if p.cover >= allCopy {
		c.least[at] += weight
	}
	if p.cover >= noCopy {
		c.most[at] += weight
	}
	for k, copies := range j.resampled {
		c.ofResampling[k][at] += weight * copies[i]
	}
}

// each calls visit for all counts.
func (c *counted) each(visit func(*counts)) {
	for _, of := range []*counts{&c.all, &c.squares, &c.copies, &c.least, &c.most} {
		visit(of)
	}
	for k := range c.ofResampling {
		visit(&c.ofResampling[k])
	}
}

func newTally(v *view, pairs []pair, third asked, j *judgement) *tally {
	t := &tally{view: v, byChance: v.chance.above}
	t.plain.ofResampling = make([]counts, len(j.resampled))
	for i := range pairs {
		t.plain.add(stepOf(v.pairs[i]), pairs[i].weight, &pairs[i], i, j)
	}
	t.plain.each((*counts).reached)
	for at := stepsLeast; at <= steps; at++ {
		r := v.Recipe
		r.Threshold = float64(at) / steps
		t.reach[at] = v.reach(r)
	}
	t.sampled = sampledOf(pairs)
	a := asking{asked: third, alike: v.pairs}
	for i := range pairs {
		out := a.out(i)
		if out == nil {
			continue
		}
		if t.third == nil {
			c := t.plain
			c.ofResampling = slices.Clone(c.ofResampling)
			t.third = &c
		}
		for at, goes := range out {
			if goes {
				t.third.add(at, -pairs[i].weight, &pairs[i], i, j)
			}
		}
	}
	return t
}

// best returns the row at the best of the thresholds, with third texts where these are better.
func (t *tally) best(o Options) (best Row) {
	for at := steps - 1; at >= stepsLeast; at-- {
		if row := t.row(float64(at), &t.plain, o); at == steps-1 || byMerit(row, best) < 0 {
			best = row
		}
		if t.third == nil {
			continue
		}
		if row := t.row(float64(at), t.third, o); byMerit(row, best) < 0 {
			best = row
		}
	}
	t.complete(&best)
	return best
}

func (t *tally) counted(r Recipe) *counted {
	if r.ThirdTexts {
		return t.third
	}
	return &t.plain
}

// row returns what the recipe finds from a threshold in steps on.
func (t *tally) row(threshold float64, c *counted, o Options) Row {
	r := t.view.Recipe
	at := int(threshold + 0.5)
	r.Threshold, r.ThirdTexts = float64(at)/steps, c == t.third
	byChance := t.byChance(r.Threshold)
	row := Row{Recipe: r, Pairs: c.all.found(at, t.reach[at]) + byChance}
	row.Wrong, row.Found, row.F1 = t.quality(c, &c.copies, &t.plain.copies, at, byChance)
	chosenBy(&row, o)
	if len(c.ofResampling) > 0 {
		row.allowed = byChance <= o.Wrong*row.Pairs
		return row
	}
	row.WrongTo, row.FoundTo, _ = t.quality(c, &c.least, &t.plain.least, at, byChance)
	row.WrongFrom, row.FoundFrom, _ = t.quality(c, &c.most, &t.plain.most, at, byChance)
	row.FoundFrom, row.FoundTo = min(row.FoundFrom, row.Found), max(row.FoundTo, row.Found)
	row.allowed, row.unsure = row.WrongFrom <= o.Wrong, row.WrongTo
	return row
}

// quality returns what is wrong and what is found from a step on, if so many of the pairs are copies, and of all pairs
// so many are; and F1 of both.
func (t *tally) quality(c *counted, copies, all *counts, at int, byChance float64) (wrong, found, f1 float64) {
	right, pairs := copies.found(at, t.reach[at]), c.all.found(at, t.reach[at])+byChance
	if pairs <= 0 {
		return 1, 0, 0
	}
	wrong = max(1-right/pairs, 0)
	if all[0] > 0 {
		found = right / all[0]
	}
	return wrong, found, fMeasure(1-wrong, found, 1)
}

// fMeasure returns the harmonic mean of precision and recall, with beta for weight of the latter.
func fMeasure(precision, recall, beta float64) float64 {
	if precision+recall == 0 {
		return 0
	}
	b := beta * beta
	return (1 + b) * precision * recall / (b*precision + recall)
}

// complete adds what a row costs, and between what its figures lie by resampled examples.
func (t *tally) complete(r *Row) {
	r.Seconds = t.view.chance.cost(r.Recipe, t.view.features, t.view.distinct, r.Pairs) / 1e9
	if r.ThirdTexts {
		r.Seconds += perAsked * r.Pairs / 1e9
	}
	c := t.counted(r.Recipe)
	at, byChance := int(r.Threshold*steps+0.5), t.byChance(r.Threshold)
	if len(c.ofResampling) == 0 {
		r.WrongFrom, r.WrongTo = widened(r.WrongFrom, r.WrongTo, worth(c.all[at], c.squares[at]))
		r.FoundFrom, r.FoundTo = widened(r.FoundFrom, r.FoundTo, t.sampled)
		return
	}
	var wrong, found, f1 []float64
	for k := range c.ofResampling {
		w, r, f := t.quality(c, &c.ofResampling[k], &t.plain.ofResampling[k], at, byChance)
		wrong, found, f1 = append(wrong, w), append(found, r), append(f1, f)
	}
	r.WrongFrom, r.WrongTo = middle(wrong)
	r.FoundFrom, r.FoundTo = middle(found)
	r.F1From, r.F1To = middle(f1)
}

// unseen is by how much the witness errs where it is sure: of texts with a known truth shares were up to so much beyond
// what it says without doubt, and what the sample adds.
const unseen = 0.05

// widened returns a range of shares by the witness with what it does not see, and two standard errors of a sample of so many
// pairs. None of few pairs may be wrong by luck: so one more is counted that is, and one that is not. By no pairs nothing is known.
func widened(from, to, pairs float64) (least, most float64) {
	beyond := func(share float64) float64 {
		share = (share*pairs + 1) / (pairs + 2)
		return unseen + 2*math.Sqrt(share*(1-share)/(pairs+2))
	}
	if pairs == 0 {
		return 0, 1
	}
	return max(from-beyond(from), 0), min(to+beyond(to), 1)
}

// sampledOf returns how much the pairs are worth that may be copies.
func sampledOf(pairs []pair) float64 {
	sum, squares := 0.0, 0.0
	for _, p := range pairs {
		if p.cover >= noCopy {
			sum, squares = sum+p.weight, squares+p.weight*p.weight
		}
	}
	return worth(sum, squares)
}

// worth returns how many pairs of one weight tell as much as pairs whose weights have this sum, and this sum of squares.
func worth(sum, squares float64) float64 {
	if squares <= 0 {
		return 0
	}
	return sum * sum / squares
}

// A wrong pair costs more than one that is missed: the merit is the F-measure with precisionWeight for beta. Examples
// say themselves what counts, so it is F1.
const precisionWeight = 0.6

// chosenBy sets the merit of a row.
func chosenBy(r *Row, o Options) {
	switch {
	case o.Precision > 0 && 1-r.Wrong >= o.Precision:
		r.score, r.reaches = 1+r.Found, true
	case o.Precision > 0:
		r.score = 1 - r.Wrong
	case len(o.Examples) > 0:
		r.score = r.F1
	default:
		r.score = fMeasure(1-r.Wrong, r.Found, precisionWeight)
	}
}

// middle returns between what 95 % of numbers lie. It sorts them.
func middle(of []float64) (from, to float64) {
	slices.Sort(of)
	cut := len(of) * 25 / 1000
	return of[cut], of[len(of)-1-cut]
}
