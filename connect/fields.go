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

// A problem says why nothing can be decided about a message, and which field is to be set right.
type problem struct {
	field string
	err   error
}

func (p *problem) Error() string { return "alike_dedupe: " + p.field + ": " + p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

var (
	errNoText     = &problem{fieldText, errors.New("the mapping gives null: name the field with the text")}
	errNoDelivery = &problem{fieldDelivery, errors.New("nothing tells which message this is, and " + fieldPath + " is set: " +
		"set " + fieldDelivery + " to a mapping that does, such as root = meta(\"message_id\"); or leave " + fieldPath + " out, to deduplicate in memory")}
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

// message makes the message for stream.Filter from the ith message of the batch, in. Its Delivery is empty if nothing
// tells which message it is.
func (b batchMappings) message(in *service.Message, i int) (m stream.Message, wrong *problem) {
	var at []byte
	for _, f := range []struct {
		name    string
		mapping *service.MessageBatchBloblangExecutor
		to      *[]byte
	}{{fieldText, b.text, &m.Text}, {fieldID, b.id, &m.ID}, {fieldDelivery, b.delivery, &m.Delivery}, {fieldTime, b.time, &at}} {
		if f.mapping == nil {
			continue
		}
		var err error
		if *f.to, err = valueOf(f.mapping, i); err != nil {
			return m, &problem{f.name, err}
		}
	}
	if b.text == nil {
		var err error
		if m.Text, err = in.AsBytes(); err != nil {
			return m, &problem{fieldText, err}
		}
	} else if m.Text == nil {
		return m, errNoText
	}
	if b.delivery == nil {
		m.Delivery = placeOf(in)
	}
	if at != nil {
		var err error
		if m.Time, err = stream.ParseTime(at); err != nil {
			return m, &problem{fieldTime, err}
		}
	}
	return m, nil
}

// places are, for Kafka, NATS JetStream, SQS and Pub/Sub, the names of the metadata that together are the position of a
// message in the broker, or identify it there.
var places = [][]string{
	{"kafka_topic", "kafka_partition", "kafka_offset"}, {"nats_subject", "nats_sequence_stream"}, {"sqs_message_id"}, {"gcp_pubsub_message_id"},
}

// placeOf returns the position of a message in its broker, as TOPIC/PARTITION/OFFSET, SUBJECT/SEQUENCE or ID. It is
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
