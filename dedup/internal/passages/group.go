package passages

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/scratch"
)

// Groups are the pieces that go.
type Groups struct {
	Firsts *extsort.Sorted // document and first document (32 bits each) → key of a piece that goes there
	Places *extsort.Sorted // of Firsts, document and place at the source (32 bits each) → key
	wanted *extsort.Sorted // first document → key of a piece that goes elsewhere; until Place
}

func (g *Groups) Close(s *scratch.Space) error { return s.ReleaseAll(g.Firsts, g.Places, g.wanted) }

// group is a worker's state: the documents of one key.
type group struct {
	pieces.Group[uint32]
	firsts, wanted, gone *extsort.Appender
}

// Group finds the pieces that go: of those that enough documents have, all but those in the first document. The caller
// closes the groups, and releases gone: key → document where it goes.
func Group(ctx context.Context, j *Job, all *extsort.Sorted) (g *Groups, gone *extsort.Sorted, err error) {
	g = &Groups{}
	var sorters [3]*extsort.Sorter
	for i, name := range []string{"firsts", "wanted", "gone"} {
		if sorters[i], err = extsort.New(j.Space.Sorting(name, 8, 0)); err != nil {
			return g, nil, err
		}
	}
	workers := make([]*group, j.Space.Threads)
	for i := range workers {
		w := &group{firsts: sorters[0].Appender(), wanted: sorters[1].Appender(), gone: sorters[2].Appender()}
		w.Group = pieces.Group[uint32]{
			Least: j.Least, Goes: w.goes,
			Wants: func(key uint64, first uint32) error { return w.wanted.Add(uint64(first), key) },
		}
		workers[i] = w
	}
	err = all.Each(ctx, len(workers), func(worker int, part []extsort.Entry, _ bool) error {
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
		if err := g.Add(pieces.Hash{Key: e.Key, Check: uint32(e.Value)}, uint32(e.Value>>32)); err != nil {
			return err
		}
	}
	return nil
}

// goes adds that the piece goes from a document.
func (g *group) goes(key uint64, first, doc uint32) error {
	return errors.Join(g.firsts.Add(uint64(doc)<<32|uint64(first), key), g.gone.Add(key, uint64(doc)))
}
