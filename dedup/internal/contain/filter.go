package contain

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/recipe"
)

// filter has the keys of all samples. The keys of a sample are the smallest hashes, so nearly all of them are close
// together, and one bit for many keys tells that most of the other hashes are not among them: looking at the features
// of a gigabyte takes two thirds of the time.
type filter struct {
	coarse []uint64 // a bit for each value of the top bits
	shift  uint     // of a key to its bit
	fine   *bloom.Filter
}

// coarseMost is how many bits coarse has at most; they lie in the second-level cache.
const coarseMost = 1 << 22

func newFilter(keys int) *filter {
	width := min(max(bits.Len(uint(4*keys)), 6), bits.Len(coarseMost)-1)
	return &filter{make([]uint64, 1<<width/64), uint(64 - width), bloom.New(keys)}
}

func (f *filter) add(key uint64) {
	bit := key >> f.shift
	atomic.OrUint64(&f.coarse[bit/64], 1<<(bit%64))
	f.fine.AddShared(key)
}

func (f *filter) hasAll(keys []uint64, has []bool) {
	coarse, shift := f.coarse, f.shift&63
	for i, key := range keys {
		bit := key >> shift
		has[i] = coarse[bit/64]>>(bit%64)&1 != 0 && f.fine.Has(key)
	}
}

// filter returns the keys of all samples.
func (o *Options) filter(ctx context.Context) (*filter, error) {
	f := newFilter(o.Docs.Len() * o.Sample.Size)
	return f, o.eachSampled(ctx, f.add)
}

// eachSampled calls visit for every key of a sample, from all workers.
func (o *Options) eachSampled(ctx context.Context, visit func(key uint64)) error {
	return o.Records.Table.EachSegment(ctx, o.Graph.Space.Threads, func(_ int, s *doctable.Scan) error {
		for i := range o.Sample.Size {
			err := s.EachKey(i, 0, uint32(o.Records.Table.Docs), func(doc uint32, key uint64) error {
				if key != recipe.NoKey && o.Docs.Has(doc) && o.inside(doc) {
					visit(key)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
