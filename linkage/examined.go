package linkage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/columns"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/learn"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// fewPassedOver: where fewer than one record is passed over for every forty pairs, each has one partner at most, whatever
// the rule allows. Of eight pairs of real tables that are one to one, seven have at most one for every 120; see
// manyPassedOver.
const fewPassedOver = 40

// examineAs finds candidates, compares them, and computes the probability of each. If the rule lets records have several
// partners, or is to be found, it first assumes that they have one: rivals and chance then tell far more. That stays if the
// data show no more, and otherwise those of one table have one. It also returns what was settled before.
func examineAs(ctx context.Context, c *Config, f *find.Finder, r *Result) (*judge.Examiner, settled, error) {
	// A model, a threshold and known links leave nothing to find out.
	told := c.Model != nil || c.Threshold > 0 || len(c.Known) > 0 || len(c.Same) > 0
	if f.Right == nil {
		return examineOne(ctx, c, f, r, told)
	}
	if told {
		r.takeRule(c, Mutual)
	}
	if told || c.exclusive() {
		return examine(ctx, c, f, r, judge.Options{Once: c.once()})
	}
	taken, notes := f.Memory.Held, len(r.Notes)
	e, fixed, err := examine(ctx, c, f, r, judge.Options{Once: model.Once{Left: true, Right: true}})
	if err != nil {
		return nil, settled{}, err
	}
	once, sure := judge.SeveralOf(ctx, e, c.once())
	if err := ctx.Err(); err != nil {
		return nil, settled{}, err
	}
	supported := !once.Both()
	switch {
	case c.Match == ByData && !supported:
		r.takeRule(c, Mutual)
		return e, fixed, nil
	case !supported && !manyPassedOverBy(c.Match, e):
		r.Notes = append(r.Notes, "as far as the tables show, a record has one partner at most: to match by mutual finds as much")
		return e, fixed, nil
	case !supported:
		once = c.once()
	}
	assumed, before := e, stateOf(c, f, r)
	f.Memory.Held, r.Notes = taken, r.Notes[:notes]
	byData := c.Match == ByData
	if byData {
		rule, side := Best, "right"
		if once.Right {
			rule, side = BestRight, "left"
		}
		r.takeRule(c, rule)
		r.Notes = append(r.Notes, fmt.Sprintf("as far as the tables show, records of the %s table have several partners: hence %s; to match by mutual finds one of them", side, rule))
	}
	e, later, err := examine(ctx, c, f, r, judge.Options{Later: true, Once: once})
	if err == nil && byData && (e.Dispute > assumed.Dispute || byChance(e)) { // what is surer is kept
		before.restore(c, f, r)
		r.takeRule(c, Mutual)
		return assumed, fixed, nil
	}
	if !supported || !sure {
		later.assumed = assumed
	}
	return e, later, err
}

// examineOne is examineAs for one table, whose records may have any number of partners unless the data show that they have one, as
// where it is two registers in which each thing stands once. told says that nothing is to be found out.
func examineOne(ctx context.Context, c *Config, f *find.Finder, r *Result, told bool) (*judge.Examiner, settled, error) {
	byData := c.Match == ByData
	r.takeRule(c, All)
	taken, notes := f.Memory.Held, len(r.Notes)
	e, fixed, err := examine(ctx, c, f, r, judge.Options{Once: c.once()})
	if err != nil || told || !byData || e.Sources != nil || !judge.InPairs(ctx, e) {
		return e, fixed, errors.Join(err, ctx.Err())
	}
	free, before := e, stateOf(c, f, r)
	f.Memory.Held, r.Notes, c.Match = taken, r.Notes[:notes], ByData
	r.takeRule(c, Mutual)
	r.Notes = append(r.Notes, "as far as the table shows, a record has one partner at most: hence mutual; to match by all finds more of them")
	e, later, err := examine(ctx, c, f, r, judge.Options{Later: true, Once: c.once()})
	if err == nil && e.Dispute > free.Dispute { // what is surer is kept
		before.restore(c, f, r)
		return free, fixed, nil
	}
	return e, later, err
}

// A state is what examining changes besides its examiner, so that another rule can be tried and given up.
type state struct {
	match  Match
	result Result
	held   int64 // bytes
}

func stateOf(c *Config, f *find.Finder, r *Result) state {
	s := state{c.Match, *r, f.Memory.Held}
	s.result.Columns, s.result.Notes = slices.Clone(r.Columns), slices.Clone(r.Notes)
	return s
}

