package dedup

import (
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// settings are a configuration, complete and checked, and what follows from it alone.
type settings struct {
	Config
	recipe       recipe.Recipe
	threshold    measure.Threshold // of the recipe; when parts are removed, of containment
	removesParts bool              // removes documents that are inside others; see graph.Edges
}

// settle returns the settings of a search for pairs.
func settle(config Config) (*settings, error) {
	c := config.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	r, err := c.recipe()
	if err != nil {
		return nil, err
	}
	s := newSettings(c, r)
	s.noticeStored(config.Verify)
	return s, nil
}

// settleRemoval returns the settings of a run that removes documents.
func settleRemoval(config Config) (*settings, error) {
	s, err := settle(config)
	if err != nil {
		return nil, err
	}
	if s.Measure == measure.Overlap {
		return nil, errRemovalByOverlap
	}
	s.Star = s.Star || s.Known != nil
	if engine.ByParts(s.Measure) {
		s.removesParts, s.Star = true, true
		s.threshold, err = measure.NewThreshold(measure.Containment, s.Threshold)
	}
	return s, err
}

// settleSketch returns the settings of a run that makes signatures.
func settleSketch(config Config) (*settings, error) {
	r, err := config.SketchRecipe()
	if err != nil {
		return nil, err
	}
	c := config.withDefaults()
	if err := c.validateReading(); err != nil {
		return nil, err
	}
	return newSettings(c, r), nil
}

func newSettings(c Config, r recipe.Recipe) *settings {
	if field := c.Keep.Field(); field != "" {
		c.Corpus.Fields = []string{field}
	}
	if c.Fingerprints {
		c.Corpus = asStored(c.Corpus)
	}
	return &settings{Config: c, recipe: r, threshold: r.Threshold()}
}

// exactRecipe returns the recipe for an exact join.
func (s *settings) exactRecipe() (recipe.Recipe, error) {
	exact := s.Config
	exact.Candidates = CandidatesExact
	return exact.recipe()
}
