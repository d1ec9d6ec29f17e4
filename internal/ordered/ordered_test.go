package ordered_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/internal/ordered"
	"github.com/alike-dev/alike/internal/ordered/memlog"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// list is a machine that keeps what it is told, and answers how much that was.
type list struct {
	mu    sync.Mutex
	said  []string
	times []time.Time
	want  uint64 // Needs
	other bool   // it decides otherwise than others
	loads int
}

func (l *list) Apply(e *ordered.Entry, sum []byte) (outcomes []any, _ []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range e.Ops {
		l.said, l.times = append(l.said, string(op)), append(l.times, e.Now)
		outcomes = append(outcomes, len(l.said))
		sum = append(binary.AppendUvarint(sum, uint64(len(l.said))), fmt.Sprint(l.other)...)
	}
	return outcomes, sum, nil
}

func (l *list) Save() (func(io.Writer) error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, err := json.Marshal(l.said)
	return func(to io.Writer) error {
		_, err := to.Write(append(body, '\n'))
		return err
	}, err
}

func (l *list) Load(from ordered.Reader) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = nil
	l.loads++
	if from == nil {
		return nil
	}
	return json.NewDecoder(from).Decode(&l.said)
}

func (l *list) Needs(applied uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.want > 0 {
		return l.want
	}
	return applied + 1
}

func (l *list) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.said...)
}

// one is a replica of a test.
type one struct {
	*ordered.Replica
	list   *list
	client *memlog.Client
	dir    string
}

