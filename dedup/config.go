package dedup

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
)

// Candidates says how pairs worth verifying are found.
type Candidates string

// The ways of finding candidates.
const (
	CandidatesAuto  Candidates = "auto"  // lsh or exact, whichever costs less (see chooseExact)
	CandidatesLSH   Candidates = "lsh"   // banded signatures; misses at most 1−recall at the threshold
	CandidatesExact Candidates = "exact" // prefix filter; misses nothing, holds all feature sets in memory
)

// Verify says how a candidate's similarity is established.
type Verify string

// The ways of verifying.
const (
	VerifyExact  Verify = "exact"  // Jaccard of the two feature sets
	VerifySketch Verify = "sketch" // the signatures' estimate, held against the threshold
	VerifyNone   Verify = "none"   // every candidate passes; the estimate is only reported
)

// OnError says what a record that cannot be read leads to.
type OnError string

// The ways of treating bad input.
const (
	OnErrorSkip OnError = "skip" // leave the record out, count and name it, go on
	OnErrorFail OnError = "fail" // stop with the first bad record's error
)

// Defaults of Config.
const (
	DefaultThreshold = 0.8
	DefaultRecall    = 0.99
	DefaultBucketCap = 1000
)

// MaxBucketCap is the largest Config.BucketCap: a bucket with more members is seen
// piece by piece.
const MaxBucketCap = extsort.PartMax

// Config is everything a run depends on. Its zero value, with Inputs, means the
// defaults.
type Config struct {
	Inputs  []string // files, folders, globs, "-" for standard input
	Against []string // reference documents: whatever is like one of them is removed
	Output  string   // folder that Run fills; must not exist or be empty
	// Outputs are other files that the caller writes ("-": standard output), Reads other
	// files that it has read. As Output and Work, none of the first may be an input, be
	// in an input folder, be one of the second, or be a file of another output; a run of
	// which one is ends with ErrUsage before it opens or makes anything.
	Outputs, Reads []string

	Corpus   corpus.Options
	Features shingle.Options
	Sketch   minhash.Scheme // zero: minhash.Default()
	// Texts, when set, makes the signatures of Sketch straight from the texts, and
	// Features and Sketch count for nothing there. No other call knows it.
	Texts TextScheme

	Threshold  float64    // Jaccard similarity in (0,1]; 0: DefaultThreshold
	Recall     float64    // asked for at the threshold, in (0,1); 0: DefaultRecall
	Banding    lsh.Params // zero: tuned; else candidates are by lsh unless exact is asked for
	Candidates Candidates
	Verify     Verify
	Shared     bool // Pairs counts the components in which signatures agree
	BucketCap  int  // members up to which a bucket emits all its pairs; 0: DefaultBucketCap

	Keep cluster.Keep
	Star bool // remove only what is similar to the kept document itself

	Threads int   // 0: all processors
	Memory  int64 // resident bytes of the process; 0: no ceiling. What does not fit goes to disk; see docs/architecture.md.
	Timings bool  // Summary.Stages say what each stage's workers have spent
	// Work is a folder for what goes to disk. A run that ends before it has
	// succeeded leaves there what it has done, and the same run goes on from it.
	// "": a folder for temporary files, and nothing is left.
	Work    string
	Fresh   bool // start over, whatever Work holds
	OnError OnError

	// OnSkip, when set, is told of every bad record, in input order.
	OnSkip func(*corpus.Problem)
	// OnNotice, when set, is told what a user should know of a run that goes on.
	OnNotice func(Notice)
	// Begin, when set, is called by Pairs and Sketch when all inputs are found and no
	// output is one of them, before anything is read: it can open what Commit completes.
	Begin func() error
	// Commit, when set, is called by Pairs and Sketch when all was emitted, before they
	// empty Work. Who makes there safe what was emitted loses nothing at any moment.
	Commit func() error
	// Progress, when set, is told what is going on, from several goroutines.
	Progress Progress

	fs     vfs.FS // of Work and Output; nil: that of the system
	limits limits // zero but in tests

	noPairs bool // only signatures are wanted, see Sketch
}

// limits let tests meet with little data what large runs meet. What is zero stays
// as it is without them.
type limits struct {
	memory   int64       // for data; see workspace
	segment  int64       // see segmentBytes
	retain   int64       // see retainMax
	together int64       // see togetherKeys
	index    int         // see indexMost
	part     int64       // see partShare
	output   int64       // see noteBytes
	text     int         // see largeText
	record   int         // see largeFrom
	due      func() bool // it is time for a note; see noteInterval
}

