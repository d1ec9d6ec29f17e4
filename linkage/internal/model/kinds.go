package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/kinds"
)

// The two classes of Model, matches and others, take what agrees most strongly for the match. Where people live
// together that is the household: its members share address, place and telephone, which say the same thing several
// times. So a fit is checked against the kinds of pairs (package kinds). It is replaced where it takes pairs of kinds
// that are not the same thing, or leaves out pairs of kinds that are.
//
// Which kinds are the same thing:
//
//   - Where a source has each thing once, pairs within a source are not the same thing. Kinds are, as far as they occur
//     across sources more often than within: the target-decoy estimate of Chance, kind by kind.
//   - Else the kinds that agree in nearly as much as the kind that agrees in most, and in one telling column at most no
//     more than random pairs. Columns count by how rarely random pairs agree in them.

const (
	// sameFrom is the least agreement of a kind that is the same thing, as a share of the largest agreement.
	sameFrom = 0.55
	// mostAtChance is the largest number of telling columns in which a kind that is the same thing agrees no more than random
	// pairs: one value may have been changed, and what differs in two such ways is another thing. Columns that agree together,
	// such as those of a home, count as one.
	mostAtChance = 1.5
	// telling is the least agreement of a column in the kind that agrees most, and noMore the share of it up to which another
	// kind agrees no more than random pairs.
	telling = 0.5
	noMore  = 0.1
	// leastFilled is the least share of random pairs with values in such a column.
	leastFilled = 0.2
	// mostDisagreement is the largest share of a fit's matches that kinds call strangers, and of the pairs that kinds call
	// the same that a fit leaves out.
	mostDisagreement       = 0.3
	mostDisagreementWithin = 0.1
	// muddier is by how much less clear the kinds may make which record is the partner of another, where a record has one at most: 0.07
	// and less where they are right, 0.11 and more where values stand in other columns, or copies with one error each are no kind.
	muddier = 0.1
	// mostWithin is the largest ratio of pairs within sources to those across them at which the kind that agrees most still
	// shows that sources have things once. Where it is larger, the sources describe things in styles of their own.
	mostWithin = 0.5
	// decoyRounds is how often a model is fitted to what decoys say about its scores. The second and third time change
	// little.
	decoyRounds = 3
	// leastPairs is the least number of pairs of a kind that says something about sources, and of matches that pairs within
	// sources leave hardly a doubt about, which have at least the probability surely.
	leastPairs = 30
	surely     = 0.9
)

// followKinds replaces a fit that contradicts the kinds of pairs.
func (f *Fitted) followKinds(ctx context.Context, c *compare.Comparison, o *Options) {
	m := mixtureOf(ctx, c, o.Threads)
	f.followMixture(ctx, c, o, m)
	if m == nil || ctx.Err() != nil {
		return
	}
	f.Kinds = m.list(c, f.Probability)
}

// followMixture replaces a fit that contradicts a mixture; nil: there is none.
func (f *Fitted) followMixture(ctx context.Context, c *compare.Comparison, o *Options, m *mixture) {
	around := o.Around
	var likely []float64
	if m != nil {
		if same := sameKinds(c, m, around); same != nil {
			likely = m.likely(same)
		}
	}
	if likely == nil && around.Within != nil {
		likely = likelyByDecoys(ctx, c, around)
	}
	if likely == nil || ctx.Err() != nil || c.Right > 0 && o.Once.Any() && SumOf(likely) > float64(o.Once.Most(c.Left, c.Right)) {
		return // or they contradict the rule: more matches than there can be
	}
	most, rise := mostDisagreement, freely
	if around.Within != nil {
		most, rise = mostDisagreementWithin, ofTexts
	}
	if agree(f.Probability, likely, most) || !o.Once.Any() && around.likeness(c, likely) < mostly {
		return
	}
	distilled := distil(ctx, c, likely, rise)
	if around.Within != nil {
		for range decoyRounds {
			distilled = distil(ctx, c, byDecoys(distilled, c, around), rise)
		}
		confirmed := byDecoys(distilled, c, around)
		distilled.expect(confirmed, c, rivals(ctx, c, o.Once, o.Sources))
		after, _ := Apply(ctx, distilled, c, o.Once, o.Sources)
		if moreConfirmed(f.Probability, byDecoys(f.Model, c, around), after, confirmed) {
			return
		}
	}
	if o.Once.Any() {
		if after, _ := Apply(ctx, distilled, c, o.Once, o.Sources); clearness(after) < clearness(f.Probability)-muddier {
			return
		}
	}
	if around.Within == nil {
		f.Dispute = OverWider
	}
	f.follow(ctx, c, o, distilled)
}

// moreConfirmed tells whether decoys confirm at least as much of the matches by one fit as of those by another one: whether
// its F1 is as large, as decoys lead to expect, if there are as many matches as the larger number that they confirm. Where
// what has most in common is things of a series, such as plants collected on one day, kinds may take a neighbour in the
// series for the thing itself, and a fit that does not is the better one.
func moreConfirmed(one, confirmedOne, other, confirmedOther []float64) bool {
	right, n := confirmedOf(one, confirmedOne)
	rightOther, nOther := confirmedOf(other, confirmedOther)
	all := max(right, rightOther)
	return right*(nOther+all) >= rightOther*(n+all)
}

