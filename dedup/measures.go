package dedup

import (
	"fmt"

	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// checkMeasure checks what the measure requires of the rest of the configuration.
func (c *Config) checkMeasure() error {
	t, err := c.threshold()
	if err != nil {
		return err
	}
	estimated := c.Measure == measure.Jaccard || c.Measure == measure.WeightedJaccard
	if (c.Verify != VerifyExact || c.Shared) && !estimated {
		return fmt.Errorf("signatures estimate the similarities jaccard and weighted-jaccard only: by measure %s leave verify at exact, and shared out", c.Measure)
	}
	_, bounded := t.LeastJaccard()
	banded := c.Banding != (lsh.Params{})
	if !bounded && banded || c.Measure == measure.Overlap && c.Candidates == CandidatesLSH {
		return setting.Errorf("pairs of measure %s may have any Jaccard similarity, so bands of signatures can miss them: "+
			"take %s exact or auto, and no %s", c.Measure, setting.Candidates, setting.Banding)
	}
	return nil
}

// threshold returns the measure with the value that a pair must reach.
func (c *Config) threshold() (measure.Threshold, error) {
	if c.Measure != measure.Overlap && !(c.Threshold > 0 && c.Threshold <= 1) {
		return measure.Threshold{}, fmt.Errorf("threshold %v is not in (0,1]: take 0.8 for near-duplicates", c.Threshold)
	}
	return measure.NewThreshold(c.Measure, c.Threshold)
}

// errRemovalByOverlap says why no documents are removed by Overlap.
var errRemovalByOverlap = fmt.Errorf("%w: a number of common features does not say that a document can be done without: "+
	"remove by measure jaccard or containment, or list pairs by overlap", ErrUsage)