// keepsSignatures tells whether signatures are needed after grouping.
func (c *Config) keepsSignatures() bool { return c.Verify != VerifyExact || c.Shared }

// withDefaults returns c with every zero field replaced by its default.
func (c Config) withDefaults() Config {
	setDefault(&c.Threshold, DefaultThreshold)
	setDefault(&c.Recall, DefaultRecall)
	setDefault(&c.BucketCap, DefaultBucketCap)
	if c.Candidates == "" || c.Candidates == CandidatesAuto {
		c.Candidates = CandidatesAuto
		if c.Banding != (lsh.Params{}) {
			c.Candidates = CandidatesLSH // whoever sets bands wants them used
		}
	}
	setDefault(&c.Verify, VerifyExact)
	setDefault(&c.OnError, OnErrorSkip)
	setDefault(&c.Sketch, minhash.Default())
	if hash := c.Sketch.FeatureHash(); hash != "" {
		c.Features.Hash = shingle.Hash(hash)
	}
	if c.Candidates == CandidatesAuto && !c.Sketch.HasBands() {
		c.Candidates = CandidatesExact
	}
	setDefault(&c.Threads, runtime.GOMAXPROCS(0))
	setDefault(&c.Corpus.Lookups, c.Threads)
	setDefault(&c.limits.segment, segmentBytes)
	setDefault(&c.limits.retain, retainMax)
	setDefault(&c.limits.together, togetherKeys)
	setDefault(&c.limits.index, indexMost)
	setDefault(&c.limits.output, noteBytes)
	setDefault(&c.limits.text, largeText)
	if c.fs == nil {
		c.fs = vfs.Default
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

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// A Notice is a message that is no error. It may name settings: String returns it as Go
// names them, Explain as a program does.
type Notice = setting.Text

// ErrUsage marks an error of the configuration, not of the data.
var ErrUsage = errors.New("wrong usage")

// Validate checks what can be checked without looking at the input. Its errors
// wrap ErrUsage.
func (c Config) Validate() error {
	c = c.withDefaults()
	checks := []error{
		c.Features.Validate(),
		among(setting.Candidates, c.Candidates, CandidatesAuto, CandidatesLSH, CandidatesExact),
		among(setting.Verify, c.Verify, VerifyExact, VerifySketch, VerifyNone),
		among(setting.OnError, c.OnError, OnErrorSkip, OnErrorFail),
	}
	if !(c.Threshold > 0 && c.Threshold <= 1) {
		checks = append(checks, fmt.Errorf("threshold %v is not in (0,1]: take 0.8 for near-duplicates", c.Threshold))
	}
	if !(c.Recall > 0 && c.Recall < 1) {
		checks = append(checks, setting.Errorf("recall %v is not between 0 and 1: use %s exact where no pair may be missed", c.Recall, setting.Candidates))
	}
	if c.Shared && !c.Sketch.HasBands() {
		checks = append(checks, fmt.Errorf("%s has no components that could be shared: use oph or kmins", c.Sketch))
	}
	if len(c.Inputs) == 0 {
		checks = append(checks, errors.New("no input: name files, folders or - for standard input"))
	}
	if c.BucketCap < 2 || c.BucketCap > MaxBucketCap || c.Threads < 1 || c.Memory < 0 {
		checks = append(checks, fmt.Errorf("bucket cap must be 2 to %d, threads at least 1, memory not negative", MaxBucketCap))
	}
	if c.Corpus.MaxRecord > math.MaxUint32 {
		checks = append(checks, setting.Errorf("%s is %d: take less than 4 GiB", setting.MaxRecord, c.Corpus.MaxRecord))
	}
	if slices.Contains(c.Inputs, "-") && slices.Contains(c.Against, "-") {
		checks = append(checks, errors.New("standard input cannot be both an input and a reference: put one of them into a file"))
	}
	if !c.Sketch.HasBands() && !c.noPairs && (c.Candidates == CandidatesLSH || c.Verify == VerifySketch) {
		checks = append(checks, fmt.Errorf("signatures of %s have no components to cut into bands or to verify by: "+
			"use candidates exact with verify exact, or another scheme, such as %s", c.Sketch, minhash.Default()))
	}
	if c.Candidates == CandidatesExact && c.Verify != VerifyExact {
		checks = append(checks, errors.New("exact candidates come verified: leave verify at exact"))
	}
	if err := errors.Join(checks...); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return nil
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
