package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Model has the evidence of each level of each column for a match: the logarithm of the ratio of the
// level's frequency among matches to that among other candidates. It is the model of Fellegi and
// Sunter ("A theory for record linkage", JASA 1969), with the frequencies estimated by expectation
// and maximisation (W. E. Winkler, "Using the EM algorithm for weight computation in the
// Fellegi-Sunter model", 1988). It compares with other candidates, not with random pairs: these are
// the non-matches that are most similar.
type Model struct {
	Width    int
	Evidence []float64 // of level l of column f at f·levels+l
	Share    []float64 // factor for the evidence of each column: see compare.Comparer.Shares
	Prior    float64   // log odds of a candidate before any evidence
}

// Constants of the model, the same for all tables.
const (
	// redundancy divides the sum of the evidence, because the columns of a record, and the record
	// as a whole, partly say the same.
	redundancy = 1.5
	// pseudo is the number of pseudo-counts, with the frequencies of all candidates, that are added
	// to matches and to others, so that rare levels have little evidence.
	pseudo = 2.0
	// mostSteps is the largest number of steps of expectation and maximisation.
	mostSteps = 40
)

// MostSampled is the largest number of candidates from which a model is learned.
const MostSampled = 300_000

// starts are shares of the first guess, the most similar pairs of it, from which the fit starts. If few
// candidates are matches, a start from the whole guess leads to pairs that are similar for another
// reason, such as records of one town; a start from its best pairs leads to matches.
var starts = []float64{1, 0.1, 0.02}

// clearerBy is by how much the clearness of a later start's model must exceed that of an earlier one.
const clearerBy = 0.03

// mostly is the least likeness of matches, if records may have any number of partners or matches do not stand out. A fit with
// a lower one has found another kind of pairs, such as the papers of one author or people of one street, because the tables
// have no duplicates. On tables with duplicates it is 0.54 to 0.85, and 0.14 to 0.48 on the same tables without them.
const mostly = 0.5

// Duplicate is the similarity from which two records of a table may be duplicates whatever the model
// says. Such pairs do not count as chance, although a record has one partner at most, and they serve
// as matches if no fit finds any.
const Duplicate = 0.7

// Options say how a model is fitted.
type Options struct {
	Once      Once      // which records have one partner at most
	Share     []float64 // of each column, how much of what it tells no other does: see compare.Comparer.Shares
	Sources   []uint32  // see Graph; where a model follows kinds
	Calibrate bool      // continue with calibrated scores where they can be derived: see ScoreCounts
	Same      []int     // columns in which what is the same thing agrees, as the user says; nil: the data say it
	// Around is what the tables show besides the candidates; nil: the fit is not checked against the kinds of pairs.
	Around  *Surroundings
	Threads int // goroutines at most that kinds are fitted on
}

// A Dispute is what the data leave open about the matches of a fit.
type Dispute uint8

const (
	Settled Dispute = iota
	// OverWider: records that have less in common may be one thing too, as those of a household beside those of a person. The
	// matches are one thing by either notion; how many there are is open.
	OverWider
	// OverAll: what the matches have in common may be less than a thing, such as the person of several visits.
	OverAll
)

// Fitted is what a fit has found.
type Fitted struct {
	Model        *Model
	Probability  []float64 // of each candidate
	Calibrated   bool      // the model's scores are calibrated
	ByKinds      bool      // the fit contradicted the kinds of pairs, and the model is that of the kinds: see followKinds
	BeyondChance bool      // the fit contradicted what is more than chance, and the model is that: see followIndependent
	Dispute      Dispute   // what the data leave open
	Differing    []int     // the columns in which matches differ, or other kinds from them; nil: no such columns raise a dispute
	Kinds        []Kind    // of the candidates; nil: they were not looked for, or there are no two
	Apart        float64   // the share of the matches that may be other things, as they differ in what would name a record
	Decoys       *Decoys   // what pairs within sources say of the scores of the model; nil: no sources are known
	AtMost       *AtMost   // what columns leave to more than chance; nil: that is not known
	Again        bool      // words were left out of the comparison, see Surroundings.LeavePassing: nothing else is said
	Replaced     bool      // the model had numbers that are not finite, and is that of twins: see KeepFinite
}

