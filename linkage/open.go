package linkage

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/memory"
	"github.com/alike-dev/alike/linkage/internal/steps"
)

// openTables reads the tables, and begins the result.
func openTables(ctx context.Context, c *Config, keep bool) (*find.Finder, *Result, error) {
	r := &Result{Report: Report{Match: c.Match, OneTable: c.Right == "", LeftOut: []LeftOut{}, LargestClusters: []int{}}}
	f := newFinder(c)
	left, right, err := findTables(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if keep {
		if f.Steps, err = openKeeper(ctx, c, f.Memory.Space, left, right); err != nil {
			return nil, nil, err
		}
		r.Resumed = f.Steps.Log.Resumed()
	}
	if err := readTables(ctx, c, f, r, left, right, keep); err != nil {
		return nil, nil, errors.Join(err, f.Memory.Close(), f.Steps.Log.Close(false))
	}
	return f, r, nil
}

// newFinder returns what finds candidates in tables that are not read yet.
func newFinder(c *Config) *find.Finder {
	f := &find.Finder{
		Tables: &held.Tables{}, Threads: c.Threads, Method: c.search(), WordsFrom: c.limits.many, AlsoKeys: c.Candidates == "" && c.Threshold == 0,
		Memory: memory.New(c.Work, c.Memory, c.Threads), Steps: &steps.Keeper{},
	}
	if c.bySimilarity() {
		f.WordsFrom = math.MaxInt
	}
	return f
}

// search returns how similar records are found.
func (c *Config) search() candidates.Config {
	s := candidates.Config{
		Method: candidates.TopK, Measure: c.scale().Measure, Both: true, Recall: c.Recall, Unfiltered: c.limits.unfiltered, Threads: c.Threads,
	}
	if !c.bySimilarity() {
		return s
	}
	s.MinSimilarity = c.Threshold
	switch c.Candidates {
	case LSH:
		s.Method = candidates.Bands
	case Exact:
		s.Method = candidates.Exact
	default:
		s.Method = candidates.Auto
	}
	return s
}

// findTables finds the tables, which are the same for one, and completes and checks Config.With.
func findTables(ctx context.Context, c *Config) (left, right *source, err error) {
	left, err = findSource(ctx, c.Left, c.LeftID, c.Corpus)
	if err != nil {
		return nil, nil, err
	}
	right = left
	if c.Right != "" {
		if right, err = findSource(ctx, c.Right, c.RightID, c.Corpus); err != nil {
			return nil, nil, err
		}
	}
	if c.WithAll {
		c.With = withAll(nil, left.columns, right.columns)
	}
	for _, name := range c.With {
		if !slices.Contains(left.columns, name) && !slices.Contains(right.columns, name) {
			return nil, nil, setting.Errorf("no table has the column %q (%s), there are: %s", name, setting.With, fault.List(left.columns))
		}
	}
	if c.Model != nil && len(c.Sources) == 0 && !slices.ContainsFunc(c.Model.Sources, func(name string) bool { return !slices.Contains(left.columns, name) }) {
		c.Sources, c.Doubled = c.Model.Sources, c.Model.Doubled
	}
	for _, name := range c.Sources {
		if !c.noSources() && !(slices.Contains(left.columns, name) && slices.Contains(right.columns, name)) {
			return nil, nil, setting.Errorf("a table has no column %q (%s), there are: %s", name, setting.Source, fault.List(left.columns))
		}
	}
	left.copied(c.Copies[0])
	if right != left {
		right.copied(c.Copies[1])
	}
	return left, right, nil
}

// readTables chooses what is compared, and reads the tables into a finder; the right one may be the left one. sieves says that
// only the rows that matter of a much larger table are held.
func readTables(ctx context.Context, c *Config, t *find.Finder, result *Result, left, right *source, sieves bool) error {
	if err := chooseColumns(ctx, c, left, right, result); err != nil {
		return err
	}
	t.Kept, t.IDColumns = c.With, [2]string{left.id, right.id}
	if c.Evidence > 0 || c.Audit > 0 {
		t.Numbering.Lookup = true
		t.Kept = withAll(t.Kept, left.columns, right.columns)
	}
	if !c.noSources() {
		t.Kept = withAll(t.Kept, c.Sources, nil)
	}
	skipped := func(p *corpus.Problem) error {
		result.Skipped++
		if c.Fail {
			return p
		}
		c.OnSkip(p)
		return nil
	}
	var names [2][]string
	for _, f := range result.Columns {
		names[0], names[1] = append(names[0], f.Left), append(names[1], f.Right)
		t.Kinds = append(t.Kinds, f.Tokens)
	}
	t.Numbering.Openings = t.MayHaveWindows()
	r := &reading{Finder: t, result: result, config: c, sources: [2]*source{left, right}, columns: names, skipped: skipped, sieves: sieves}
	order := []int{0, 1}
	switch {
	case c.Right == "":
		order = order[:1]
	case c.Candidates == "" && c.limits.lopsided(bytesIn(left), bytesIn(right)):
		order = []int{1, 0} // the smaller table numbers the items, so numbers do not depend on the rows held of the other one
	}
	for _, side := range order {
		if err := r.read(ctx, side); err != nil {
			return err
		}
	}
	result.Left, result.Right = t.Records[0], t.Records[1]
	result.noteEmpty(t.Tables, left, right)
	return nil
}

// read reads the table of a side: all of it, or the rows that matter.
func (r *reading) read(ctx context.Context, side int) error {
	s, skipped := r.sources[side], r.skipped
	if r.maySieve(side) {
		x, repeated, err := r.countRows(ctx, side)
		if err != nil {
			return err
		}
		if l := &r.config.limits; l.lopsided(int64(x.rows), int64(r.table(1-side).Rows())) && x.rows > l.many {
			return r.sieve(ctx, side, x, repeated)
		}
		skipped = toldAlready
	}
	table, err := r.rows(ctx, side, nil, nil, skipped)
	if err != nil {
		return err
	}
	r.setTable(side, table)
	r.Records[side] = table.Rows()
	r.noteRepeated(s, table)
	return nil
}

// maySieve tells whether a table seems so much larger than the other one, which was read, that only a part of it is
// held.
func (r *reading) maySieve(side int) bool {
	c := r.config
	small := r.table(1 - side)
	return r.sieves && small != nil && small.Rows() > 0 && c.Candidates == "" && len(c.Known) == 0 && len(c.Verdicts) == 0 &&
		c.limits.lopsided(bytesIn(r.sources[side]), bytesIn(r.sources[1-side]))
}

// bytesIn returns the bytes of a table's files.
func bytesIn(s *source) (n int64) {
	if s.of.Bytes > 0 {
		return s.of.Bytes
	}
	for _, f := range s.files {
		n += f.Size
	}
	return n
}
