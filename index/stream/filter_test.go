package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// filterOptions are those of an index for a filter.
func filterOptions(t testing.TB, w index.Window) index.Options {
	o := newIndex(t, recipe.Options{}, w).Options()
	o.Columns = []string{stream.DeliveryColumn}
	return o
}

func newFilter(t testing.TB, w index.Window) (*stream.Filter, *index.Index) {
	t.Helper()
	x, err := index.New(filterOptions(t, w))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	f, err := stream.NewFilter(x)
	if err != nil {
		t.Fatal(err)
	}
	return f, x
}

func message(delivery, id, text string) stream.Message {
	return stream.Message{Delivery: []byte(delivery), ID: []byte(id), Text: []byte(text)}
}

// said is a decision in a word.
func said(d stream.Decision) string {
	switch {
	case d.Again:
		return "again"
	case d.Pass && d.Late:
		return "late"
	case d.Pass:
		return "pass"
	}
	return fmt.Sprintf("like %s %.6f", d.Of, d.Similarity)
}

func TestAMessageIsNoDuplicateOfItself(t *testing.T) {
	text, other := words(0, 50), words(100, 50)
	f, _ := newFilter(t, index.Window{})
	counts := map[string]int64{}
	for i, batch := range []struct {
		messages []stream.Message
		want     []string
	}{
		{[]stream.Message{message("0/1", "a", text), message("0/2", "b", other), message("0/3", "c", words(1, 50))}, []string{"pass", "pass", "like a 0.957447"}},
		// Nothing of it was acknowledged, and some of it has come twice.
		{[]stream.Message{message("0/2", "b", other), message("0/1", "a", text), message("0/1", "a", text), message("0/3", "c", words(1, 50))}, []string{"again", "again", "again", "like a 0.957447"}},
		// Sent once more by the producer, byte for byte.
		{[]stream.Message{message("0/4", "a", text)}, []string{"like a 1.000000"}},
		{[]stream.Message{message("0/5", "e", ""), message("0/5", "e", ""), message("0/6", "f", "")}, []string{"pass", "pass", "pass"}},
		{nil, nil},
	} {
		decisions, err := f.Decide(batch.messages)
		if err != nil || len(decisions) != len(batch.want) {
			t.Fatalf("batch %d: %v, %v", i, decisions, err)
		}
		for j, d := range decisions {
			if said(d) != batch.want[j] {
				t.Errorf("batch %d, message %d: %s, want %s", i, j, said(d), batch.want[j])
			}
			counts[strings.Fields(said(d))[0]]++
		}
	}
	if c := f.Count(); c != (stream.FilterCount{Passed: counts["pass"], Again: counts["again"], Dropped: counts["like"]}) {
		t.Errorf("%+v, want %v", c, counts)
	}
}

func TestAMessageThatWasMovedToTheEndOfTheWindowIsStillItself(t *testing.T) {
	f, _ := newFilter(t, index.Window{Docs: 2, Refresh: true})
	for _, step := range []struct {
		m    stream.Message
		want string
	}{
		{message("1", "a", words(0, 50)), "pass"},
		{message("2", "b", words(100, 50)), "pass"},
		{message("3", "c", words(0, 50)), "like a 1.000000"},
		{message("4", "d", words(200, 50)), "pass"}, // b goes
		{message("1", "a", words(0, 50)), "again"},
		{message("2", "b", words(100, 50)), "pass"},
	} {
		decisions, err := f.Decide([]stream.Message{step.m})
		if err != nil || said(decisions[0]) != step.want {
			t.Errorf("%s: %v, %v, want %s", step.m.ID, said(decisions[0]), err, step.want)
		}
	}
}

func TestTimesOfMessagesBoundWhatIsAlike(t *testing.T) {
	f, _ := newFilter(t, index.Window{Age: time.Hour})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		minutes int
		want    string
	}{{0, "pass"}, {59, "like 0 1.000000"}, {61, "pass"}, {130, "pass"}, {30, "late"}} {
		m := message(fmt.Sprint(i), fmt.Sprint(i), words(0, 50))
		m.Time = start.Add(time.Duration(step.minutes) * time.Minute)
		decisions, err := f.Decide([]stream.Message{m})
		if err != nil || said(decisions[0]) != step.want {
			t.Errorf("%d minutes: %v, %v, want %s", step.minutes, decisions, err, step.want)
		}
	}
	if c := f.Count(); c.Late != 1 {
		t.Errorf("%+v", c)
	}
}

