package main

import (
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// weighFlags say by hand how records are compared and how candidates are found.
type weighFlags struct {
	idf         choice
	epsilon     float64
	delta       float64
	measure     choice
	repetitions bool
	candidates  choice
	recall      float64
}

func (f *weighFlags) add(flags *pflag.FlagSet) {
	f.addIDF(flags)
	f.measure = choose(measure.Cosine.String(), measure.WeightedJaccard.String())
	flags.Var(&f.measure, "measure", "similarity of records and columns: cosine or weighted-jaccard")
	flags.BoolVar(&f.repetitions, "repetitions", false, "count repeated tokens: a token's second occurrence in a value is another token")
	f.candidates = choose(linkage.TopK, linkage.Keys, linkage.LSH, linkage.Exact, linkage.Auto)
	flags.Var(&f.candidates, "candidates", "how to find candidates: topk (the most similar of each record), keys (those that share rare values), with a --threshold also lsh (bands of MinHash), exact (misses none) or auto (topk or lsh, whichever is estimated to cost less)")
	sayDefault(flags, "candidates", candidatesDefault)
	flags.Float64Var(&f.recall, "recall", lsh.DefaultRecall, "with --candidates lsh: share of the pairs at the threshold to be found")
}

// candidatesDefault says how candidates of records are found by default.
const candidatesDefault = "topk and keys (with a --threshold topk); above 30,000 records keys"

// addIDF adds the flags that commands about texts do not have.
func (f *weighFlags) addIDF(flags *pflag.FlagSet) {
	f.idf = choose(linkage.IDFExact, linkage.IDFSketch, linkage.IDFNone)
	flags.Var(&f.idf, "idf", "weight of a token in records: exact (by how many records have it), sketch (estimated) or none; of texts, of a shingle")
	flags.Float64Var(&f.epsilon, "idf-epsilon", 0, "with --idf sketch: error of a count, as a `share` of all tokens (default 1e-05)")
	flags.Float64Var(&f.delta, "idf-delta", 0, "with --idf sketch: probability that the error is larger, `p` (default 0.01)")
}