// Fit learns a model from compared candidates, without labels. When the context has ended, the fit stops, and its
// result means nothing. O(steps · candidates · columns).
func Fit(ctx context.Context, c *compare.Comparison, o Options) *Fitted {
	f := &Fitted{}
	var larger []float64
	f.Model, f.Probability, larger = clearest(ctx, c, &o)
	if f.Model == nil {
		f.Model, f.Probability = ofTwins(c, o.Share)
		f.Dispute = OverWider
	}
	if o.Calibrate && ctx.Err() == nil {
		f.Calibrated = f.Model.relearn(c, rivals(ctx, c, o.Once, nil), f.Probability, o.Around)
	}
	f.KeepFinite(c)
	if len(o.Same) > 0 {
		f.followNamed(ctx, c, &o)
		return f
	}
	if o.Around != nil && !f.Replaced {
		f.checkAround(ctx, c, &o)
		if f.Again {
			return f
		}
		if larger != nil && !o.Once.Any() && !f.ByKinds {
			f.followNarrower(ctx, c, &o, larger)
		}
		f.AtMost = o.Around.atMost(c, f.Probability, o.Once)
	}
	return f
}

// checkAround replaces a fit that what the tables show besides the candidates contradicts, or puts it in dispute.
func (f *Fitted) checkAround(ctx context.Context, c *compare.Comparison, o *Options) {
	sourced := o.Around.Within != nil
	alone := c.Right == 0 && !sourced // nothing but the candidates tells what is not the same thing
	if alone {
		f.followIndependent(ctx, c, o)
	}
	if MayShowKinds(c, sourced) && !f.BeyondChance {
		f.followKinds(ctx, c, o)
	}
	if alone && !f.BeyondChance {
		f.followNotion(ctx, c, o)
	}
	if f.Differing == nil {
		if f.Differing = o.Around.doubts(c, f.Probability); f.Differing != nil {
			f.Dispute = OverAll
		}
		if alone {
			f.followCopies(ctx, c, o)
		}
	}
	if alone && f.Differing == nil {
		if f.followUnexchanged(ctx, c, o); f.Again {
			return
		}
	}
	if alone && f.Dispute != OverAll {
		left := o.Around.leftToChance(c, f.Probability)
		if columns := left.siblings(); columns != nil {
			f.Dispute, f.Differing = OverAll, columns
		}
	}
	if c.Right == 0 && sourced && len(o.Around.Within.Pairs) > 0 {
		f.askDecoys(c, o.Around)
	}
}

// Apply returns the probabilities of compared candidates by a model that was learned before.
// sources are those of Graph, of which a record then has one partner each.
func Apply(ctx context.Context, m *Model, c *compare.Comparison, once Once, sources []uint32) (probability, rank []float64) {
	n := len(c.Pairs)
	probability, rank = make([]float64, n), make([]float64, n)
	m.probabilities(c, rivals(ctx, c, once, sources), make([]float64, n), probability, rank)
	return probability, rank
}

// rivals returns the rivals of candidates for model.probabilities; nil if records may have several
// partners.
func rivals(ctx context.Context, c *compare.Comparison, once Once, sources []uint32) *exclusive {
	if sources != nil {
		once = Once{Left: true, Right: true}
	}
	if !once.Any() {
		return nil
	}
	return newExclusive(ctx, Graph{c.Pairs, c.Left, c.Right, sources}, once)
}