func (s *state) restore(c *Config, f *find.Finder, r *Result) {
	c.Match, *r, f.Memory.Held = s.match, s.result, s.held
}

// leastBeyond is the least share of the matches that chance leaves, where records have several partners: 0.89 and more there, and 0.16
// at most in nine of twelve halves of tables that have each thing once.
const leastBeyond = 0.5

// byChance tells whether most matches of records with several partners are such as records find in their own table. The last view is
// that of chance, see boundByChance.
func byChance(e *judge.Examiner) bool {
	return len(e.Views) > 0 && !e.Once.Both() && model.LikelySum(e.Views[len(e.Views)-1]) < leastBeyond*model.LikelySum(e.Probability)
}

// takeRule takes a match rule if it was left to the data.
func (r *Result) takeRule(c *Config, rule Match) {
	if c.Match == ByData {
		c.Match, r.Match = rule, rule
	}
}

// manyPassedOverBy tells whether many records have no partner, of those that may have one by the rule, only because their
// partner has a better one.
func manyPassedOverBy(rule Match, e *judge.Examiner) bool {
	pairs, left, right := decide.PassedOver(e.Found, e.Model, e.Graph().Mutual(e.Rank, e.Found.Wholes))
	switch rule {
	case Best:
		right = 0
	case BestRight:
		left = 0
	}
	return pairs == 0 || (left+right)*fewPassedOver >= pairs
}

// examine finds candidates, compares them, and computes the probability of each. o says what is assumed of partners.
func examine(ctx context.Context, c *Config, f *find.Finder, r *Result, o judge.Options) (*judge.Examiner, settled, error) {
	if !o.Later {
		f.Numbering.Finish()
		if err := judge.HoldAll(f); err != nil {
			return nil, settled{}, err
		}
	}
	if err := c.complement(&o, f, r); err != nil {
		return nil, settled{}, err
	}
	e, err := judge.New(ctx, input(c, f, r.Columns), f, o)
	if err != nil {
		return nil, settled{}, err
	}
	r.matcher, r.only = e.Matchers[0], f.Left
	if err := e.Find(ctx); err != nil {
		return nil, settled{}, err
	}
	r.Search, r.Candidates = f.Summary, e.Candidates
	r.Disputed, r.Wider = e.Dispute == model.OverAll, e.Dispute == model.OverWider
	describeColumns(r.Columns, f, e)
	r.Same = c.Same
	r.describeKinds(e, f.Tables)
	fixed, err := settle(ctx, c, f.Tables, e, r)
	if err != nil {
		return nil, settled{}, err
	}
	if err := e.Judge(ctx); err != nil {
		return nil, settled{}, err
	}
	var ch model.Chance
	if f.Right != nil && e.Once.Any() && !c.bySimilarity() {
		if ch, err = e.Chance(ctx); err != nil {
			return nil, settled{}, err
		}
	}
	if c.Model != nil {
		e.Probability, e.Rank, err = learn.Describe(e).Correct(ctx, c.Model.weights())
	}
	// Chance is measured by the scores of the model without labels. If labels have changed the model, the
	// bound would undo the change, and would not fit the model's threshold.
	if c.Model == nil || c.Model.Learned.Strength == 0 {
		boundByChance(e, &ch, f.Records)
	}
	if fixed.verdicts != nil {
		fixed.verdicts.believe(e.Found.Pairs, e.Probability)
	}
	return e, fixed, err
}

// boundByChance lowers probabilities to those that chance allows. What they were remains a view of them, and so is what chance
// says of the best pairs, where the model trusts its evidence less. Where left records may share a partner, only right records
// are known to be different things, and what these show is another view.
func boundByChance(e *judge.Examiner, ch *model.Chance, records [2]int) {
	if !ch.Known() {
		return
	}
	other := slices.Clone(e.Probability)
	e.Views = append(e.Views, other)
	if e.Once.Both() {
		if doubted := ch.Doubted(e.Found, e.Model, records, e.Probability); doubted != nil {
			e.Views = append(e.Views, doubted)
		}
		ch.Bound(e.Found, e.Model, records, e.Probability, model.SumOf)
		if ch.Likely.Known() {
			alone := slices.Clone(e.Probability)
			ch.Alone(e.Found, e.Model, records, alone, e.Graph().Mutual(e.Rank, e.Found.Wholes))
			e.Views = append(e.Views, alone)
		}
		return
	}
	if e.Once.Left {
		ch.Likely.Right, ch.Most.Right = nil, nil
	} else {
		ch.Likely.Left, ch.Most.Left = nil, nil
	}
	ch.Bound(e.Found, e.Model, records, other, model.LikelySum)
}

