package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/vfs"
)

// Candidates says how candidate pairs are found.
type Candidates string

// The ways of finding candidates.
const (
	CandidatesAuto  Candidates = "auto"  // lsh or exact, whichever costs less (see chooseExact)
	CandidatesLSH   Candidates = "lsh"   // banded signatures; misses at most 1−recall at the threshold
	CandidatesExact Candidates = "exact" // prefix filter; misses nothing, holds all feature sets in memory or reads them again
)

// Verify says how a candidate's similarity is determined.
type Verify = recipe.Verify

// The ways of verifying.
const (
	VerifyExact  = recipe.Exact
	VerifySketch = recipe.Sketch
	VerifyNone   = recipe.None
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

// AgainstPrefix is the prefix in the name of a reference whose id, or path and line, is also the
// name of an input. The path of the reference follows, and the line if its file has several. No
// path or URL of an input begins like this.
const AgainstPrefix = engine.AgainstPrefix

// MaxBucketCap is the largest Config.BucketCap: a bucket with more members is processed piece by
// piece.
const MaxBucketCap = extsort.PartMax

// Config holds everything that a run depends on. Its zero value, with Inputs, means the defaults.
type Config struct {
	Inputs  []string // files, folders, globs, "-" for standard input
	Against []string // reference documents: documents similar to one of them are removed
	// With are the inputs of the right of two collections, Inputs those of the left: Pairs lists
	// only pairs of a document of Inputs, as Pair.A, with one of With. No other call uses it, and
	// it excludes Against.
	With   []string
	Output string // folder that Run fills; must not exist or be empty
	// IDsOnly makes Run write the ids of kept documents, to KeptIDsFile, instead of the records:
	// for callers that hold the records themselves.
	IDsOnly bool
	// Outputs are other files that the caller writes ("-": standard output; StandardError), Reads other files that
	// it has read. Like Output and Work, no file of Outputs may be an input, lie in an input
	// folder, be one of Reads, or be a file of another output; otherwise the run ends with ErrUsage
	// before it opens or makes anything.
	Outputs, Reads []string

	Corpus   corpus.Options
	Features shingle.Options
	Sketch   recipe.Scheme // nil: minhash.Default()
	// Texts, when set, makes signatures directly from texts; Features and Sketch are then ignored.
	Texts recipe.TextScheme

	// Fingerprints says that the inputs of all sides are the output of Sketch (see SchemeField …),
	// with the signatures of Features and Sketch, or of Texts, instead of texts. Pairs are those
	// that Verify sketch, the default here, or Distance would find among the texts. See
	// Fingerprinted.
	Fingerprints bool

	// Distance, if set, asks for the pairs whose signatures differ in at most that many bits, from
	// 0 on, instead of those at a threshold: new(3). Signatures must be of SimHash or of texts (see
	// recipe.Hamming), and Threshold, Recall, Banding, Candidates, Verify and Shared must be left
	// at zero. Pairs are missed only where a notice says so.
	Distance *int

	// Measure is the measure of similarity; the zero value is Jaccard. WeightedJaccard sets
	// Features.Multiset. With Containment and MaxContainment Run removes documents that are inside
	// another one, never a document in favour of a part of it; with Overlap it does not run.
	Measure measure.Measure
	// Threshold is the least similarity of a pair: in (0,1], where 0 means DefaultThreshold; with
	// Overlap a whole number from 1 on, without a default.
	Threshold  float64
	Recall     float64    // asked for at the threshold, in (0,1); 0: DefaultRecall
	Banding    lsh.Params // zero: tuned; otherwise candidates are by lsh unless exact is asked for
	Candidates Candidates
	Verify     Verify
	Shared     bool // Pairs counts the components in which signatures agree
	BucketCap  int  // members up to which a bucket emits all its pairs; 0: DefaultBucketCap

	// Link, when set, says which records of the only input belong together, instead of similar
	// texts: it is called once, after it is clear that the output can be written and before the
	// input is read. Records then need no text, see corpus.Options.NoText, and for the keep rules
	// longest and shortest count the bytes of all values of Corpus.Fields. Settings of texts,
	// sketches and thresholds are ignored.
	Link func(context.Context) (*Links, error)

	// Known, if set, is a collection of documents that come before the inputs: Run removes documents
	// similar to one of them, treats the others as with Star and Keep first, and adds those that it
	// keeps. The result is the same as if all had been inputs of one run. It requires Candidates lsh,
	// which is then the default.
	Known Known

	// Report, if set, writes a page about the result of Run, to ReportFile. An error ends the run.
	Report func(io.Writer, *Report) error

	Keep cluster.Keep
	Star bool // remove only documents similar to the kept document itself; always with a containment

	Threads int   // 0: all processors
	Memory  int64 // resident bytes of the process; 0: no ceiling. More data go to disk; see docs/how/architecture.md.
	Timings bool  // Summary.Stages say how much time each stage's workers have spent
	// Work is a folder for data that go to disk. A run that ends before it has succeeded leaves its
	// finished work there, and the same run continues from it. "": a folder for temporary files,
	// and nothing is left.
	Work string
	// NoSync does not wait until outputs are on disk. Run ends sooner, and a power failure within some
	// seconds may damage or lose the output, without a sign. Not with Work.
	NoSync  bool
	Fresh   bool // start over, whatever Work holds
	OnError OnError

	// OnSkip, when set, is called for every bad record, in input order.
	OnSkip func(*corpus.Problem)
	// OnNotice, when set, is called with messages that are not errors.
	OnNotice func(Notice)
	// Begin, when set, is called by Pairs and Sketch when all inputs are found and no output is one
	// of them, before anything is read: it can open what Commit completes.
	Begin func() error
	// Commit, when set, is called by Pairs and Sketch when everything was emitted, before they empty
	// Work. It must make the emitted results durable: if it returns nil, a crash loses none of them.
	Commit func() error
	// Progress, when set, is called with the progress of the run, from several goroutines.
	Progress Progress

	fs     vfs.FS // of Work and Output; nil: the operating system's
	limits limits // zero except in tests
}

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

// withDefaults returns c with every zero field replaced by its default.
func (c Config) withDefaults() Config {
	if c.Measure == measure.WeightedJaccard {
		c.Features.Multiset = true
	}
	if c.Sketch == nil {
		c.Sketch = minhash.Default()
	}
	if c.Link != nil { // no keys, and so no signatures
		c.Candidates, c.Verify, c.Corpus.NoText = CandidatesExact, VerifyExact, true
	}
	if c.Distance == nil {
		c.setSearchDefaults()
	}
	setDefault(&c.BucketCap, DefaultBucketCap)
	setDefault(&c.OnError, OnErrorSkip)
	setDefault(&c.Threads, runtime.GOMAXPROCS(0))
	setDefault(&c.Corpus.Lookups, c.Threads)
	setDefault(&c.limits.segment, segmentBytes)
	setDefault(&c.limits.exact, exactMost)
	setDefault(&c.limits.expect, expectLeast)
	setDefault(&c.limits.together, group.TogetherKeys)
	setDefault(&c.limits.text, recipe.LongText)
	if c.fs == nil {
		c.fs = vfs.OS
	}
	if c.NoSync {
		c.fs = durable.Unsynced(c.fs)
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.OnNotice == nil {
		c.OnNotice = func(Notice) {}
	}
	if c.Begin == nil {
		c.Begin = func() error { return nil }
	}
	if c.Commit == nil {
		c.Commit = func() error { return nil }
	}
	if c.Progress == nil {
		c.Progress = noProgress{}
	}
	return c
}

// setSearchDefaults is withDefaults for the settings of a search by threshold.
func (c *Config) setSearchDefaults() {
	if c.Measure != measure.Overlap {
		setDefault(&c.Threshold, DefaultThreshold)
	}
	setDefault(&c.Recall, DefaultRecall)
	if c.Fingerprints {
		setDefault(&c.Verify, VerifySketch)
	}
	setDefault(&c.Verify, VerifyExact)
	if c.Known != nil {
		setDefault(&c.Candidates, CandidatesLSH)
	}
	setDefault(&c.Candidates, CandidatesAuto)
	switch {
	case c.Candidates != CandidatesAuto:
	case c.Banding != (lsh.Params{}):
		c.Candidates = CandidatesLSH // a caller that sets bands wants them used
	case !hasBands(c.Sketch) && !c.Fingerprints:
		c.Candidates = CandidatesExact
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// A Notice is a message that is not an error. It may name settings: String uses their names in Go,
// Explain those of a program.
type Notice = setting.Text

// ErrUsage marks an error of the configuration, not of the data.
var ErrUsage = errors.New("wrong usage")

// Validate checks what can be checked without looking at the input. Its errors
// wrap ErrUsage.
func (c Config) Validate() error {
	c = c.withDefaults()
	return c.validate()
}

// validate is Validate of a configuration with its defaults.
func (c *Config) validate() error {
	checks := []error{c.validateReading(), c.validateLink(), c.validateKnown(), c.validateNoSync()}
	if err := c.validateStored(); err != nil {
		return asUsage(errors.Join(append(checks, err)...))
	}
	if c.BucketCap < 2 || c.BucketCap > MaxBucketCap {
		checks = append(checks, fmt.Errorf("bucket cap must be 2 to %d", MaxBucketCap))
	}
	if c.Distance == nil {
		checks = append(checks, c.validateThreshold())
	} else if c.Threshold != 0 || c.Recall != 0 || c.Banding != (lsh.Params{}) || c.Candidates != "" || c.Verify != "" || c.Shared || c.Measure != measure.Jaccard {
		checks = append(checks, errors.New("a Hamming distance decides by itself: leave measure, threshold, recall, bands, candidates, verify and shared out"))
	}
	return asUsage(errors.Join(checks...))
}

// validateNoSync refuses NoSync for runs that another process may continue.
func (c *Config) validateNoSync() error {
	if c.NoSync && (c.Work != "" || c.Known != nil) {
		return setting.Errorf("%s leaves nothing from which a killed run could continue: leave %s and an index out, or sync", setting.NoSync, setting.Work)
	}
	return nil
}

// validateThreshold checks the settings of a search by threshold.
func (c *Config) validateThreshold() error {
	checks := []error{
		c.checkMeasure(),
		among(setting.Candidates, c.Candidates, CandidatesAuto, CandidatesLSH, CandidatesExact),
		among(setting.Verify, c.Verify, VerifyExact, VerifySketch, VerifyNone),
	}
	if !(c.Recall > 0 && c.Recall < 1) {
		checks = append(checks, setting.Errorf("recall %v is not between 0 and 1: use %s exact where no pair may be missed", c.Recall, setting.Candidates))
	}
	if c.Shared && !hasBands(c.Sketch) {
		checks = append(checks, fmt.Errorf("%s has no components that could be shared: use oph or kmins", c.Sketch))
	}
	if !hasBands(c.Sketch) && c.Texts == nil && (c.Candidates == CandidatesLSH || c.Verify == VerifySketch) {
		checks = append(checks, fmt.Errorf("signatures of %s have no components to cut into bands or to verify by: "+
			"use candidates exact with verify exact, or another scheme, such as %s", c.Sketch, minhash.Default()))
	}
	if c.Candidates == CandidatesExact && c.Verify != VerifyExact {
		checks = append(checks, errors.New("exact candidates come verified: leave verify at exact"))
	}
	return errors.Join(checks...)
}

// validateReading checks the settings that all calls use, of a configuration with its defaults.
func (c *Config) validateReading() error {
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
	if c.Corpus.MaxRecord > math.MaxUint32 {
		checks = append(checks, setting.Errorf("%s is %d: take less than 4 GiB", setting.MaxRecord, c.Corpus.MaxRecord))
	}
	if slices.Contains(c.Inputs, "-") && slices.Contains(c.Against, "-") {
		checks = append(checks, errors.New("standard input cannot be both an input and a reference: put one of them into a file"))
	}
	if slices.Contains(c.Inputs, "-") && slices.Contains(c.With, "-") {
		checks = append(checks, errors.New("standard input cannot be on both sides: put one of them into a file"))
	}
	if len(c.With) > 0 && len(c.Against) > 0 {
		checks = append(checks, errors.New("pairs are looked for with a second collection or against references, not both: leave one of them out"))
	}
	return asUsage(errors.Join(checks...))
}

// asUsage marks an error as one of the configuration.
func asUsage(err error) error {
	if err == nil || errors.Is(err, ErrUsage) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUsage, err)
}

// Recipe returns the settings that decide about pairs. Its errors wrap ErrUsage.
func (c Config) Recipe() (recipe.Recipe, error) {
	c = c.withDefaults()
	return c.recipe()
}

// recipe is Recipe of a configuration with its defaults.
func (c *Config) recipe() (recipe.Recipe, error) {
	if c.Distance != nil {
		r, err := recipe.New(recipe.Options{Features: c.Features, Sketch: c.Sketch, Texts: c.Texts, Distance: c.Distance})
		return r, asUsage(err)
	}
	threshold, err := c.threshold()
	if err != nil {
		return recipe.Recipe{}, asUsage(err)
	}
	keys := map[Candidates]recipe.Keys{CandidatesAuto: recipe.AnyKeys, CandidatesLSH: recipe.LSH, CandidatesExact: recipe.NoKeys}
	r, err := recipe.New(recipe.Options{
		Features: c.Features, Sketch: c.Sketch, Texts: c.Texts,
		Threshold: threshold, Verify: c.Verify, Keys: keys[c.Candidates], Recall: c.Recall, Banding: c.Banding,
	})
	return r, asUsage(err)
}

// SketchRecipe returns the settings that the signatures of Sketch depend on. Its errors wrap
// ErrUsage.
func (c Config) SketchRecipe() (recipe.Recipe, error) {
	if c.Measure == measure.WeightedJaccard {
		c.Features.Multiset = true
	}
	if s, ok := c.Sketch.(minhash.Scheme); ok && s.IsWeighted() && !c.Features.Multiset {
		return recipe.Recipe{}, asUsage(setting.Errorf("signatures of %s are for shingles that count as often as they occur: take %s %s, or oph, whose signatures of sets without counts are as good and take less time",
			s, setting.Measure, measure.WeightedJaccard))
	}
	r, err := recipe.New(recipe.Options{Features: c.Features, Sketch: c.Sketch, Texts: c.Texts})
	return r, asUsage(err)
}

func hasBands(s recipe.Scheme) bool {
	banded, ok := s.(recipe.Banded)
	return ok && banded.HasBands()
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

// Names of files in the output folder of a run.
const (
	KeptFolder   = write.KeptFolder
	KeptList     = write.KeptList
	KeptIDsFile  = write.KeptIDsFile
	RemovedFile  = write.RemovedFile
	ClustersFile = write.ClustersFile
	ReportFile   = write.ReportFile
	SummaryFile  = write.SummaryFile
)
