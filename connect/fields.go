package connect

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redpanda-data/benthos/v4/public/bloblang"
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/index/stream"
)

// mappings are the mappings from a message to its fields; nil: the field's default.
type mappings struct{ text, id, delivery, time *bloblang.Executor }

func parseMappings(c *service.ParsedConfig) (m mappings, err error) {
	for field, to := range map[string]**bloblang.Executor{fieldText: &m.text, fieldID: &m.id, fieldDelivery: &m.delivery, fieldTime: &m.time} {
		if !c.Contains(field) {
			continue
		}
		if *to, err = c.FieldBloblang(field); err != nil {
			return m, err
		}
	}
	return m, nil
}

var (
	errNoText     = errors.New("alike_dedupe: the mapping of text gives null: name the field with the text")
	errNoDelivery = errors.New("alike_dedupe: nothing tells which message this is: set delivery to a mapping that does")
)

// batchMappings are the mappings for the messages of one batch.
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

// message makes the message for stream.Filter from the ith message of the batch, in. It returns an error if a
// mapping fails, or the message has no text or no delivery.
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

// places are, for Kafka and for NATS JetStream, the names of the metadata that together are the position of a
// message in the broker.
var places = [][]string{{"kafka_topic", "kafka_partition", "kafka_offset"}, {"nats_subject", "nats_sequence_stream"}}

// placeOf returns the position of a message in its broker, as TOPIC/PARTITION/OFFSET or SUBJECT/SEQUENCE. It is
// nil if the metadata of the message do not say it.
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

// valueOf returns the result of a mapping for the ith message of a batch as text, nil for null.
func valueOf(mapping *service.MessageBatchBloblangExecutor, i int) ([]byte, error) {
	m, err := mapping.Query(i) // not QueryValue: it does not see metadata and fields
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
	if string(b) == "null" { // Benthos turns null into these bytes; the text null is taken for null too
		b = nil
	}
	return b, err
}

// bytesOf returns a value of a mapping as text, nil for null.
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
	case int, int64, uint64, bool, fmt.Stringer: // json.Number is a Stringer
		return fmt.Append(nil, v), nil
	}
	return nil, fmt.Errorf("it is a %T, and neither text nor a number", v)
}
