package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// Settle checks a plan and prepares it for Run. inputs stands for all that the results depend on, except the fields
// of the plan. If the plan has no digest, Settle sets it, else the digest must be that of the contents: the error
// wraps ErrEdited.
func (p *Plan) Settle(inputs string) error {
	if p.Version != PlanVersion {
		return fmt.Errorf("the plan is of version %d, this program makes those of version %d: plan again, and use one version for all tasks", p.Version, PlanVersion)
	}
	digest, err := p.digestWith(inputs)
	if err != nil {
		return err
	}
	if p.Digest != "" && p.Digest != digest {
		return fmt.Errorf("%w; its digest is %.40q, that of its contents %q", ErrEdited, p.Digest, digest)
	}
	switch {
	case (p.Command == Cut) != (p.Passages != nil) || p.Passages != nil && (p.Join != nil || p.References > 0 || p.Listed || p.Tags != nil):
		err = errors.New("passages are cut out of texts, and nothing else is done with them")
	case p.Command == Join, p.Command == Dedup && p.Join != nil:
		err = p.settleRecords()
	case p.Command == Dedup, p.Command == Pairs:
		err = p.settleTexts()
	case p.Command == Cut:
		err = settlePassages(p.Passages)
	default:
		err = fmt.Errorf("plan of %q: choose one of %s, %s, %s, %s", p.Command, Dedup, Pairs, Join, Cut)
	}
	if err != nil {
		return err
	}
	switch {
	case p.Partitions < 1 || p.Partitions > MaxPartitions:
		return fmt.Errorf("%d partitions: take 1 to %d", p.Partitions, MaxPartitions)
	case len(p.FirstFiles) == 0 || len(p.FirstFiles) > MaxPartitions || p.FirstFiles[0] != 0 || !slices.IsSorted(p.FirstFiles):
		return errors.New("the first files of tasks are not 0 and ascending")
	}
	p.Digest = digest
	p.id, err = strconv.ParseUint(digest, 16, 64)
	return err
}

// digestWith returns the digest of the plan's fields and of inputs.
func (p *Plan) digestWith(inputs string) (string, error) {
	fields := *p
	fields.Digest = ""
	line, err := json.Marshal(fields)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(line, inputs...))
	return hex.EncodeToString(sum[:8]), nil
}

// settleRecords settles a Join, or a Dedup of records.
func (p *Plan) settleRecords() (err error) {
	if p.Star || p.Whole || p.References > 0 || p.Listed || p.Tags != nil {
		return errors.New("stars, references, tags and files of one document are of texts")
	}
	if err := p.Join.validate(p.Command == Dedup); err != nil {
		return err
	}
	if p.Join.RightFile > 0 && !slices.Contains(p.FirstFiles, p.Join.RightFile) {
		return errors.New("the tables of a join have no tasks of their own")
	}
	p.keep, err = parseKeep(p.Keep)
	return err
}

// parseKeep reads a keep rule; "" is the default.
func parseKeep(rule string) (cluster.Keep, error) {
	if rule == "" {
		return cluster.Keep{}, nil
	}
	return cluster.ParseKeep(rule)
}

// settleTexts settles a Dedup or Pairs of texts.
func (p *Plan) settleTexts() (err error) {
	if err := p.Decide(); err != nil {
		return err
	}
	if p.BucketCap < 2 && (p.BucketCap != 0 || p.recipe.Keys() > 0) {
		return errors.New("bucket cap must be 2 or more")
	}
	if p.recipe.Sample().Agree >= 1<<(voteBits-1) {
		return errors.New("too many features of a sample must agree")
	}
	if p.References > 0 && (p.Command != Dedup || !slices.Contains(p.FirstFiles, p.References)) {
		return errors.New("references are of Dedup only, and have tasks of their own")
	}
	if p.Whole && (p.Command != Dedup || !p.recipe.BySets()) {
		return errors.New("only Dedup by texts asks whether one stands in another")
	}
	if p.Tags != nil && (p.Command != Dedup || p.Listed) {
		return errors.New("tags are of Dedup, and of records only")
	}
	p.keep, err = parseKeep(p.Keep)
	return err
}

// Decide sets what follows from the fields Command, Recipe, Star and References of a plan of texts: Stages depends on
// that. Settle calls it; call it where the stages of an unfinished plan are needed.
func (p *Plan) Decide() (err error) {
	if p.recipe, err = recipe.Parse(p.Recipe); err != nil {
		return err
	}
	p.sides = sides.Against(p.References)
	p.Star = p.Star || p.Whole
	p.edges = engine.Edges{Threshold: p.recipe.Threshold()}
	if p.Command == Dedup && p.edges.Threshold.Measure().ByParts() {
		p.Star, p.edges.RemovesParts = true, true
		p.edges.Threshold, err = measure.NewThreshold(measure.Containment, p.edges.Threshold.Float())
	}
	return errors.Join(err, supports(p.Command, p.recipe))
}

// supports returns an error that says why a command cannot run by a recipe, or nil if it can.
func supports(command string, r recipe.Recipe) error {
	_, hamming := r.Distance()
	switch {
	case hamming:
		return nil
	case r.Threshold() == (measure.Threshold{}):
		return errors.New("the recipe decides nothing: take a threshold or a distance")
	case command == Dedup && r.Threshold().Measure().IsCount():
		return errors.New("a number of common features does not say that a document can be done without: remove by measure jaccard or containment, or list pairs by overlap")
	}
	return nil
}