// clearest finds the model of candidates: of the models that starts lead to, the one whose own probabilities
// separate matches from others best. best is nil if the matches of none are as alike as things are; then larger has the probabilities
// by the clearest of all.
func clearest(ctx context.Context, c *compare.Comparison, o *Options) (best *Model, probability, larger []float64) {
	g := Graph{Pairs: c.Pairs, Left: c.Left, Right: c.Right}
	most, wide := math.Inf(-1), math.Inf(-1)
	for _, rank := range ranks(c) {
		guess := firstGuess(c, g, rank, o.Once)
		if countPositive(guess) == 0 {
			guess = firstGuess(c, g, rank, Once{}) // nothing stands out from chance
		}
		order := make([]float64, len(guess))
		for i := range guess {
			order[i] = guess[i] * rank[i]
		}
		slices.Sort(order)
		order = order[len(order)-countPositive(guess):]
		for _, s := range starts {
			seeds := int(math.Ceil(s * float64(len(order))))
			if most+clearerBy >= 1 || s < 1 && seeds < leastSeeds {
				break
			}
			p := slices.Clone(guess)
			for i := range p {
				if seeds == 0 || p[i]*rank[i] < order[len(order)-seeds] {
					p[i] = 0
				}
			}
			m := settle(ctx, c, g, o.Once, o.Share, p)
			if (!o.Once.Any() || !standOut(c, p)) && o.Around.likeness(c, p) < mostly {
				if clear := clearness(p); clear > wide {
					larger, wide = p, clear
				}
				continue
			}
			if clear := clearness(p); clear > most+clearerBy || best == nil {
				best, probability, most = m, p, clear
			}
		}
	}
	if best != nil {
		larger = nil
	}
	return best, probability, larger
}

// standOut tells whether matches are more similar than the mean of all candidates, in the mean. Where there are none, a fit may
// follow what a few pairs have by chance, such as a rare word.
func standOut(c *compare.Comparison, probability []float64) bool {
	var matches, ofMatches, ofAll float64
	for i, p := range probability {
		w := float64(c.Wholes[i])
		matches, ofMatches, ofAll = matches+p, ofMatches+p*w, ofAll+w
	}
	return ofMatches*float64(len(probability)) > ofAll*matches
}

// ranks returns values by which candidates are ordered for first guesses: their similarity and, where values are near each
// other that share no tokens, what their agreement tells.
func ranks(c *compare.Comparison) [][]float64 {
	similarity := make([]float64, len(c.Pairs))
	for i, w := range c.Wholes {
		similarity[i] = float64(w)
	}
	if !slices.ContainsFunc(c.Levels, func(l compare.Level) bool { return compare.IsClose(l, 1) }) {
		return [][]float64{similarity}
	}
	return [][]float64{similarity, told(c)}
}

// told returns how much the agreement of each candidate tells, relative to that which tells most: the sum over columns of how
// rarely values are as alike, in nats, by chance or among all candidates.
func told(c *compare.Comparison) []float64 {
	of := make([]float64, len(c.Pairs))
	most := 0.0
	for f := range c.Width - 1 {
		var nats [compare.Levels]float64
		var count [compare.Levels]float64
		for i := range c.Pairs {
			count[c.Of(i)[f]]++
		}
		there := float64(len(c.Pairs)) - count[compare.Missing]
		for _, run := range compare.Runs(false) {
			from := 0.0
			for l := run.To - 1; l >= run.From; l-- {
				if from += count[l]; count[l] > 0 {
					nats[l] = max(compare.Told(l), -math.Log(from/there))
				}
			}
		}
		for i := range of {
			of[i] += nats[c.Of(i)[f]]
			most = max(most, of[i])
		}
	}
	for i := range of {
		of[i] /= max(most, 1e-300)
	}
	return of
}

// ofTwins returns the model that is learned as if exactly the very similar pairs were the matches.
func ofTwins(c *compare.Comparison, share []float64) (*Model, []float64) {
	probability := make([]float64, len(c.Pairs))
	for i, w := range c.Wholes {
		if w >= Duplicate {
			probability[i] = 1
		}
	}
	m := modelOf(c, share, probability)
	m.probabilities(c, nil, make([]float64, len(probability)), probability, nil)
	return m, probability
}

