package linkage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/record"
)

// Match says which of the pairs that reach the decision are links.
type Match string

// The rules. The zero value is Mutual for two tables and All for one.
const (
	Mutual   Match = "mutual"     // pairs that are each other's best
	OneToOne Match = "one-to-one" // of each record one partner at most, so that most links are right: see Assignment
	Best     Match = "best"       // the best partner of each left record
	All      Match = "all"        // every pair
)

// Field is a column of either table that is compared with one of the other.
type Field struct {
	Left   string      `json:"left"`
	Right  string      `json:"right,omitempty"`  // "": as Left
	Weight float64     `json:"weight,omitempty"` // of its tokens in the similarity of records, as against other columns'; 0: 1
	Tokens record.Kind `json:"tokens,omitempty"` // "": by the column's values
}

// Config says what is linked and how. The zero value of all but Left means the default.
type Config struct {
	Left, Right     string         // tables; Right "": the pairs within Left
	Corpus          corpus.Options // how they are read
	LeftID, RightID string         // columns of the ids; "": id, else the first column; "-": the number of the row
	Fields          []Field        // columns that are compared; none: all that correspond and tell records apart

	Threshold float64 // least similarity of a link; 0: decided by the data
	Precision float64 // share of the links that shall be right, as far as the data tell; 0: what makes most of both, precision and recall
	Match     Match
	Model     *Model   // what Learner.Fit has learned; nil: the data decide without labels
	Top       int      // most links of a left record, where the rule allows for several; 0: no bound
	With      []string // columns of both tables that are handed on
	WithAll   bool     // hand on all columns, those of Left, then the others of Right: they are put into With
	Threads   int      // 0: all processors
	// Known are links that are settled. They help to learn what a match looks like, as all
	// candidates do, but are no links again; their records have a partner: by Mutual and
	// OneToOne they get no other, by Best the left ones do not. By All they may, where Top has
	// room beside the known links.
	Known []Known

	Weighing
	Searching

	Considered bool // hand on what the rule has found before the decision too
	Evidence   int  // hand on why so many of the candidates are links, or not; 0: of none
	Fail       bool // the first record that cannot be read ends the join

	OnSkip func(*corpus.Problem) // told of each record that was not read
}

// Validate returns an error that says what is wrong with the configuration.
func (c Config) Validate() error {
	switch c.Match {
	case "", Mutual, OneToOne, Best, All:
	default:
		return setting.Errorf("%s is %q: take mutual, one-to-one, best or all", setting.Match, string(c.Match))
	}
	switch {
	case c.Left == "":
		return errors.New("no table to join")
	case c.Threshold < 0 || c.Threshold > 1:
		return setting.Errorf("%s is %v: take a similarity above 0 and up to 1", setting.Threshold, c.Threshold)
	case c.Precision < 0 || c.Precision >= 1:
		return setting.Errorf("%s is %v: take a share above 0 and below 1", setting.Precision, c.Precision)
	case c.Threshold > 0 && c.Precision > 0:
		return setting.Errorf("%s and %s both decide: give one of them", setting.Threshold, setting.Precision)
	case c.Top < 0:
		return setting.Errorf("%s is %d: take 1 or more", setting.Top, c.Top)
	case c.Evidence < 0:
		return fmt.Errorf("evidence of %d candidates is asked for: take 1 or more, or 0 for none", c.Evidence)
	}
	for _, f := range c.Fields {
		if f.Weight < 0 || f.Weight > maxWeight || math.IsNaN(f.Weight) {
			return fmt.Errorf("field %s has weight %v: take a number above 0 and up to %d", fault.Shown(f.Left), f.Weight, maxWeight)
		}
	}
	return errors.Join(c.validateSearch(), c.Corpus.Validate())
}

// exclusive tells whether a record has at most one partner.
func (c *Config) exclusive() bool { return c.Match == Mutual || c.Match == OneToOne }

// maxWeight bounds Field.Weight.
const maxWeight = 1000

// A Link is a pair of records that belong together, as far as the data tell.
type Link struct {
	A, B        []byte    // ids
	RowA, RowB  int       // numbers of the records, of those that could be read, from 0
	Similarity  float64   // cosine of the records' tokens by inverse document frequency
	Fields      []float64 // similarity of each column; −1 where either value is missing
	Probability float64   // that it is right, as far as the data tell
	WithA       [][]byte  // values of Config.With
	WithB       [][]byte
}

