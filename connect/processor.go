package connect

import (
	"context"
	"strconv"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/index/stream"
)

func init() {
	service.MustRegisterBatchProcessor("alike_dedupe", spec(), func(c *service.ParsedConfig, mgr *service.Resources) (service.BatchProcessor, error) {
		return newProcessor(c, mgr)
	})
}

// Names of the metadata of duplicates that pass because tag is set.
const (
	metaDuplicateOf = "alike_duplicate_of"
	metaSimilarity  = "alike_similarity"
)

// processor is one alike_dedupe. All threads of a pipeline use it.
type processor struct {
	mappings
	tag        bool
	inMemory   bool
	collection *collection
	said       sync.Map // fields about which the log has a line
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
	p.inMemory = s.path == ""
	p.messages = mgr.Metrics().NewCounter("alike_dedupe_messages", "decision")
	p.documents = mgr.Metrics().NewGauge("alike_dedupe_documents")
	p.collection, err = acquire(s, mgr)
	return p, err
}

// ProcessBatch returns the messages that pass, in their order. If the collection has a path, they are on disk by
// then. It returns an error only when the context ends.
func (p *processor) ProcessBatch(ctx context.Context, batch service.MessageBatch) ([]service.MessageBatch, error) {
	var messages []stream.Message
	problems := make([]*problem, len(batch))
	fields := p.mappings.of(batch)
	for i := range batch {
		m, wrong := fields.message(batch[i], i)
		if wrong == nil {
			wrong = p.identify(&m)
		}
		if problems[i] = wrong; wrong != nil {
			p.sayOnce(wrong.field, p.log.Errorf, "%v. Such messages pass undecided, with an error set on them", wrong)
			continue
		}
		messages = append(messages, m)
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

// identify sees to it that a message has a delivery and an id. Where nothing tells which message it is, it is
// numbered, but only in memory: no process after this one could know the number.
func (p *processor) identify(m *stream.Message) *problem {
	if len(m.Delivery) == 0 {
		if !p.inMemory {
			return errNoDelivery
		}
		number := strconv.FormatInt(p.collection.unnamed.Add(1), 10)
		m.Delivery = []byte("\x00" + number) // no mapping gives the like
		if m.ID == nil {
			m.ID = []byte("message " + number)
		}
		p.sayOnce(fieldDelivery, p.log.Warnf, "alike_dedupe: nothing tells which message one is, so one that comes again, because an output has failed, "+
			"is dropped as a duplicate of itself: set %s to a mapping that tells it, or let the output retry", fieldDelivery)
	}
	if m.ID == nil {
		m.ID = m.Delivery
	}
	return nil
}

// sayOnce writes a line about a field to the log, the first time.
func (p *processor) sayOnce(field string, say func(string, ...any), format string, args ...any) {
	if _, before := p.said.LoadOrStore(field, true); !before {
		say(format, args...)
	}
}

// decided counts the decision about a message. It returns the message to send, or false if it is dropped.
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

func (p *processor) Close(context.Context) error { return p.collection.release() }
