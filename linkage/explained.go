package linkage

import "github.com/alike-dev/alike/linkage/internal/explain"

// What explains why some candidates became links, or not.
type (
	// Evidence shows some candidates, half of them those about which the decision is least certain.
	Evidence = explain.Evidence
	// Explained is the evidence about a candidate.
	Explained = explain.Explained
	// A Rival is the most likely other candidate with either record of a pair.
	Rival = explain.Rival
	// A Step is a term of the log odds of a match, in nats.
	Step = explain.Step
	// StepOf says what a step comes from.
	StepOf = explain.StepOf
	// ColumnEvidence is the evidence of a compared column.
	ColumnEvidence = explain.ColumnEvidence
	// Values are the values of a compared column in both records.
	Values = explain.Values
	// WordEvidence is the evidence of a word of a value, with its 3-grams if the column is cut into them.
	WordEvidence = explain.WordEvidence
)

// The steps, in their order. A step that adds nothing is left out, except columns.
const (
	StepPrior  = explain.StepPrior  // the log odds of any candidate
	StepColumn = explain.StepColumn // the similarity of two values
	StepWhole  = explain.StepWhole  // the similarity of the records as a whole
	StepRivals = explain.StepRivals // other candidates of either record, if it has one partner at most
	StepLabels = explain.StepLabels // a feature whose weight was learned from labels
	StepChance = explain.StepChance // the bound by the scores that records reach by chance
)
