package passages

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
)

// Distinct holds the different pieces of a corpus, numbered in the order in which they stand there first.
type Distinct struct {
	first *Store // of each unitBytes: its key (8), the document where it stands first and its place there (4 each)
}

const unitBytes = 8 + 4 + 4

func (u *Distinct) Close() error { return u.first.Close() }

// Unite writes each different piece once, as a record {"id":"0","text":…} of JSON lines, where id is its number. Of
// those that have one key, by chance, and differ none is written: they stay.
func Unite(ctx context.Context, j *Job, d *Documents, all *extsort.Sorted, to io.Writer) (u *Distinct, err error) {
	u = &Distinct{&Store{Space: j.Space, Name: "units", Most: int(j.Space.Share(16))}}
	firsts, err := j.Space.Sorted(ctx, j.Space.Sorting("firsts", 8, 0), func(to *extsort.Appender) error { return addFirsts(all, to) })
	if err != nil {
		return u, err
	}
	asked := &asked{reader: firsts.Reader()}
	defer func() { err = errors.Join(err, asked.close(), j.Space.Release(firsts)) }()
	out := bufio.NewWriterSize(to, 1<<20)
	var n uint64
	var line []byte
	err = visit(ctx, j, d, asked, appendUnits, func(f *found) error {
		if n+uint64(len(f.entries)) > math.MaxUint32 {
			return fmt.Errorf("more than %d different units: take a part of the input", uint32(math.MaxUint32))
		}
		at := 0
		for i, e := range f.entries {
			line = pieces.AppendUnit(line[:0], n, f.bytes[at:f.ends[i]])
			at = f.ends[i]
			if _, err := out.Write(line); err != nil {
				return err
			}
			n++
			if err := u.first.Append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, e.Key), e.Value)); err != nil {
				return err
			}
		}
		return nil
	})
	return u, errors.Join(err, out.Flush())
}

// addFirsts adds, of each key that is that of one piece only, the document where it stands first.
func addFirsts(all *extsort.Sorted, to *extsort.Appender) error {
	var key, first uint64
	var check uint32
	known, one := false, false
	add := func() error {
		if !one {
			return nil
		}
		return to.Add(first, key)
	}
	err := all.Visit(func(e extsort.Entry) error {
		if known && e.Key == key {
			one = one && uint32(e.Value) == check
			return nil
		}
		err := add()
		key, first, check, known, one = e.Key, e.Value>>32, uint32(e.Value), true, true
		return err
	})
	return errors.Join(err, add())
}

// appendUnits is the look of Unite. An entry has a unit's key and, as in Distinct, its place; the bytes are the texts.
func appendUnits(c *pieces.Cutter, r *corpus.Record, asked []extsort.Entry, out *found) {
	inFile := placesOf(r)
	for p := range c.Firsts(r.Text, keysOf(asked)) {
		place := uint64(uint32(asked[0].Key)) | uint64(inFile(p.Start))<<32
		out.entries = append(out.entries, extsort.Entry{Key: p.Key, Value: place})
		out.bytes = append(out.bytes, r.Text[p.Start:p.End]...)
		out.ends = append(out.ends, len(out.bytes))
	}
}

// GroupNear finds the pieces that go if units count as equal to others: like has the numbers of a unit and of the one
// before it that it is equal to. Units that are equal to no other lead a group. A group goes as a piece does for Group:
// where enough documents have one of its pieces, from all but the first document.
func GroupNear(ctx context.Context, j *Job, u *Distinct, all, like *extsort.Sorted) (g *Groups, err error) {
	g = &Groups{}
	members, err := u.members(ctx, j, all, like)
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, j.Space.Release(members)) }()
	g.Places, err = j.Space.Sorted(ctx, j.Space.Sorting("places", 8, 0), func(places *extsort.Appender) (err error) {
		g.Firsts, err = j.Space.Sorted(ctx, j.Space.Sorting("firsts", 8, 0), func(firsts *extsort.Appender) error {
			n := &nearGroup{units: u.first, leader: math.MaxUint64}
			n.NearGroup = pieces.NearGroup[uint32]{Least: j.Least, Goes: func(key uint64, first, doc uint32) error {
				of := uint64(doc) << 32
				return errors.Join(firsts.Add(of|uint64(first), key), places.Add(of|uint64(n.at), key))
			}}
			return members.Visit(n.add)
		})
		return err
	})
	return g, err
}

// members returns the number of a group's leader and a document (32 bits each) → key of a piece of the group there.
func (u *Distinct) members(ctx context.Context, j *Job, all, like *extsort.Sorted) (members *extsort.Sorted, err error) {
	leaders, err := j.Space.Sorted(ctx, j.Space.Sorting("leaders", 8, 0), func(to *extsort.Appender) error {
		led := extsort.NewLookup(like)
		visited := u.first.each(unitBytes, func(i int64, record []byte) error {
			leader, ok := led.Find(uint64(i))
			if !ok {
				leader = uint64(i)
			}
			return to.Add(binary.LittleEndian.Uint64(record), leader)
		})
		return errors.Join(visited, led.Err(), led.Close())
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Space.Release(leaders)) }()
	return j.Space.Sorted(ctx, j.Space.Sorting("members", 8, 0), func(to *extsort.Appender) error {
		led := extsort.NewLookup(leaders)
		visited := all.Visit(func(e extsort.Entry) error {
			leader, ok := led.Find(e.Key)
			if !ok { // one of several with this key
				return led.Err()
			}
			return to.Add(leader<<32|e.Value>>32, e.Key)
		})
		return errors.Join(visited, led.Err(), led.Close())
	})
}

// nearGroup is one group after the other.
type nearGroup struct {
	pieces.NearGroup[uint32]
	units  *Store
	leader uint64
	at     uint32 // place of the leader in the first document
}

// add adds the next of the members.
func (g *nearGroup) add(e extsort.Entry) error {
	if leader := e.Key >> 32; leader != g.leader {
		var unit [unitBytes]byte
		if _, err := g.units.ReadAt(unit[:], int64(leader)*unitBytes); err != nil {
			return err
		}
		g.leader, g.at = leader, binary.LittleEndian.Uint32(unit[12:])
		g.Begin(binary.LittleEndian.Uint32(unit[8:]))
	}
	return g.Add(e.Value, uint32(e.Key))
}
