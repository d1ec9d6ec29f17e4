package stage

import (
	"errors"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/recipe"
)

// The commands that a plan can run.
const (
	Dedup = "dedup"
	Pairs = "pairs"
	Join  = "join"
	Cut   = "passages"
)

// Plan has all that the results of stages depend on, except the documents. Make one as a literal, then
// call Settle.
type Plan struct {
	Version   int    `json:"version"`              // PlanVersion
	Command   string `json:"command"`              // Dedup, Pairs, Join or Cut
	Recipe    string `json:"recipe,omitempty"`     // for Dedup and Pairs of texts: the line of a recipe with bands
	BucketCap int    `json:"bucket_cap,omitempty"` // 0: pairs of any number of copies are listed; only for recipes without keys
	Keep      string `json:"keep,omitempty"`       // keep rule of Dedup; "": the default
	Star      bool   `json:"star,omitempty"`       // Dedup removes only documents similar to the kept one itself; always by containment
	// Whole says that Dedup removes only texts of which nearly all stands in the kept one, the longest. Star is true.
	Whole bool `json:"whole,omitempty"`
	// References is the number of the first files that are references: Dedup removes what is like their documents.
	References int `json:"references,omitempty"`
	// Tags, of Dedup, are fields in place of removal: all records are kept, with them.
	Tags *Tags `json:"tags,omitempty"`
	// Listed says that Dedup lists the names of kept documents that are files of their own, in place of copying them.
	Listed bool    `json:"listed,omitempty"`
	Join   *Tables `json:"join,omitempty"` // for Join, and for Dedup of records: in place of Recipe and BucketCap
	// Passages, of Cut, say what is cut: in place of Recipe and BucketCap.
	Passages *dedup.Passages `json:"passages,omitempty"`
	// Partitions is the number of tasks of the stages that divide rows by hashes, 1 or more.
	Partitions int `json:"partitions"`
	// Joined says that one task does the work of all stages between two passes over documents, see Stage.Steps. The
	// results do not depend on it.
	Joined bool `json:"joined,omitempty"`
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

// Tags are the fields of tagging.Duplicates, with a prefix.
type Tags struct {
	Prefix string `json:"prefix,omitempty"`
	// Rows says that tags are rows of TagRows, for an engine, in place of fields of records.
	Rows bool `json:"rows,omitempty"`
}

// A Tag is what is added to a kept record. In is not set: it is the label of the file KeptFile.
type Tag struct {
	tagging.Tag
	KeptFile uint32
}

// isRemoved is the value of a dropped document that is removed, or would be without tags; of one that is skipped it is 0.
const isRemoved = 1

// tagged tells whether a dropped document with a value (isRemoved) is kept, with tags; nil: there are none.
func (t *Tags) tagged(how uint64) bool { return t != nil && how == isRemoved }

// rows tells whether tags are rows; nil: there are none.
func (t *Tags) rows() bool { return t != nil && t.Rows }

// PlanVersion is the version of the form of plans and of the results of stages.
const PlanVersion = 10

// MaxPartitions is the largest Plan.Partitions and the largest length of Plan.FirstFiles.
const MaxPartitions = 1 << 16

// ErrEdited says that a plan does not have the digest of its contents.
var ErrEdited = errors.New("the plan was changed after it was made: plan again")

// Recall returns the share of the pairs of texts at the threshold that share keys; false if the plan is not of pairs of texts.
func Recall(p *Plan) (share float64, ok bool) {
	if p.Recipe == "" {
		return 0, false
	}
	return recipe.Recall(p.recipe, p.edges.Threshold, 0), true
}

func (p *Plan) reference(position uint64) bool { return p.sides.Reference(fileOf(position)) }

// meet tells whether two documents may be compared.
func (p *Plan) meet(a, b uint64) bool { return p.sides.Meet(fileOf(a), fileOf(b)) }

// fileOf returns the number of a document's file.
func fileOf(position uint64) uint32 { return uint32(position >> 32) }

// edgeStreams returns the streams of similar pairs for the tasks of their first documents: of Whole those that stay.
func edgeStreams(p *Plan) []Stream {
	if p.Whole {
		return []Stream{Standing}
	}
	return []Stream{when(p.wantsAll(), Edges), when(p.wantsAll() && p.comparesHot(), HotEdges)}
}

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
	case byDocuments, byOwn:
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
