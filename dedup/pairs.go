package dedup

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// expander turns edges between representatives into pairs of documents: each
// member of one class with each of the other, and the members of a class with
// each other, as far as they may meet.
//
// Of a class over the cap all but the first few members of each side are a crowd: pairs
// of two of a crowd, or of two crowds, are not listed, as those of a hot bucket are not
// compared.
type expander struct {
	r   *run
	cap int // members of a class; 0: any number
	to  *extsort.Appender

	classes *extsort.Reader
	rep     uint64         // whose class is in sides
	sides   [2]sideMembers // by sides.Policy.Side
}

// sideMembers are the members of a class in one collection.
type sideMembers struct {
	first []uint32 // at most limits.members
	size  int
}

// membersMax is how many members of a class and side are in memory.
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
	comparer := r.recipe.NewComparer(false)
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
			shared = comparer.Equal(signature, b.signature(p.b))
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
		crowds, err := r.expandClasses(limit, to)
		if err != nil {
			return err
		}
		// Half an expansion: Key is b<<32|document of a's class.
		half, err := r.work.sorted(ctx, r.work.sorting("half", 8, r.table.keyBits()), func(to *extsort.Appender) error {
			x := r.newExpander(limit, to)
			err := each(r.edges, func(e extsort.Entry) error {
				p := pairOf(e.Key)
				return x.eachMember(p.a, r.sides.PartnersOfClass(p.b), false, func(doc uint32, crowd bool) error {
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
		x, last := r.newExpander(limit, to), uint64(math.MaxUint64)
		err = each(half, func(e extsort.Entry) error {
			rep, doc := uint32(e.Key>>32), uint32(e.Key)
			if e.Value&crowded != 0 && uint64(rep) != last && x.hidesFrom(rep, doc) {
				last = uint64(rep)
				crowds++
			}
			return x.eachMember(rep, r.sides.Partners(doc), e.Value&crowded != 0, func(other uint32, _ bool) error {
				return r.addPair(to, doc, other, e.Value&^crowded)
			})
		})
		r.tellCrowds(limit, crowds)
		return errors.Join(err, x.close(), r.work.release(half))
	})
}

func (r *run) newExpander(limit int, to *extsort.Appender) *expander {
	return &expander{r: r, cap: limit, to: to, classes: r.classes.members.Reader(), rep: math.MaxUint64}
}

func (x *expander) close() error { return errors.Join(x.classes.Err(), x.classes.Close()) }

// eachMember visits the members of a representative's class that are among some
// documents, and tells whether they belong to a crowd; those of a crowd not at all if
// hubs. Representatives must not descend from call to call.
func (x *expander) eachMember(rep uint32, among sides.Range, hubs bool, visit func(doc uint32, crowd bool) error) error {
	if x.rep != uint64(rep) {
		x.load(rep)
	}
	crowd := x.crowd()
	whole := true
	for i := range x.sides {
		s := &x.sides[i]
		from, _ := slices.BinarySearchFunc(s.first, among.From, func(doc uint32, from uint64) int { return cmp.Compare(uint64(doc), from) })
		for at, doc := range s.first[from:] {
			inCrowd := crowd && from+at >= lsh.Hubs
			if !among.Has(doc) || hubs && inCrowd {
				break
			}
			if err := visit(doc, inCrowd); err != nil {
				return err
			}
		}
		if s.size > len(s.first) && !(hubs && crowd) {
			rest := x.r.sides.Of(i).After(s.first[len(s.first)-1])
			whole = whole && !among.Overlaps(rest)
		}
	}
	if whole {
		return nil
	}
	return x.eachOther(rep, among, func(doc uint32) error { return visit(doc, crowd) })
}

// eachOther visits the members among some documents that are not in memory.
func (x *expander) eachOther(rep uint32, among sides.Range, visit func(doc uint32) error) error {
	in := x.r.classes.members.ReaderFrom(uint64(rep))
	for e, ok := in.Next(); ok && e.Key == uint64(rep); e, ok = in.Next() {
		doc := uint32(e.Value)
		s := &x.sides[x.r.sides.Side(doc)]
		if !among.Has(doc) || doc <= s.first[len(s.first)-1] {
			continue
		}
		if err := visit(doc); err != nil {
			return errors.Join(err, in.Close())
		}
	}
	return errors.Join(in.Err(), in.Close())
}

// crowd tells whether the class has crowds.
func (x *expander) crowd() bool { return x.cap > 0 && x.sides[0].size+x.sides[1].size > x.cap }

// hides tells whether pairs of members of the class are left out.
func (x *expander) hides() bool {
	return x.crowd() && (!x.r.sides.Apart() || min(x.sides[0].size, x.sides[1].size) > lsh.Hubs)
}

// hidesFrom tells whether pairs of a document in the crowd of another class with members
// of this one are left out, and the class does not hide pairs of its own, which are
// counted already.
func (x *expander) hidesFrom(rep, doc uint32) bool {
	if !x.r.sides.Apart() {
		return false // it hides some of its own then
	}
	if x.rep != uint64(rep) {
		x.load(rep)
	}
	across := 1 - x.r.sides.Side(doc)
	return x.crowd() && x.sides[across].size > lsh.Hubs && !x.hides()
}

// load reads the class of a representative, itself alone if it has none.
func (x *expander) load(rep uint32) {
	x.rep = uint64(rep)
	for i := range x.sides {
		x.sides[i] = sideMembers{first: x.sides[i].first[:0]}
	}
	alone := true
	for e, ok := x.classes.Peek(); ok && e.Key <= x.rep; e, ok = x.classes.Peek() {
		x.classes.Next()
		if e.Key == x.rep {
			alone = false
			x.add(uint32(e.Value))
		}
	}
	if alone {
		x.add(rep)
	}
}

// addPair adds a pair of documents, a from the class of an edge's first representative
// and b from that of its second: in input order or, by a directed measure, as it is, and
// of two collections only if a is of the left.
func (r *run) addPair(to *extsort.Appender, a, b uint32, similarity uint64) error {
	switch {
	case r.threshold.Measure().Symmetric():
		a, b = min(a, b), max(a, b)
	case r.sides.Apart() && r.sides.Side(a) != 0:
		return nil // only what is inside documents of the right is asked for
	}
	return to.Add(pair{a, b}.key(), similarity)
}

// addCopies adds the pair of two documents of a class, a before b: by a directed measure
// in both directions, unless they are of two collections.
func (r *run) addCopies(to *extsort.Appender, a, b uint32, similarity uint64) error {
	err := to.Add(pair{a, b}.key(), similarity)
	if err != nil || r.threshold.Measure().Symmetric() || r.sides.Apart() {
		return err
	}
	return to.Add(pair{b, a}.key(), similarity)
}

// copiesSimilarity returns the similarity of the documents of a class, as bits: 1 or, by
// Overlap, how many features their set has.
func (r *run) copiesSimilarity(c *cursor, rep uint32) uint64 {
	size := uint64(1)
	if r.threshold.Measure() == measure.Overlap {
		size = uint64(c.setSize(rep))
	}
	return math.Float64bits(r.threshold.Measure().Similarity(size, size, size))
}

func (x *expander) add(doc uint32) {
	s := &x.sides[x.r.sides.Side(doc)]
	s.size++
	if len(s.first) < x.r.config.limits.members {
		s.first = append(s.first, doc)
	}
}

// expandClasses adds the pairs within classes, and counts those of which some are left
// out.
func (r *run) expandClasses(limit int, to *extsort.Appender) (crowds int64, err error) {
	x := r.newExpander(limit, to)
	docs := r.table.cursor()
	for e, ok := x.classes.Peek(); ok; e, ok = x.classes.Peek() {
		rep := uint32(e.Key)
		x.load(rep)
		if x.hides() {
			crowds++
		}
		if r.sides.Apart() && !r.sides.Both(rep) {
			continue
		}
		similarity := r.copiesSimilarity(docs, rep)
		err := x.eachMember(rep, r.sides.Of(0), false, func(doc uint32, crowd bool) error {
			return x.eachMember(rep, r.sides.Partners(doc).After(doc), crowd, func(other uint32, _ bool) error {
				return r.addCopies(to, doc, other, similarity)
			})
		})
		if err != nil {
			return 0, errors.Join(err, x.close())
		}
	}
	return crowds, errors.Join(docs.err, x.close())
}

// tellCrowds tells of classes with crowds.
func (r *run) tellCrowds(limit int, crowds int64) {
	if crowds == 0 {
		return
	}
	r.summary.BucketsCapped += crowds
	remedy := setting.Textf("with %s exact all", setting.Candidates)
	if _, hamming := r.recipe.Distance(); hamming {
		remedy = setting.Textf("with a larger %s all", setting.BucketCap)
	}
	r.config.OnNotice(setting.Textf("texts with more than %d copies: %d; of their pairs, those with the first %d copies are listed, %s",
		limit, crowds, lsh.Hubs, remedy))
}
