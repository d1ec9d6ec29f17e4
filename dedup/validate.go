package dedup

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

func (c *settings) validate() error {
	checks := []error{c.validateReading(), c.validateLink(), c.validateKnown(), c.validateNoSync(), c.validateRarity()}
	if err := c.validateStored(); err != nil {
		return asUsage(errors.Join(append(checks, err)...))
	}
	if c.BucketCap < 2 || c.BucketCap > MaxBucketCap {
		checks = append(checks, fmt.Errorf("bucket cap must be 2 to %d", MaxBucketCap))
	}
	if c.Distance == nil {
		checks = append(checks, c.validateThreshold())
	}
	return asUsage(errors.Join(checks...))
}

// validateNoSync refuses Unsynced for runs that another process may continue.
func (c *settings) validateNoSync() error {
	if c.NoSync && c.Known != nil {
		return setting.Errorf("%s leaves nothing from which a killed run could continue: leave %s and an index out, or sync", setting.NoSync, setting.Work)
	}
	return nil
}

// validateThreshold checks the settings of a search by threshold.
func (c *settings) validateThreshold() error {
	checks := []error{
		c.checkMeasure(),
		among(setting.Verify, c.Verify, recipe.Exact, recipe.Sketch, recipe.None),
	}
	if !(c.Recall > 0 && c.Recall < 1) {
		checks = append(checks, setting.Errorf("recall %v is not between 0 and 1: use %s exact where no pair may be missed", c.Recall, setting.Candidates))
	}
	if c.ThirdTexts && (c.Verify != recipe.Exact || c.Known != nil || c.Fingerprints) {
		checks = append(checks, setting.Errorf("%s asks third texts about all exact similarities of a run: leave out %s, fingerprints, and an index, which has answered by what came first", setting.ThirdTexts, setting.Verify))
	}
	if c.Whole && (c.Verify != recipe.Exact || c.Known != nil || c.Fingerprints) {
		checks = append(checks, setting.Errorf("%s looks at all texts of exact similarities of a run: leave out %s, fingerprints, and an index", setting.Whole, setting.Verify))
	}
	if c.Shared && !hasBands(c.Sketch) {
		checks = append(checks, fmt.Errorf("%s has no components that could be shared: use oph or kmins", c.Sketch))
	}
	if !hasBands(c.Sketch) && c.Texts == nil && (c.Method == MethodLSH || c.Verify == recipe.Sketch) {
		checks = append(checks, fmt.Errorf("signatures of %s have no components to cut into bands or to verify by: "+
			"use candidates exact with verify exact, or another scheme, such as %s", c.Sketch, minhash.Default()))
	}
	if c.Method == MethodExact && c.Verify != recipe.Exact {
		checks = append(checks, errors.New("exact candidates come verified: leave verify at exact"))
	}
	return errors.Join(checks...)
}

// validateReading checks the settings that all calls use, of a configuration with its defaults.
func (c *settings) validateReading() error {
	checks := []error{
		c.Features.Validate(),
		among(setting.OnError, c.OnError, OnErrorSkip, OnErrorFail),
	}
	if len(c.Inputs) == 0 {
		checks = append(checks, errors.New("no input: name files, folders or - for standard input"))
	}
	if c.Threads < 1 || c.Memory < 0 {
		checks = append(checks, errors.New("threads must be at least 1, memory not negative"))
	}
	if c.By != "" && c.Within != "" {
		checks = append(checks, setting.Errorf("documents are counted by the values of %s in any case: leave %s out", setting.Within, setting.By))
	}
	if c.Corpus.MaxRecord > math.MaxUint32 {
		checks = append(checks, setting.Errorf("%s is %d: take less than 4 GiB", setting.MaxRecord, c.Corpus.MaxRecord))
	}
	if slices.Contains(c.Inputs, "-") && slices.Contains(c.Against, "-") {
		checks = append(checks, errors.New("standard input cannot be both an input and a reference: put one of them into a file"))
	}
	if slices.Contains(c.Inputs, "-") && slices.Contains(c.With, "-") {
		checks = append(checks, errors.New("standard input cannot be on both sides: put one of them into a file"))
	}
	return asUsage(errors.Join(checks...))
}

func among[T ~string](option setting.Name, value T, allowed ...T) error {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if value == a {
			return nil
		}
		names[i] = string(a)
	}
	return setting.Errorf("%s is %q: choose one of %s", option, value, strings.Join(names, ", "))
}