// A Column is how a pair of columns was used.
type Column struct {
	Field
	Filled      [2]float64 // share of the records that have a value, left and right
	Agreement   float64    // mean similarity of the matches' values
	Chance      float64    // mean similarity of other candidates' values
	Information float64    // nats that the column tells of a match, on average
	Share       float64    // of what it tells, how much no other column tells too
}

// A Result is what a join has found.
type Result struct {
	Left, Right int      // records
	OneTable    bool     // links are within the left table
	Columns     []Column // that were compared
	Unused      []Unused
	Match       Match
	Assignment  Assignment // of OneToOne
	Candidates  int
	Skipped     int      // records that could not be read
	Repeated    []string // ids that several records of a table have, with the table; one of each table
	Notes       []string // what else a user should know of the tables
	Considered  []Considered
	Evidence    Evidence
	Search      candidates.Summary
	Known       int    // links of Config.Known of which both records are there
	Links       []Link // sorted by left, then right record, in input order
	Matches     float64
	Precision   float64 // estimated, of the links
	Recall      float64 // estimated, of the links

	matcher *matcher // nil: a table is empty
	only    *record.Table
}

// Considered is a pair that the rule has found, whatever the decision.
type Considered struct {
	A, B        []byte
	Probability float64
}

// Unused is a column that was not compared, and why.
type Unused struct{ Name, Reason string }

// Join finds the links between two tables, or within one. Everything that decides is the same
// for any number of threads.
func Join(ctx context.Context, c Config) (*Result, error) {
	t, err := prepare(ctx, &c)
	if err != nil {
		return nil, err
	}
	return t.link(ctx, &c)
}

