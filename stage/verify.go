package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/components"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simjoin"
)

// texts makes the sets of the documents in buckets, by reading their texts again.
func texts(t *task) error {
	wants, err := newWants(t, 2, Wants)
	if err != nil {
		return err
	}
	hot, err := newHotSets(t)
	if err != nil {
		return err
	}
	draws, err := newDraws(t)
	if err != nil {
		return err
	}
	maker := newSetMaker(t.plan.recipe)
	wanted := func(position uint64) bool {
		asked, isHot, isDrawn := wants.has(position), hot.has(position), draws.has(position)
		return asked || isHot || isDrawn
	}
	_, err = t.in.Documents(t.ctx, wanted, func(d *Document) error {
		if d.Damaged {
			return nil
		}
		if err := draws.send(d); err != nil {
			return err
		}
		set := maker.make(d.Text, t.plan.within().of(d))
		if t.plan.Command == Dedup {
			if err := t.out.add(OwnSets, t.number, set, d.Position); err != nil {
				return err
			}
		}
		if err := hot.send(d, set); err != nil {
			return err
		}
		return wants.send(Sets, d.Position, set)
	})
	return errors.Join(wants.end(err), hot.end())
}

// setMaker makes the payloads that pairs are compared by: sets of features, or signatures.
type setMaker struct {
	sets    *recipe.SetMaker
	maker   *recipe.Maker
	set     []uint64
	payload []byte
}

func newSetMaker(r recipe.Recipe) *setMaker {
	if r.BySets() {
		return &setMaker{sets: r.NewSetMaker()}
	}
	return &setMaker{maker: r.NewMaker(recipe.MakerOptions{Signature: true})}
}

// make returns the payload of a text with a value. It is valid until the next call.
func (m *setMaker) make(text []byte, within recipe.Within) []byte {
	m.payload = m.payload[:0]
	if m.sets != nil {
		m.set = within.Set(m.sets.AppendSet(m.set[:0], text))
		m.payload = appendWords(m.payload, m.set)
		return m.payload
	}
	m.maker.Make(text)
	for _, w := range m.maker.Signature() {
		m.payload = binary.LittleEndian.AppendUint32(m.payload, w)
	}
	return m.payload
}

// comparer compares payloads of setMaker.
type comparer struct {
	by     *recipe.Comparer
	bySets bool
	sets   [2][]uint64
	signs  [2][]uint32
}

func newComparer(r recipe.Recipe, rate bool) *comparer {
	return &comparer{by: r.NewComparer(rate), bySets: r.BySets()}
}

// load sets one side (0 or 1) of the next comparisons.
func (c *comparer) load(side int, payload []byte) {
	if !c.bySets {
		s := c.signs[side][:0]
		for ; len(payload) >= 4; payload = payload[4:] {
			s = append(s, binary.LittleEndian.Uint32(payload))
		}
		c.signs[side] = s
		return
	}
	c.sets[side] = wordsOf(c.sets[side][:0], payload)
}

// edges returns the edges between two documents that are loaded, a < b.
func (c *comparer) edges(p *Plan, a, b uint64) (edges [2]engine.Edge, n int) {
	if !c.bySets {
		similarity, wanted := c.by.Signatures(c.signs[0], c.signs[1])
		if !wanted {
			return edges, 0
		}
		edges[0] = engine.Edge{A: a, B: b, Similarity: similarity}
		return edges, 1
	}
	inter, wanted := simjoin.Verify(c.sets[0], c.sets[1], p.edges.Threshold.Undirected())
	if !wanted {
		return edges, 0
	}
	return p.edges.Of(measure.Match{A: a, B: b, Intersection: uint64(inter), SizeA: uint64(len(c.sets[0])), SizeB: uint64(len(c.sets[1]))}, p.reference(a))
}

// rate returns the similarity of two documents that are loaded, with which the second is removed in favour of the first.
func (c *comparer) rate(p *Plan, reference bool) (similarity float64) {
	if !c.bySets {
		similarity, _ = c.by.Signatures(c.signs[0], c.signs[1])
		return similarity
	}
	m := measure.Match{Intersection: uint64(simjoin.Intersection(c.sets[0], c.sets[1])), SizeA: uint64(len(c.sets[0])), SizeB: uint64(len(c.sets[1]))}
	edges, _ := p.edges.Of(m, reference)
	return edges[0].Similarity
}

// linker emits the edges that a task finds.
type linker struct {
	t     *task
	links *cluster.UnionFind // of Dedup, by numbers of sets
}

func newLinker(t *task, sets int) *linker {
	l := &linker{t: t}
	if t.plan.Command == Dedup {
		l.links = cluster.New(sets)
	}
	return l
}

