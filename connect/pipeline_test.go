package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

// runNATS is a consumer as consumeNATS is, made of a pipeline of Benthos with alike_dedupe in
// three threads. Each fourth batch that passes is not sent: the output fails.
func runNATS(url, dir string) error {
	env := service.GlobalEnvironment().Clone()
	if err := env.RegisterBatchInput("articles", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return &natsInput{url: url}, nil
	}); err != nil {
		return err
	}
	b := env.NewStreamBuilder()
	b.SetThreads(3)
	conn, js, err := connectNATS(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, add := range []func() error{
		func() error { return b.AddInputYAML("articles: {}") },
		func() error { return b.AddProcessorYAML("alike_dedupe: { path: '" + dir + "' }") },
		func() error { return b.SetLoggerYAML("level: ERROR") },
		func() error { return b.AddBatchConsumerFunc(failing(sendTo(js), 4)) },
	} {
		if err := add(); err != nil {
			return err
		}
	}
	s, err := b.Build()
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

// failing is an output of which every nth call fails.
func failing(output service.MessageBatchHandlerFunc, n int) service.MessageBatchHandlerFunc {
	var mu sync.Mutex
	calls := 0
	return func(ctx context.Context, batch service.MessageBatch) error {
		mu.Lock()
		calls++
		fails := calls%n == 2
		mu.Unlock()
		if fails {
			return errors.New("the output fails")
		}
		return output(ctx, batch)
	}
}

// sendTo is an output that publishes what it gets, and refuses what is marked as failed.
func sendTo(js jetstream.JetStream) service.MessageBatchHandlerFunc {
	return func(ctx context.Context, batch service.MessageBatch) error {
		for _, m := range batch {
			if err := m.GetError(); err != nil {
				return err
			}
			b, err := m.AsBytes()
			if err != nil {
				return err
			}
			if _, err := js.Publish(ctx, natsOut, b); err != nil {
				return err
			}
		}
		return nil
	}
}

// natsInput reads batches as the input nats_jetstream does messages, with the same metadata.
type natsInput struct {
	url      string
	close    func()
	consumer jetstream.Consumer
}

func (n *natsInput) Connect(ctx context.Context) error {
	conn, js, err := connectNATS(n.url)
	if err != nil {
		return err
	}
	n.close = conn.Close
	n.consumer, err = js.Consumer(ctx, natsIn, "alike")
	return err
}

func (n *natsInput) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	for ctx.Err() == nil {
		fetched, err := n.consumer.Fetch(128, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			time.Sleep(20 * time.Millisecond) // the server is away
			continue
		}
		var got []jetstream.Msg
		var batch service.MessageBatch
		for m := range fetched.Messages() {
			at, err := m.Metadata()
			if err != nil {
				return nil, nil, err
			}
			out := service.NewMessage(m.Data())
			out.MetaSetMut("nats_subject", m.Subject())
			out.MetaSetMut("nats_sequence_stream", fmt.Sprint(at.Sequence.Stream))
			got, batch = append(got, m), append(batch, out)
		}
		if len(batch) > 0 {
			return batch, acknowledge(got), nil
		}
	}
	return nil, nil, ctx.Err()
}

// acknowledge returns what tells the server what has become of a batch.
func acknowledge(got []jetstream.Msg) service.AckFunc {
	return func(_ context.Context, failed error) error {
		for _, m := range got {
			if failed != nil {
				_ = m.Nak()
			} else if err := m.Ack(); err != nil {
				return err
			}
		}
		return nil
	}
}

func (n *natsInput) Close(context.Context) error {
	if n.close != nil {
		n.close()
	}
	return nil
}
