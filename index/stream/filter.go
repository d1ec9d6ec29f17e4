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

// DeliveryColumn is the column of the index in which a Filter stores Message.Delivery.
const DeliveryColumn = "delivery"

// A Message is a message of a broker, which delivers it one or more times.
type Message struct {
	ID, Text []byte
	// Time is the time of the event, for windows with an age. See index.Document.
	Time time.Time
	// Delivery identifies the message: the same bytes each time that it is delivered, and different bytes
	// for any two messages. Use its position in the broker: topic, partition and offset, or stream and
	// sequence. Do not use the id of the document: if a producer sends a document twice with the same id,
	// the second message is a duplicate.
	Delivery []byte
}

// A Decision is the result of Filter.Decide for one message.
type Decision struct {
	// Pass says that the message is to be sent.
	Pass bool
	// Again says that the message passes because it is a repeated delivery of a message that passed.
	Again bool
	// Of is the id of a similar message that passed, and Similarity is how similar the two are, from 0 to 1.
	// Both are set only if the message does not pass.
	Of         []byte
	Similarity float64
	// Late says that the message came too late to be added to the index: see index.Window.Late.
	Late bool
}

// A Filter drops near-duplicates from messages of a broker that delivers each message at least once. A
// program or plug-in takes a batch of messages, calls Decide, sends the messages that pass, and then
// acknowledges the batch. For streams of lines use Run.
//
// Run writes a record before the index stores it. A Filter stores a message before the program sends it.
// If the message is then not acknowledged, because the output fails, the process is killed, or the
// partition moves to another consumer, the broker delivers it again. The index knows it by then, but it
// passes again, since it is not a duplicate of itself.
//
// The guarantee: for each message, the program sends the message itself or a similar one. Of two similar
// messages in one window, it sends only one, and sends that one again only if it is delivered again. The
// guarantee has these conditions:
//   - The broker delivers each message until it is acknowledged.
//   - The program sends the messages that pass before it acknowledges them.
//   - No message leaves the window while the broker may deliver it again.
//   - No bucket is full: see package index.
//
// With an index in a folder, the guarantee survives kill -9 and power failures. With an index in memory, it
// ends with the process.
//
// The methods of a Filter are safe for concurrent use.
type Filter struct {
	index   *index.Index
	batches sync.Pool // of *index.Batch

	passed, again, dropped, late atomic.Int64
}

// NewFilter returns a filter that uses the index. The only column of the index must be DeliveryColumn.
func NewFilter(x *index.Index) (*Filter, error) {
	if columns := x.Options().Columns; !slices.Equal(columns, []string{DeliveryColumn}) {
		return nil, fmt.Errorf("stream: a filter needs an index with the column %q, and this one has %q", DeliveryColumn, columns)
	}
	return &Filter{index: x}, nil
}

// Decide decides about messages in order, and returns one decision for each. When it returns, the messages
// that pass survive a power failure. It waits for the disk once for all messages; concurrent calls share
// one wait. After an error nothing is decided: do not acknowledge the messages. If the error is
// index.ErrReadOnly, open the index again.
//
// All messages are held in memory, so pass a few MB at most. Cost: index.Batch.Add for each message, without
// a lock, and one index.Index.Check.
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

// decision turns the verdict of the index into a decision, and counts it.
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

// A FilterCount counts decisions. Each delivery of a message counts as one of Passed, Again and Dropped.
type FilterCount struct {
	Passed, Again, Dropped int64
	Late                   int64 // of all these, deliveries that came too late to be added to the index
}

// Count returns the counts of all decisions so far.
func (f *Filter) Count() FilterCount {
	return FilterCount{Passed: f.passed.Load(), Again: f.again.Load(), Dropped: f.dropped.Load(), Late: f.late.Load()}
}
