package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// settle returns the settings of a search for pairs.
func settle(config Config) (*settings, error) {
	s := complete(config)
	if err := s.validate(); err != nil {
		return nil, err
	}
	r, err := s.newRecipe()
	if err != nil {
		return nil, err
	}
	s.use(r)
	if s.Fingerprints && s.Distance == nil && config.modes().Verify == "" {
		s.tellEstimates()
	}
	return s, nil
}

// settleRemoval returns the settings of a run that removes documents.
func settleRemoval(config Config) (*settings, error) {
	s, err := settle(config)
	if err != nil {
		return nil, err
	}
	if s.Measure.IsCount() {
		return nil, errRemovalByOverlap
	}
	s.Star = s.Star || s.Known != nil
	if s.Measure.ByParts() {
		s.removesParts, s.Star = true, true
		s.threshold, err = measure.NewThreshold(measure.Containment, s.Threshold)
	}
	return s, err
}

// settleSketch returns the settings of a run that makes signatures.
func settleSketch(config Config) (*settings, error) {
	s := complete(config)
	r, err := s.newSketchRecipe()
	if err != nil {
		return nil, err
	}
	if err := s.validateReading(); err != nil {
		return nil, err
	}
	s.use(r)
	return s, nil
}

// use sets the recipe, and what is read of each record.
func (s *settings) use(r recipe.Recipe) {
	s.recipe, s.threshold = r, r.Threshold()
	if field := s.Keep.Field(); field != "" {
		s.Corpus.Fields = []string{field}
	}
	s.valueAt = len(s.Corpus.Fields)
	if field := cmp.Or(s.Within, s.By); s.Link != nil && slices.Contains(s.Corpus.Fields, field) {
		s.valueAt = slices.Index(s.Corpus.Fields, field) // all columns are read, for their length
	} else if field != "" {
		s.Corpus.Fields = append(s.Corpus.Fields, field)
	}
	if s.Fingerprints {
		s.Corpus = asStored(s.Corpus)
	}
}

// Validate checks what can be checked without looking at the input. Its errors
// wrap ErrUsage.
func (c Config) Validate() error { return complete(c).validate() }

// Recipe returns the settings that decide about pairs. Its errors wrap ErrUsage.
func (c Config) Recipe() (recipe.Recipe, error) { return complete(c).newRecipe() }

// SketchRecipe returns the settings that the signatures of Sketch depend on. Its errors wrap
// ErrUsage.
func (c Config) SketchRecipe() (recipe.Recipe, error) { return complete(c).newSketchRecipe() }

// newSketchRecipe is SketchRecipe of settings.
func (c *settings) newSketchRecipe() (recipe.Recipe, error) {
	if s, ok := c.Sketch.(minhash.Scheme); ok && s.IsWeighted() && !c.Features.Multiset {
		return recipe.Recipe{}, asUsage(setting.Errorf("signatures of %s are for shingles that count as often as they occur: take %s %s, or oph, whose signatures of sets without counts are as good and take less time",
			s, setting.Measure, measure.WeightedJaccard))
	}
	if c.Rarity != nil {
		return recipe.Recipe{}, asUsage(setting.Errorf("%s weighs by the inputs of a run, so that signatures of two runs could not be compared: leave it out", setting.IDF))
	}
	r, err := recipe.New(recipe.Options{Features: c.Features, Sketch: c.Sketch, Texts: c.Texts})
	return r, asUsage(err)
}

// asStored returns the options for reading fingerprints.
func asStored(o corpus.Options) corpus.Options {
	if o.TextField == "" {
		o.TextField = SignatureField
	}
	o.Fields = append(o.Fields[:len(o.Fields):len(o.Fields)], read.StoredFields...)
	return o
}

// tellEstimates says that similarities are estimates.
func (c *settings) tellEstimates() {
	about := ""
	if s, ok := c.Sketch.(interface{ StandardError(float64) float64 }); ok {
		about = fmt.Sprintf(", give or take %.3f at the threshold", s.StandardError(c.threshold.Float()))
	}
	c.OnNotice(setting.Textf("fingerprints without their texts: similarities are estimates%s (%s %s)", about, setting.Verify, c.Verify))
}

// exactRecipe returns the recipe for an exact join.
func (s *settings) exactRecipe() (recipe.Recipe, error) {
	exact := *s
	exact.Method = MethodExact
	return exact.newRecipe()
}

func (c *settings) newRecipe() (recipe.Recipe, error) {
	if c.Distance != nil {
		r, err := recipe.New(recipe.Options{Features: c.Features, Sketch: c.Sketch, Texts: c.Texts, Distance: c.Distance, Within: c.Within})
		return r, asUsage(err)
	}
	threshold, err := c.newThreshold()
	if err != nil {
		return recipe.Recipe{}, asUsage(err)
	}
	keys := map[string]recipe.Keys{methodAuto: recipe.AnyKeys, MethodLSH: recipe.LSH, MethodExact: recipe.NoKeys}
	r, err := recipe.New(recipe.Options{
		Features: c.Features, Sketch: c.Sketch, Texts: c.Texts,
		Threshold: threshold, Verify: c.Verify, Keys: keys[c.Method], Recall: c.Recall, Banding: c.Banding, Within: c.Within,
	})
	return r, asUsage(err)
}

// asUsage marks an error as one of the configuration.
func asUsage(err error) error {
	if err == nil || errors.Is(err, ErrUsage) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUsage, err)
}
