package linkage

// Evidence is why some candidates were taken for links, or not: half of them those of which the
// decision is least sure, a quarter evenly of the other links, from the least to the most sure,
// and a quarter evenly of the others, of as many as there are links. Where there are fewer of
// one sort there are more of another. They stand in the order in which the decision is unsure of
// them.
type Evidence struct {
	Pairs      []Explained
	Candidates int // of which these are
	Links      int // of all candidates
	Threshold  float64
	ByWhole    bool // Threshold is a similarity of records, and not a probability
}

// Explained is what is known of a candidate.
type Explained struct {
	A, B        []byte // ids
	Similarity  float64
	Probability float64
	Link        bool
	Steps       []Step           // add up to the log odds of the probability
	Columns     []ColumnEvidence // that were compared
	Others      []Values         // of other columns, by their name in either table; not the ids
}

// A Step is what one thing adds to the log odds of a match, in nats.
type Step struct {
	Of      StepOf
	Name    string // of the column or feature
	LogOdds float64
}

// StepOf says what a step comes from.
type StepOf string

// The steps, in their order. A step that adds nothing is left out, but for columns.
const (
	StepPrior  StepOf = "prior"  // what is known of any candidate
	StepColumn StepOf = "column" // how alike two values are
	StepWhole  StepOf = "whole"  // how alike the records are as a whole
	StepRivals StepOf = "rivals" // other candidates of either record, where it has one partner
	StepLabels StepOf = "labels" // what was learned from labels of a feature
	StepChance StepOf = "chance" // what records without a partner find too
)

// ColumnEvidence is what the values of a compared column say.
type ColumnEvidence struct {
	Values
	LogOdds float64         // that they add, in nats
	Apart   float64         // what values without a word in common would add; the words' LogOdds add the rest
	Words   []WordEvidence  // of the left value, then those of the right one that it does not have; at most mostWords of each
	Rest    [2]WordEvidence // the other words of either value, together, without Text
}

// Values are those of a compared column in both records.
type Values struct {
	Left, Right string // names of the column
	A, B        string
	Similarity  float64 // −1 where either is missing
}

// WordEvidence is what a word of a value says, as it was compared: with its 3-grams, if the
// column is cut into such.
type WordEvidence struct {
	Text       string
	Right      bool    // of the right value
	Similarity float64 // of the values, as far as what the word has in common with the other value makes it; of left words only
	Alone      float64 // share of the value's weight that the other value has not
	LogOdds    float64 // what Similarity adds after the words with more of it, in nats
}
