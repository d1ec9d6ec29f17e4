// Package explain shows why candidates became links, or not.
package explain

// Evidence shows why some candidates became links, or not. Half of them are the candidates about which the decision
// is least certain. A quarter are links, taken evenly from the least to the most certain of the rest. A quarter are
// other candidates, taken evenly from the least certain ones, as many as there are links. If there are too few of one
// sort, there are more of another. They are sorted by certainty, the least certain first.
type Evidence struct {
	Pairs      []Explained
	Candidates int // number of all candidates
	Links      int // number of links among them
	Threshold  float64
	ByWhole    bool // Threshold is a similarity of records, and not a probability
}

// Explained is the evidence about a candidate.
type Explained struct {
	A, B        []byte // ids
	Similarity  float64
	Probability float64
	Link        bool
	Steps       []Step           // their sum is the log odds of the probability
	Columns     []ColumnEvidence // of the compared columns
	Others      []Values         // of other columns, by their name in either table; without the ids
	Rival       *Rival           // with a step of rivals; else nil
}

// A Rival is the most likely other candidate with either record of a pair, by the model without regard to rivals.
type Rival struct {
	A, B    []byte   // ids
	Columns []Values // of the compared columns
}

// A Step is a term of the log odds of a match, in nats.
type Step struct {
	Of      StepOf
	Name    string // of the column or feature
	LogOdds float64
}

// StepOf says what a step comes from.
type StepOf string

// The steps, in their order. A step that adds nothing is left out, except columns.
const (
	StepPrior  StepOf = "prior"  // the log odds of any candidate
	StepColumn StepOf = "column" // the similarity of two values
	StepWhole  StepOf = "whole"  // the similarity of the records as a whole
	StepRivals StepOf = "rivals" // other candidates of either record, if it has one partner at most
	StepLabels StepOf = "labels" // a feature whose weight was learned from labels
	StepChance StepOf = "chance" // the bound by the scores that records reach by chance
)

// ColumnEvidence is the evidence of a compared column.
type ColumnEvidence struct {
	Values
	LogOdds float64         // the term of the column, in nats
	Apart   float64         // the term if the values had no word in common; the words' LogOdds add the rest
	Words   []WordEvidence  // of the left value, then those of the right one that it does not have; at most mostWords of each
	Rest    [2]WordEvidence // the sum of the other words of either value, without Text
}

// Values are the values of a compared column in both records.
type Values struct {
	Left, Right string // names of the column
	A, B        string
	Similarity  float64 // −1 where either is missing
}

// WordEvidence is the evidence of a word of a value, with its 3-grams if the column is cut into them.
type WordEvidence struct {
	Text       string
	Right      bool    // of the right value
	Similarity float64 // the part of the values' similarity that comes from this word's tokens; for left words only
	Alone      float64 // the word's tokens that the other value does not have, as a share of the value's weight
	LogOdds    float64 // the term that Similarity adds to those of words with a larger one, in nats
}
