package linkage

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/record"
)

// Config says what is linked and how. The zero value of every field except Left is the default.
type Config struct {
	Left, Right     string         // tables, see TableFiles; Right "": the pairs within Left
	Copies          [2]Original    // originals of Left and Right if these are copies; zero: they are not
	Corpus          corpus.Options // how the tables are read
	LeftID, RightID string         // columns of the ids; "": id, otherwise the first column of several; "-": the number of the row
	Fields          []Field        // columns to compare; none: all that correspond and distinguish records

	Threshold float64 // least similarity of a link; 0: decided by the data
	Precision float64 // wanted share of right links, as estimated; 0: the best balance of precision and recall
	Match     Match
	Model     *Model   // learned by Learner.Fit; nil: learned from the tables without labels
	Top       int      // most links of a left record, if the rule allows several; 0: no bound
	With      []string // columns of both tables that are passed through
	WithAll   bool     // pass all columns through, first Left's, then the others of Right: Join puts them into With
	Threads   int      // 0: all processors
	// Memory is a ceiling for the resident bytes of the process; 0: none. Beyond it keys and
	// candidates are sorted in temporary files. The tables must fit: if they do not, the join ends
	// with an error that says how much they take.
	Memory int64
	// Work is a folder for these files and for finished steps that take long. If a join was killed,
	// another one with the same settings and tables continues from there, with any Threads and
	// Memory. See Result.Finish. "": the folder of temporary files, and nothing is kept.
	Work  string
	Fresh bool // start over, even if Work has finished steps
	// Known are links that are settled. The model learns from them as from all candidates, but they
	// are not listed again. Their records have a partner: with Mutual and OneToOne they get no
	// other, with Best the left ones get none, with BestRight the right ones. With All they may get others, up to Top.
	Known []Known

	// Verdicts are what a person has said about pairs of records, in one table in any order. They hold: the one are links,
	// and nothing connects the records of the others, neither links nor clusters, also through further records. Where they
	// contradict each other, what is different stays apart, see Report.Refused.
	Verdicts []Label

	Weighing
	Searching

	// Sources are columns that name the source of a record, such as a register or a shop. A source has a thing at most once,
	// so records of one source are no link and share no cluster. They are not compared unless Fields names them. Without any, a
	// column of the only table is found from the data, if there is one; NoSource: there is none.
	Sources []string
	// Same are columns in which what is the same thing agrees, of those that are compared: links are the pairs of the kinds that
	// agree in all of them, see Report.Kinds. Then a column of sources is not looked for. Without any, the data say which
	// kinds are the same thing.
	Same []string
	// Table is a column of the only table that names the table which a record was in before, see Stack; "": there is none.
	// It is not compared, and may be found to name sources.
	Table string
	// Clusters also groups the records of one table into clusters that hold, see Result.Entities. Even makes no
	// cluster of parts that are less likely one thing than not.
	Clusters, Even bool

	Considered bool // also return the pairs that the rule has found before the decision
	Evidence   int  // number of candidates whose evidence is returned; 0: none
	Audit      int  // number of candidates to draw for a person to look at, see Result.Audit; 0: none
	Fail       bool // the first record that cannot be read ends the join

	OnSkip func(*corpus.Problem) // called for each record that was not read

	// SourcesFound says that Sources were found in the data and not named by the user, and Doubled which values of their column
	// are sources that have things twice, unlike the others. A join that finds sources itself sets both.
	SourcesFound bool
	Doubled      []string

	limits limits
}

// Decides reports whether the caller has decided which records are the same, whatever the data tell: by a threshold, a
// precision or a model.
func (c *Config) Decides() bool { return c.Threshold > 0 || c.Precision > 0 || c.Model != nil }

// NoSource is the only one of Config.Sources of a table that has no sources, or whose sources may have a thing twice.
const NoSource = "-"

// noSources tells whether the user says that there are no sources.
func (c *Config) noSources() bool { return len(c.Sources) == 1 && c.Sources[0] == NoSource }

// An Original is a table of which a part or another form is joined in its place. Messages name it,
// and its size tells which of two tables is much larger. Choose reports what is unusual in its
// first records.
type Original struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes,omitempty"` // size of its files; 0: the size of the copy counts
}