func begin(t testing.TB, log *memlog.Log, name, dir string, change func(c *ordered.Config)) *one {
	t.Helper()
	o := &one{list: &list{}, client: log.Client(), dir: dir}
	c := ordered.Config{Log: o.client, Machine: o.list, Name: name, Knows: 1, Dir: dir, Durable: true, FS: vfs.OS, Now: time.Now,
		Report: slog.New(slog.DiscardHandler), SnapshotBytes: 2000}
	if change != nil {
		change(&c)
	}
	r, err := ordered.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	o.Replica = r
	return o
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func (o *one) say(t testing.TB, op string) (int, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n, err := o.Propose(ctx, []byte(op))
	if err != nil {
		return 0, err
	}
	return n.(int), nil
}

func (o *one) ready(t testing.TB) {
	t.Helper()
	eventually(t, "ready", func() bool { s := o.Status(); return s.Err == nil && s.Lag < time.Second })
}

func same(a, b []string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// While connections are cut, answers are lost, and replicas end and begin again of snapshots, each operation that was
// answered is there once, at the place that the answer said, on all replicas.
func TestEveryAnsweredOperationIsThereOnce(t *testing.T) {
	log := memlog.New()
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	all := make([]*one, len(dirs))
	for i := range all {
		all[i] = begin(t, log, fmt.Sprint(i), dirs[i], nil)
		all[i].ready(t)
	}
	places, random := map[int]string{}, rand.New(rand.NewPCG(1, 2))
	for round := range 6 {
		var group sync.WaitGroup
		var mu sync.Mutex
		for i, o := range all {
			for n := range 40 {
				group.Go(func() {
					op := fmt.Sprintf("%d.%d.%d", round, i, n)
					at, err := o.say(t, op)
					mu.Lock()
					defer mu.Unlock()
					if err != nil && !errors.Is(err, ordered.ErrUnconfirmed) && !errors.Is(err, context.Canceled) && !errors.Is(err, ordered.ErrLoading) {
						t.Errorf("%s: %v", op, err)
					}
					if err == nil {
						if other := places[at]; other != "" {
							t.Errorf("%s and %s are at %d", other, op, at)
						}
						places[at] = op
					}
				})
			}
		}
		at := random.IntN(len(all))
		all[(at+1)%len(all)].client.Set(func(c *memlog.Client) { c.Drop = 2 + random.IntN(4) })
		switch round % 4 {
		case 0:
			all[at].client.Set(func(c *memlog.Client) { c.Lost = true })
		case 1:
			all[at].client.Set(func(c *memlog.Client) { c.Down = true })
		case 2:
			all[at].Close()
			all[at] = begin(t, log, fmt.Sprint(at), dirs[at], nil)
			all[at].ready(t)
		}
		time.Sleep(10 * time.Millisecond)
		for _, o := range all {
			o.client.Set(func(c *memlog.Client) { c.Down, c.Lost, c.Drop = false, false, 0 })
		}
		group.Wait()
	}
	for _, o := range all {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := o.Barrier(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	}
	said := all[0].list.all()
	for i, o := range all {
		if !same(o.list.all()[:len(said)], said) {
			t.Errorf("replica %d has another list", i)
		}
		if s := o.Status(); s.Resets > 0 {
			t.Errorf("replica %d: %+v", i, s)
		}
		o.Close()
	}
	for at, op := range places {
		if said[at-1] != op {
			t.Errorf("%s is at %d, where %s was to be", said[at-1], at, op)
		}
	}
	if len(places) < 500 {
		t.Errorf("%d operations were answered", len(places))
	}
	if first, _ := log.Entries(); first == 1 {
		t.Error("nothing was trimmed")
	}
}

// twice is a client by which each entry comes twice.
type twice struct{ *memlog.Client }

func (c twice) Send(entry []byte) error {
	return errors.Join(c.Client.Send(entry), c.Client.Send(entry))
}

// Entries that are on their way at once get lost, or come twice, and others of them do not: what one goroutine has proposed is applied in
// its order all the same, each operation once, and on all replicas alike.
func TestOperationsKeepTheirOrderWhateverEntriesGetLost(t *testing.T) {
	log := memlog.New()
	all := []*one{begin(t, log, "a", t.TempDir(), nil), begin(t, log, "b", t.TempDir(), func(c *ordered.Config) { c.Log = twice{c.Log.(*memlog.Client)} })}
	for _, o := range all {
		defer o.Close()
		o.ready(t)
	}
	var group sync.WaitGroup
	for i, o := range all {
		o.client.Set(func(c *memlog.Client) { c.Drop = 3 + i })
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 5))
			last := 0
			for round := range 3 {
				var waiting []ordered.Pending
				for n := range 40 {
					of, err := o.Begin(fmt.Appendf(nil, "%d.%d.%d.%0*d", i, round, n, 1+random.IntN(60<<10), 0))
					if err != nil {
						t.Error(err)
						return
					}
					waiting = append(waiting, of)
				}
				for n, of := range waiting {
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					at, err := o.Wait(ctx, of)
					cancel()
					if err != nil || at.(int) <= last {
						t.Errorf("operation %d of round %d is at %v, behind one at %d: %v", n, round, at, last, err)
						return
					}
					last = at.(int)
				}
			}
		})
	}
	group.Wait()
	eventually(t, "both have all", func() bool { return len(all[0].list.all()) >= 240 && len(all[1].list.all()) >= 240 })
	said := all[0].list.all()
	if len(said) != 240 || !same(said, all[1].list.all()) {
		t.Errorf("%d operations were applied", len(said))
	}
	slices.Sort(said)
	if len(slices.Compact(said)) != 240 {
		t.Error("some were applied twice")
	}
	if first, entries := log.Entries(); first == 1 && len(entries) < 12 {
		t.Errorf("all went in %d entries", len(entries))
	}
}

// twoOf returns two replicas of a log that are ready.
func twoOf(t *testing.T, log *memlog.Log) (a, b *one) {
	t.Helper()
	a, b = begin(t, log, "a", t.TempDir(), nil), begin(t, log, "b", t.TempDir(), nil)
	t.Cleanup(func() {
		b.Close()
		a.Close()
	})
	a.ready(t)
	b.ready(t)
	return a, b
}

