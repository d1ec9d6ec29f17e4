package stage

import (
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
)

// A task that divides rows by hashes does not have the documents that it needs. It asks the tasks that read
// them, and a later stage's task with its number gets a payload of each.

// ask asks for documents in a stream. Key: position of a document, Value: partition that needs it.
func (t *task) ask(in Stream, needed *extsort.Sorted) error {
	return needed.VisitOnce(func(e extsort.Entry) error {
		return t.out.add(in, t.plan.TaskOf(e.Key), nil, e.Key, e.Value)
	})
}

// wants are the documents that other tasks asked this task for.
type wants struct {
	t     *task
	asked extsort.Lookup // Key: position, Value: partition that needs it
	given *extsort.Reader
}

// newWants reads the requests in a stream, with 1/share of the memory.
func newWants(t *task, share int64, asked Stream) (*wants, error) {
	sorted, err := t.sorted(share, asked)
	if err != nil {
		return nil, err
	}
	return &wants{t, t.lookup(sorted), t.reader(sorted)}, nil
}

// has tells whether a document is wanted. Positions must ascend from call to call.
func (w *wants) has(position uint64) bool {
	_, found := w.asked.Find(position)
	return found
}

// send sends a payload of a document to all partitions that want it. Positions must ascend from call to call.
func (w *wants) send(in Stream, position uint64, payload []byte) error {
	last := uint64(noPosition)
	for e, ok := w.given.Peek(); ok && e.Key <= position; e, ok = w.given.Peek() {
		w.given.Next()
		if e.Key < position {
			return missing(e.Key)
		}
		if e.Value == last { // several tasks asked for the same partition
			continue
		}
		if last = e.Value; last >= uint64(w.t.plan.Partitions) {
			return errParts
		}
		if err := w.t.out.add(in, int(last), payload, position); err != nil {
			return err
		}
	}
	return nil
}

// end ends sending. If err is nil, a document that was wanted and not sent is an error.
func (w *wants) end(err error) error {
	if e, ok := w.given.Peek(); err == nil && ok {
		return missing(e.Key)
	}
	return err
}

// missing returns the error for a wanted document that is not there.
func missing(position uint64) error {
	return fmt.Errorf("document %#x is wanted and is not there: the input has changed", position)
}

// payloads are the payloads that were sent to a task, by ascending positions.
type payloads struct {
	spool     *spool
	positions []uint64
	places    []int64 // offset of each in the spool, and the end of the last one
}

// newPayloads reads the payloads of a stream, with a quarter of the memory.
func newPayloads(t *task, from Stream) (*payloads, error) {
	p := &payloads{spool: t.spool(4)}
	err := t.each(from, func(r row) error {
		if n := len(p.positions); n > 0 && p.positions[n-1] >= r.words[0] {
			return errParts
		}
		at, err := p.spool.add(r.payload)
		p.positions, p.places = append(p.positions, r.words[0]), append(p.places, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.places = append(p.places, p.spool.size)
	return p, nil
}

// find returns the number of the payload of a document.
func (p *payloads) find(position uint64) (number int, found bool) {
	return slices.BinarySearch(p.positions, position)
}

// of returns the payload with a number. It is valid until the next call.
func (p *payloads) of(number int) ([]byte, error) {
	return p.spool.at(p.places[number], int(p.places[number+1]-p.places[number]))
}

// noPosition is the position of no document.
const noPosition = 1<<64 - 1

// chunks returns the number of chunks. Tasks that are left over have nothing to do.
func (p *Plan) chunks() int {
	n := 1
	for (n+1)*(n+2)/2 <= p.Partitions {
		n++
	}
	return n
}

func (p *Plan) chunkOf(position uint64) int { return int(hashing.Mix(position) % uint64(p.chunks())) }

// wantInChunks asks for the set of a document in all tasks that join its chunk.
func wantInChunks(t *task, position uint64) error {
	own := t.plan.chunkOf(position)
	for other := range t.plan.chunks() {
		low, high := min(own, other), max(own, other)
		if err := t.out.add(Wants, t.plan.TaskOf(position), nil, position, uint64(high*(high+1)/2+low)); err != nil {
			return err
		}
	}
	return nil
}
