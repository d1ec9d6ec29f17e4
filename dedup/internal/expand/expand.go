package expand

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// expander turns edges between representatives into pairs of documents: each member of one class
// with each of the other, and the members of a class with each other, as far as they may be
// compared.
//
// In a class over the cap all members of a side but the first few are a crowd: pairs of two
// documents of a crowd, or of two crowds, are not listed, just as those of a hot bucket are not
// compared.
type expander struct {
	*Options
	classes *extsort.Reader
	rep     uint64         // whose class is in sides
	sides   [2]sideMembers // by sides.Policy.Side
}

// sideMembers are the members of a class in one collection.
type sideMembers struct {
	first []uint32 // at most Options.Held
	size  int
}

// membersMax is how many members of a class and side are in memory.
const membersMax = 1 << 18

// crowded marks the similarity, as the bits of a float, of a document in a crowd. It is the sign
// bit, which similarities do not need.
const crowded = 1 << 63

// Options say which pairs of documents are listed.
type Options struct {
	Graph   graph.Graph
	Table   *doctable.Table
	Sides   *sides.Policy
	Measure measure.Measure
	Cap     int             // members of a class up to which all pairs are listed; 0: any number
	Held    int             // members of a class and side in memory, lsh.Hubs or more; 0: membersMax
	Classes *extsort.Sorted // as copies.Classes has the members
}

// Pairs returns the pairs of documents that are similar by edges between representatives, and those
// within classes: Key is the pair, Value the bits of its similarity. It counts the classes some of
// whose pairs are left out. The caller releases the pairs.
func Pairs(ctx context.Context, o Options, edges *extsort.Sorted) (pairs *extsort.Sorted, crowds int64, err error) {
	if o.Held == 0 {
		o.Held = membersMax
	}
	pairs, err = o.Graph.Space.Sorted(ctx, o.Graph.Sorting("pairs", 4), func(to *extsort.Appender) error {
		if crowds, err = o.expandClasses(to); err != nil {
			return err
		}
		// Half an expansion: Key is b<<32|document of a's class.
		half, err := o.Graph.Space.Sorted(ctx, o.Graph.Sorting("half", 8), func(to *extsort.Appender) error {
			x := o.newExpander()
			err := edges.Visit(func(e extsort.Entry) error {
				p := graph.PairOf(e.Key)
				return x.eachMember(p.A, o.Sides.PartnersOfClass(p.B), false, func(doc uint32, crowd bool) error {
					value := e.Value
					if crowd {
						value |= crowded
					}
					return to.Add(uint64(p.B)<<32|uint64(doc), value)
				})
			})
			return errors.Join(err, x.close())
		})
		if err != nil {
			return err
		}
		x, last := o.newExpander(), uint64(math.MaxUint64)
		err = half.Visit(func(e extsort.Entry) error {
			rep, doc := uint32(e.Key>>32), uint32(e.Key)
			if e.Value&crowded != 0 && uint64(rep) != last && x.hidesFrom(rep, doc) {
				last = uint64(rep)
				crowds++
			}
			return x.eachMember(rep, o.Sides.Partners(doc), e.Value&crowded != 0, func(other uint32, _ bool) error {
				return o.addPair(to, doc, other, e.Value&^crowded)
			})
		})
		return errors.Join(err, x.close(), o.Graph.Space.Release(half))
	})
	return pairs, crowds, err
}

func (o *Options) newExpander() *expander {
	return &expander{Options: o, classes: o.Classes.Reader(), rep: math.MaxUint64}
}

func (x *expander) close() error { return errors.Join(x.classes.Err(), x.classes.Close()) }

// eachMember visits the members of a representative's class that are in the range among, and tells
// whether they belong to a crowd; with hubs it leaves out those of a crowd. Representatives must
// not descend from call to call.
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
			rest := x.Sides.Of(i).After(s.first[len(s.first)-1])
			whole = whole && !among.Overlaps(rest)
		}
	}
	if whole {
		return nil
	}
	return x.eachOther(rep, among, func(doc uint32) error { return visit(doc, crowd) })
}

