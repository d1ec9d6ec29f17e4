package stream

import (
	"bytes"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/hashing"
)

// DefaultReplay is the number of records that a stream should remember for a restart, as index.Options.History:
// 128 MiB of hashes on disk.
const DefaultReplay = 1 << 24

// At most so many records that may be a replay are withheld: a longer sequence that equals
// earlier input, record by record, is a replay.
const (
	mostWithheld      = 4096
	mostWithheldBytes = 8 << 20
)

// replay finds out whether the input of a process begins with records that an earlier process
// has read. A record belongs to a replay if it and all records before it are consecutive in
// the history. Replayed records were decided then, and are skipped, even if the window has
// forgotten them since. The replay is certain when the history ends and the input goes on. If
// the sequence breaks off earlier, there was no replay, and its records are treated like any
// others.
type replay struct {
	past     []uint64
	places   []int // in past, of the record that would come next
	begun    bool
	certain  bool // the sequence is so long that it must be a replay
	withheld []withheld
	bytes    int
}

// withheld is a record that may be a part of a replay.
type withheld struct {
	record index.Document
	raw    []byte
}

// newReplay returns nil if there is no history.
func newReplay(x *index.Index) (*replay, error) {
	p := &replay{}
	err := x.History(func(hashes []uint64) error {
		p.past = append(p.past, hashes...)
		return nil
	})
	if err != nil || len(p.past) == 0 {
		return nil, err
	}
	return p, nil
}

// outcome says what a record is.
type outcome int

const (
	repeated outcome = iota // it may be a part of a replay
	ended                   // it is not, and the records before it were one
	broken                  // it is not, and neither were the records before it
)

// next takes the hash of the next record.
func (p *replay) next(hash uint64) outcome {
	if !p.begun {
		p.begun = true
		for i, h := range p.past {
			if h == hash {
				p.places = append(p.places, i+1)
			}
		}
	} else {
		kept, atEnd := p.places[:0], false
		for _, at := range p.places {
			switch {
			case at == len(p.past):
				atEnd = true
			case p.past[at] == hash:
				kept = append(kept, at+1)
			}
		}
		p.places = kept
		if len(kept) == 0 && (atEnd || p.certain) {
			return ended
		}
	}
	if len(p.places) == 0 {
		return broken
	}
	return repeated
}

// withhold keeps a record, unless it is certain that there is a replay.
func (p *replay) withhold(d index.Document, raw []byte) {
	if p.certain {
		return
	}
	p.withheld = append(p.withheld, withheld{d, bytes.Clone(raw)})
	if p.bytes += len(d.Text) + len(raw); len(p.withheld) > mostWithheld || p.bytes > mostWithheldBytes {
		p.certain, p.withheld = true, nil
	}
}

// passOver sets how many of the first records of the block belong to a replay, or may belong to one. If it finds
// that there was no replay, it decides about the withheld records.
func (w *worker) passOver() error {
	p, from, before := w.replay, 0, len(w.replay.withheld)
	for _, r := range w.records {
		raw := w.raw[from:r.end]
		from = r.end
		if r.problem != nil {
			continue
		}
		switch p.next(w.hashes[w.passed]) {
		case repeated:
			p.withhold(w.documents[w.passed], raw)
			w.passed++
			w.summary.Replayed++
			continue
		case broken:
			w.summary.Replayed -= int64(len(p.withheld))
			w.passed = 0 // the records of this block are in its batch
			if err := w.release(p.withheld[:before]); err != nil {
				return err
			}
		}
		w.replay = nil
		w.replays.Store(false)
		return nil
	}
	return nil
}

// release decides about records that were withheld.
func (w *worker) release(records []withheld) error {
	if len(records) == 0 {
		return nil
	}
	b := w.Index.NewCheck()
	for _, r := range records {
		b.Add(r.record)
		b.Remember(hashing.Bytes(r.raw))
	}
	_, err := w.Index.Check(b, func(verdicts []index.Verdict) error {
		w.out, w.dropped = w.out[:0], w.dropped[:0]
		for i, r := range records {
			w.one(r.raw, r.record.ID, &verdicts[i])
		}
		return w.write()
	})
	return err
}