// needless tells whether a pair, given by the numbers of its sets, need not be compared: earlier edges connect it.
func (l *linker) needless(i, j int) bool {
	return !l.t.plan.wantsAll() && l.links.Find(uint32(i)) == l.links.Find(uint32(j))
}

// add emits an edge between sets i and j: all edges if they are needed, and for Dedup a spanning forest.
func (l *linker) add(e engine.Edge, i, j int) error {
	p := l.t.plan
	if p.Whole {
		return l.t.similar(Similar, e.A, e.B)
	}
	if p.wantsAll() {
		if err := l.t.out.add(Edges, p.TaskOf(e.A), nil, e.A, e.B, math.Float64bits(e.Similarity)); err != nil {
			return err
		}
	}
	if l.links == nil || !l.links.Union(uint32(i), uint32(j)) {
		return nil
	}
	return l.t.out.add(ForestEdges, l.t.number/mergeWidth, nil, e.A, e.B)
}

// verifier compares the candidate pairs of one task.
type verifier struct {
	t       *task
	sets    *payloads
	compare *comparer
	left    int // number of the set that is loaded as side 0; -1: none
	links   *linker
}

// verify compares the pairs that share enough buckets. Where clusters suffice it emits a spanning forest only, and
// does not compare a pair that earlier edges already connect.
func verify(t *task) error {
	sets, err := newPayloads(t, Sets)
	if err != nil {
		return err
	}
	pairs, err := pairsOfBuckets(t)
	if err != nil {
		return err
	}
	v := &verifier{t: t, sets: sets, compare: newComparer(t.plan.recipe, false), left: -1, links: newLinker(t, len(sets.positions))}
	votes, needed := 0, t.plan.recipe.MinKeys()
	if t.plan.recipe.Sample().Size > 0 { // stage agree has counted
		needed = 1
	}
	compared, verified := int64(0), int64(0)
	last := extsort.Entry{}
	err = pairs.Visit(func(e extsort.Entry) error {
		if e == last {
			votes++
		} else {
			last, votes = e, 1
		}
		if votes != needed {
			return nil
		}
		done, alike, err := v.pair(e.Key, e.Value)
		if done {
			compared++
		}
		verified += int64(alike)
		return err
	})
	return errors.Join(err, t.count(CountCompared, compared), t.count(CountVerified, verified))
}

// pairsOfBuckets returns the candidate pairs, sorted, each once for every bucket that has it.
func pairsOfBuckets(t *task) (*extsort.Sorted, error) {
	var members []uint64
	return t.sort("pairs", 2, func(to *extsort.Appender) error {
		return t.each(Buckets, func(r row) error {
			members = wordsOf(members[:0], r.payload)
			first := min(r.words[0], uint64(len(members)))
			for i, a := range members[:first] {
				for _, b := range members[i+1:] {
					if !t.plan.meet(a, b) {
						continue
					}
					if err := to.Add(a, b); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

// set loads the set of a document as a side of the next pair.
func (v *verifier) set(side, document int) error {
	payload, err := v.sets.of(document)
	if err == nil {
		v.compare.load(side, payload)
	}
	return err
}

// pair compares a pair, unless that is needless, and emits its edges.
func (v *verifier) pair(a, b uint64) (compared bool, alike int, err error) {
	i, foundA := v.sets.find(a)
	j, foundB := v.sets.find(b)
	if !foundA || !foundB {
		return false, 0, fmt.Errorf("documents %#x and %#x are a candidate pair, and a set is missing: run stage texts for all tasks", a, b)
	}
	if v.links.needless(i, j) {
		return false, 0, nil
	}
	if v.left != i {
		if err := v.set(0, i); err != nil {
			return false, 0, err
		}
		v.left = i
	}
	if err := v.set(1, j); err != nil {
		return false, 0, err
	}
	edges, n := v.compare.edges(v.t.plan, a, b)
	for _, e := range edges[:n] {
		if err := v.links.add(e, i, j); err != nil {
			return true, n, err
		}
	}
	return true, n, nil
}

// merge joins the forests of several tasks to one. It has an edge from the smallest document of each
// component to every other. The last task, which writes Labels, labels each document with the smallest one.
func merge(from []Stream, to Stream) func(t *task) error {
	return func(t *task) error {
		edges, err := t.sorted(4, from...)
		if err != nil {
			return err
		}
		o := t.space.Sorting("forest", 2, 64)
		labels, err := components.Positions(t.ctx, edges, o)
		if err != nil {
			return err
		}
		t.own(labels.Close)
		return labels.Visit(func(e extsort.Entry) error {
			switch {
			case to == Labels:
				return t.out.add(Labels, t.plan.TaskOf(e.Key), nil, e.Key, e.Value)
			case e.Key == e.Value:
				return nil
			}
			return t.out.add(to, t.number/mergeWidth, nil, e.Value, e.Key)
		})
	}
}
