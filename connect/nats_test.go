package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/index/stream"
)

// Names of streams, which are their subjects too.
const (
	natsIn  = "ARTICLES"
	natsOut = "KEPT"
)

// consumeNATS is a consumer with three workers, which ends when it cannot go on.
func consumeNATS(url, dir string) error {
	filter, x, err := openFilter(dir)
	if err != nil {
		return err
	}
	defer x.Close()
	ctx := context.Background()
	var workers errgroup.Group
	for range 3 {
		workers.Go(func() error {
			conn, js, err := connectNATS(url)
			if err != nil {
				return err
			}
			defer conn.Close()
			for n := 0; ; n++ {
				// While the server is away this fails, and what was not acknowledged comes again.
				if err := natsBatch(ctx, js, filter, n%4 == 1); errors.Is(err, errUndecided) {
					return err
				} else if err != nil {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	return workers.Wait()
}

var errUndecided = errors.New("nothing is decided")

// natsBatch handles one batch. With fails, its output fails after it was decided.
func natsBatch(ctx context.Context, js jetstream.JetStream, filter *stream.Filter, fails bool) error {
	consumer, err := js.Consumer(ctx, natsIn, "alike")
	if err != nil {
		return err
	}
	fetched, err := consumer.Fetch(128, jetstream.FetchMaxWait(time.Second))
	if err != nil {
		return err
	}
	var got []jetstream.Msg
	var batch []stream.Message
	for m := range fetched.Messages() {
		at, err := m.Metadata()
		if err != nil {
			return err
		}
		delivery := fmt.Sprintf("%s/%d", at.Stream, at.Sequence.Stream)
		got = append(got, m)
		batch = append(batch, stream.Message{ID: []byte(delivery), Text: m.Data(), Delivery: []byte(delivery)})
	}
	decisions, err := filter.Decide(batch)
	if err != nil {
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	if fails {
		for _, m := range got {
			_ = m.Nak()
		}
		return nil
	}
	var sent []jetstream.PubAckFuture
	for i, d := range decisions {
		if d.Pass {
			future, err := js.PublishAsync(natsOut, got[i].Data(), jetstream.WithStallWait(5*time.Second))
			if err != nil {
				return err
			}
			sent = append(sent, future)
		}
	}
	for _, future := range sent {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			return err
		case <-time.After(5 * time.Second):
			return errors.New("the server does not answer")
		}
	}
	for _, m := range got {
		if err := m.Ack(); err != nil {
			return err
		}
	}
	return nil
}

func connectNATS(url string) (*nats.Conn, jetstream.JetStream, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	return conn, js, err
}

// startNATS starts a server; port -1 takes one that is free.
func startNATS(t *testing.T, dir string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s
}

func stopNATS(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// fillNATS makes the streams and the consumer, and sends the articles.
func fillNATS(t *testing.T, js jetstream.JetStream, a articles) {
	t.Helper()
	for _, name := range []string{natsIn, natsOut} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := js.CreateConsumer(t.Context(), natsIn, jetstream.ConsumerConfig{
		Durable: "alike", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Second, MaxAckPending: 4096,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.family {
		if _, err := js.PublishAsync(natsIn, a.text(i), jetstream.WithStallWait(time.Minute)); err != nil { // the machine may be busy
			t.Fatal(err)
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		t.Fatal("the server does not take the articles")
	}
}

// untilAcknowledged waits until so many messages in a row are.
func untilAcknowledged(t *testing.T, js jetstream.JetStream, n uint64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		consumer, err := js.Consumer(t.Context(), natsIn, "alike")
		if err == nil && consumer.CachedInfo().AckFloor.Stream >= n {
			return
		}
	}
	t.Fatalf("%d messages are not acknowledged after ten minutes", n)
}

// Consumers are killed, their output fails, and the server is restarted: of each family of
// articles one is sent, and nothing is missing.
func TestNATSConsumersThatAreKilledSendOneOfEachFamily(t *testing.T) {
	for kind := range consumers {
		t.Run(kind, func(t *testing.T) { testNATS(t, kind) })
	}
}

func testNATS(t *testing.T, kind string) {
	articles := newArticles(messages(t, 10_000))
	const kills = 5
	dir := t.TempDir()
	s := startNATS(t, filepath.Join(dir, "nats"), -1)
	defer func() { stopNATS(s) }()
	conn, js, err := connectNATS(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fillNATS(t, js, articles)
	port := s.Addr().(*net.TCPAddr).Port
	begun := time.Now()
	for kill := 1; kill <= kills+1; kill++ {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), consumerURL+"="+s.ClientURL(), consumerKind+"="+kind, consumerState+"="+filepath.Join(dir, "state"))
		child.Stderr = os.Stderr
		stdin, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if kill == 3 { // while it works
			untilAcknowledged(t, js, uint64((2*kill-1)*len(articles.family)/(2*kills+2)))
			stopNATS(s)
			s = startNATS(t, filepath.Join(dir, "nats"), port)
		}
		untilAcknowledged(t, js, uint64(kill*len(articles.family)/(kills+1)))
		_ = child.Process.Kill()
		_ = child.Wait()
		_ = stdin.Close()
	}
	took := time.Since(begun)
	sent := readNATS(t, js)
	repeated := articles.check(t, sent)
	t.Logf("%d messages, %d families sent, %d kills, %d sent again, %s", len(articles.family), len(sent), kills, repeated, took.Round(time.Millisecond))
}

// readNATS returns how often each article was sent on.
func readNATS(t *testing.T, js jetstream.JetStream) map[int]int {
	t.Helper()
	out, err := js.Stream(t.Context(), natsOut)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := out.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	sent := map[int]int{}
	for left := out.CachedInfo().State.Msgs; left > 0; {
		fetched, err := consumer.Fetch(int(min(left, 1000)), jetstream.FetchMaxWait(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		for m := range fetched.Messages() {
			i, err := place(m.Data())
			if err != nil {
				t.Fatal(err)
			}
			sent[i]++
			left--
		}
		if err := fetched.Error(); err != nil {
			t.Fatal(err)
		}
	}
	return sent
}
