package stream

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/index"
)

// DeliveryColumn is the column in which the index of a Filter has Message.Delivery.
const DeliveryColumn = "delivery"

// A Message is what a broker delivers, once or more often.
type Message struct {
	ID, Text []byte
	// Time is that of the event, for windows with an age. See index.Document.
	Time time.Time
	// Delivery says which message this is: the same bytes each time that it is delivered, and
	// other ones for every other message. The place where it stands with the broker is right:
	// topic, partition and offset, or stream and sequence. The id of the document is wrong: what
	// is sent once more with its old id is a duplicate.
	Delivery []byte
}

// A Decision is what a Filter says of a message.
type Decision struct {
	// Pass says that the message is to be sent on.
	Pass bool
	// Again says that the message passes since it has passed before: it is delivered again.
	Again bool
	// Of one that does not pass: the id of what it is like, and how like that is.
	Of         []byte
	Similarity float64
	// Late tells that the message came too late to be remembered: see index.Window.Late.
	Late bool
}

// A Filter drops near-duplicates from messages of a broker that delivers each of them at least
// once. It is for programs and plug-ins that take a batch of messages, have it decided, send on
// what passes, and acknowledge the batch when that is done. Run is for streams of lines.
//
// Run writes a record before it is stored. A Filter stores a message first, since only the broker
// knows what becomes of it: if it is not acknowledged, because the output has failed, the process
// was killed or the partition has moved to another consumer, it is delivered again. It passes
// again then, since it is not a duplicate of itself.
//
// If every message is delivered until it was acknowledged, and everything that passes is sent
// before it is acknowledged, then for each message either the message itself was sent, or one
// that it is like; and of two that are alike and in one window only one is sent, which is
// sent more than once if it was delivered more than once. With an index in a folder that holds
// over kill -9 and failures of the power, with one in memory while the process lives; and as
// long as no message leaves the window while it may be delivered again, and no bucket is full.
//
// Its methods are safe for concurrent use.
type Filter struct {
	index   *index.Index
	batches sync.Pool // of *index.Batch

	passed, again, dropped, late atomic.Int64
}

// NewFilter returns a filter with an index whose only column is DeliveryColumn.
func NewFilter(x *index.Index) (*Filter, error) {
	if columns := x.Options().Columns; !slices.Equal(columns, []string{DeliveryColumn}) {
		return nil, fmt.Errorf("stream: a filter needs an index with the column %q, and this one has %q", DeliveryColumn, columns)
	}
	return &Filter{index: x}, nil
}

// Decide decides about messages, one after the other, and returns a decision for each. What
// passes survives a failure of the power when Decide has returned: that is one wait for the
// disk for all of them, which calls at the same time share. After an error nothing is decided, and
// the messages are to be delivered again. If it is index.ErrReadOnly, the index has to be opened anew.
//
// A batch should have some MB at most, all of which is held in memory. Cost: that of
// index.Batch.Add for each message, without a lock, and one index.Index.Check.
func (f *Filter) Decide(messages []Message) ([]Decision, error) {
	for i := range messages {
		if len(messages[i].Delivery) == 0 {
			return nil, fmt.Errorf("stream: message %d of %d does not say which one it is: set Delivery", i+1, len(messages))
		}
	}
	b, _ := f.batches.Get().(*index.Batch)
	if b == nil {
		b = f.index.NewCheck()
	}
	defer f.batches.Put(b)
	b.Reset()
	for _, m := range messages {
		b.Add(index.Document{ID: m.ID, Text: m.Text, Time: m.Time, Columns: [][]byte{m.Delivery}})
	}
	verdicts, err := f.index.Check(b, nil)
	if err != nil {
		return nil, err
	}
	if err := f.index.Sync(); err != nil {
		return nil, err
	}
	decisions := make([]Decision, len(messages))
	for i := range verdicts {
		decisions[i] = f.decision(&verdicts[i], messages[i].Delivery)
	}
	return decisions, nil
}

// decision turns what the index says into what is done.
func (f *Filter) decision(v *index.Verdict, delivery []byte) Decision {
	d := Decision{Pass: v.New, Late: v.Late}
	if v.Late {
		f.late.Add(1)
	}
	switch {
	case v.New:
		f.passed.Add(1)
	case len(v.Columns) == 1 && bytes.Equal(v.Columns[0], delivery):
		d.Pass, d.Again = true, true
		f.again.Add(1)
	default:
		d.Of, d.Similarity = bytes.Clone(v.Of), v.Similarity
		f.dropped.Add(1)
	}
	return d
}

// A FilterCount counts what a filter has decided. Each message is counted once each time that
// it is delivered, as Passed, Again or Dropped.
type FilterCount struct {
	Passed, Again, Dropped int64
	Late                   int64 // of them, those that came too late to be remembered
}

// Count returns what was decided so far.
func (f *Filter) Count() FilterCount {
	return FilterCount{Passed: f.passed.Load(), Again: f.again.Load(), Dropped: f.dropped.Load(), Late: f.late.Load()}
}
