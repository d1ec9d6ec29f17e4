package dedup

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/radix"
)

// classes groups documents with equal features. Only the first of a class, its
// representative, goes into bands and verification: copies cost one comparison
// of digests, however many there are.
type classes struct {
	rep     []uint32 // of each document; itself when it is the first or has no features
	members [][]uint32
	index   map[uint32]int // of the representatives of classes of two or more, in members
}

// classify finds the documents with equal digests.
func classify(ctx context.Context, t *table, threads int) (*classes, error) {
	c := &classes{rep: make([]uint32, len(t.docs)), index: map[uint32]int{}}
	entries := make([]radix.Entry, 0, len(t.docs))
	for i := range t.docs {
		c.rep[i] = uint32(i)
		if d := &t.docs[i]; t.compared(uint32(i)) {
			entries = append(entries, radix.Entry{Key: d.digest[0] ^ bits.RotateLeft64(d.digest[1], 32), Doc: uint32(i)})
		}
	}
	found := make([][][]uint32, threads)
	var g radix.Grouper
	err := g.EachPart(ctx, entries, threads, func(worker int, part []radix.Entry) error {
		radix.Runs(part, func(run []radix.Entry) {
			found[worker] = c.split(t, run, found[worker])
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.members = slices.Concat(found...)
	c.reindex()
	return c, nil
}

// reindex drops emptied classes and orders the others by representative.
func (c *classes) reindex() {
	c.members = slices.DeleteFunc(c.members, func(m []uint32) bool { return len(m) == 0 })
	slices.SortFunc(c.members, func(a, b []uint32) int { return cmp.Compare(a[0], b[0]) })
	clear(c.index)
	for i, m := range c.members {
		c.index[m[0]] = i
	}
}

// split appends the classes in a run of equal keys: one, save for a collision
// of the 64-bit keys.
func (c *classes) split(t *table, run []radix.Entry, found [][]uint32) [][]uint32 {
	for len(run) > 1 {
		digest, features := t.docs[run[0].Doc].digest, t.docs[run[0].Doc].features
		var members []uint32
		rest := run[:0]
		for _, e := range run {
			if d := &t.docs[e.Doc]; d.digest == digest && d.features == features {
				members = append(members, e.Doc)
				c.rep[e.Doc] = members[0]
			} else {
				rest = append(rest, e)
			}
		}
		if len(members) > 1 {
			found = append(found, members)
		}
		run = rest
	}
	return found
}

// compared tells whether a document takes part in comparisons: it has features
// and was not skipped.
func (t *table) compared(doc uint32) bool {
	d := &t.docs[doc]
	return d.features > 0 && !d.skipped
}

// each calls visit for every member of rep's class, ascending, rep first.
func (c *classes) each(rep uint32, visit func(doc uint32)) {
	if i, ok := c.index[rep]; ok {
		for _, doc := range c.members[i] {
			visit(doc)
		}
		return
	}
	visit(rep)
}

// isRep tells whether doc stands for its class.
func (c *classes) isRep(doc uint32) bool { return c.rep[doc] == doc }

// repeatedIDs returns the documents whose explicit id an earlier document of
// the same side (references or inputs) has, ascending, each with that document.
func repeatedIDs(ctx context.Context, t *table, threads int) (later, earlier []uint32, err error) {
	if len(t.ids) == 0 {
		return nil, nil, nil
	}
	seed := maphash.MakeSeed()
	entries := make([]radix.Entry, 0, len(t.docs))
	for i := range t.docs {
		if id := t.explicitID(uint32(i)); len(id) > 0 {
			key := maphash.Bytes(seed, id)
			if i < t.refs {
				key = ^key
			}
			entries = append(entries, radix.Entry{Key: key, Doc: uint32(i)})
		}
	}
	type repeat struct{ later, earlier uint32 }
	found := make([][]repeat, threads)
	var g radix.Grouper
	err = g.EachPart(ctx, entries, threads, func(worker int, part []radix.Entry) error {
		radix.Runs(part, func(run []radix.Entry) {
			for i, e := range run {
				for _, first := range run[:i] {
					if (e.Doc < uint32(t.refs)) == (first.Doc < uint32(t.refs)) &&
						bytes.Equal(t.explicitID(e.Doc), t.explicitID(first.Doc)) {
						found[worker] = append(found[worker], repeat{e.Doc, first.Doc})
						break // almost always the first of the run
					}
				}
			}
		})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b repeat) int { return cmp.Compare(a.later, b.later) })
	for _, r := range all {
		later, earlier = append(later, r.later), append(earlier, r.earlier)
	}
	return later, earlier, nil
}
