package stage

import (
	"errors"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
)

// clusters decides which document each cluster keeps, and how similar the others are to it.
func clusters(t *task) error {
	shelf, err := t.shelved(0, 4, Members)
	if err != nil {
		return err
	}
	edges, err := t.shelved(0, 4, when(t.plan.Star, StarEdges))
	if err != nil {
		return err
	}
	c := &clusterer{t: t, members: shelf, edges: edges, nextEdge: t.reader(edges.sorted), compare: newComparer(t.plan.recipe, true)}
	return errors.Join(shelf.eachGroup(c.decide), t.count(CountClusters, c.found))
}

// clusterer decides about one component after the other. A component is a group, unless it is divided into stars, or
// has references.
type clusterer struct {
	t        *task
	members  *shelf
	edges    *shelf // of stars, by label
	nextEdge *extsort.Reader
	compare  *comparer
	found    int64

	label        uint64
	rows         []uint64  // of the members
	reps         []uint64  // representatives, ascending
	at           []uint64  // the row of each
	similarities []float64 // of each to the one that is kept
	centres      []uint32  // of stars: the number of the centre of each
	groups       map[uint64]*kept
	loaded       uint64 // representative whose set is compared with; noPosition: none
	payload      []byte
}

// kept is the member that a group keeps.
type kept struct {
	engine.Choice
	size     int
	i        int // its number
	position uint64
	rep      uint64 // its representative
	meta     cluster.Meta
	name     []byte
	first    []byte // name of the first member
	within   []byte // its value
}

// eachMember calls visit for the members of a cluster, in ascending order of position, as long as it returns no error. i
// counts them from 0 on.
func (c *clusterer) eachMember(visit func(i int, m member) error) error {
	for i, at := range c.rows {
		r, err := c.members.row(at)
		if err != nil {
			return err
		}
		m, err := readMember(c.t.plan, r)
		if err != nil {
			return err
		}
		if err := visit(i, m); err != nil {
			return err
		}
	}
	return nil
}

// decide decides about the component with a label.
func (c *clusterer) decide(label uint64, rows []uint64) error {
	c.label, c.rows = label, rows
	c.reps, c.at, c.similarities = c.reps[:0], c.at[:0], c.similarities[:0]
	c.groups, c.loaded = map[uint64]*kept{}, noPosition
	if c.t.plan.Star {
		if err := c.stars(); err != nil {
			return err
		}
	}
	if err := c.eachMember(c.choose); err != nil {
		return err
	}
	for _, k := range c.groups {
		if k.size > 1 {
			c.found++
		}
	}
	return c.eachMember(c.emit)
}

// represents notes a member that is a representative, with its row. It comes before its copies.
func (c *clusterer) represents(i int, m member) {
	if m.position == m.rep {
		c.reps, c.at = append(c.reps, m.rep), append(c.at, c.rows[i])
	}
}

// stars finds the centre of each representative.
func (c *clusterer) stars() error {
	var all []engine.Centre
	metas := map[uint32]cluster.Meta{} // of the best members
	refs := 0
	err := c.eachMember(func(i int, m member) error {
		c.represents(i, m)
		at, known := slices.BinarySearch(c.reps, m.rep)
		switch number := uint32(i); {
		case !known:
			return errParts
		case at == len(all):
			one := engine.Centre{Best: number}
			switch {
			case c.t.plan.edges.RemovesParts:
				one.Size = uint64(len(m.set) / 8)
			case c.t.plan.Whole:
				one.Size = uint64(m.meta.Length)
			}
			if c.t.plan.reference(m.rep) {
				refs++
			}
			all, metas[number] = append(all, one), m.meta
		case !c.t.plan.reference(m.rep) && c.t.plan.keep.Prefer(number, all[at].Best, m.meta, metas[all[at].Best]):
			delete(metas, all[at].Best)
			all[at].Best, metas[number] = number, m.meta
		}
		return nil
	})
	if err != nil {
		return err
	}
	var edges []cluster.Edge
	for e, ok := c.nextEdge.Peek(); ok && e.Key <= c.label; e, ok = c.nextEdge.Peek() {
		c.nextEdge.Next()
		r, err := c.edges.row(e.Value)
		if err != nil {
			return err
		}
		a, knownA := slices.BinarySearch(c.reps, r.words[1])
		b, knownB := slices.BinarySearch(c.reps, r.words[2])
		if e.Key != c.label || !knownA || !knownB {
			return errParts
		}
		edges = append(edges, cluster.Edge{A: uint32(a), B: uint32(b)})
	}
	c.centres = engine.Stars(all, refs, edges, c.t.plan.keep.Order(func(number uint32) cluster.Meta { return metas[number] }))
	return nil
}

// groupOf returns the group of a member, and its representative's number.
func (c *clusterer) groupOf(m member) (group uint64, rep int, err error) {
	rep, known := slices.BinarySearch(c.reps, m.rep)
	if !known {
		return 0, 0, errParts
	}
	of := c.label
	if c.t.plan.Star {
		of = c.reps[c.centres[rep]]
	}
	return engine.GroupOf(m.rep, of, c.t.plan.reference(m.rep)), rep, nil
}

// choose makes a member the one that its group keeps, unless another one is preferred.
func (c *clusterer) choose(i int, m member) error {
	if !c.t.plan.Star { // stars has noted them
		c.represents(i, m)
	}
	group, _, err := c.groupOf(m)
	if err != nil {
		return err
	}
	k := c.groups[group]
	if k == nil {
		k = &kept{first: slices.Clone(m.name), within: slices.Clone(m.within)}
		k.Star, k.Group, k.Reference = c.t.plan.Star, group, c.t.plan.reference(group)
		c.groups[group] = k
	}
	k.size++
	if err := c.t.plan.within().same(k.within, m.within); err != nil {
		return err
	}
	if k.Takes(m.rep, func() bool { return c.t.plan.keep.Prefer(uint32(i), uint32(k.i), m.meta, k.meta) }) {
		k.i, k.position, k.rep, k.meta, k.name = i, m.position, m.rep, m.meta, append(k.name[:0], m.name...)
	}
	return nil
}

// emit emits whether a member is removed, and its similarity to the one that is kept.
func (c *clusterer) emit(_ int, m member) error {
	group, number, err := c.groupOf(m)
	if err != nil {
		return err
	}
	k := c.groups[group]
	if k.size == 1 {
		if m.position == m.rep {
			c.similarities = append(c.similarities, 1)
		}
		return nil
	}
	f := fate{position: m.position, size: uint64(k.size), name: m.name, first: k.first, kept: k.name, file: fileOf(k.position)}
	if m.position == m.rep {
		similarity, err := c.similarity(k, m)
		if err != nil {
			return err
		}
		c.similarities = append(c.similarities, similarity)
	}
	f.removed = m.position != k.position && !c.t.plan.reference(m.position)
	f.similarity = c.similarities[number]
	c.payload, err = f.send(c.t, c.payload[:0])
	return err
}

func (c *clusterer) similarity(k *kept, m member) (float64, error) {
	if m.rep == k.rep {
		return 1, nil
	}
	c.compare.load(1, m.set)
	if c.loaded != k.rep {
		at, known := slices.BinarySearch(c.reps, k.rep)
		if !known {
			return 0, errParts
		}
		r, err := c.members.row(c.at[at])
		if err != nil {
			return 0, err
		}
		of, err := readMember(c.t.plan, r)
		if err != nil {
			return 0, err
		}
		c.compare.load(0, of.set)
		c.loaded = k.rep
	}
	return c.compare.rate(c.t.plan, c.t.plan.reference(k.rep)), nil
}
