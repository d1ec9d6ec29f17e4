package linkage

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// Config says what is linked and how. The zero value of all but Left means the default.
type Config struct {
	Left, Right     string         // tables, see TableFiles; Right "": the pairs within Left
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
	// Memory is a ceiling for the resident bytes of the process, 0: there is none. Keys and
	// candidates are sorted in temporary files beyond it. The tables must fit: where they do not
	// the join ends with an error that says what they take.
	Memory int64
	// Work is a folder for those files, and for what is done, so far as it takes long: a join
	// that was killed goes on from there when it is begun again with the same settings and
	// tables, whatever Threads and Memory. See Result.Finish. "": the folder of temporary files,
	// and nothing is kept.
	Work  string
	Fresh bool // start over, whatever Work holds
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
	}
	for _, f := range c.Fields {
		if f.Weight < 0 || f.Weight > maxWeight || math.IsNaN(f.Weight) {
			return fmt.Errorf("field %s has weight %v: take a number above 0 and up to %d", fault.Shown(f.Left), f.Weight, maxWeight)
		}
	}
	err := c.Weighing.validate()
	if err == nil {
		err = c.Searching.validate(c.Threshold)
	}
	return errors.Join(err, c.Corpus.Validate())
}

// exclusive tells whether a record has at most one partner.
func (c *Config) exclusive() bool { return c.Match == Mutual || c.Match == OneToOne }

// bySimilarity tells whether candidates may be found by the threshold, and so by all tokens.
func (c *Config) bySimilarity() bool {
	return c.Threshold > 0 && c.Candidates != "" && c.Candidates != TopK
}

// least is the probability above which pairs are links, if nothing else decides.
func (c *Config) least() float64 {
	if c.Model != nil {
		return c.Model.Threshold
	}
	return 0.5
}

// useModel lets a model say what a configuration leaves open, and refuses what it cannot do.
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
	if c.Fields = m.Fields; c.Match == "" {
		c.Match = m.Match
	}
	if c.exclusive() != (&Config{Match: m.Match}).exclusive() {
		return setting.Errorf("the model was learned with %s %s, and knows nothing of %s: learn it again with that", setting.Match, m.Match, c.Match)
	}
	return nil
}

// maxWeight bounds Field.Weight.
const maxWeight = 1000