// Validate returns an error that says what is wrong with the configuration.
func (c Config) Validate() error {
	switch c.Match {
	case "", ByData, Mutual, OneToOne, Best, BestRight, All:
	default:
		return setting.Errorf("%s is %q: take auto, mutual, one-to-one, best, best-right or all", setting.Match, string(c.Match))
	}
	switch {
	case c.Left == "":
		return errors.New("no table to join")
	case !(c.Threshold >= 0 && c.Threshold <= 1): // also refuses NaN
		return setting.Errorf("%s is %v: take a similarity above 0 and up to 1", setting.Threshold, c.Threshold)
	case !(c.Precision >= 0 && c.Precision < 1):
		return setting.Errorf("%s is %v: take a share above 0 and below 1", setting.Precision, c.Precision)
	case c.Threshold > 0 && c.Precision > 0:
		return setting.Errorf("%s and %s both decide: give one of them", setting.Threshold, setting.Precision)
	case c.Top < 0:
		return setting.Errorf("%s is %d: take 1 or more", setting.Top, c.Top)
	case c.Evidence < 0:
		return fmt.Errorf("evidence of %d candidates is asked for: take 1 or more, or 0 for none", c.Evidence)
	case c.Audit < 0:
		return setting.Errorf("%s is %d: take 1 or more", setting.Audit, c.Audit)
	}
	for _, f := range c.Fields {
		if f.Weight < 0 || f.Weight > maxWeight || math.IsNaN(f.Weight) {
			return fmt.Errorf("field %s has weight %v: take a number above 0 and up to %d", fault.Shown(f.Left), f.Weight, maxWeight)
		}
		if _, err := record.ParseKind(string(f.Tokens)); f.Tokens != "" && err != nil {
			return fmt.Errorf("field %s: %w", fault.Shown(f.Left), err)
		}
	}
	err := c.Weighing.validate()
	if err == nil {
		err = c.Searching.validate(c.Threshold)
	}
	if len(c.Same) > 0 && (c.Model != nil || c.Threshold > 0) {
		err = errors.Join(err, setting.Errorf("%s says what is the same, and so does %s or %s: give one of them", setting.Same, setting.Model, setting.Threshold))
	}
	return errors.Join(err, c.Corpus.Validate())
}

// exclusive reports whether a record has at most one partner.
func (c *Config) exclusive() bool { return c.once().Both() }

// once returns which records have one partner at most by the rule. In one table it is all or none.
func (c *Config) once() model.Once {
	once := c.Match.once()
	if c.Right == "" && !once.Both() {
		return model.Once{}
	}
	return once
}

// bySimilarity reports whether candidates may be found by the threshold, and so by all tokens.
func (c *Config) bySimilarity() bool {
	return c.Threshold > 0 && (c.Candidates == LSH || c.Candidates == Exact || c.Candidates == Auto)
}

// complete checks the configuration, and completes it from the model if it has one.
func (c *Config) complete() error {
	if err := c.Validate(); err != nil || c.Model == nil {
		return err
	}
	return c.useModel()
}

// useModel takes fields, weighing and an open rule from the model, and refuses uses that it was not
// learned for.
func (c *Config) useModel() error {
	m := c.Model
	if err := m.check(); err != nil {
		return err
	}
	switch one := c.Right == ""; {
	case len(c.Fields) > 0:
		return setting.Errorf("%s and %s both name the columns: give one of them", setting.Field, setting.Model)
	case one && !m.OneTable:
		return setting.Errorf("the model was learned from two tables, and is used on one (%s)", setting.Model)
	case !one && m.OneTable:
		return setting.Errorf("the model was learned from one table, and is used on two (%s)", setting.Model)
	}
	c.Weighing = m.Weighing
	if c.Fields = m.Fields; c.Match == "" || c.Match == ByData {
		c.Match = m.Match
	}
	if c.exclusive() != m.Match.once().Both() {
		return setting.Errorf("the model was learned with %s %s, and knows nothing of %s: learn it again with that", setting.Match, m.Match, c.Match)
	}
	return nil
}

// maxWeight bounds Field.Weight.
const maxWeight = 1000

// lopsided tells whether the larger table is so much larger, in records or bytes, that only a part of it is held.
func (l *limits) lopsided(large, small int64) bool { return large >= l.muchLarger*small }

// manyRecords is the number of records above which candidates are the pairs that share a key, and not the most
// similar pairs. If the configuration asks for the latter all the same, their similarity is that of words only: among
// so many records there are enough that share a word, and grams cost ten times as much.
const manyRecords = 30_000

// limits are the sizes from which a join takes another way, and what tests watch. The zero value of a field is the
// default; only tests have others.
type limits struct {
	many       int                     // records above which candidates are the pairs that share a key
	batch      int                     // candidates that are compared at once if there are many
	muchLarger int64                   // least ratio, in records and in bytes, of a table that is held in part to the other one
	own        int                     // most records of a table that are searched for in their own table
	strangers  uint64                  // most pairs of records from which correlations of columns are estimated
	unfiltered bool                    // sort the keys of all records, not only those that pass a Bloom filter of the smaller table's
	noteDue    func() bool             // tells when progress is noted; nil: now and then
	afterNote  func(kind string) error // called after each note, may end the join
}

// complete sets the defaults.
func (l *limits) complete() {
	l.many = cmp.Or(l.many, manyRecords)
	l.batch = cmp.Or(l.batch, 1<<17)
	l.muchLarger = cmp.Or(l.muchLarger, 50)
	l.own = cmp.Or(l.own, 5000)
	l.strangers = cmp.Or(l.strangers, compare.RandomPairs)
}
