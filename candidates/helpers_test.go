package candidates

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is a Dir of any file system.
type folder struct {
	fs      vfs.FS
	spilled atomic.Int64
}

func (f *folder) Create(name string) (vfs.File, error) {
	return f.fs.Create(name)
}

func (f *folder) Open(name string) (extsort.RunFile, error) {
	file, err := f.fs.Open(name)
	if err != nil {
		return nil, err
	}
	return sized{file}, nil
}

func (f *folder) Remove(name string) error { return f.fs.Remove(name) }
func (f *folder) Spilled(bytes int64)      { f.spilled.Add(bytes) }

type sized struct{ vfs.File }

func (s sized) Size() (int64, error) {
	info, err := s.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// table is vectors in memory.
type table []simjoin.Vector

// store makes a store of a table.
func (t table) store(tb testing.TB, dir extsort.Dir, name string, memory int64) *Store {
	tb.Helper()
	s := NewStore(dir, name, memory)
	for _, v := range t {
		if err := s.Append(v.Features, v.Weights); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func (t table) vectors(tb testing.TB) *simjoin.Vectors {
	tb.Helper()
	all := new(simjoin.Vectors)
	for _, v := range t {
		if err := all.Append(v.Features, v.Weights); err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// records draws a table of n records of some fields: rare values, frequent ones, and one
// that all have; some are copies of records of another table with a few fields changed.
func records(r *rand.Rand, n, rare int, of table) table {
	t := make(table, n)
	for i := range t {
		fields := []uint32{uint32(r.IntN(rare)), uint32(rare + r.IntN(rare/10+1)), uint32(2*rare + r.IntN(rare/100+1)), uint32(3*rare + r.IntN(3)), uint32(4 * rare)}
		if len(of) > 0 && r.IntN(2) == 0 {
			copied := slices.Clone(of[r.IntN(len(of))].Features)
			for k := range min(len(copied), len(fields)) {
				if r.IntN(3) > 0 {
					fields[k] = copied[k]
				}
			}
		}
		slices.Sort(fields)
		fields = slices.Compact(fields)
		v := simjoin.Vector{Features: fields, Weights: make([]uint32, len(fields))}
		for k, f := range fields {
			v.Weights[k] = 10 * (1 + uint32(4*rare-min(int(f), 4*rare))/uint32(rare)) // of the feature, rare ones more
		}
		if r.IntN(50) == 0 {
			v = simjoin.Vector{}
		}
		t[i] = v
	}
	return t
}
