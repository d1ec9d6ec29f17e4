package stage

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/scratch"
)

// In a plan of passages with a threshold, similar pieces count as equal, and take the way over one task:
//
//	pieces → firsts → units → similar → joined → groups
//	         keys     texts   leaders   members  what goes
//
// That task has the text of each different piece once, and finds which of them join an earlier one. All of these must be
// known to decide that, since a piece that joins another one leads none.

// nearStages returns the stages that find what goes of pieces.
func nearStages(files, hashes int) []Stage {
	return []Stage{
		{Name: "firsts", Tasks: hashes, reads: []Stream{Pieces}, writes: []Stream{Firsts}, run: findFirsts},
		{Name: "units", Tasks: files, reads: []Stream{Firsts}, Documents: true, writes: []Stream{Units}, run: sendUnits},
		{Name: "similar", Tasks: 1, reads: []Stream{Units}, writes: []Stream{Leads}, run: findLeaders},
		{Name: "joined", Tasks: hashes, reads: []Stream{Pieces, Leads}, writes: []Stream{Joined}, run: joinPieces},
		{Name: "groups", Tasks: hashes, reads: []Stream{Joined}, writes: []Stream{Repeated}, run: findGroups},
	}
}

// findFirsts asks for the text of each piece where it stands first. Of pieces that have one hash, by chance, and differ all
// stay.
func findFirsts(t *task) error {
	all, err := t.shelved(0, 4, Pieces)
	if err != nil {
		return err
	}
	return all.eachGroup(func(key uint64, rows []uint64) error {
		var first, check uint64
		for i, offset := range rows {
			r, err := all.row(offset)
			if err != nil {
				return err
			}
			if i == 0 {
				first, check = r.words[1], r.words[2]>>32
			} else if r.words[2]>>32 != check {
				return nil
			}
		}
		return t.out.add(Firsts, t.plan.TaskOf(first), nil, first, key)
	})
}

// sendUnits sends the texts of pieces, in the order in which they stand in the documents.
func sendUnits(t *task) error {
	asked, err := t.asked(Firsts)
	if err != nil {
		return err
	}
	cutter := pieces.NewCutter(cutOptions(t.plan.Passages))
	_, err = t.in.Documents(t.ctx, asked.has, func(d *Document) error {
		keys := map[uint64]bool{}
		err := asked.of(d.Position, func(r row) error {
			keys[r.words[1]] = true
			return nil
		})
		if err != nil {
			return err
		}
		for p := range cutter.Firsts(d.Text, keys) {
			if err := t.out.add(Units, 0, d.Text[p.Start:p.End], p.Key, d.Position, uint64(d.inFile(p.Start))); err != nil {
				return err
			}
		}
		cutter.Trim()
		return nil
	})
	return errors.Join(err, asked.end())
}

// findLeaders sends, for each piece, the piece that leads its group: itself, or the earlier one that it joins. It uses all
// processors, and half of the memory to compare pieces.
func findLeaders(t *task) error {
	t.space.Leave(t.space.Ceiling / 2)
	units := t.spool(8) // of each unit its position and its place there
	path, err := writeUnits(t, units)
	if err != nil {
		return err
	}
	folder, err := t.space.PathOf(t.space.Unique("similar", ".part"))
	if err != nil {
		return err
	}
	c := dedup.Config{Inputs: []string{path}, Output: folder, Memory: t.space.Ceiling/2 + scratch.Outside(runtime.GOMAXPROCS(0))}
	like, err := t.space.Sorted(t.ctx, t.space.Sorting("like", 8, 32), func(to *extsort.Appender) error {
		return dedup.SimilarUnits(t.ctx, c, *t.plan.Passages, to.Add)
	})
	if err != nil {
		return err
	}
	t.own(like.Close)
	led, unit := t.lookup(like), uint64(0)
	return t.each(Units, func(r row) error {
		leader, joins := led.Find(unit)
		if !joins {
			leader = unit
		}
		unit++
		place, err := units.at(int64(leader)*unitBytes, unitBytes)
		if err != nil {
			return err
		}
		position, at := binary.LittleEndian.Uint64(place), binary.LittleEndian.Uint64(place[8:])
		return t.out.add(Leads, t.plan.hashed(r.words[0]), nil, r.words[0], leader, position, at)
	})
}

const unitBytes = 16

// writeUnits writes the texts of all pieces to a file, and their places to a spool.
func writeUnits(t *task, places *spool) (path string, err error) {
	name := t.space.Unique("units", ".part")
	file, err := t.space.Create(name)
	if err != nil {
		return "", err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	unit := uint64(0)
	var line []byte
	err = t.each(Units, func(r row) error {
		if unit > math.MaxUint32 {
			return fmt.Errorf("more than %d different units: take a part of the input", uint32(math.MaxUint32))
		}
		line = appendWords(line[:0], r.words[1:])
		if _, err := places.add(line); err != nil {
			return err
		}
		line = pieces.AppendUnit(line[:0], unit, r.payload)
		unit++
		_, err := out.Write(line)
		return fault.InWorkFolder(err)
	})
	err = errors.Join(err, fault.InWorkFolder(out.Flush()), fault.InWorkFolder(file.Close()))
	if err == nil {
		path, err = t.space.PathOf(name)
	}
	return path, err
}

// joinPieces sends each piece of a document to the task of its group.
func joinPieces(t *task) error {
	leads, err := t.shelved(0, 4, Leads)
	if err != nil {
		return err
	}
	all, err := t.sorted(4, Pieces)
	if err != nil {
		return err
	}
	lead := t.lookup(leads.sorted)
	return all.Visit(func(e extsort.Entry) error {
		offset, ok := lead.Find(e.Key)
		if !ok { // one of several with this hash
			return lead.Err()
		}
		r, err := leads.row(offset)
		if err != nil {
			return err
		}
		return t.out.add(Joined, t.plan.hashed(r.words[1]), nil, r.words[1], e.Value, e.Key, r.words[2], r.words[3])
	})
}

// findGroups sends the pieces of groups that go to the tasks of their documents.
func findGroups(t *task) error {
	members, err := t.shelved(0, 4, Joined)
	if err != nil {
		return err
	}
	at := uint64(0) // place of the leader of the group
	g := pieces.NearGroup[uint64]{Least: t.plan.Passages.MinCount, Goes: func(key, first, doc uint64) error {
		return t.out.add(Repeated, t.plan.TaskOf(doc), nil, doc, key, first, at)
	}}
	var own []extsort.Entry // of a group: position and hash; at most each piece of each document
	return members.eachGroup(func(_ uint64, rows []uint64) error {
		own = own[:0]
		for i, offset := range rows {
			r, err := members.row(offset)
			if err != nil {
				return err
			}
			if own = append(own, extsort.Entry{Key: r.words[1], Value: r.words[2]}); i == 0 {
				g.Begin(r.words[3])
				at = r.words[4]
			}
		}
		slices.SortFunc(own, func(a, b extsort.Entry) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
		for _, e := range own {
			if err := g.Add(e.Value, e.Key); err != nil {
				return err
			}
		}
		return nil
	})
}
