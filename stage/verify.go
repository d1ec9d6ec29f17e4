package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/components"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/recipe"
)

// texts makes the sets of the documents in buckets, by reading their texts again.
func texts(t *task) error {
	wants, err := t.wants(2, Wants)
	if err != nil {
		return err
	}
	hot, err := t.newHotSets()
	if err != nil {
		return wants.close(err)
	}
	maker := newSetMaker(t.plan.recipe)
	_, err = t.in.Documents(t.ctx, wants.has, func(d *Document) error {
		if d.Damaged {
			return nil
		}
		set := maker.make(d.Text)
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
	return errors.Join(wants.close(err), hot.close())
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

// make returns the payload of a text. It is valid until the next call.
func (m *setMaker) make(text []byte) []byte {
	m.payload = m.payload[:0]
	if m.sets != nil {
		m.set = m.sets.AppendSet(m.set[:0], text)
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

func (c *comparer) compare() (similarity float64, wanted bool) {
	if c.bySets {
		return c.by.Sets(c.sets[0], c.sets[1])
	}
	return c.by.Signatures(c.signs[0], c.signs[1])
}

// verifier compares the candidate pairs of one task.
type verifier struct {
	t       *task
	sets    *payloads
	compare *comparer
	left    int                // number of the set that is loaded as side 0; -1: none
	links   *cluster.UnionFind // of Dedup, by numbers of sets
}

// verify compares the pairs that share enough buckets. For Dedup it emits a spanning forest only, and does
// not compare a pair that earlier edges already connect.
func verify(t *task) error {
	sets, err := t.payloads(Sets)
	if err != nil {
		return err
	}
	pairs, err := t.pairsOfBuckets()
	if err != nil {
		return errors.Join(err, sets.close())
	}
	v := &verifier{t: t, sets: sets, compare: newComparer(t.plan.recipe, false), left: -1}
	if t.plan.Command == Dedup {
		v.links = cluster.New(len(sets.positions))
	}
	votes, needed := 0, t.plan.recipe.MinKeys()
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
		if alike {
			verified++
		}
		return err
	})
	return errors.Join(err, pairs.Close(), sets.close(), t.count(CountCompared, compared), t.count(CountVerified, verified))
}

// pairsOfBuckets returns the candidate pairs, sorted, each once for every bucket that has it.
func (t *task) pairsOfBuckets() (*extsort.Sorted, error) {
	var members []uint64
	return t.space.Sorted(t.ctx, t.space.Sorting("pairs", 2, 64), func(to *extsort.Appender) error {
		return t.each(Buckets, func(r row) error {
			members = wordsOf(members[:0], r.payload)
			first := min(r.words[0], uint64(len(members)))
			for i, a := range members[:first] {
				for _, b := range members[i+1:] {
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

// pair compares a pair and emits an edge if it is similar enough. It does not compare a pair that is
// connected already.
func (v *verifier) pair(a, b uint64) (compared, alike bool, err error) {
	i, foundA := v.sets.find(a)
	j, foundB := v.sets.find(b)
	if !foundA || !foundB {
		return false, false, fmt.Errorf("documents %#x and %#x are a candidate pair, and a set is missing: run stage texts for all tasks", a, b)
	}
	if v.links != nil && v.links.Find(uint32(i)) == v.links.Find(uint32(j)) {
		return false, false, nil
	}
	if v.left != i {
		if err := v.set(0, i); err != nil {
			return false, false, err
		}
		v.left = i
	}
	if err := v.set(1, j); err != nil {
		return false, false, err
	}
	similarity, wanted := v.compare.compare()
	if !wanted {
		return true, false, nil
	}
	if v.links == nil {
		return true, true, v.t.out.add(Edges, v.t.plan.TaskOf(a), nil, a, b, math.Float64bits(similarity))
	}
	v.links.Union(uint32(i), uint32(j))
	return true, true, v.t.out.add(ForestEdges, v.t.number/mergeWidth, nil, a, b)
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
		if err = errors.Join(err, edges.Close()); err != nil {
			return err
		}
		err = labels.Visit(func(e extsort.Entry) error {
			switch {
			case to == Labels:
				return t.out.add(Labels, t.plan.TaskOf(e.Key), nil, e.Key, e.Value)
			case e.Key == e.Value:
				return nil
			}
			return t.out.add(to, t.number/mergeWidth, nil, e.Value, e.Key)
		})
		return errors.Join(err, labels.Close())
	}
}