// validateStored checks what Config.Fingerprints requires of the other settings.
func (c *settings) validateStored() error {
	if !c.Fingerprints {
		return nil
	}
	var checks []error
	if c.Distance == nil {
		if c.Verify == recipe.Exact || c.Method == MethodExact {
			checks = append(checks, setting.Errorf("fingerprints come without texts for exact similarities: leave %s and %s out; similarities are estimated", setting.Verify, setting.Candidates))
		}
		if c.Texts != nil || !hasBands(c.Sketch) {
			checks = append(checks, setting.Errorf("these fingerprints have no components to cut into bands or to estimate a similarity by: "+
				"say how far they may be apart (%s), or make others, by oph", setting.Distance))
		}
	}
	switch rule := c.Keep.String(); rule {
	case "longest", "shortest":
		checks = append(checks, setting.Errorf("%s %s asks for the texts, of which there are only fingerprints: take first, last, or max or min of a field", setting.Keep, rule))
	}
	return errors.Join(checks...)
}

// validateLink checks what ByLinks requires of the other settings.
func (c *settings) validateLink() error {
	switch {
	case c.Link == nil:
		return nil
	case len(c.Against) > 0 || len(c.With) > 0:
		return errors.New("links are those within one table: leave references and a second side out")
	case c.Folder != "":
		return setting.Errorf("links are found in memory, and a killed run cannot continue: leave %s out", setting.Work)
	case c.Fingerprints:
		return errors.New("links decide by themselves: leave fingerprints out")
	case c.Within != "":
		return setting.Errorf("records are judged by what the whole table tells: leave %s out, or split the table by that column", setting.Within)
	}
	return nil
}

// validateKnown checks what NewTo.Known requires of the other settings.
func (c *settings) validateKnown() error {
	if c.Known == nil {
		return nil
	}
	var checks []error
	if c.Method == MethodExact {
		checks = append(checks, setting.Errorf("%s exact: an index finds documents by the bands of their signatures: leave it out", setting.Candidates))
	}
	if c.Measure.ByParts() {
		checks = append(checks, setting.Errorf("%s %s: the largest of all documents would have to come first, and an index has those that came first: take another one, such as jaccard, or list what is in a larger document by a search of the index", setting.Measure, c.Measure))
	}
	if c.Fingerprints {
		checks = append(checks, errors.New("the inputs are fingerprints, and an index takes texts: name the files that the fingerprints were made of"))
	}
	if c.Link != nil {
		checks = append(checks, errors.New("records of a table are compared with each other, and an index holds texts: leave one of them out"))
	}
	if c.Tags != nil {
		checks = append(checks, errors.New("tags are for records that all stay, and to an index those are added that are new to it: leave one of them out"))
	}
	if len(c.With) > 0 {
		checks = append(checks, setting.Errorf("%s is for pairs, and an index for what is kept: leave one of them out", setting.With))
	}
	return errors.Join(checks...)
}

// checkMeasure checks what the measure requires of the rest of the configuration.
func (c *settings) checkMeasure() error {
	t, err := c.newThreshold()
	if err != nil {
		return err
	}
	estimated := c.Measure == measure.Jaccard || c.Measure == measure.WeightedJaccard
	if (c.Verify != recipe.Exact || c.Shared) && !estimated {
		return fmt.Errorf("signatures estimate the similarities jaccard and weighted-jaccard only: by measure %s leave verify at exact, and shared out", c.Measure)
	}
	_, bounded := t.LeastJaccard()
	banded := c.Banding != (lsh.Params{})
	if !bounded && banded || c.Measure.IsCount() && c.Method == MethodLSH {
		return setting.Errorf("pairs of measure %s may have any Jaccard similarity, so bands of signatures can miss them: "+
			"take %s exact or auto, and no %s", c.Measure, setting.Candidates, setting.Banding)
	}
	return nil
}

// threshold returns the measure with the value that a pair must reach.
func (c *settings) newThreshold() (measure.Threshold, error) {
	if !c.Measure.IsCount() && !(c.Threshold > 0 && c.Threshold <= 1) {
		return measure.Threshold{}, fmt.Errorf("threshold %v is not in (0,1]: take 0.8 for near-duplicates", c.Threshold)
	}
	return measure.NewThreshold(c.Measure, c.Threshold)
}

// errRemovalByOverlap says why no documents are removed by Overlap.
var errRemovalByOverlap = fmt.Errorf("%w: a number of common features does not say that a document can be done without: "+
	"remove by measure jaccard or containment, or list pairs by overlap", ErrUsage)
