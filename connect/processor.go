package connect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redpanda-data/benthos/v4/public/bloblang"
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/index/stream"
)

func init() {
	service.MustRegisterBatchProcessor("alike_dedupe", spec(), func(c *service.ParsedConfig, mgr *service.Resources) (service.BatchProcessor, error) {
		return newProcessor(c, mgr)
	})
}

// Metadata of duplicates that pass with a tag.
const (
	metaDuplicateOf = "alike_duplicate_of"
	metaSimilarity  = "alike_similarity"
)

// processor is one alike_dedupe, for one goroutine.
type processor struct {
	mappings
	tag        bool
	collection *collection
	log        *service.Logger
	messages   *service.MetricCounter
	documents  *service.MetricGauge
}

func newProcessor(c *service.ParsedConfig, mgr *service.Resources) (*processor, error) {
	s, err := parseSettings(c)
	if err != nil {
		return nil, err
	}
	p := &processor{log: mgr.Logger()}
	if p.mappings, err = parseMappings(c); err != nil {
		return nil, err
	}
	if p.tag, err = c.FieldBool(fieldTag); err != nil {
		return nil, err
	}
	p.messages = mgr.Metrics().NewCounter("alike_dedupe_messages", "decision")
	p.documents = mgr.Metrics().NewGauge("alike_dedupe_documents")
	p.collection, err = acquire(s, mgr)
	return p, err
}

// ProcessBatch returns the messages that pass, in their order. What it says of them is on disk, if
// the collection is. It fails only when the context ends.
func (p *processor) ProcessBatch(ctx context.Context, batch service.MessageBatch) ([]service.MessageBatch, error) {
	var messages []stream.Message
	problems := make([]error, len(batch))
	fields := p.mappings.of(batch)
	for i := range batch {
		m, err := fields.message(batch[i], i)
		if problems[i] = err; err == nil {
			messages = append(messages, m)
		}
	}
	var decisions []stream.Decision
	if len(messages) > 0 {
		var err error
		if decisions, err = p.collection.decide(ctx, p.log, messages); err != nil {
			return nil, err
		}
	}
	var passed service.MessageBatch
	for i, m := range batch {
		if problems[i] != nil {
			m = m.Copy()
			m.SetError(problems[i])
			passed = append(passed, m)
			p.messages.Incr(1, "failed")
			continue
		}
		if m, ok := p.decided(m, decisions[0]); ok {
			passed = append(passed, m)
		}
		decisions = decisions[1:]
	}
	p.documents.Set(p.collection.documents())
	if len(passed) == 0 {
		return nil, nil
	}
	return []service.MessageBatch{passed}, nil
}

// decided returns a message as it goes on, if it does.
func (p *processor) decided(m *service.Message, d stream.Decision) (*service.Message, bool) {
	switch {
	case d.Again:
		p.messages.Incr(1, "again")
	case d.Pass:
		p.messages.Incr(1, "new")
	default:
		p.messages.Incr(1, "duplicate")
		if !p.tag {
			return nil, false
		}
		m = m.Copy()
		m.MetaSetMut(metaDuplicateOf, string(d.Of))
		m.MetaSetMut(metaSimilarity, d.Similarity)
	}
	return m, true
}

// Close ends the use of the collection.
func (p *processor) Close(context.Context) error { return p.collection.release() }

var (
	errNoText     = errors.New("alike_dedupe: the mapping of text gives null: name the field with the text")
	errNoDelivery = errors.New("alike_dedupe: nothing tells which message this is: set delivery to a mapping that does")
)

// batchMappings are mappings of the messages of a batch.
type batchMappings struct {
	text, id, delivery, time *service.MessageBatchBloblangExecutor
}

func (m mappings) of(batch service.MessageBatch) batchMappings {
	of := func(mapping *bloblang.Executor) *service.MessageBatchBloblangExecutor {
		if mapping == nil {
			return nil
		}
		return batch.BloblangExecutor(mapping)
	}
	return batchMappings{of(m.text), of(m.id), of(m.delivery), of(m.time)}
}

// message makes what is decided about of the ith message of the batch.
func (b batchMappings) message(in *service.Message, i int) (m stream.Message, err error) {
	var at []byte
	for _, f := range []struct {
		name    string
		mapping *service.MessageBatchBloblangExecutor
		to      *[]byte
	}{{fieldText, b.text, &m.Text}, {fieldID, b.id, &m.ID}, {fieldDelivery, b.delivery, &m.Delivery}, {fieldTime, b.time, &at}} {
		if f.mapping == nil {
			continue
		}
		var e error
		if *f.to, e = valueOf(f.mapping, i); e != nil {
			err = errors.Join(err, fmt.Errorf("alike_dedupe: %s: %w", f.name, e))
		}
	}
	if err != nil {
		return m, err
	}
	if b.text == nil {
		if m.Text, err = in.AsBytes(); err != nil {
			return m, err
		}
	}
	if b.delivery == nil {
		m.Delivery = placeOf(in)
	}
	switch {
	case m.Text == nil:
		return m, errNoText
	case len(m.Delivery) == 0:
		return m, errNoDelivery
	case m.ID == nil:
		m.ID = m.Delivery
	}
	if at != nil {
		if m.Time, err = stream.ParseTime(at); err != nil {
			err = fmt.Errorf("alike_dedupe: %s: %w", fieldTime, err)
		}
	}
	return m, err
}

// places are the metadata by which inputs of brokers say where a message is, all of one row: in
// Kafka, and in NATS JetStream.
var places = [][]string{{"kafka_topic", "kafka_partition", "kafka_offset"}, {"nats_subject", "nats_sequence_stream"}}

// placeOf returns where a broker has a message, nil if its metadata do not say.
func placeOf(m *service.Message) []byte {
nextPlace:
	for _, names := range places {
		var place []byte
		for i, name := range names {
			v, ok := m.MetaGetMut(name)
			if !ok {
				continue nextPlace
			}
			if i > 0 {
				place = append(place, '/')
			}
			place = fmt.Append(place, v)
		}
		return place
	}
	return nil
}

// valueOf returns what a mapping makes of a message of a batch, nil for null.
func valueOf(mapping *service.MessageBatchBloblangExecutor, i int) ([]byte, error) {
	m, err := mapping.Query(i) // not QueryValue, where metadata and fields are unknown
	if err != nil || m == nil {
		return nil, err
	}
	if m.HasStructured() {
		v, err := m.AsStructured()
		if err != nil {
			return nil, err
		}
		return bytesOf(v)
	}
	b, err := m.AsBytes()
	if string(b) == "null" { // what null becomes, and the text null, which no one will miss
		b = nil
	}
	return b, err
}

// bytesOf returns the text of a value of a mapping, nil for null.
func bytesOf(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		return v, nil
	case string:
		return []byte(v), nil
	case time.Time:
		return v.AppendFormat(nil, time.RFC3339Nano), nil
	case float64:
		return strconv.AppendFloat(nil, v, 'f', -1, 64), nil
	case int, int64, uint64, bool, fmt.Stringer: // a json.Number too
		return fmt.Append(nil, v), nil
	}
	return nil, fmt.Errorf("it is a %T, and neither text nor a number", v)
}