// settled is what is known of pairs before they are judged.
type settled struct {
	known    *known          // nil: there are no known links
	verdicts *verdicts       // nil: there are none
	assumed  *judge.Examiner // that assumed one partner, if the data may say so too; nil: there is none
}

// settle leaves the candidates that known links and verdicts leave.
func settle(ctx context.Context, c *Config, t *held.Tables, e *judge.Examiner, r *Result) (fixed settled, err error) {
	if len(c.Known) > 0 {
		fixed.known = findKnown(t, c.Known)
		r.Known = len(c.Known) - fixed.known.absent
		e.Found = fixed.known.free(e.Found, c.Match)
	}
	if fixed.verdicts, err = findVerdicts(c, t, r); err == nil && fixed.verdicts != nil {
		e.Found, err = fixed.verdicts.candidates(ctx, e, c.Match)
	}
	return fixed, err
}

// complement sets the options that follow from the configuration and the tables.
func (c *Config) complement(o *judge.Options, f *find.Finder, r *Result) (err error) {
	o.ByKeys = c.Candidates == Keys || c.Candidates == "" && f.Records[0]+f.Records[1] > c.limits.many
	o.Threshold, o.Batch, o.Own, o.Strangers = c.Threshold, c.limits.batch, c.limits.own, c.limits.strangers
	if c.Model != nil {
		o.Base, o.BaseBySource = c.Model.base(), c.Model.Base.BySource
	}
	if len(c.Sources) > 0 && !c.noSources() {
		o.Sources, o.Told = columns.NewSources(f.Left, f.Right, f.Kept, c.Sources, c.Doubled), !c.SourcesFound
	}
	for _, column := range r.Columns {
		_, name := column.Names()
		o.Names = append(o.Names, name)
	}
	o.Tell = func(note string) {
		if !slices.Contains(r.Notes, note) { // each number of candidates has a fit of its own
			r.Notes = append(r.Notes, note)
		}
	}
	o.Same, err = r.placesOf(c.Same)
	return err
}

func input(c *Config, f *find.Finder, compared []Column) *compare.Input {
	in := &compare.Input{
		Left: f.Left, Right: f.Right, Numbering: &f.Numbering, Rest: f.Sieved.RestOf(), Kinds: f.Kinds, Scale: c.scale(), Weigh: c.weigh,
		Threads: c.Threads, Room: math.MaxInt64,
	}
	for _, column := range compared {
		in.Columns = append(in.Columns, column.Weight)
	}
	if c.Model != nil {
		in.Passing = c.Model.Base.Passing
	}
	if sorting := f.Memory.Sorting(); sorting > 0 {
		in.Room = sorting / 16
	}
	return in
}

// manyPassedOver: there is a note if at least one record is passed over for every ten pairs. Of eight pairs of real
// tables that are one to one, Walmart-Amazon has one for every 10.4 pairs, and the others have at most one for every
// 120; a table of offers with up to three for a product has one for every 8.
const manyPassedOver = 10

// tiedLinks returns a note if only the order of records has chosen some of the links, where once says which have one partner.
func tiedLinks(e *judge.Examiner, links []int, once model.Once) (notes []string) {
	g := e.Graph()
	if !once.Any() || g.Sources != nil {
		return nil
	}
	if n := decide.Tied(g, links, e.Rank, e.Found.Wholes, once); n > 0 {
		notes = append(notes, counted(n, "link")+" could as well be with another record that is as much alike: the one that comes first is taken")
	}
	return notes
}

// severalPartners returns notes if many records have no link only because their partner has a better one. Then a record may
// have several partners.
func severalPartners(e *judge.Examiner, edges []int) (notes []string) {
	pairs, left, right := decide.PassedOver(e.Found, e.Model, edges)
	note := func(records int, side, other, remedy string) {
		if records > 0 && records*manyPassedOver >= pairs {
			notes = append(notes, fmt.Sprintf(
				"%s of the %s table would be linked if a record of the %s table could have several partners, which is so if you %s",
				counted(records, "record"), side, other, remedy))
		}
	}
	note(left, "left", "right", "match by best")
	note(right, "right", "left", "match by best-right")
	return notes
}
