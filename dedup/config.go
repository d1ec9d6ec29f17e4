package dedup

import (
	"io"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// OnError says what happens to a record that cannot be read.
type OnError string

// The ways of treating bad input.
const (
	OnErrorSkip OnError = "skip" // leave the record out, count and name it, continue
	OnErrorFail OnError = "fail" // stop with the first bad record's error
)

// Defaults of Config.
const (
	DefaultThreshold = 0.8
	DefaultRecall    = 0.99
	DefaultBucketCap = 1000
)

// MaxBucketCap is the largest Config.BucketCap: a bucket with more members is processed piece by
// piece.
const MaxBucketCap = extsort.PartMax

// Config holds everything that a run depends on. Its zero value, with Inputs, means the defaults.
// Where several ways exclude each other, a field takes one of several types: see Beside, Signatures,
// Decision, Survivors and Work.
type Config struct {
	Inputs []string // files, folders, globs, "-" for standard input
	Beside Beside   // a second collection: Against or With; nil: none
	Output string   // folder that Run fills; must not exist or be empty
	// IDsOnly makes Run write the ids of kept documents, to KeptIDsFile, instead of the records:
	// for callers that hold the records themselves.
	IDsOnly bool
	// Tags, if set, makes Run keep every record, and say in it what would be removed.
	Tags *Tags
	// Outputs are other files that the caller writes ("-": standard output; "&2": standard error),
	// Reads other files that it has read. Like Output and Work, no file of Outputs may be an input,
	// lie in an input folder, be one of Reads, or be a file of another output; otherwise the run
	// ends with ErrUsage before it opens or makes anything.
	Outputs, Reads []string

	Corpus     corpus.Options
	Signatures Signatures // OfShingles or OfTexts; nil: OfShingles{}

	// Fingerprints says that the inputs of all sides are the output of Sketch (see SchemeField …),
	// with these Signatures, instead of texts. Pairs are those that recipe.Sketch, the default here,
	// or Distance would find among the texts. See Fingerprinted.
	Fingerprints bool

	Decide    Decision // Similarity, Distance or ByLinks; nil: Similarity{}
	BucketCap int      // members up to which a bucket emits all its pairs; 0: DefaultBucketCap

	// Within, if set, is a field of records: only records with the same value there, byte for byte, are compared, as if
	// each value had a run of its own. Records without it, those where it is null or empty, and documents that are
	// files or lines, have one value together. Not for ByLinks.
	Within string

	// By, if set, is a field of records: documents, and those of them that are removed, are counted by its values, in
	// Summary.By and in the Report. For Run, without Within, whose values are counted in any case.
	By string

	// Places makes Pairs fill in Pair.Places.
	Places bool

	// Survivors says which documents Run keeps: OnePerCluster or NewTo; nil: OnePerCluster{}.
	Survivors Survivors

	// Report, if set, writes a page about the result of Run, to ReportFile. An error ends the run.
	Report func(io.Writer, *Report) error

	Threads int   // 0: all processors
	Memory  int64 // resident bytes of the process; 0: no ceiling. More data go to disk; see docs/architecture.md.
	Timings bool  // Summary.Stages say how much time each stage's workers have spent
	Work    Work  // WorkFolder, FinderFolder or Unsynced; nil: data that go to disk are in a temporary folder
	OnError OnError

	// OnSkip, when set, is called for every bad record, in input order.
	OnSkip func(*corpus.Problem)
	// OnNotice, when set, is called with messages that are not errors.
	OnNotice func(Notice)
	// Begin, when set, is called by Pairs and Sketch when all inputs are found and no output is one
	// of them, before anything is read: it can open what Commit completes.
	Begin func() error
	// Commit, when set, is called by Pairs and Sketch when everything was emitted, before they empty
	// the work folder. It must make the emitted results durable: if it returns nil, a crash loses
	// none of them.
	Commit func() error
	// Progress, when set, is called with the progress of the run, from several goroutines.
	Progress Progress

	fs     vfs.FS // of Work and Output; nil: the operating system's
	limits limits // zero except in tests
}

// Tags are fields that Run adds to every record, in JSONL, CSV, TSV and Parquet files: cluster, the name of the cluster's
// first document, which is the record's own where it is alone; cluster_size; and, of a record that would be removed,
// duplicate_of, the name of the one that would be kept instead, and similarity to it. Beside references there is
// duplicate_in, the file of duplicate_of. In JSON and Parquet these are null, in tables empty, for a record that would be
// kept. Documents that are files or lines of their own cannot carry fields: KeptIDsFile has theirs. A record that has a
// field of one of these names ends the run.
type Tags struct{ Prefix string } // stands before each name

// limits let tests meet with small data the conditions of large runs. A zero field keeps the normal
// limit.
type limits struct {
	memory   int64       // for data; see newSpace
	segment  int64       // see segmentBytes
	retain   int64       // see retain
	exact    int64       // see exactMost
	expect   int64       // see expectLeast
	together int         // see group.TogetherKeys
	index    int         // see indexMost
	members  int         // see membersMax; lsh.Hubs or more
	part     int64       // see partShare
	hot      float64     // see hotBudget
	output   int64       // see noteBytes
	text     int         // see recipe.LongText
	record   int         // see scratch.Options.Record
	due      func() bool // it is time for a note; see noteInterval
}

// segmentBytes is the size of a segment of the table at which the next one is begun, even within a
// block: a MiB of lines of three words makes 20 MiB of documents. It is large enough that files of
// one document each do not make a segment each.
const segmentBytes = 256 << 10

// A Notice is a message that is not an error. It may name settings: String uses their names in Go,
// Explain those of a program.
type Notice = setting.Text

// ErrUsage marks an error of the configuration, not of the data.
var ErrUsage = fault.ErrUsage

// Names of files in the output folder of a run.
const (
	KeptFolder   = write.KeptFolder
	KeptList     = write.KeptList
	KeptIDsFile  = write.KeptIDsFile
	RemovedFile  = write.RemovedFile
	ClustersFile = write.ClustersFile
	ReportFile   = write.ReportFile
	ReportData   = write.ReportData
	SummaryFile  = write.SummaryFile
)

// exactMost is the number of features up to which a run that may choose considers an exact join
// (its index takes some 30 bytes each): with little memory the join is made by chunks, and every
// chunk costs a pass over all features.
const exactMost = 8 << 20

// expectLeast is the size of inputs, in bytes, from which on a sample of them is taken: smaller ones are read
// sooner than judged.
const expectLeast = 1 << 20

// Progress receives the progress of a run. Its methods are called from several goroutines and must
// be quick.
type Progress interface {
	// Stage begins a stage; total is the size of the files that it reads (0: unknown).
	Stage(name string, total int64)
	// Advance adds the work done since the last call: items, and bytes of the files in their stored
	// form, compressed or not.
	Advance(items, bytes int64)
}

type noProgress struct{}

func (noProgress) Stage(string, int64)  {}
func (noProgress) Advance(int64, int64) {}