// confirmedOf returns how many of the candidates that are more likely matches than not are right by decoys, and how many there are.
func confirmedOf(probability, confirmed []float64) (right, n float64) {
	for i, p := range probability {
		if p > 0.5 {
			right, n = right+confirmed[i], n+1
		}
	}
	return right, n
}

// likelyByDecoys returns how likely each candidate is a match by what tells candidates across sources from those within; nil
// if hardly any is likely, as where sources have styles of their own, by which pairs within are the most alike. Where the
// things of a source come in versions, kinds are too coarse to tell these from copies.
func likelyByDecoys(ctx context.Context, c *compare.Comparison, around *Surroundings) []float64 {
	all := c.Without()
	each(around.Across, len(c.Pairs), func(i int) { all.Take(c, i) })
	across := make([]float64, len(all.Pairs), len(all.Pairs)+len(around.Within.Pairs))
	for i := range across {
		across[i] = 1
	}
	for i := range around.Within.Pairs {
		all.Take(around.Within, i)
		across = append(across, 0)
	}
	// Across, sources may differ by style, which is no sign of a match: hence rising.
	likely := byDecoys(distil(ctx, all, across, ofAll), c, around)
	sure := 0
	for _, p := range likely {
		if p >= surely {
			sure++
		}
	}
	if sure < leastPairs {
		return nil
	}
	return likely
}

// decoysTell is the least probability by decoys of the candidates that expect counts.
const decoysTell = 0.25

// expectSteps is the number of steps of expect; four come within a hundredth.
const expectSteps = 6

// expect changes the prior so that with regard to rivals as many candidates are expected to be matches as decoys say,
// among those of which they say that of so many one is (decoysTell). That some of these have better rivals makes the others
// more likely. Among the many others the model, which was fitted to the same pairs, sees more matches than there are.
func (m *Model) expect(likely []float64, c *compare.Comparison, rivals *exclusive) {
	if rivals == nil {
		return
	}
	told := func(probability []float64) (sum float64) {
		for i, p := range likely {
			if p >= decoysTell {
				sum += probability[i]
			}
		}
		return sum
	}
	matches := told(likely)
	odds, probability := make([]float64, len(c.Pairs)), make([]float64, len(c.Pairs))
	for range expectSteps {
		m.probabilities(c, rivals, odds, probability, nil)
		m.Prior += min(1, max(-1, LogOdds(matches/rivals.most)-LogOdds(told(probability)/rivals.most)))
	}
}

// mostFitted is about the largest number of pairs that kinds are fitted to: of 30,000 pairs on, more of them change kinds by
// less than what tells kinds apart, and a fit to ten times as many takes ten times as long.
const mostFitted = 30_000

// everyNth returns places among n at equal distances, at most mostFitted of them.
func everyNth(n int) []int {
	step := max(1, (n+mostFitted-1)/mostFitted)
	some := make([]int, 0, n/step+1)
	for i := 0; i < n; i += step {
		some = append(some, i)
	}
	return some
}

// agree tells whether the matches of a fit are those of the kinds, by and large.
func agree(fit, byKinds []float64, most float64) bool {
	var matches, strangers, all, lost float64
	for i, p := range fit {
		if all += byKinds[i]; p > 0.5 {
			matches, strangers = matches+1, strangers+1-byKinds[i]
		} else {
			lost += byKinds[i]
		}
	}
	return strangers <= most*matches && lost <= most*all
}

// Grades returns the grades of each column of some pairs, or of all.
func Grades(c *compare.Comparison, some []int) []uint8 {
	columns := c.Width - 1
	if some == nil {
		grades := make([]uint8, 0, columns*len(c.Pairs))
		for i := range c.Pairs {
			grades = appendGrades(grades, c, i)
		}
		return grades
	}
	grades := make([]uint8, 0, columns*len(some))
	for _, i := range some {
		grades = appendGrades(grades, c, i)
	}
	return grades
}

func appendGrades(dst []uint8, c *compare.Comparison, i int) []uint8 {
	for f := range c.Width - 1 {
		dst = append(dst, gradeOf(c, f, c.Of(i)[f]))
	}
	return dst
}

// gradeOf returns how much values of column f agree, by their level. Numbers and dates agree if they are so near that their
// distance says so. If none does, those that are near neither agree nor differ, and neither do texts that only begin alike.
func gradeOf(c *compare.Comparison, f int, l compare.Level) uint8 {
	switch {
	case l == compare.Missing:
		return kinds.Missing
	case compare.IsEqual(l):
		return kinds.Equal
	case !compare.IsClose(l, 1) && compare.Agrees(l):
		return kinds.Near
	case !compare.IsClose(l, 1):
		return kinds.Far
	case c.Agreeing == nil || c.Agreeing[f] == 0:
		return kinds.Missing
	case compare.IsClose(l, c.Agreeing[f]):
		return kinds.Near
	}
	return kinds.Far
}

