package dedup

import (
	"context"
	"iter"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/shingle"
)

// Beside is a second collection: Against or With.
type Beside interface{ beside(*modes) }

// Against are reference documents. They are not compared with each other, and Run removes documents
// similar to one of them.
type Against []string

// With are the inputs of the right of two collections, Config.Inputs those of the left: Pairs lists
// only pairs of a document of Inputs, as Pair.A, with one of With. No other call takes it.
type With []string

// Signatures says what signatures are made of: OfShingles or OfTexts.
type Signatures interface{ signatures(*modes) }

// OfShingles makes sets of shingles, and signatures of these.
type OfShingles struct {
	Options shingle.Options
	Scheme  recipe.Scheme // nil: minhash.Default()
	Rarity  *Rarity       // nil: all shingles count alike
}

// OfTexts makes signatures directly from texts.
type OfTexts struct{ Scheme recipe.TextScheme }

// Decision says which pairs are wanted: Similarity, Distance or ByLinks.
type Decision interface{ decide(*modes) }

// Similarity asks for pairs of at least some similarity.
type Similarity struct {
	// Measure is Jaccard if it is zero. WeightedJaccard sets Multiset of shingles. With Containment
	// and MaxContainment Run removes documents that are inside another one, never a document in
	// favour of a part of it; with Overlap it does not run.
	Measure measure.Measure
	// Threshold is the least similarity of a pair: in (0,1], where 0 means DefaultThreshold; with
	// Overlap a whole number from 1 on, without a default.
	Threshold  float64
	Candidates Candidates    // Auto, LSH, Bands or Exact; nil: Auto{}
	Verify     recipe.Verify // "": recipe.Exact; of fingerprints, recipe.Sketch
	Shared     bool          // Pairs counts the components in which signatures agree
	// ThirdTexts leaves out a pair if more of the texts that are similar to one of the two contradict it than not: what
	// both share, a passage of a neighbour that both ran into, is not what those share with them. Where nearly all of one
	// text stands in the other, the pair stays. For exact similarities of texts; all texts in pairs are read once more.
	ThirdTexts bool
}

// Distance asks for the pairs whose signatures differ in at most that many bits, from 0 on.
// Signatures must be of SimHash or of texts (see recipe.Hamming). Pairs are missed only where a
// notice says so.
type Distance int

// ByLinks says which records of the only input belong together, in place of similar texts. Run
// calls it once, after it is clear that the output can be written and before the input is read.
// Records then need no text, see corpus.Options.NoText, and for the keep rules longest and shortest
// count the bytes of all values of Corpus.Fields.
type ByLinks func(context.Context) (*Links, error)

// Candidates says how candidate pairs are found: Auto, LSH, Bands or Exact. A recall is asked for
// at the threshold, in (0,1); 0 means DefaultRecall.
type Candidates interface{ candidates(*modes) }

// Auto is LSH or Exact, whichever costs less.
type Auto struct{ Recall float64 }

// LSH finds pairs by bands of signatures; it misses at most 1−recall of those at the threshold.
type LSH struct{ Recall float64 }

// Bands is LSH with bands that are not tuned.
type Bands lsh.Params

// Exact finds pairs by a prefix filter. It misses nothing, and holds all feature sets in memory or
// reads them again.
type Exact struct{}

// Survivors says which documents Run keeps: OnePerCluster or NewTo.
type Survivors interface{ survivors(*modes) }

// OnePerCluster keeps one document of each cluster.
type OnePerCluster struct {
	Keep cluster.Keep // which one
	Star bool         // remove only documents similar to the kept document itself; always with a containment
	// Whole, which implies Star, removes only documents of which three quarters stand in the kept one, which is no shorter
	// then, or with a containment has no fewer features: blocks of their text, with any noise, or characters of short ones. What many documents have weighs next to
	// nothing. For exact similarities of texts; all texts in pairs are read once more.
	Whole bool
}

// NewTo keeps the documents that are new to a collection of documents, which come before the inputs:
// Run removes documents similar to one of them, keeps of the others the first, as with Star, and adds
// those that it keeps. The result is the same as if all had been inputs of one run. Candidates must be
// LSH or Bands; LSH is the default.
type NewTo struct{ Known Known }

// Work says what happens to data that go to disk, and to finished work: WorkFolder, FinderFolder or Unsynced.
type Work interface{ work(*modes) }

// WorkFolder is a folder for data that go to disk. A run that ends before it has succeeded leaves its
// finished work there, and the same run continues from it.
type WorkFolder struct {
	Path  string
	Fresh bool // start over, whatever the folder holds
}

