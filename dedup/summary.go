package dedup

import (
	"github.com/alike-dev/alike/dedup/internal/overview"
	"github.com/alike-dev/alike/record"
)

// Summary is the report of a run. read = kept + removed + skipped, always.
type Summary struct {
	Read    int64 `json:"read"`    // records of the inputs, including skipped ones
	Kept    int64 `json:"kept"`    // including documents without any text
	Removed int64 `json:"removed"` // near-duplicates of a kept document
	// Tagged, of runs with Tags, are those kept that are near-duplicates of another one: nothing is removed.
	Tagged  *int64 `json:"tagged,omitempty"`
	Known   int64  `json:"known,omitempty"` // of them, those like a document of NewTo.Known
	Apart   int64  `json:"apart,omitempty"` // of those kept: have another name in NewTo.Known, where their own was taken
	Skipped int64  `json:"skipped"`         // could not be used; each was reported
	Empty   int64  `json:"empty"`           // kept documents without features, which are similar to nothing

	// Usable documents of Inputs and of With; Read and Skipped count both together.
	Left  int64 `json:"left,omitempty"`
	Right int64 `json:"right,omitempty"`

	References        int64 `json:"references"`         // documents of Against
	ReferencesSkipped int64 `json:"references_skipped"` // of them, unusable

	Within *Within `json:"within,omitempty"` // with Config.Within
	By     *Within `json:"by,omitempty"`     // with Config.By

	// SkippedKinds counts what Skipped and ReferencesSkipped count by corpus.Problem.Kind; missing: nothing was skipped.
	SkippedKinds map[string]int64 `json:"skipped_kinds,omitempty"`

	Candidates int64 `json:"candidates"` // pairs compared, copies included
	Verified   int64 `json:"verified"`   // of them, at or above the threshold
	Rejected   int64 `json:"rejected"`   // of them, below
	// Contradicted, with Similarity.ThirdTexts, are those verified that third texts took out.
	Contradicted *int64 `json:"contradicted,omitempty"`
	// Partial, with OnePerCluster.Whole, are those verified of which no text stands in the other one.
	Partial         *int64 `json:"partial,omitempty"`
	Clusters        int64  `json:"clusters"`
	LargestClusters []int  `json:"largest_clusters"` // sizes, at most 10
	BucketsCapped   int64  `json:"buckets_capped"`

	Undecided bool `json:"undecided,omitempty"` // of records: the data do not tell which links are right, and nothing was removed

	// Of records, where clusters have probabilities: at most 10, the largest ones, and the number of those in which
	// most pairs are, by themselves, more likely wrong than right.
	LargestEntities  []Entity `json:"largest_entities,omitempty"`
	DoubtfulClusters int      `json:"doubtful_clusters,omitempty"`

	Threshold       float64 `json:"threshold"`
	Measure         string  `json:"measure,omitempty"`  // missing: jaccard
	Decision        string  `json:"decision,omitempty"` // with a Hamming distance, instead of threshold: hamming<=3
	CandidateMethod string  `json:"candidate_method"`   // MethodLSH …
	Verify          string  `json:"verify"`
	TextScheme      string  `json:"text_scheme"`
	SketchScheme    string  `json:"sketch_scheme"`
	Bands           int     `json:"bands"` // 0 with exact candidates; blocks: keys
	Rows            int     `json:"rows"`
	Sample          int     `json:"sample,omitempty"` // with containment, features of each document that are looked for in others

	// ExpectedRecall is the share of the pairs that the run finds: of texts at the threshold, as the bands promise it,
	// or, where documents of buckets over the cap were not all compared, a range from what is found without these; of
	// records as it is estimated, and so is ExpectedPrecision, the share of the links that is right.
	ExpectedRecall    Expected `json:"expected_recall"`
	ExpectedPrecision Expected `json:"expected_precision,omitzero"`

	// Of records: the columns that were compared, and those that were not.
	Columns []record.Compared `json:"columns,omitzero"`
	LeftOut []record.LeftOut  `json:"left_out,omitzero"`

	Passages *PassageCounts `json:"passages,omitempty"` // of CutPassages; then Kept are all that could be used

	Stages          []Stage `json:"stages"`
	Seconds         float64 `json:"seconds"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"` // resident; 0 where the system does not report it
	SpilledBytes    int64   `json:"spilled_bytes"`
}

// Entity is a cluster of records that are one thing.
type Entity struct {
	Cluster     string     `json:"cluster"` // as in clusters.csv
	Records     int        `json:"records"`
	Probability float64    `json:"probability"` // that its two parts that fit least are one thing
	Weakest     EntityLink `json:"weakest"`     // the strongest pair between these parts
}

// EntityLink is a pair of records, and the probability that they are one thing.
type EntityLink struct {
	A           string  `json:"a"`
	B           string  `json:"b"`
	Probability float64 `json:"probability"`
}

// The values of Summary.CandidateMethod.
const (
	MethodLSH     = "lsh"
	MethodExact   = "exact"
	MethodBlocks  = "blocks"  // with a Distance
	MethodRecords = "records" // ByLinks; then Decision says in words how they were decided
)

// Stage describes one stage of a run.
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Items   int64   `json:"items"`
	Bytes   int64   `json:"bytes"`
	Steps   []Step  `json:"steps,omitempty"` // with Config.Timings; the first is the stage itself
}

// Step is the time that workers have spent on a part of a stage, or on all of it.
type Step struct {
	Name    string    `json:"name"`
	Slowest float64   `json:"slowest_thread_seconds"` // of the worker that took longest
	Total   float64   `json:"threads_seconds"`        // of all workers together
	Workers []float64 `json:"workers_seconds"`        // of each
}

// Report is the outcome of Run, for people to look at. It is the same for any number of threads and
// any amount of memory, and for a run that was killed and resumed.
type Report struct {
	overview.Overview
	Summary Summary // without Stages and the cost of the run
	// Recall has, for similarities from 0 to 1 in equal steps, the probability that a pair is
	// found; nil where bands do not decide.
	Recall []float64
}

// Parts of a Report.
type (
	ReportSizes   = overview.Sizes
	ReportExample = overview.Example
	ReportSuspect = overview.Suspect
	ReportMember  = overview.Member
	ReportInput   = overview.Input
	ReportAcross  = overview.Across
)

// Pair is two similar documents. The slices are valid only during the call.
type Pair struct {
	A, B       []byte  // ids; A comes first in the input or, by Containment, is inside B
	Similarity float64 // exact, unless the run was told to estimate
	Shared     int     // components in which the signatures agree, with Similarity.Shared

	Places [2]Place // of A and B, with Config.Places
}

// Place says where a document of a Pair stands.
type Place struct {
	Path string // of its file
	Line int64  // from 1; 0: it is all of the file
	Text uint64 // the same for documents that count as equal
}

// Fingerprint is a document's signature under the run's scheme.
type Fingerprint struct {
	ID        []byte
	Signature []uint32 // of an empty document: all ones; nil by OfTexts
	Packed    []byte   // the signature in the form that the scheme stores
	Features  int      // with repeats; 0: an empty document
}
