package dedup

import (
	"context"
	"errors"
	"math"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
)

// expander turns edges between representatives into pairs of documents: each
// member of one class with each of the other, and the members of a class with
// each other.
//
// Of a class over the cap all but the first few members are a crowd: pairs of two
// of a crowd, or of two crowds, are not listed, as those of a hot bucket are not
// compared.
type expander struct {
	r   *run
	cap int // members of a class; 0: any number
	to  *extsort.Appender

	classes *extsort.Reader
	rep     uint64   // whose class is in members
	members []uint32 // the first of them, at most membersMax
	size    int      // of the class
}

// membersMax is how many members of a class are in memory.
const membersMax = 1 << 18

// crowded marks a similarity, as the bits of a float, of a document in a crowd.
// It is the sign, which similarities do not need.
const crowded = 1 << 63

// emitPairs emits the pairs of all documents in order.
func (r *run) emitPairs(ctx context.Context, emit func(Pair) error) (items, bytes int64, err error) {
	pairs, err := r.expand(ctx)
	if err != nil {
		return 0, 0, err
	}
	a, b := r.table.scanner(), r.table.cursor()
	last := uint64(math.MaxUint64)
	var idA, idB []byte
	var signature []uint32
	err = each(pairs, func(e extsort.Entry) error {
		p := pairOf(e.Key)
		if uint64(p.a) != last {
			last = uint64(p.a)
			idA = a.appendID(idA[:0], p.a)
			if r.config.Shared {
				signature = a.signature(p.a)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		idB = b.appendID(idB[:0], p.b)
		shared := 0
		if r.config.Shared {
			shared = r.config.Sketch.Equal(signature, b.signature(p.b))
		}
		if err := errors.Join(a.err, b.err); err != nil {
			return err
		}
		items++
		return emit(Pair{idA, idB, math.Float64frombits(e.Value), shared})
	})
	return items, 0, errors.Join(err, r.work.release(pairs))
}

// expand returns the pairs of documents that are similar: Key is the pair, Value
// the bits of its similarity.
func (r *run) expand(ctx context.Context) (*extsort.Sorted, error) {
	limit := 0
	if r.config.Candidates != CandidatesExact { // who asks for exact wants every pair
		limit = r.config.BucketCap
	}
	return r.work.sorted(ctx, r.work.sorting("pairs", 4, r.table.keyBits()), func(to *extsort.Appender) error {
		if err := r.expandClasses(limit, to); err != nil {
			return err
		}
		// Half an expansion: Key is b<<32|document of a's class.
		half, err := r.work.sorted(ctx, r.work.sorting("half", 8, r.table.keyBits()), func(to *extsort.Appender) error {
			x := r.newExpander(limit, to)
			err := each(r.edges, func(e extsort.Entry) error {
				p := pairOf(e.Key)
				return x.eachMember(p.a, func(doc uint32, crowd bool) error {
					value := e.Value
					if crowd {
						value |= crowded
					}
					return to.Add(uint64(p.b)<<32|uint64(doc), value)
				})
			})
			return errors.Join(err, x.close())
		})
		if err != nil {
			return err
		}
		x := r.newExpander(limit, to)
		err = each(half, func(e extsort.Entry) error {
			rep, doc := uint32(e.Key>>32), uint32(e.Key)
			return x.eachMember(rep, func(other uint32, crowd bool) error {
				if crowd && e.Value&crowded != 0 {
					return nil
				}
				return to.Add(pair{min(doc, other), max(doc, other)}.key(), e.Value&^crowded)
			})
		})
		return errors.Join(err, x.close(), r.work.release(half))
	})
}

func (r *run) newExpander(limit int, to *extsort.Appender) *expander {
	return &expander{r: r, cap: limit, to: to, classes: r.classes.members.Reader(), rep: math.MaxUint64}
}

func (x *expander) close() error { return errors.Join(x.classes.Err(), x.classes.Close()) }

// eachMember visits the members of a representative's class, and tells whether
// they belong to a crowd. Representatives must not descend from call to call.
func (x *expander) eachMember(rep uint32, visit func(doc uint32, crowd bool) error) error {
	if x.rep != uint64(rep) {
		x.load(rep)
	}
	crowd := x.cap > 0 && x.size > x.cap
	for i, doc := range x.members {
		if err := visit(doc, crowd && i >= lsh.Hubs); err != nil {
			return err
		}
	}
	if x.size == len(x.members) {
		return nil
	}
	in, i := x.r.classes.members.ReaderFrom(uint64(rep)), 0
	for e, ok := in.Next(); ok && e.Key == uint64(rep); e, ok = in.Next() {
		if i++; i > len(x.members) {
			if err := visit(uint32(e.Value), crowd); err != nil {
				return errors.Join(err, in.Close())
			}
		}
	}
	return errors.Join(in.Err(), in.Close())
}

// load reads the class of a representative, itself alone if it has none.
func (x *expander) load(rep uint32) {
	x.rep, x.members, x.size = uint64(rep), x.members[:0], 0
	for e, ok := x.classes.Peek(); ok && e.Key <= x.rep; e, ok = x.classes.Peek() {
		x.classes.Next()
		if e.Key == x.rep {
			x.size++
			if len(x.members) < membersMax {
				x.members = append(x.members, uint32(e.Value))
			}
		}
	}
	if x.size == 0 {
		x.members, x.size = append(x.members, rep), 1
	}
}

// expandClasses adds the pairs within classes.
func (r *run) expandClasses(limit int, to *extsort.Appender) error {
	x := r.newExpander(limit, to)
	crowds := int64(0)
	one := math.Float64bits(1)
	for e, ok := x.classes.Peek(); ok; e, ok = x.classes.Peek() {
		rep := uint32(e.Key)
		x.load(rep)
		first := len(x.members)
		if limit > 0 && x.size > limit {
			crowds++
			first = lsh.Hubs
		}
		for i := range first {
			seen := 0
			err := x.eachMember(rep, func(doc uint32, _ bool) error {
				if seen++; seen <= i+1 {
					return nil
				}
				return to.Add(pair{x.members[i], doc}.key(), one)
			})
			if err != nil {
				return errors.Join(err, x.close())
			}
		}
	}
	if crowds > 0 {
		r.summary.BucketsCapped += crowds
		r.config.OnNotice(setting.Textf("texts with more than %d copies: %d; of their pairs, those with the first %d copies are listed, with %s exact all",
			limit, crowds, lsh.Hubs, setting.Candidates))
	}
	return x.close()
}
