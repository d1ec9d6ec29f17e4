package linkage

import (
	"math"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
)

// tables are the tables that are joined, with what finds candidates in them.
type tables struct {
	*find.Finder
	result    *Result
	idColumns [2]string // of the left and the right table
}

// input returns what records are compared by.
func (t *tables) input(c *Config) *compare.Input {
	in := &compare.Input{
		Left: t.Left, Right: t.Right, Numbering: &t.Numbering, Rest: t.Sieved.RestOf(), Scale: c.scale(), Weigh: c.weigh,
		Threads: c.Threads, Room: math.MaxInt64,
	}
	for _, column := range t.result.Columns {
		in.Columns = append(in.Columns, column.Weight)
	}
	if sorting := t.Memory.Sorting(); sorting > 0 {
		in.Room = sorting / 16
	}
	return in
}
