package connect

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/index/stream"
)

// kafkaTest is what the consumers of a test share.
type kafkaTest struct {
	address string
	in, out string // topics
	filter  *stream.Filter

	mu        sync.Mutex
	sent      int
	committed map[int32]int64 // of each partition, how far
}

func (k *kafkaTest) client(t *testing.T, o ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(o, kgo.SeedBrokers(k.address), kgo.AllowAutoTopicCreation(),
		kgo.UnknownTopicRetries(50), kgo.MetadataMinAge(100*time.Millisecond), kgo.RetryTimeout(30*time.Second))...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// consume is a member of the group until ctx ends, or it has read so many messages: of the last
// batch it sends half and commits nothing, and leaves.
func (k *kafkaTest) consume(ctx context.Context, client *kgo.Client, most int) error {
	defer client.CloseAllowingRebalance()
	for read := 0; ; {
		fetches := client.PollRecords(ctx, 256)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		records := fetches.Records()
		read += len(records)
		batch := make([]stream.Message, len(records))
		for i, r := range records {
			delivery := fmt.Appendf(nil, "%s/%d/%d", r.Topic, r.Partition, r.Offset)
			batch[i] = stream.Message{ID: delivery, Text: r.Value, Delivery: delivery}
		}
		decisions, err := k.filter.Decide(batch)
		if err != nil {
			return err
		}
		if read > most {
			return k.send(ctx, client, records[:len(records)/2], decisions)
		}
		if err := k.send(ctx, client, records, decisions); err != nil {
			return err
		}
		// It fails where a partition has gone to another member, which reads the records again.
		if client.CommitRecords(ctx, records...) == nil {
			k.commit(records)
		}
	}
}

// send returns when what passes of the records was sent.
func (k *kafkaTest) send(ctx context.Context, client *kgo.Client, records []*kgo.Record, decisions []stream.Decision) error {
	var passed []*kgo.Record
	for i, r := range records {
		if decisions[i].Pass {
			passed = append(passed, &kgo.Record{Topic: k.out, Value: r.Value})
		}
	}
	if err := client.ProduceSync(context.WithoutCancel(ctx), passed...).FirstErr(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sent += len(passed)
	return nil
}

func (k *kafkaTest) commit(records []*kgo.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range records {
		k.committed[r.Partition] = max(k.committed[r.Partition], r.Offset+1)
	}
}

// untilCommitted waits until so many messages are, as long as no member has failed.
func (k *kafkaTest) untilCommitted(t *testing.T, members context.Context, n int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end) && members.Err() == nil; time.Sleep(10 * time.Millisecond) {
		k.mu.Lock()
		sum := int64(0)
		for _, offset := range k.committed {
			sum += offset
		}
		k.mu.Unlock()
		if sum >= n {
			return
		}
	}
	t.Fatalf("%d messages are not committed after ten minutes, or a member has failed: %v", n, context.Cause(members))
}

// fill sends the articles.
func (k *kafkaTest) fill(t *testing.T, a articles) {
	t.Helper()
	client := k.client(t)
	defer client.Close()
	var failed error
	for i := range a.family {
		client.Produce(t.Context(), &kgo.Record{Topic: k.in, Value: a.text(i), Key: fmt.Append(nil, i)}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed = err
			}
		})
	}
	if err := client.Flush(t.Context()); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// read returns how often each article was sent on.
func (k *kafkaTest) read(t *testing.T) map[int]int {
	t.Helper()
	client := k.client(t, kgo.ConsumeTopics(k.out), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer client.Close()
	sent := map[int]int{}
	for left := k.sent; left > 0; {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			i, err := place(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			sent[i]++
			left--
		}
	}
	return sent
}

// kafkaAddress starts the broker of franz-go's own tests, unless ALIKE_KAFKA is the address of a real one.
func kafkaAddress(t *testing.T) string {
	t.Helper()
	if address := os.Getenv("ALIKE_KAFKA"); address != "" {
		return address
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(6))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()[0]
}

// Members join a group in the middle of its work, one leaves a batch half done, and all are replaced by
// ones that open the state anew: of each family of articles one is sent, and nothing is missing.
func TestKafkaConsumersOfAGroupThatChangesSendOneOfEachFamily(t *testing.T) {
	articles := newArticles(messages(t, 10_000))
	total, dir := int64(len(articles.family)), filepath.Join(t.TempDir(), "state")
	run := time.Now().UnixNano() // a broker that goes on has topics of earlier runs
	k := &kafkaTest{address: kafkaAddress(t), in: fmt.Sprint("articles-", run), out: fmt.Sprint("kept-", run), committed: map[int32]int64{}}
	k.fill(t, articles)
	begun, again := time.Now(), int64(0)
	const lives = 2 // of the process
	for life := range int64(lives) {
		filter, x, err := openFilter(dir)
		if err != nil {
			t.Fatal(err)
		}
		k.filter = filter
		ctx, leave := context.WithCancel(t.Context())
		members, working := errgroup.WithContext(ctx)
		join := func(most int) {
			client := k.client(t, kgo.ConsumerGroup(fmt.Sprint("alike-", run)), kgo.ConsumeTopics(k.in), kgo.DisableAutoCommit(),
				kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(100*time.Millisecond))
			members.Go(func() error { return k.consume(working, client, most) })
		}
		at := func(share int64) { k.untilCommitted(t, working, total*(8*life+share)/(8*lives)) }
		join(int(total/16) + 300) // it leaves soon after the second one has joined
		at(1)
		join(math.MaxInt)
		at(3)
		join(math.MaxInt)
		at(8)
		leave()
		if err := members.Wait(); err != nil {
			t.Fatal(err)
		}
		again += filter.Count().Again
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(begun)
	sent := k.read(t)
	repeated := articles.check(t, sent)
	if again == 0 || repeated == 0 {
		t.Error("nothing was delivered again: the test does not look at what it is for")
	}
	t.Logf("%d messages, %d families sent, %d decided again, %d sent again, %s", total, len(sent), again, repeated, took.Round(time.Millisecond))
}