// Of a log whose end is lost and comes back different, a replica that had applied the old one goes back.
func TestAReplicaGoesBackWhenALostEndComesBackDifferent(t *testing.T) {
	log := memlog.New()
	a, b := twoOf(t, log)
	for i := range 20 {
		if _, err := a.say(t, fmt.Sprint("before ", i)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "b has all", func() bool { return len(b.list.all()) == 20 })
	b.client.Set(func(c *memlog.Client) { c.Down = true })
	log.Cut(5)
	eventually(t, "a goes back", func() bool { return a.Status().Resets > 0 })
	a.ready(t)
	for i := range 12 {
		_, err := a.say(t, fmt.Sprint("after ", i))
		if i == 0 && errors.Is(err, ordered.ErrUnconfirmed) {
			_, err = a.say(t, "after 0") // what comes behind lost entries of one process is never applied
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.client.Set(func(c *memlog.Client) { c.Down = false })
	eventually(t, "b goes back", func() bool { return b.Status().Resets > 0 })
	b.ready(t)
	if _, err := b.say(t, "last"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both have the same", func() bool { return same(a.list.all(), b.list.all()) })
	if said := a.list.all(); said[len(said)-1] != "last" || len(said) > 20-1+12+1 {
		t.Errorf("%q", said)
	}
}

// A replica that has decided otherwise than another learns it from the next entry of that one, and goes back.
func TestAReplicaThatDecidesOtherwiseGoesBack(t *testing.T) {
	log := memlog.New()
	a, b := twoOf(t, log)
	b.list.mu.Lock()
	b.list.other = true
	b.list.mu.Unlock()
	eventually(t, "b goes back", func() bool {
		if _, err := a.say(t, "more"); err != nil && !errors.Is(err, ordered.ErrLoading) && !errors.Is(err, ordered.ErrUnconfirmed) {
			t.Fatal(err)
		}
		return b.Status().Resets > 0
	})
}

// A server that no longer leads does not know the last entries for a moment. The replica asks again, and is not ready
// meanwhile: its state may be one that is lost.
func TestALogThatSeemsShortForAMomentHasLostNothing(t *testing.T) {
	log := memlog.New()
	a := begin(t, log, "a", t.TempDir(), nil)
	defer a.Close()
	a.ready(t)
	for i := range 10 {
		if _, err := a.say(t, fmt.Sprint("before ", i)); err != nil {
			t.Fatal(err)
		}
	}
	a.client.Set(func(c *memlog.Client) { c.Down = true })
	time.Sleep(500 * time.Millisecond) // it tries again all the time
	a.client.Set(func(c *memlog.Client) { c.Down, c.Stale = false, 4 })
	eventually(t, "behind", func() bool { return a.Status().Lag >= time.Second })
	a.client.Set(func(c *memlog.Client) { c.Stale = 0 })
	if _, err := a.say(t, "after"); err != nil {
		t.Fatal(err)
	}
	if s := a.Status(); s.Resets > 0 || s.Reloads > 0 || s.Err != nil {
		t.Errorf("%+v", s)
	}
}

// A replica without a snapshot takes that of another one where the log begins behind what it needs, and says so if
// there is none. A machine that needs old entries keeps them.
func TestAReplicaBeginsWithTheSnapshotOfAnother(t *testing.T) {
	log := memlog.New()
	a := begin(t, log, "a", t.TempDir(), nil)
	a.ready(t)
	first := func() uint64 { n, _ := log.Entries(); return n }
	for i := 0; first() == 1; i++ {
		if _, err := a.say(t, fmt.Sprint("entry ", i)); err != nil || i > 5000 {
			t.Fatal(err)
		}
	}
	b := begin(t, log, "b", t.TempDir(), nil)
	b.ready(t)
	eventually(t, "b has all", func() bool { return same(a.list.all(), b.list.all()) })
	b.Close()
	a.Close()
	c := begin(t, log, "c", t.TempDir(), nil)
	defer c.Close()
	eventually(t, "c says why it does nothing", func() bool { return errors.Is(c.Status().Err, ordered.ErrTrimmed) })
	time.Sleep(500 * time.Millisecond) // it tries again all the time
	if s := c.Status(); s.Reloads > 0 {
		t.Errorf("%+v: it has loaded nothing", s)
	}
	if _, err := c.say(t, "x"); !errors.Is(err, ordered.ErrLoading) {
		t.Error(err)
	}
	// Another log begins where the snapshot ends.
	other := memlog.New()
	d := begin(t, other, "d", a.dir, nil)
	defer d.Close()
	d.ready(t)
	if n, _ := other.Entries(); n == 1 {
		t.Error("the new log begins at entry 1")
	}
	if n, err := d.say(t, "more"); err != nil || n < 100 {
		t.Errorf("%d %v", n, err)
	}
}

// bucket is a bucket in memory.
type bucket struct {
	mu    sync.Mutex
	files map[string][]byte
	full  bool
}

func (b *bucket) List(_ context.Context, each func(name string, size int64) error) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, body := range b.files {
		err = errors.Join(err, each(name, int64(len(body))))
	}
	return err
}

func (b *bucket) Upload(_ context.Context, name string, r io.ReaderAt, size int64) error {
	body, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return os.ErrPermission
	}
	b.files[name] = body
	return err
}

func (b *bucket) Download(_ context.Context, name string, to io.Writer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := to.Write(b.files[name])
	return err
}

func (b *bucket) Remove(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.files, name)
	return nil
}

// A replica whose own folder does not last has its snapshots in the bucket: what is trimmed is there, and one that begins takes
// it from there when no other is left. While the bucket takes none, nothing is trimmed.
func TestAReplicaBeginsWithTheSnapshotOfTheBucket(t *testing.T) {
	log, shared := memlog.New(), &bucket{files: map[string][]byte{}, full: true}
	inBucket := func(c *ordered.Config) { c.Bucket, c.Durable = shared, false }
	a := begin(t, log, "a", t.TempDir(), inBucket)
	a.ready(t)
	say := func() uint64 {
		if _, err := a.say(t, strings.Repeat("x", 200)); err != nil {
			t.Fatal(err)
		}
		first, _ := log.Entries()
		return first
	}
	for range 100 {
		if first := say(); first > 1 {
			t.Fatalf("the log begins at %d, and the bucket has nothing", first)
		}
	}
	shared.mu.Lock()
	shared.full = false
	shared.mu.Unlock()
	eventually(t, "the log is trimmed twice", func() bool { return say() > 150 })
	a.Close()
	if n := len(shared.files); n == 0 || n > 2 {
		t.Errorf("the bucket has %d snapshots", n)
	}
	b := begin(t, log, "b", t.TempDir(), inBucket)
	defer b.Close()
	b.ready(t)
	if s := b.Status(); !same(a.list.all(), b.list.all()) || s.Resets > 0 {
		t.Errorf("%d of %d, %+v", len(b.list.all()), len(a.list.all()), s)
	}
}

// A replica that ends leaves a snapshot of all that it has applied; the next process begins with that.
func TestAReplicaThatEndsLeavesASnapshot(t *testing.T) {
	log, dir := memlog.New(), t.TempDir()
	never := func(c *ordered.Config) { c.SnapshotBytes = 1 << 40 }
	a := begin(t, log, "a", dir, never)
	a.ready(t)
	for i := range 5 {
		if _, err := a.say(t, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	b := begin(t, log, "a", dir, never)
	b.ready(t)
	if s := b.Status(); s.Snapshot < 5 {
		t.Errorf("%+v", s)
	}
	if n, err := b.say(t, "5"); n != 6 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	b.Close()
	if all, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(all) != 2 {
		t.Errorf("%q %v", all, err)
	}
}

// What others put into the stream is left out, and an operation that is too large is refused before it is sent.
func TestWhatIsNoEntryIsLeftOut(t *testing.T) {
	log := memlog.New()
	a := begin(t, log, "a", t.TempDir(), nil)
	defer a.Close()
	a.ready(t)
	log.Put([]byte("something"))
	log.Put(nil)
	if n, err := a.say(t, "x"); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if _, err := a.say(t, string(make([]byte, 2<<20))); !errors.Is(err, ordered.ErrTooLarge) {
		t.Error(err)
	}
	if n, err := a.say(t, string(make([]byte, 900<<10))); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

// trimming is a client of a log from which others trim entries just before it is followed for the first time.
type trimming struct {
	*memlog.Client
	before uint64 // the first entry that stays
	once   sync.Once
}

func (c *trimming) Follow(ctx context.Context, from uint64, visit ordered.Visit) error {
	c.once.Do(func() { _ = c.Trim(ctx, c.before) })
	return c.Client.Follow(ctx, from, visit)
}

// Entries that others trim while a replica begins are no sign of another past: a replica that has applied them goes on,
// and one that has not takes the snapshot of another.
func TestWhatIsTrimmedWhileAReplicaBeginsIsNoOtherPast(t *testing.T) {
	for name, c := range map[string]struct {
		behind uint64 // entries behind its snapshot that are trimmed too
		loads  int
	}{"applied": {0, 1}, "not applied": {3, 2}} {
		t.Run(name, func(t *testing.T) {
			log, dir := memlog.New(), t.TempDir()
			often := func(c *ordered.Config) { c.SnapshotBytes = 1 }
			a, b := begin(t, log, "a", t.TempDir(), often), begin(t, log, "b", dir, often)
			defer a.Close()
			for _, o := range []*one{a, b} {
				o.list.mu.Lock()
				o.list.want = 1 // nobody trims but the client of the test
				o.list.mu.Unlock()
				o.ready(t)
			}
			for i := range 5 {
				if _, err := b.say(t, fmt.Sprint(i)); err != nil {
					t.Fatal(err)
				}
			}
			b.Close()
			snapshot := b.Status().Snapshot
			eventually(t, "a has a newer snapshot", func() bool {
				if _, err := a.say(t, "more"); err != nil {
					t.Fatal(err)
				}
				return a.Status().Snapshot >= snapshot+c.behind
			})
			d := begin(t, log, "d", dir, func(of *ordered.Config) {
				of.Log = &trimming{Client: log.Client(), before: snapshot + c.behind + 1}
			})
			defer d.Close()
			d.ready(t)
			if err := d.Barrier(t.Context()); err != nil {
				t.Fatal(err)
			}
			if first, _ := log.Entries(); first != snapshot+c.behind+1 {
				t.Fatalf("the log begins at %d", first)
			}
			if s := d.Status(); s.Resets > 0 || d.list.loads != c.loads {
				t.Errorf("%+v after %d loads", s, d.list.loads)
			}
			if mine, others := d.list.all(), a.list.all(); !same(mine, others) {
				t.Errorf("%q, and the other has %q", mine, others)
			}
		})
	}
}

// Where the log has lost more than the snapshots of the only replica lack, these are all that is left, and stay.
func TestSnapshotsThatALogHasNotStay(t *testing.T) {
	log, dir := memlog.New(), t.TempDir()
	often := func(c *ordered.Config) { c.SnapshotBytes = 1 }
	a := begin(t, log, "a", dir, often)
	a.list.mu.Lock()
	a.list.want = 1
	a.list.mu.Unlock()
	a.ready(t)
	for _, least := range []uint64{10, 20} { // two are kept
		eventually(t, "there is a newer snapshot", func() bool {
			if _, err := a.say(t, "more"); err != nil {
				t.Fatal(err)
			}
			return a.Status().Snapshot >= least
		})
	}
	a.Close()
	snapshots := func() (names []string) {
		names, err := filepath.Glob(filepath.Join(dir, "*.snapshot"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	before := snapshots()
	_, entries := log.Entries()
	log.Cut(len(entries) - 2)
	b := begin(t, log, "a", dir, often)
	defer b.Close()
	eventually(t, "it says why it does nothing", func() bool { return errors.Is(b.Status().Err, ordered.ErrShort) })
	time.Sleep(time.Second) // some more attempts
	if after := snapshots(); len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("%q, and before %q", after, before)
	}
	if s := b.Status(); s.Resets > 0 || !errors.Is(s.Err, ordered.ErrShort) {
		t.Errorf("%+v", s)
	}
}

// An entry of another version of the program may change anything: a replica that does not know it applies nothing more.
func TestAnEntryOfAnotherVersionIsNotLeftOut(t *testing.T) {
	log := memlog.New()
	a := begin(t, log, "a", t.TempDir(), nil)
	defer a.Close()
	a.ready(t)
	log.Put(append([]byte{31}, make([]byte, 100)...))
	eventually(t, "it says that it stands still", func() bool { return errors.Is(a.Status().Err, ordered.ErrVersion) })
	if _, err := a.say(t, "x"); !errors.Is(err, ordered.ErrVersion) {
		t.Error(err)
	}
	if s := a.Status(); s.Resets > 0 || len(a.list.all()) > 0 {
		t.Errorf("%+v, %q", s, a.list.all())
	}
}

// Time goes on by the earlier one of the proposer's clock and the log's, and never back: one that is wrong changes nothing.
func TestAClockThatIsWrongDoesNotMoveTime(t *testing.T) {
	log := memlog.New()
	now := time.Now()
	log.Now = func() time.Time { return now }
	clock := func(off time.Duration) func(c *ordered.Config) {
		return func(c *ordered.Config) { c.Now = func() time.Time { return now.Add(off) } }
	}
	all := []*one{
		begin(t, log, "right", t.TempDir(), clock(0)), begin(t, log, "ahead", t.TempDir(), clock(1000*time.Hour)), begin(t, log, "behind", t.TempDir(), clock(-time.Hour)),
	}
	for _, o := range all {
		defer o.Close()
		o.ready(t)
	}
	for i := range 12 {
		if _, err := all[i%3].say(t, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	all[0].list.mu.Lock()
	defer all[0].list.mu.Unlock()
	for i, at := range all[0].list.times {
		if !at.Equal(now) {
			t.Errorf("operation %d has the time %v, want %v", i, at, now)
		}
	}
}

// A replica whose snapshots cannot be listed does not begin with nothing, which would be another past if the log is new.
func TestSnapshotsThatCannotBeListedAreNotNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	log := memlog.New()
	a := begin(t, log, "a", dir, nil)
	defer a.Close()
	eventually(t, "it says why", func() bool { err := a.Status().Err; return err != nil && strings.Contains(err.Error(), dir) })
	if a.list.loads > 0 {
		t.Error("it has begun")
	}
}

// A snapshot of another version, or a damaged one, is none: the replica begins with the log.
func TestASnapshotOfAnotherVersionIsNone(t *testing.T) {
	log, dir := memlog.New(), t.TempDir()
	a := begin(t, log, "a", t.TempDir(), func(c *ordered.Config) { c.SnapshotBytes = 1 << 40 })
	defer a.Close()
	a.ready(t)
	for i := range 5 {
		if _, err := a.say(t, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	state := `{"Applied":3}`
	for n, content := range []string{"alike replica 9\n", "alike replica 1\n"} {
		content = fmt.Sprintf("%s%c%s1234[\"other\"]", content, len(state), state)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%020d.snapshot", n+3)), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b := begin(t, log, "b", dir, nil)
	defer b.Close()
	b.ready(t)
	if err := b.Barrier(t.Context()); err != nil || !same(a.list.all(), b.list.all()) {
		t.Errorf("%q, want %q (%v)", b.list.all(), a.list.all(), err)
	}
	if s := b.Status(); s.Resets > 0 {
		t.Errorf("%+v: it was loaded", s)
	}
}

// A full disk makes no snapshot, and so nothing is trimmed; the replica goes on, and makes one when there is room.
func TestAFullDiskStopsNothing(t *testing.T) {
	log := memlog.New()
	var full atomic.Bool
	disk := vfstest.Inject(vfstest.NewMem(), func(op vfstest.Op) error {
		if full.Load() && op.Kind == vfstest.OpFileWrite {
			return vfstest.ErrInjected
		}
		return nil
	})
	a := begin(t, log, "a", "data", func(c *ordered.Config) { c.FS = disk })
	defer a.Close()
	a.ready(t)
	full.Store(true)
	say := func() {
		if _, err := a.say(t, strings.Repeat("x", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		say()
	}
	if first, _ := log.Entries(); first > 1 || a.Status().Snapshot > 0 || a.Status().Err != nil {
		t.Errorf("the log begins at %d, %+v", first, a.Status())
	}
	full.Store(false)
	eventually(t, "there is a snapshot", func() bool { say(); return a.Status().Snapshot > 0 })
}