// FinderFolder is the work folder of what finds the links of a run ByLinks. The run puts nothing there, and neither
// reads nor writes anything that is there.
type FinderFolder string

// Unsynced does not wait until outputs are on disk. Run ends sooner, and a power failure within some
// seconds may damage or lose the output, without a sign.
type Unsynced struct{}

// modes are what the fields of a Config with several types say, one by one. What was not asked for is
// zero.
type modes struct {
	Against, With []string
	Features      shingle.Options
	Sketch        recipe.Scheme
	Rarity        *Rarity
	Texts         recipe.TextScheme
	Distance      *int
	Link          ByLinks
	Measure       measure.Measure
	Threshold     float64
	Method        string // methodAuto, MethodLSH or MethodExact
	Recall        float64
	Banding       lsh.Params
	Verify        recipe.Verify
	Shared        bool
	ThirdTexts    bool
	Keep          cluster.Keep
	Star          bool
	Whole         bool
	Known         Known
	Folder        string
	Finder        string // a FinderFolder
	Fresh         bool
	NoSync        bool
}

// methodAuto is the method before it is chosen. See Summary.CandidateMethod for the others.
const methodAuto = "auto"

func (a Against) beside(m *modes) { m.Against = a }
func (w With) beside(m *modes)    { m.With = w }

func (s OfShingles) signatures(m *modes) {
	m.Features, m.Sketch, m.Rarity = s.Options, s.Scheme, s.Rarity
}
func (s OfTexts) signatures(m *modes) { m.Texts = s.Scheme }

func (s Similarity) decide(m *modes) {
	m.Measure, m.Threshold, m.Verify, m.Shared, m.ThirdTexts = s.Measure, s.Threshold, s.Verify, s.Shared, s.ThirdTexts
	if s.Candidates != nil {
		s.Candidates.candidates(m)
	}
}

func (d Distance) decide(m *modes) { m.Distance = new(int(d)) }

// No keys are made for links, and so no signatures.
func (l ByLinks) decide(m *modes) { m.Link, m.Method, m.Verify = l, MethodExact, recipe.Exact }

func (a Auto) candidates(m *modes) { m.Recall = a.Recall }
func (l LSH) candidates(m *modes)  { m.Method, m.Recall = MethodLSH, l.Recall }
func (Exact) candidates(m *modes)  { m.Method = MethodExact }

func (b Bands) candidates(m *modes) { m.Method, m.Banding = MethodLSH, lsh.Params(b) }

func (o OnePerCluster) survivors(m *modes) {
	m.Keep, m.Star, m.Whole = o.Keep, o.Star || o.Whole, o.Whole
}
func (n NewTo) survivors(m *modes) { m.Known = n.Known }

func (f WorkFolder) work(m *modes)   { m.Folder, m.Fresh = f.Path, f.Fresh }
func (f FinderFolder) work(m *modes) { m.Finder = string(f) }
func (Unsynced) work(m *modes)       { m.NoSync = true }

// Links are the pairs of records that belong together, decided outside the run (see ByLinks).
// Records are numbered from 0 in input order, without those that cannot be read.
type Links struct {
	Records int // number of records that could be read
	// All ranges over the links, each once and in any order.
	All iter.Seq[Link]
	// Similarity returns the similarity of any two records: it is used for those that are in one
	// cluster only through others.
	Similarity func(a, b uint32) float64
	// ID returns the id of a record that has one. It serves to check that the table is still the
	// one that was linked.
	ID func(record uint32) []byte

	// For Summary.
	Threshold         float64  // least similarity; 0: another rule decided
	By                string   // how the links were decided
	Candidates        int64    // pairs that were examined
	ExpectedPrecision Expected // share of the links that is right
	ExpectedRecall    Expected // share of the matches that is linked
	Columns           []record.Compared
	LeftOut           []record.LeftOut

	// Undecided says that it is not known which links are right: clusters are listed, and nothing is removed.
	Undecided bool
	// Probability returns the probability of the cluster into which All connects a record, and whether it is known.
	Probability func(record uint32) (p float64, known bool)
	Largest     []LinkedCluster // the largest clusters whose probability is known, largest first
	Doubtful    int             // clusters in which most pairs of records are, by themselves, more likely wrong than right
}

// LinkedCluster is a cluster of linked records.
type LinkedCluster struct {
	First       uint32 // its first record
	Size        int    // records
	Probability float64
	Weakest     Link // without it the cluster falls apart soonest; its Similarity is its probability
}

// Link is two records that belong together, A before B.
type Link struct {
	A, B       uint32
	Similarity float64
}
