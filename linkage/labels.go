package linkage

// A Label says whether two records, by their ids, belong together. In one table the order of
// the two does not matter.
type Label struct {
	A, B  string
	Match bool
}

// Labels are the known pairs.
type Labels struct {
	Pairs []Label
	// Complete: all pairs are matches, and there are no other matches of the records that they name. So
	// all other candidates of these records do not belong together.
	Complete bool
}

// A Question is a candidate whose label would teach much.
type Question struct {
	A, B        string
	Probability float64 // that they belong together, by the labels so far
	Values      []Values
}
