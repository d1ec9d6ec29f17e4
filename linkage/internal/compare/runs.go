package compare

import (
	"slices"

	"github.com/alike-dev/alike/linkage/internal/closeness"
)

// The similarity of two records has levels in wholeSteps steps, and as many from firstRare on where both have a rare word, see
// Records. From halfAlike on they have half of their tokens or more in common.
const (
	wholeSteps       = 20
	halfAlike  Level = 1 + wholeSteps/2
	firstRare  Level = 2 + wholeSteps
)

// wholeLevel returns the level of the similarity of two records.
func wholeLevel(similarity float64, rare bool) Level {
	l := 1 + Level(similarity*wholeSteps)
	if rare {
		l += firstRare - 1
	}
	return l
}

// A Run is levels that stand for more and more similarity, without To.
type Run struct {
	From, To Level
	// Texts is the level from which on they do not stand for texts that differ in most: but for equal values, for distances, or for
	// records that have half in common, such as neighbours in a series. To: all do.
	Texts Level
	// Below is the first level of the run that stands for the same similarity with less in common; 0: none does.
	Below Level
}

var (
	runsOfColumns = []Run{
		{From: 1, To: firstClose, Texts: Equal},
		{From: firstClose, To: firstClose + closeness.Steps, Texts: firstClose},
		{From: firstClose + closeness.Steps, To: firstExchanged, Texts: firstClose + closeness.Steps},
		{From: firstExchanged, To: Level(Levels), Texts: Level(Levels)},
	}
	runsOfRecords = []Run{
		{From: 1, To: firstRare, Texts: halfAlike},
		{From: firstRare, To: 2*firstRare - 1, Texts: firstRare + halfAlike - 1, Below: 1},
	}
)

// Runs returns the runs of the levels of a column, or of records as a whole.
func Runs(whole bool) []Run {
	if whole {
		return runsOfRecords
	}
	return runsOfColumns
}

// WithRare returns the evidence of all levels of records as a whole, from that by a program without those from firstRare on: a rare
// word tells nothing more.
func WithRare(evidence []float64) []float64 {
	evidence = slices.Clone(evidence)
	copy(evidence[firstRare:], evidence[1:firstRare])
	return evidence
}
