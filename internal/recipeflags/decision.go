package recipeflags

import (
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// Decision are the settings that say which pairs are wanted.
type Decision struct {
	Measure    string
	Threshold  float64
	Distance   int
	Recall     float64
	Candidates string // has no flag here
	Verify     string
	Bands      int
	Rows       int
	MinBands   int
	BucketCap  int
	Shared     bool // has no flag here
	ThirdTexts bool // nor has this
}

// AddMeasure adds the flag --measure.
func AddMeasure(flags *pflag.FlagSet, to *string) {
	var names []string
	for _, m := range measure.All() {
		names = append(names, m.String())
	}
	flags.Var(Words(to, names...), "measure",
		"what similarity is: jaccard, containment (share of A that is in B), max-containment (of the smaller), cosine, dice, overlap (shingles in common) or weighted-jaccard (repeated shingles count)")
}

// Add adds the flags, with the default of --bucket-cap. Candidates are those of lsh, the only way to look up one
// document.
func (f *Decision) Add(flags *pflag.FlagSet, bucketCap int) {
	f.Candidates = LSH
	AddMeasure(flags, &f.Measure)
	flags.Float64Var(&f.Threshold, "threshold", dedup.DefaultThreshold,
		"least similarity of a pair, above 0 and up to 1; of overlap, a number of shingles, without a default")
	flags.IntVar(&f.Distance, "distance", 0, "with SimHash and presets of fingerprints: most bits in which a pair differs, instead of a threshold")
	flags.Float64Var(&f.Recall, "recall", dedup.DefaultRecall,
		"share of the pairs at the threshold to be found: an average over seeds; with one seed a family of near-copies may have less")
	flags.Var(Words(&f.Verify, recipe.Exact, recipe.Sketch, recipe.None), "verify", "similarity of a pair: exact, sketch (estimated) or none")
	flags.IntVar(&f.Bands, "bands", 0, "bands of the signature (default: tuned, see alike tune)")
	flags.IntVar(&f.Rows, "rows", 0, "components a band (default: tuned)")
	flags.IntVar(&f.MinBands, "min-bands", 1, "bands in which a pair must agree")
	flags.IntVar(&f.BucketCap, "bucket-cap", bucketCap, "documents in a bucket up to which all its pairs are compared")
}

func (f *Decision) bucketCap() (int, error) {
	if f.BucketCap < 2 || f.BucketCap > dedup.MaxBucketCap {
		return 0, usagef("%s is %d: take 2 to %d, such as %d", setting.BucketCap, f.BucketCap, dedup.MaxBucketCap, dedup.DefaultBucketCap)
	}
	return f.BucketCap, nil
}

func (f *Decision) similarity(flags *pflag.FlagSet) (s dedup.Similarity, err error) {
	s.Threshold, s.Verify, s.Shared, s.ThirdTexts = f.Threshold, recipe.Verify(f.Verify), f.Shared, f.ThirdTexts
	if s.Measure, err = measure.Parse(f.Measure); err != nil {
		return s, &usage{err}
	}
	if s.Measure.IsCount() && !flags.Changed("threshold") {
		return s, usagef("%s overlap has no threshold that suits all data: say how many shingles must be common, such as %s 10", setting.Measure, setting.Threshold)
	}
	if err := CheckThreshold(s.Measure, f.Threshold, f.Recall); err != nil {
		return s, err
	}
	s.Candidates, err = f.candidates()
	return s, err
}

// The ways of finding candidates.
const (
	Auto  = "auto"
	LSH   = dedup.MethodLSH
	Exact = dedup.MethodExact
)

func (f *Decision) candidates() (dedup.Candidates, error) {
	banded := f.Bands != 0 && f.Rows != 0
	if !banded && (f.Bands != 0 || f.Rows != 0 || f.MinBands != 1) {
		return nil, usagef("%s and %s go together, and %s needs both", setting.Banding, setting.Rows, setting.MinBands)
	}
	switch {
	case f.Candidates == Exact:
		return dedup.Exact{}, nil
	case f.Candidates != Auto && f.Candidates != LSH:
		return nil, usagef("%s is %q: choose one of %s, %s, %s", setting.Candidates, f.Candidates, Auto, LSH, Exact)
	case banded:
		return dedup.Bands{Bands: f.Bands, Rows: f.Rows, MinBands: f.MinBands}, nil
	case f.Candidates == LSH:
		return dedup.LSH{Recall: f.Recall}, nil
	}
	return dedup.Auto{Recall: f.Recall}, nil
}

// CheckThreshold checks a threshold and a recall that the user has given. A configuration takes 0
// for its default, so it would not refuse a 0 of the user's.
func CheckThreshold(m measure.Measure, threshold, recall float64) error {
	switch {
	case m.IsCount():
		if _, err := measure.NewThreshold(m, threshold); err != nil {
			return usagef("%s is %v: by %s overlap take a whole number from 1 on, such as 10", setting.Threshold, threshold, setting.Measure)
		}
	case !(threshold > 0 && threshold <= 1):
		return usagef("%s is %v: take a number above 0 and up to 1, such as 0.8", setting.Threshold, threshold)
	}
	return CheckRecall(recall)
}

// CheckRecall checks a recall that the user has given.
func CheckRecall(recall float64) error {
	if !(recall > 0 && recall < 1) {
		return usagef("%s is %v: take a number between 0 and 1, such as 0.99 (%s exact misses nothing)", setting.Recall, recall, setting.Candidates)
	}
	return nil
}
