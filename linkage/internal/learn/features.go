package learn

import "fmt"

// Weight is the weight of a feature of a pair.
type Weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`
}

// Names returns the names of the features, for reading.
func Names(columns []string) []string {
	names := []string{
		"constant", "model", "model without rivals", "similarity", "left in right", "right in left",
		"rarest common word", "rarest word of left only", "rarest word of right only",
		"similarity ahead of left's rivals", "similarity ahead of right's rivals", "model ahead of left's rivals", "model ahead of right's rivals",
	}
	for _, column := range columns {
		for _, what := range []string{"evidence", "similarity", "missing"} {
			names = append(names, fmt.Sprintf("%s: %s", column, what))
		}
	}
	return names
}

// Indexes of the features that all tables have. The features of the columns follow.
const (
	constant = iota
	Judged   // log odds of the model, with regard to rivals
	scored   // without
	similarWhole
	containedA
	containedB
	commonWord
	aloneA
	aloneB
	aheadWholeA
	aheadWholeB
	aheadScoreA
	aheadScoreB
	common0 // number of these features
)

// featuresOfColumn is the number of features of a column.
const featuresOfColumn = 3

const logit0 = 5 // log odds that make a feature of 1
