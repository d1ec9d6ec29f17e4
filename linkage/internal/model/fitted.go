package model

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

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
	// Wider: there is a fit to fewer candidates of each record, which stays if none is found.
	Wider bool
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
	Unfit        bool      // no fit was found, and the one to fewer candidates stays: nothing else is said
	Replaced     bool      // the model had numbers that are not finite, and is that of twins: see KeepFinite
}

// follow takes a model that follows kinds, if it is finite.
func (f *Fitted) follow(ctx context.Context, c *compare.Comparison, o *Options, m *Model) {
	if !m.Finite() || ctx.Err() != nil {
		f.Dispute = OverAll
		return
	}
	f.Model, f.Calibrated, f.ByKinds = m, false, true
	f.Probability, _ = Apply(ctx, m, c, o.Once, o.Sources)
}

// KeepFinite is the boundary that a learned model passes: nothing that is not finite decides about links, or is
// written. No table is known to lead to such a model. If one does, what remains known is how similar records are: the
// model is learned as if exactly the very similar pairs were the matches, with columns that share nothing.
func (f *Fitted) KeepFinite(c *compare.Comparison) {
	if f.Model.Finite() && Finite(f.Probability) {
		return
	}
	model, probability := ofTwins(c, slices.Repeat([]float64{1}, c.Width-1))
	*f = Fitted{Model: model, Probability: probability, Replaced: true}
}
