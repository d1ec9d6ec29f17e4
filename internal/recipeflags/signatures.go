package recipeflags

import (
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
)

// Signatures are the settings of fingerprints that are only made, not compared. Only the methods of a Signatures set
// up by Add work.
type Signatures struct {
	Text        Text
	Sketch      Sketch
	Fingerprint Fingerprint
	Measure     string
}

func (s *Signatures) Add(flags *pflag.FlagSet) {
	s.Text.Add(flags)
	s.Sketch.Add(flags)
	flags.Var(Words(&s.Measure, measure.Jaccard.String(), measure.WeightedJaccard.String()), "measure",
		"the similarity that signatures estimate: jaccard, or weighted-jaccard, where a shingle counts as often as it occurs")
	s.Fingerprint.Add(flags)
}

// Reads returns the files that the flags name.
func (s *Signatures) Reads() []string { return append(s.Text.Reads(), s.Sketch.Reads()...) }

// Apply sets how signatures are made in a configuration. The flags are those that Add has added to.
func (s *Signatures) Apply(c *dedup.Config, flags *pflag.FlagSet) (err error) {
	var shingles dedup.OfShingles
	if shingles.Options, err = s.Text.Options(); err != nil {
		return err
	}
	texts, err := s.Fingerprint.Scheme(&s.Text, flags)
	if err != nil {
		return err
	}
	if shingles.Scheme, err = s.Sketch.Scheme(flags); err != nil {
		return err
	}
	m, err := measure.Parse(s.Measure)
	if err != nil {
		return err
	}
	c.Signatures, c.Decide = shingles, dedup.Similarity{Measure: m}
	if texts != nil {
		c.Signatures = dedup.OfTexts{Scheme: texts}
	}
	if m == measure.WeightedJaccard && (texts != nil || s.Sketch.IsSimHash()) {
		return usagef("%s %s is for MinHash: Hamming distances estimate no such similarity, leave it out", setting.Measure, m)
	}
	return nil
}