func TestAFilterRefusesWhatItCannotTellApart(t *testing.T) {
	if _, err := stream.NewFilter(newIndex(t, recipe.Options{}, index.Window{})); err == nil || !strings.Contains(err.Error(), `"delivery"`) {
		t.Errorf("an index without the column: %v", err)
	}
	f, x := newFilter(t, index.Window{})
	if _, err := f.Decide([]stream.Message{message("1", "a", words(0, 50)), message("", "b", "")}); err == nil || !strings.Contains(err.Error(), "message 2 of 2") {
		t.Errorf("a message without a delivery: %v", err)
	}
	if n := x.Stats().Checked; n != 0 {
		t.Errorf("%d documents were checked of a batch that was refused", n)
	}
	_ = x.Close()
	if _, err := f.Decide([]stream.Message{message("1", "a", "")}); !errors.Is(err, index.ErrClosed) {
		t.Errorf("a closed index: %v", err)
	}
}

// broker delivers messages, in any order and again, until they are acknowledged.
type broker struct {
	texts   []string
	pending []int // not acknowledged
	sent    map[int]int
}

// batch takes some of what is pending.
func (b *broker) batch(draw func(n int) int) []stream.Message {
	var messages []stream.Message
	for range 1 + draw(6) {
		n := b.pending[draw(min(len(b.pending), 12))]
		messages = append(messages, message(fmt.Sprint(n), fmt.Sprint("id-", n%5), b.texts[n]))
	}
	return messages
}

func (b *broker) acknowledge(m stream.Message) {
	for i, n := range b.pending {
		if fmt.Sprint(n) == string(m.Delivery) {
			b.pending = append(b.pending[:i], b.pending[i+1:]...)
			return
		}
	}
}

func (b *broker) send(t *testing.T, m stream.Message) {
	var n int
	if err := json.Unmarshal(m.Delivery, &n); err != nil {
		t.Fatal(err)
	}
	b.sent[n]++
}

// Whatever is not acknowledged, in whatever order it comes again, and whenever the power fails:
// of each family one message is sent, and it is always the same one.
func TestOfEachFamilyOneMessageIsSentWhateverFails(t *testing.T) {
	o := filterOptions(t, index.Window{Docs: 1000})
	runs := 60
	if testsize.Small() {
		runs = 6
	}
	for seed := range runs {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		draw := random.IntN
		b := &broker{sent: map[int]int{}}
		families := 1 + draw(8)
		for i := range 10 + draw(30) {
			b.texts = append(b.texts, words(draw(families)*1000, 60)+strings.Repeat("end", draw(3)))
			b.pending = append(b.pending, i)
		}
		fs := vfstest.NewCrashable()
		x, f := reopened(t, fs, o)
		for len(b.pending) > 0 {
			messages := b.batch(draw)
			decisions, err := f.Decide(messages)
			if err != nil {
				t.Fatal(err)
			}
			fails := draw(4) // before anything is sent, in between, before it is acknowledged, not at all
			for i, d := range decisions {
				if d.Pass && (fails > 1 || fails == 1 && draw(2) == 0) {
					b.send(t, messages[i])
				}
				if fails == 3 {
					b.acknowledge(messages[i])
				}
			}
			if draw(8) == 0 { // the power, with nothing, some or all of what was not synced
				clone := fs.CrashClone(vfstest.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[draw(3)], RNG: rand.New(rand.NewPCG(random.Uint64(), 2))})
				_ = x.Close()
				fs = clone
				x, f = reopened(t, fs, o)
			}
		}
		_ = x.Close()
		of := map[string]int{}
		for n := range b.sent {
			of[strings.Fields(b.texts[n])[0]]++
		}
		all := map[string]bool{}
		for _, text := range b.texts {
			all[strings.Fields(text)[0]] = true
		}
		for family := range all {
			if of[family] != 1 {
				t.Fatalf("run %d: of family %s %d messages were sent", seed, family, of[family])
			}
		}
	}
}

func reopened(t *testing.T, fs vfs.FS, o index.Options) (*index.Index, *stream.Filter) {
	x, err := index.OpenOrCreate("state", index.OpenOptions{Options: o, FS: fs, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := stream.NewFilter(x)
	if err != nil {
		t.Fatal(err)
	}
	return x, f
}

func TestBatchesOfManyConsumersAgree(t *testing.T) {
	f, _ := newFilter(t, index.Window{})
	const consumers, families = 4, 200
	var mu sync.Mutex
	passed := map[int]int{}
	var done sync.WaitGroup
	for c := range consumers {
		done.Go(func() {
			for from := 0; from < families; from += 20 {
				var batch []stream.Message
				for family := from; family < from+20; family++ {
					batch = append(batch, message(fmt.Sprint(c, "/", family), "", words(family*100, 50)))
				}
				decisions, err := f.Decide(batch)
				if err != nil {
					t.Error(err)
					return
				}
				for i, d := range decisions {
					if d.Pass {
						mu.Lock()
						passed[from+i]++
						mu.Unlock()
					}
				}
			}
		})
	}
	done.Wait()
	for family := range families {
		if passed[family] != 1 {
			t.Errorf("family %d passed %d times", family, passed[family])
		}
	}
}
