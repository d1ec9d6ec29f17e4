package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// childConfig, if set, makes the test's program the distribution, which runs this configuration.
const childConfig = "ALIKE_TEST_CONFIG"

func TestMain(m *testing.M) {
	if path := os.Getenv(childConfig); path != "" {
		os.Args = []string{"alike-connect", "run", path}
		main()
		return
	}
	os.Exit(m.Run())
}

const pipeline = `
http: { enabled: false }
logger: { level: ERROR }
input:
  kafka_franz:
    seed_brokers: [ %[1]q ]
    topics: [ %[2]s-in ]
    consumer_group: %[2]s
    start_from_oldest: true
    session_timeout: %[4]s
    heartbeat_interval: 100ms
    commit_period: 100ms
    batching: { count: 256, period: 20ms }
pipeline:
  processors:
    - alike_dedupe: { path: %[3]q }
output:
  reject_errored:
    kafka_franz:
      seed_brokers: [ %[1]q ]
      topic: %[2]s-out
`

// brokers is a connection to Kafka, and what a test has there.
type brokers struct {
	client *kgo.Client
	name   string // of the group; topics begin with it
}

// messages returns how many the test sends: ALIKE_MESSAGES, or few.
func messages(t *testing.T) int {
	value := os.Getenv("ALIKE_MESSAGES")
	if value == "" {
		return 4_000
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// article is a message of a family: of two families hardly a shingle is the same, of one all but the last.
func article(i, family int) []byte {
	var b strings.Builder
	random := rand.New(rand.NewPCG(uint64(family), 3))
	for range 99 {
		fmt.Fprint(&b, strconv.FormatUint(uint64(random.Uint32N(1<<25)), 36), " ")
	}
	return fmt.Append([]byte(b.String()), i)
}

// The distribution is killed in the middle of its work, and a stranger joins its group and leaves: of each family
// of articles one is sent on, always the same, and none is missing. ALIKE_KAFKA=host:port names a broker.
func TestAPipelineOfKafkaThatIsKilledSendsOneOfEachFamily(t *testing.T) {
	address, session := os.Getenv("ALIKE_KAFKA"), "6s" // the least that Kafka allows
	if address == "" {
		session = "500ms"
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(6),
			kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "100"}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
		address = cluster.ListenAddrs()[0]
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	b := brokers{client, fmt.Sprint("alike-", time.Now().UnixNano())}
	n := messages(t)
	families := b.fill(t, n)

	config, dir := filepath.Join(t.TempDir(), "pipeline.yaml"), filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(config, fmt.Appendf(nil, pipeline, address, b.name, dir, session), 0o666); err != nil {
		t.Fatal(err)
	}
	const kills = 2
	begun := time.Now()
	for kill := 1; kill <= kills+1; kill++ {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childConfig+"="+config)
		child.Stdout, child.Stderr = os.Stderr, os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if kill == 2 {
			b.untilCommitted(t, int64((2*kill-1)*n/(2*kills+2)))
			b.visit(t, address)
		}
		b.untilCommitted(t, int64(kill*n/(kills+1)))
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	took := time.Since(begun)
	sent, again := b.read(t), 0
	of := map[int]int{}
	for i, times := range sent {
		again += times - 1
		if other, ok := of[families[i]]; ok {
			t.Errorf("articles %d and %d were sent, which are alike", i, other)
		}
		of[families[i]] = i
	}
	for i, family := range families {
		if _, ok := of[family]; !ok {
			t.Fatalf("article %d was not sent, and none that it is like", i)
		}
	}
	t.Logf("%d messages, %d families sent, %d kills, %d sent again, %s", n, len(sent), kills, again, took.Round(time.Millisecond))
}

// fill makes the topics and sends n articles, of which a third are near-copies of something that came before. It returns
// their families.
func (b *brokers) fill(t *testing.T, n int) (families []int) {
	if _, err := kadm.NewClient(b.client).CreateTopics(t.Context(), 6, 1, nil, b.name+"-in", b.name+"-out"); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	families = make([]int, n)
	for i := range families {
		if families[i] = i; i > 0 && random.IntN(3) == 0 {
			families[i] = families[random.IntN(i)]
		}
		b.client.Produce(t.Context(), &kgo.Record{Topic: b.name + "-in", Value: article(i, families[i]), Key: fmt.Append(nil, i)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := b.client.Flush(t.Context()); err != nil || t.Failed() {
		t.Fatal(err)
	}
	return families
}

// untilCommitted waits until the group has committed so many messages.
func (b *brokers) untilCommitted(t *testing.T, n int64) {
	admin := kadm.NewClient(b.client)
	for end := time.Now().Add(20 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		sum := int64(0)
		offsets, err := admin.FetchOffsets(t.Context(), b.name)
		if err == nil {
			offsets.Each(func(o kadm.OffsetResponse) { sum += o.At })
		}
		if sum >= n {
			return
		}
	}
	t.Fatalf("%d messages are not committed after twenty minutes", n)
}

// visit joins the group, takes messages that it does nothing with, and leaves.
func (b *brokers) visit(t *testing.T, address string) {
	visitor, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumerGroup(b.name), kgo.ConsumeTopics(b.name+"-in"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	visitor.PollRecords(ctx, 1)
	visitor.Close()
}

// read returns how often each article was sent on.
func (b *brokers) read(t *testing.T) map[int]int {
	ends, err := kadm.NewClient(b.client).ListEndOffsets(t.Context(), b.name+"-out")
	if err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	b.client.AddConsumeTopics(b.name + "-out")
	sent := map[int]int{}
	for left > 0 {
		fetches := b.client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			i, err := strconv.Atoi(string(r.Value[strings.LastIndexByte(string(r.Value), ' ')+1:]))
			if err != nil {
				t.Fatal(err)
			}
			sent[i]++
			left--
		}
	}
	return sent
}