// modelOf returns the model that is learned from the probability of each candidate.
func modelOf(c *compare.Comparison, share, probability []float64) *Model {
	m := NewModel(c, share)
	m.Prior = LogOdds(mean(probability))
	m.learn(c, probability)
	return m
}

// leastSeeds is the least number of pairs of a start.
const leastSeeds = 10

func countPositive(x []float64) (n int) {
	for _, v := range x {
		if v > 0 {
			n++
		}
	}
	return n
}

// clearness returns the F1 of choosing the candidates that are more likely matches than not, as expected
// from their probabilities.
func clearness(probability []float64) float64 {
	right, kept := 0.0, 0.0
	for _, p := range probability {
		if p > 0.5 {
			right, kept = right+p, kept+1
		}
	}
	return 2 * right / max(kept+SumOf(probability), 1e-300)
}

func NewModel(c *compare.Comparison, share []float64) *Model {
	return &Model{Width: c.Width, Share: append(slices.Clone(share), 1), Evidence: make([]float64, c.Width*compare.Levels)}
}

// settle runs expectation and maximisation from a guess of the probabilities, and puts the final
// probabilities into it.
func settle(ctx context.Context, c *compare.Comparison, g Graph, once Once, share, probability []float64) *Model {
	m := NewModel(c, share)
	m.Prior = LogOdds(mean(probability))
	var rivals *exclusive
	var before *matchings
	if once.Any() {
		rivals, before = newExclusive(ctx, g, once), newMatchings(ctx, g, once)
	}
	odds, last := make([]float64, len(c.Pairs)), make([]float64, len(c.Pairs))
	for range mostSteps {
		if ctx.Err() != nil {
			break
		}
		m.learn(c, probability)
		if once.Any() {
			m.Prior = before.prior(m.Prior, SumOf(probability), odds)
		} else {
			m.Prior = LogOdds(mean(probability))
		}
		copy(last, probability)
		m.probabilities(c, rivals, odds, probability, nil)
		if distance(last, probability) <= settled*SumOf(probability) {
			break
		}
	}
	return m
}

// settled is the largest change of the probabilities in the last step, as a share of their sum.
const settled = 1e-4

func distance(x, y []float64) (d float64) {
	for i := range x {
		d += math.Abs(x[i] - y[i])
	}
	return d
}

// probabilities puts the probability of each candidate into dst and, unless rank is nil, the value by
// which candidates are ordered into rank. rivals is nil if records may have several partners; odds is
// scratch.
func (m *Model) probabilities(c *compare.Comparison, rivals *exclusive, odds, dst, rank []float64) {
	for i := range dst {
		z := m.Score(c.Of(i))
		odds[i] = math.Exp(min(40, max(-40, z)))
		if rivals == nil {
			dst[i] = odds[i] / (1 + odds[i])
			if rank != nil {
				rank[i] = z
			}
		}
	}
	if rivals != nil {
		rivals.marginals(dst, rank, odds)
	}
}

// Score returns the log odds of a candidate without regard to its rivals.
func (m *Model) Score(levels []compare.Level) float64 {
	return m.Prior + m.sum(levels)/m.discount()
}

// Adds returns what a level of a column adds to the score.
func (m *Model) Adds(f int, l compare.Level) float64 {
	return m.Share[f] * m.Evidence[f*compare.Levels+int(l)] / m.discount()
}

func (m *Model) discount() float64 {
	if m.Width == 2 { // with one column, the record as a whole has no evidence of its own
		return 1
	}
	return redundancy
}

// sum returns the evidence of all columns.
func (m *Model) sum(of []compare.Level) (z float64) {
	for f, l := range of {
		z += m.Share[f] * m.Evidence[f*compare.Levels+int(l)]
	}
	return z
}

