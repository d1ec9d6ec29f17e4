package runner

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/stage"
)

// The table of an object has a section for each stage that reads blocks of it, in the order of stages, and a section a row
// for each task of that stage; a joined stage stands for its steps. All rows of a section have one width, so that a reader knows from the plan where its row is
// and reads nothing else: with P partitions tasks read 20 bytes P² times, and not tables of P rows.
//
//	row: for each stream that the stage reads: offset of its blocks for the task 8, their bytes 8 | CRC-32C 4
//
// Checksums begin with that of the header and the offset of the row in the table.
const (
	entryBytes = 16
	sumBytes   = 4
)

// A table is the form of the table of a stage's objects.
type table struct {
	sections []section
	length   int64
}

// A section is the part of a table that is for one stage.
type section struct {
	reader  string
	tasks   int
	streams []stage.Stream
	from    int64 // where its rows begin in the table
	// own: the task finds all that is for it in the object of the task with its number, as both work for the same documents.
	own bool
}

// readBy returns the objects that a task reads: the first, and how many from there on, of so many.
func (s *section) readBy(task, tasks int) (first, n int) {
	if !s.own {
		return 0, tasks
	}
	return task, 1
}

// pairs returns how many pairs of tasks exchange blocks.
func (s *section) pairs(tasks int) int64 {
	_, n := s.readBy(0, tasks)
	return int64(s.tasks) * int64(n)
}

func (s *section) rowBytes() int64 { return rowBytesOf(len(s.streams)) }

func rowBytesOf(streams int) int64 { return int64(streams)*entryBytes + sumBytes }

// stepsOf returns all stages of a plan, in place of joined ones their steps.
func stepsOf(p *Plan) (all []stage.Stage) {
	for _, s := range p.Stages() {
		all = append(all, s.Steps()...)
	}
	return all
}

// table returns the form of the table of a stage's objects.
func (p *Plan) table(of stage.Stage) (t table) {
	named := stage.Streams()
	for _, reader := range stepsOf(p) {
		if slices.ContainsFunc(of.Steps(), func(s stage.Stage) bool { return s.Name == reader.Name }) { // it reads nothing of its own
			continue
		}
		s := section{reader: reader.Name, tasks: reader.Tasks, from: t.length, own: true}
		for _, name := range reader.Reads {
			if slices.Contains(of.Writes, name) {
				s.streams = append(s.streams, named[name])
				s.own = s.own && named[name].Own()
			}
		}
		if len(s.streams) > 0 {
			t.sections = append(t.sections, s)
			t.length += int64(s.tasks) * s.rowBytes()
		}
	}
	return t
}

// section returns the section for a stage; nil: it reads nothing of these objects.
func (t *table) section(reader string) *section {
	i := slices.IndexFunc(t.sections, func(s section) bool { return s.reader == reader })
	if i < 0 {
		return nil
	}
	return &t.sections[i]
}

// append appends the table of an object with these extents, which are sorted. sum is the checksum in its header.
func (t *table) append(b []byte, sum uint32, parts []extent) []byte {
	start := len(b)
	for i := range t.sections {
		s := &t.sections[i]
		for task := range s.tasks {
			row := len(b)
			for _, stream := range s.streams {
				var e extent
				if at, found := slices.BinarySearchFunc(parts, extent{stream: stream, partition: task}, compareExtents); found {
					e = parts[at]
				}
				b = binary.LittleEndian.AppendUint64(b, uint64(e.offset))
				b = binary.LittleEndian.AppendUint64(b, uint64(e.length))
			}
			b = binary.LittleEndian.AppendUint32(b, rowSum(sum, int64(row-start), b[row:]))
		}
	}
	return b
}

func rowSum(sum uint32, offset int64, entries []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(offset))
	return durable.Checksum(durable.Checksum(sum, at[:]), entries)
}

var errTable = errors.New("its table has another checksum than its bytes")

func (t *table) check(rows []byte, sum uint32) error {
	for i := range t.sections {
		s := &t.sections[i]
		for task := range s.tasks {
			at := s.from + int64(task)*s.rowBytes()
			if _, err := s.parse(rows[at:at+s.rowBytes()], task, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// row returns where in the table the row of a task is.
func (s *section) row(task int) (offset int64) { return s.from + int64(task)*s.rowBytes() }

// parse returns the extents for a task, without empty ones.
func (s *section) parse(row []byte, task int, sum uint32) (all []extent, err error) {
	entries := row[:len(row)-sumBytes]
	if rowSum(sum, s.row(task), entries) != binary.LittleEndian.Uint32(row[len(entries):]) {
		return nil, errTable
	}
	for i, stream := range s.streams {
		e := extent{stream, task, int64(binary.LittleEndian.Uint64(entries[entryBytes*i:])), int64(binary.LittleEndian.Uint64(entries[entryBytes*i+8:]))}
		if e.offset < 0 || e.length < 0 {
			return nil, errTable
		}
		if e.length > 0 {
			all = append(all, e)
		}
	}
	return all, nil
}

// extent is the range of an object that has the blocks of a partition.
type extent struct {
	stream         stage.Stream
	partition      int
	offset, length int64
}

func compareExtents(a, b extent) int {
	return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.partition, b.partition))
}
