package linkage

import (
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/record"
)

// tables are what is joined.
type tables struct {
	result      *Result
	left, right *record.Table // right is nil for one table
	numbering   record.Numbering
	stored      *storedItems // of a table that is not held; nil: there is none
	sieved      *sieved      // what is known of a table that is not held whole; nil: all are
	memory      *memory
	keeper      keeper
	known       *known    // nil: nothing is
	idColumns   [2]string // of the left and the right table
	kept        []string  // columns whose values are kept as they are: those of Config.With, then what evidence shows
}

// open reads the tables.
func open(ctx context.Context, c *Config, keep bool) (*tables, error) {
	t := &tables{result: &Result{Match: c.Match, OneTable: c.Right == ""}, memory: newMemory(c)}
	left, right, err := findTables(ctx, c)
	if err != nil {
		return nil, err
	}
	if keep {
		if t.keeper, err = openKeeper(ctx, c, t.memory.Space, left, right); err != nil {
			return nil, err
		}
		t.result.Resumed = t.keeper.log.Resumed()
	}
	if err := t.read(ctx, c, left, right, keep); err != nil {
		return nil, errors.Join(err, t.memory.Close(), t.keeper.log.Close(false))
	}
	return t, nil
}

// read chooses what is compared, and reads the tables, of which the right one may be the left one.
// sieves says that of a much larger one only what matters is held.
func (t *tables) read(ctx context.Context, c *Config, left, right *source, sieves bool) error {
	if err := t.choose(ctx, c, left, right); err != nil {
		return err
	}
	t.kept, t.idColumns = c.With, [2]string{left.id, right.id}
	t.numbering.Names = c.bySimilarity() || c.Right != ""
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
	r := &reading{tables: t, config: c, sources: [2]*source{left, right}, kinds: kinds, columns: names, skipped: skipped, sieves: sieves}
	order := []int{0, 1}
	switch {
	case c.Right == "":
		order = order[:1]
	case c.Candidates == "" && lopsided(bytesIn(left), bytesIn(right)):
		order = []int{1, 0} // items are numbered by the much smaller table, whatever is held of the other one
	}
	for _, side := range order {
		if err := r.read(ctx, side); err != nil {
			return err
		}
	}
	t.noteEmpty(left, right)
	return nil
}

// counts returns how many left and right records there are, 0 right ones for one table.
func (t *tables) counts() [2]int { return [2]int{t.result.Left, t.result.Right} }

// findTables finds the tables, which are the same for one, and completes and checks Config.With.
func findTables(ctx context.Context, c *Config) (left, right *source, err error) {
	left, err = find(ctx, c.Left, c.LeftID, c.Corpus)
	if err != nil {
		return nil, nil, err
	}
	right = left
	if c.Right != "" {
		if right, err = find(ctx, c.Right, c.RightID, c.Corpus); err != nil {
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
	return left, right, nil
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

// all returns the tables, of which there are one or two.
func (t *tables) all() []*record.Table {
	if t.right == nil {
		return []*record.Table{t.left}
	}
	return []*record.Table{t.left, t.right}
}

// ids returns the ids of the records of a pair.
func (t *tables) ids(p pair) (a, b string) {
	return string(t.left.ID(int(p.a))), string(t.other().ID(int(p.b)))
}

// other returns the right table, or the only one.
func (t *tables) other() *record.Table {
	if t.right == nil {
		return t.left
	}
	return t.right
}

// keptOf returns what a record has in a column that was kept.
func (t *tables) keptOf(table *record.Table, row uint32, column string) []byte {
	return table.Kept(int(row), slices.Index(t.kept, column), len(t.kept))
}