// learn sets the evidence from the probability of each candidate.
func (m *Model) learn(c *compare.Comparison, probability []float64) {
	for f := range c.Width {
		var match, other [compare.Levels]float64
		for i, p := range probability {
			l := c.Levels[i*c.Width+f]
			match[l] += p
			other[l] += 1 - p
		}
		var matches, others float64
		for l := 1; l < compare.Levels; l++ {
			matches += match[l]
			others += other[l]
		}
		for l := 1; l < compare.Levels; l++ {
			m.Evidence[f*compare.Levels+l] = 0
			if share := (match[l] + other[l]) / (matches + others); share > 0 {
				a := (match[l] + pseudo*share) / (matches + pseudo)
				b := (other[l] + pseudo*share) / (others + pseudo)
				m.Evidence[f*compare.Levels+l] = math.Log(max(a, 1e-9) / max(b, 1e-9))
			}
		}
	}
}

// firstGuess returns the probability of each candidate before there is a model. Only pairs that are each
// other's most similar candidate by rank are guessed to be matches, with a probability that grows with their
// similarity; a record that may have several partners is in as many such pairs as are equally similar. If a
// record has one partner at most, its second best candidate shows how similar records
// are by chance: the guess is lower where, from this similarity on, there are as many second best
// candidates as best ones.
func firstGuess(c *compare.Comparison, g Graph, rank []float64, once Once) []float64 {
	guess := make([]float64, len(c.Pairs))
	var both []int
	if once.Any() {
		both = g.Mutual(rank, c.Wholes)
	} else {
		both = g.closest(rank)
	}
	if len(both) == 0 {
		return guess
	}
	similarities := make([]float64, len(both))
	for i, e := range both {
		similarities[i] = rank[e]
	}
	slices.Sort(similarities)
	median := similarities[len(similarities)/2]
	var chance []float64
	if once.Any() {
		chance = secondBest(g, rank, both, once)
	}
	from := func(sorted []float64, s float64) float64 { // returns how many are s or more
		i, _ := slices.BinarySearch(sorted, s)
		return float64(len(sorted) - i)
	}
	for _, e := range both {
		s := rank[e]
		like := 1.0
		if s < median {
			like = s / median
		}
		guess[e] = 0.9 * like * max(0, 1-from(chance, s)/2/from(similarities, s))
	}
	return guess
}

// secondBest returns, ascending, the similarity of each record that has one partner at most to its best candidate that is not
// in both, a set of edges that share no records.
func secondBest(g Graph, rank []float64, both []int, once Once) []float64 {
	chosen := make([]bool, len(g.Pairs))
	for _, e := range both {
		chosen[e] = true
	}
	left, right := make([]float64, g.Left), make([]float64, g.Right)
	other := right
	if g.Right == 0 {
		other = left
	}
	for i, p := range g.Pairs {
		if !chosen[i] {
			if once.Left {
				left[p.A] = max(left[p.A], rank[i])
			}
			if once.Right {
				other[p.B] = max(other[p.B], rank[i])
			}
		}
	}
	all := slices.DeleteFunc(append(left, right...), func(s float64) bool { return s == 0 })
	slices.Sort(all)
	return all
}

// matchings are random matchings of the candidates in which all candidates have the same odds: the state
// before any evidence if a record has at most one partner.
type matchings struct {
	*exclusive
	p []float64
}

func newMatchings(ctx context.Context, g Graph, once Once) *matchings {
	return &matchings{newExclusive(ctx, g, once), make([]float64, len(g.Pairs))}
}

// prior returns log odds at which a random matching has about this number of edges. guess is the result
// of the step before; odds is scratch.
func (m *matchings) prior(guess, edges float64, odds []float64) float64 {
	if m.most == 0 { // there are no candidates
		return guess
	}
	same := math.Exp(guess)
	for i := range odds {
		odds[i] = same
	}
	m.marginals(m.p, nil, odds)
	guess += LogOdds(edges/m.most) - LogOdds(SumOf(m.p)/m.most)
	return min(max(guess, -25), 15)
}

func SumOf(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func mean(x []float64) float64 { return SumOf(x) / max(1, float64(len(x))) }

func LogOdds(p float64) float64 {
	p = min(max(p, 1e-9), 1-1e-9)
	return math.Log(p / (1 - p))
}
