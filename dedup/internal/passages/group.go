package passages

import (
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
)

// Groups are the pieces that go.
type Groups struct {
	Firsts *extsort.Sorted // document and first document (32 bits each) → key of a piece that goes there
	Places *extsort.Sorted // of Firsts, document and place at the source (32 bits each) → key
	wanted *extsort.Sorted // first document → key of a piece that goes elsewhere; until Place
}

// Close releases them.
func (g *Groups) Close(s *scratch.Space) error { return s.ReleaseAll(g.Firsts, g.Places, g.wanted) }

// group is a worker's state: the documents of one key.
type group struct {
	key    uint64
	pieces []counted
	least  int

	firsts, wanted, gone *extsort.Appender
}

// counted is a piece of the key.
type counted struct {
	check uint32
	first uint32
	count int
	held  []uint32 // documents behind the first, until there are enough
}

// Group finds the pieces that go: of those that enough documents have, all but those in the first document. The caller
// closes the groups, and releases gone: key → document where it goes.
func Group(ctx context.Context, j *Job, pieces *extsort.Sorted) (g *Groups, gone *extsort.Sorted, err error) {
	g = &Groups{}
	var sorters [3]*extsort.Sorter
	for i, name := range []string{"firsts", "wanted", "gone"} {
		if sorters[i], err = extsort.New(j.Space.Sorting(name, 8, 0)); err != nil {
			return g, nil, err
		}
	}
	workers := make([]*group, j.Space.Threads)
	for i := range workers {
		workers[i] = &group{least: j.Least, firsts: sorters[0].Appender(), wanted: sorters[1].Appender(), gone: sorters[2].Appender()}
	}
	err = pieces.Each(ctx, len(workers), func(worker int, part []extsort.Entry, _ bool) error {
		return workers[worker].add(part)
	})
	for _, w := range workers {
		err = errors.Join(err, w.firsts.Flush(), w.wanted.Flush(), w.gone.Flush())
	}
	for i, to := range []**extsort.Sorted{&g.Firsts, &g.wanted, &gone} {
		var ended error
		*to, ended = j.Space.Ended(ctx, sorters[i], err)
		if err == nil {
			err = ended
		}
	}
	return g, gone, err
}

// add adds sorted entries: a key, and a document with a check (32 bits each).
func (g *group) add(part []extsort.Entry) error {
	for _, e := range part {
		if e.Key != g.key {
			g.key, g.pieces = e.Key, g.pieces[:0]
		}
		if err := g.count(uint32(e.Value>>32), uint32(e.Value)); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) count(doc, check uint32) error {
	i := slices.IndexFunc(g.pieces, func(p counted) bool { return p.check == check })
	if i < 0 {
		g.pieces = append(g.pieces, counted{check: check, first: doc, count: 1})
		return nil
	}
	p := &g.pieces[i]
	if p.count++; p.count < g.least {
		p.held = append(p.held, doc)
		return nil
	}
	if p.count == g.least {
		if err := g.wanted.Add(uint64(p.first), g.key); err != nil {
			return err
		}
		for _, doc := range p.held {
			if err := g.goes(p.first, doc); err != nil {
				return err
			}
		}
		p.held = nil
	}
	return g.goes(p.first, doc)
}

// goes adds that the piece goes from a document.
func (g *group) goes(first, doc uint32) error {
	return errors.Join(g.firsts.Add(uint64(doc)<<32|uint64(first), g.key), g.gone.Add(g.key, uint64(doc)))
}