// sameKinds returns, for each kind, the share of its pairs that are the same thing; nil if the data do not tell.
func sameKinds(c *compare.Comparison, of *mixture, around *Surroundings) []float64 {
	m := of.Mixture
	agreement := agreementOf(m, around, slices.Repeat([]float64{1}, m.Columns))
	top := largest(agreement)
	if around.Within != nil && len(around.Within.Pairs) >= leastPairs {
		return acrossOnly(c, of, around, top)
	}
	if agreement[top] <= 0 {
		return nil
	}
	together := correlations(m, top)
	every := make([]int, m.Columns)
	for f := range every {
		every[f] = f
	}
	agreement = agreementOf(m, around, ownShares(together, every))
	top = largest(agreement)
	same := make([]float64, len(agreement))
	for k, a := range agreement {
		if a >= sameFrom*agreement[top] && SumOf(ownShares(together, atChance(m, around, k, top))) <= mostAtChance {
			same[k] = 1
		}
	}
	return same
}

// agreementOf returns by how much the pairs of each kind agree more often than random pairs: 1 if they agree in every
// column, 0 if as often as random pairs. A column counts by the share of pairs that have values, by how rarely random
// pairs agree in it, and by own, the share of what it says that no other column says too.
func agreementOf(m *kinds.Mixture, around *Surroundings, own []float64) []float64 {
	of := make([]float64, len(m.Share))
	weights := 0.0
	for f, alike := range around.Alike {
		weight := own[f] * around.tells(f)
		weights += weight
		for k := range of {
			of[k] += weight * (m.Agreement(k, f) - alike) / (1 - alike)
		}
	}
	for k := range of {
		of[k] /= max(weights, 1e-300)
	}
	return of
}

// atChance returns the columns that tell, by the kind top, in which a kind agrees no more than random pairs.
func atChance(m *kinds.Mixture, around *Surroundings, kind, top int) (columns []int) {
	for f, alike := range around.Alike {
		more, most := m.Agreement(kind, f)-alike, m.Agreement(top, f)-alike
		if m.Agreement(top, f) >= telling && around.Filled[f] >= leastFilled && more < noMore*most {
			columns = append(columns, f)
		}
	}
	return columns
}

// largest returns the place of the largest number.
func largest(of []float64) (at int) {
	for i, x := range of {
		if x > of[at] {
			at = i
		}
	}
	return at
}

// correlations returns, for each pair of columns f and g at f·columns+g, how much they agree in the same pairs of all kinds except
// one: 0 not more than by chance, 1 always. The columns of a home agree together in the pairs of a household.
func correlations(m *kinds.Mixture, except int) []float64 {
	n := m.Columns
	rest := 1 - m.Share[except]
	mean, both := make([]float64, n), make([]float64, n*n)
	for k, share := range m.Share {
		if k == except {
			continue
		}
		for f := range n {
			mean[f] += share / rest * m.Agreement(k, f)
			for g := range n {
				both[f*n+g] += share / rest * m.Agreement(k, f) * m.Agreement(k, g)
			}
		}
	}
	for f := range n {
		for g := range n {
			deviations := math.Sqrt(max(1e-9, mean[f]*(1-mean[f])*mean[g]*(1-mean[g])))
			both[f*n+g] = max(0, (both[f*n+g]-mean[f]*mean[g])/deviations)
		}
	}
	return both
}

// ownShares returns, for each of some columns, the share of what it says that no other one of them says too:
// 1 / (1 + Σ correlations), as Comparer.Shares. Their sum is the number of columns that these are worth.
func ownShares(correlations []float64, columns []int) []float64 {
	n := int(math.Sqrt(float64(len(correlations))))
	own := make([]float64, len(columns))
	for i, f := range columns {
		told := 1.0
		for _, g := range columns {
			if g != f {
				told += correlations[f*n+g]
			}
		}
		own[i] = 1 / told
	}
	return own
}

// acrossOnly returns the share of each kind's pairs that are the same thing, from the numbers of its pairs across and
// within sources; nil if the kind top, which agrees most, is as frequent within as across.
func acrossOnly(c *compare.Comparison, m *mixture, around *Surroundings, top int) []float64 {
	across := make([]float64, len(m.Share))
	add := func(of []float64) {
		for k, p := range of {
			across[k] += p
		}
	}
	if around.Across == nil {
		for _, of := range m.posterior {
			add(of)
		}
	}
	for _, i := range around.Across {
		add(m.posterior[i])
	}
	within := make([]float64, len(m.Share))
	for _, of := range kinds.NewPatterns(c.Width-1, Grades(around.Within, nil)).Posterior(m.Mixture) {
		for k, p := range of {
			within[k] += p
		}
	}
	same := make([]float64, len(m.Share))
	for k := range same {
		if across[k] >= leastPairs {
			same[k] = max(0, 1-within[k]/around.Possible[1]/(across[k]/around.Possible[0]))
		}
	}
	if same[top] < 1-mostWithin {
		return nil
	}
	return same
}
