package linkage

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/windows"
	"github.com/alike-dev/alike/record"
)

// tables are the two tables, or the one, that are joined.
type tables struct {
	result      *Result
	left, right *record.Table // right is nil for one table
	numbering   record.Numbering
	windows     *windows.Windows // nil: no columns make windows, or a table is not held whole
	stored      *storedItems     // of a table that is not held; nil: there is none
	sieved      *sieved          // results about a table that is not held whole; nil: both are
	memory      *memory
	keeper      keeper
	idColumns   [2]string // of the left and the right table
	kept        []string  // columns whose values are kept unchanged: Config.With, then the columns that evidence shows
}

// counts returns the numbers of left and right records; for one table the second is 0.
func (t *tables) counts() [2]int { return [2]int{t.result.Left, t.result.Right} }

// all returns the one or two tables.
func (t *tables) all() []*record.Table {
	if t.right == nil {
		return []*record.Table{t.left}
	}
	return []*record.Table{t.left, t.right}
}

// ids returns the ids of the records of a pair.
func (t *tables) ids(p compare.Pair) (a, b string) {
	return string(t.left.ID(int(p.A))), string(t.other().ID(int(p.B)))
}

// other returns the right table, or the only one.
func (t *tables) other() *record.Table {
	if t.right == nil {
		return t.left
	}
	return t.right
}

// keptOf returns the value of a record in a column that was kept.
func (t *tables) keptOf(table *record.Table, row uint32, column string) []byte {
	return table.Kept(int(row), slices.Index(t.kept, column), len(t.kept))
}

// input returns what records are compared by.
func (t *tables) input(c *Config) *compare.Input {
	in := &compare.Input{
		Left: t.left, Right: t.right, Numbering: &t.numbering, Rest: t.sieved.restOf(), Scale: c.scale(), Weigh: c.weigh,
		Threads: c.Threads, Room: math.MaxInt64,
	}
	for _, column := range t.result.Columns {
		in.Columns = append(in.Columns, column.Weight)
	}
	if sorting := t.memory.sorting(); sorting > 0 {
		in.Room = sorting / 16
	}
	return in
}