// eachOther visits the members in the range among that are not in memory.
func (x *expander) eachOther(rep uint32, among sides.Range, visit func(doc uint32) error) error {
	in := x.Classes.ReaderFrom(uint64(rep))
	for e, ok := in.Next(); ok && e.Key == uint64(rep); e, ok = in.Next() {
		doc := uint32(e.Value)
		s := &x.sides[x.Sides.Side(doc)]
		if !among.Has(doc) || doc <= s.first[len(s.first)-1] {
			continue
		}
		if err := visit(doc); err != nil {
			return errors.Join(err, in.Close())
		}
	}
	return errors.Join(in.Err(), in.Close())
}

func (x *expander) crowd() bool { return x.Cap > 0 && x.sides[0].size+x.sides[1].size > x.Cap }

// hides tells whether pairs of members of the class are left out.
func (x *expander) hides() bool {
	return x.crowd() && (!x.Sides.Apart() || min(x.sides[0].size, x.sides[1].size) > lsh.Hubs)
}

// hidesFrom tells whether pairs of a document in the crowd of another class with members of this
// one are left out. It is false if this class hides pairs of its own: then it is counted already.
func (x *expander) hidesFrom(rep, doc uint32) bool {
	if !x.Sides.Apart() {
		return false // then it hides some of its own
	}
	if x.rep != uint64(rep) {
		x.load(rep)
	}
	across := 1 - x.Sides.Side(doc)
	return x.crowd() && x.sides[across].size > lsh.Hubs && !x.hides()
}

// load reads the class of a representative; without entries that is the representative alone.
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

// addPair adds a pair of documents, a from the class of an edge's first representative and b from
// that of its second: in input order or, with a directed measure, unchanged; with two collections
// only if a is on the left.
func (o *Options) addPair(to *extsort.Appender, a, b uint32, similarity uint64) error {
	switch {
	case o.Measure.Symmetric():
		a, b = min(a, b), max(a, b)
	case o.Sides.Apart() && o.Sides.Side(a) != 0:
		return nil // only documents inside those of the right are wanted
	}
	return to.Add(graph.Key(a, b), similarity)
}

// addCopies adds the pair of two documents of a class, a before b: with a directed measure in both
// directions, unless they are of two collections.
func (o *Options) addCopies(to *extsort.Appender, a, b uint32, similarity uint64) error {
	err := to.Add(graph.Key(a, b), similarity)
	if err != nil || o.Measure.Symmetric() || o.Sides.Apart() {
		return err
	}
	return to.Add(graph.Key(b, a), similarity)
}

// copiesSimilarity returns the similarity of the documents of a class, as bits: 1 or, with Overlap,
// the number of features of their set.
func (o *Options) copiesSimilarity(c *doctable.Cursor, rep uint32) uint64 {
	size := uint64(1)
	if o.Measure.IsCount() {
		size = uint64(c.SetSize(rep))
	}
	return math.Float64bits(o.Measure.Similarity(size, size, size))
}

func (x *expander) add(doc uint32) {
	s := &x.sides[x.Sides.Side(doc)]
	s.size++
	if len(s.first) < x.Held {
		s.first = append(s.first, doc)
	}
}

// expandClasses adds the pairs within classes, and counts the classes some of whose pairs are left
// out.
func (o *Options) expandClasses(to *extsort.Appender) (crowds int64, err error) {
	x := o.newExpander()
	docs := o.Table.Cursor()
	for e, ok := x.classes.Peek(); ok; e, ok = x.classes.Peek() {
		rep := uint32(e.Key)
		x.load(rep)
		if x.hides() {
			crowds++
		}
		if o.Sides.Apart() && !o.Sides.Both(rep) {
			continue
		}
		similarity := o.copiesSimilarity(docs, rep)
		err := x.eachMember(rep, o.Sides.Of(0), false, func(doc uint32, crowd bool) error {
			return x.eachMember(rep, o.Sides.Partners(doc).After(doc), crowd, func(other uint32, _ bool) error {
				return o.addCopies(to, doc, other, similarity)
			})
		})
		if err != nil {
			return 0, errors.Join(err, x.close())
		}
	}
	return crowds, errors.Join(docs.Err, x.close())
}
