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
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// The commands that a plan can run.
const (
	Dedup = "dedup"
	Pairs = "pairs"
	Join  = "join"
)

// Plan has all that the results of stages depend on, except the documents. Make one as a literal, then
// call Settle.
type Plan struct {
	Version   int    `json:"version"`              // PlanVersion
	Command   string `json:"command"`              // Dedup, Pairs or Join
	Recipe    string `json:"recipe,omitempty"`     // for Dedup and Pairs of texts: the line of a recipe with bands
	BucketCap int    `json:"bucket_cap,omitempty"` // 0: pairs of any number of copies are listed; only for recipes without keys
	Keep      string `json:"keep,omitempty"`       // keep rule of Dedup; "": the default
	Star      bool   `json:"star,omitempty"`       // Dedup removes only documents similar to the kept one itself; always by containment
	// References is the number of the first files that are references: Dedup removes what is like their documents.
	References int `json:"references,omitempty"`
	// Listed says that Dedup lists the names of kept documents that are files of their own, in place of copying them.
	Listed bool    `json:"listed,omitempty"`
	Join   *Tables `json:"join,omitempty"` // for Join, and for Dedup of records: in place of Recipe and BucketCap
	// Partitions is the number of tasks of the stages that divide rows by hashes, 1 or more.
	Partitions int `json:"partitions"`
	// FirstFiles has, for each task of the stages that divide rows by documents, the number of its
	// first file: 0, then ascending. A position is file<<32 | record of the file.
	FirstFiles []int `json:"first_files"`
	// Digest is a hash of all that the results depend on, inputs included. It tells the blocks of
	// this plan from those of another.
	Digest string `json:"digest"`

	recipe recipe.Recipe
	keep   cluster.Keep
	edges  engine.Edges
	sides  sides.Policy // of the numbers of files
	id     uint64
}

// PlanVersion is the version of the form of plans and of the results of stages.
const PlanVersion = 8

// MaxPartitions is the largest Plan.Partitions and the largest length of Plan.FirstFiles.
const MaxPartitions = 1 << 16

// ErrEdited says that a plan does not have the digest of its contents.
var ErrEdited = errors.New("the plan was changed after it was made: plan again")

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
	case p.Command == Join, p.Command == Dedup && p.Join != nil:
		err = p.settleRecords()
	case p.Command == Dedup, p.Command == Pairs:
		err = p.settleTexts()
	default:
		err = fmt.Errorf("plan of %q: choose one of %s, %s, %s", p.Command, Dedup, Pairs, Join)
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
	if p.Star || p.References > 0 || p.Listed {
		return errors.New("stars, references and files of one document are of texts")
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

// reference tells whether the document at a position is a reference.
func (p *Plan) reference(position uint64) bool { return p.sides.Reference(fileOf(position)) }

// meet tells whether two documents may be compared.
func (p *Plan) meet(a, b uint64) bool { return p.sides.Meet(fileOf(a), fileOf(b)) }

// fileOf returns the number of a document's file.
func fileOf(position uint64) uint32 { return uint32(position >> 32) }

// wantsAll tells whether all similar pairs are needed, and not only enough of them to connect clusters.
func (p *Plan) wantsAll() bool { return p.Command == Pairs || p.Star }

// comparesHot tells whether documents of buckets over the cap are compared in stage hot: for clusters pairs with
// the hubs of a bucket suffice, unless they are of fingerprints.
func (p *Plan) comparesHot() bool {
	_, hamming := p.recipe.Distance()
	return p.recipe.Keys() > 0 && (p.wantsAll() || hamming)
}

// ID returns Digest as a number. All blocks of the plan have it.
func (p *Plan) ID() uint64 { return p.id }

// TaskOf returns the task of a position in the stages that divide rows by documents. O(log tasks).
func (p *Plan) TaskOf(position uint64) int {
	file := int(position >> 32)
	i, found := slices.BinarySearch(p.FirstFiles, file)
	if !found {
		return i - 1
	}
	for i+1 < len(p.FirstFiles) && p.FirstFiles[i+1] == file { // tasks without files
		i++
	}
	return i
}

// hashed returns the partition of a number, by its hash.
func (p *Plan) hashed(n uint64) int { return int(hashing.Mix(n) % uint64(p.Partitions)) }

// blockBytes returns the size at which a block is full. It is smaller where a task fills blocks for many
// partitions at once, so that all open blocks take about 16 MiB. It depends on the plan only, so that a
// repeated task makes the same blocks.
func (p *Plan) blockBytes() int {
	return min(max(16<<20/max(p.Partitions, len(p.FirstFiles)), 4<<10), 256<<10)
}

// partitions returns how many partitions a stream has. It is the number of tasks of the stage that reads it.
func (p *Plan) partitions(s Stream) int {
	switch streams[s].by {
	case byDocuments:
		return len(p.FirstFiles)
	case byHash:
		return p.Partitions
	case byTree:
		n := p.Partitions
		for range max(int(s)-int(Forests)+2, 1) {
			n = (n + mergeWidth - 1) / mergeWidth
		}
		return n
	}
	return 1
}

// tableOf returns the table whose files a task reads.
func (p *Plan) tableOf(task int) int {
	if p.FirstFiles[task] < p.Join.RightFile {
		return leftTable
	}
	return rightTable
}