// prepare completes a configuration and reads its tables.
func prepare(ctx context.Context, c *Config) (*tables, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Model != nil {
		if err := c.useModel(); err != nil {
			return nil, err
		}
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Match == "" {
		if c.Match = Mutual; c.Right == "" {
			c.Match = All
		}
	}
	return open(ctx, c)
}

// tables are what is joined.
type tables struct {
	result      *Result
	left, right *record.Table // right is nil for one table
	numbering   record.Numbering
	known       *known    // nil: nothing is
	idColumns   [2]string // of the left and the right table
	kept        []string  // columns whose values are kept as they are: those of Config.With, then what evidence shows
}

// open reads the tables.
func open(ctx context.Context, c *Config) (*tables, error) {
	t := &tables{result: &Result{Match: c.Match, OneTable: c.Right == ""}}
	left, err := find(ctx, c.Left, c.LeftID, c.Corpus)
	if err != nil {
		return nil, err
	}
	right := left
	if c.Right != "" {
		if right, err = find(ctx, c.Right, c.RightID, c.Corpus); err != nil {
			return nil, err
		}
	}
	if c.WithAll {
		c.With = withAll(nil, left.columns, right.columns)
	}
	for _, name := range c.With {
		if !slices.Contains(left.columns, name) && !slices.Contains(right.columns, name) {
			return nil, setting.Errorf("no table has the column %q (%s), there are: %s", name, setting.With, fault.List(left.columns))
		}
	}
	if err := t.choose(ctx, c, left, right); err != nil {
		return nil, err
	}
	t.kept, t.idColumns = c.With, [2]string{left.id, right.id}
	if c.Evidence > 0 {
		t.numbering.Lookup = true
		t.kept = withAll(t.kept, left.columns, right.columns)
	}
	skipped := func(p *corpus.Problem) error {
		t.result.Skipped++
		if c.Fail {
			return p
		}
		c.OnSkip(p)
		return nil
	}
	var names [2][]string
	var kinds []record.Kind
	for _, f := range t.result.Columns {
		names[0], names[1] = append(names[0], f.Left), append(names[1], f.Right)
		kinds = append(kinds, f.Tokens)
	}
	if t.left, err = left.read(ctx, c.Threads, names[0], kinds, t.kept, &t.numbering, c.Repetitions, skipped); err != nil {
		return nil, err
	}
	t.result.Left = t.left.Rows()
	t.noteRepeated(left, t.left)
	if c.Right == "" {
		t.noteEmpty(left, right)
		return t, nil
	}
	if t.right, err = right.read(ctx, c.Threads, names[1], kinds, t.kept, &t.numbering, c.Repetitions, skipped); err != nil {
		return nil, err
	}
	t.result.Right = t.right.Rows()
	t.noteRepeated(right, t.right)
	t.noteEmpty(left, right)
	return t, nil
}

// withAll returns a list of columns, and those of two tables that it does not have.
func withAll(list, left, right []string) []string {
	list = slices.Clone(list)
	for _, name := range slices.Concat(left, right) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// noteRepeated notes an id that several records of a table have.
func (t *tables) noteRepeated(s *source, of *record.Table) {
	hashes := make([]uint64, of.Rows())
	for i := range hashes {
		hashes[i] = hashing.Bytes(of.ID(i))
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] != hashes[i-1] {
			continue
		}
		for row := range of.Rows() {
			if id := of.ID(row); hashing.Bytes(id) == hashes[i] {
				t.result.Repeated = append(t.result.Repeated, fmt.Sprintf("%s: id %q", fault.Shown(s.name), id))
				return
			}
		}
	}
}

// link finds candidates, compares them, and decides.
func (t *tables) link(ctx context.Context, c *Config) (*Result, error) {
	if t.left.Rows() == 0 || t.right != nil && t.right.Rows() == 0 {
		return t.result, nil
	}
	e, err := t.examine(ctx, c)
	if err != nil {
		return nil, err
	}
	return t.result, t.decide(e)
}

// examine finds candidates, compares them, and says how likely each is a match.
func (t *tables) examine(ctx context.Context, c *Config) (*examiner, error) {
	t.numbering.Finish()
	whole, err := t.records(ctx, c)
	if err != nil {
		return nil, err
	}
	compare, err := newComparer(c, t.left, t.right, &t.numbering)
	if err != nil {
		return nil, err
	}
	e := &examiner{comparer: compare, config: c, matchers: whole.newMatchers(c.Threads)}
	r := t.result
	r.matcher, r.only = e.matchers[0], t.left
	e.shares = e.comparer.shares()
	if r.Left+r.Right > manyRecords && c.Candidates == "" {
		err = t.findMany(ctx, e)
	} else {
		err = t.findFew(ctx, e, whole)
	}
	if err != nil {
		return nil, err
	}
	r.Candidates = e.candidates
	t.report(e.sample, e.sampled, e.model)
	if len(c.Known) > 0 {
		t.known = t.findKnown(c.Known)
		r.Known = len(c.Known) - t.known.absent
		e.found = t.known.free(e.found, c.Match)
	}
	var ch chance
	if c.exclusive() && t.right != nil && !c.bySimilarity() {
		if ch, err = t.newChance(ctx, whole, e); err != nil {
			return nil, err
		}
	}
	e.judge()
	e.judged = e.rank
	if c.Model != nil {
		e.probability, e.rank, err = t.correct(ctx, e, c.Model.weights())
	}
	// Chance is known by scores without labels. Where labels have changed these it would take
	// back what the labels say, and lower the threshold that goes with the probabilities.
	if c.Model == nil || c.Model.Learned.Strength == 0 {
		ch.bound(e.found, e.model, e.probability)
	}
	return e, err
}

// findMany finds and examines the candidates of many records.
func (t *tables) findMany(ctx context.Context, e *examiner) error {
	sample, err := t.closest(ctx, e.config)
	if err != nil {
		return err
	}
	if err := e.learn(ctx, sample); err != nil {
		return err
	}
	pairs, err := t.sharing(ctx, e.config)
	if err != nil {
		return err
	}
	return e.examine(ctx, pairs)
}

// findFew finds and examines the candidates of few records.
func (t *tables) findFew(ctx context.Context, e *examiner, whole *records) error {
	for k := firstK; ; k *= 4 {
		pairs, err := t.nearest(ctx, e.config, whole, k)
		if err != nil {
			return err
		}
		e.model = nil
		if err := e.examine(ctx, pairs); err != nil {
			return err
		}
		if e.config.exclusive() || k >= lastK || t.result.Search.Method != candidates.TopK || !crowded(e.found, e.probability, k) {
			return nil
		}
	}
}

// How many partners of each record are looked at: firstK, and four times as many up to lastK
// where so many belong together.
const (
	firstK = 10
	lastK  = 160
)

// crowded tells whether records have so many matches among k candidates that they may have
// more.
func crowded(c *comparison, probability []float64, k int) bool {
	degree := make([]float64, max(c.left, c.right))
	full := 0
	for i, p := range c.pairs {
		degree[p.a] += probability[i]
		if c.right == 0 {
			degree[p.b] += probability[i]
		}
	}
	for _, d := range degree {
		if d > 0.7*float64(k) {
			full++
		}
	}
	return full*100 > len(degree)
}
