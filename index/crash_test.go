package index

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

var errPower = errors.New("no power")

// crashing is a file system on which the power fails just before its nth write operation.
// From then on nothing works there, and after holds what is left.
type crashing struct {
	fs    *vfstest.Mem
	cfg   vfstest.CrashCloneCfg
	n     atomic.Int64
	after atomic.Pointer[vfstest.Mem]
}

func (c *crashing) wrap() vfs.FS {
	return vfstest.Inject(c.fs, func(op vfstest.Op) error {
		if op.Kind.Writes() && c.n.Add(-1) == -1 {
			c.after.CompareAndSwap(nil, c.fs.CrashClone(c.cfg))
		}
		if c.n.Load() < 0 {
			return errPower
		}
		return nil
	})
}

// state is what is expected of an index: the acknowledged texts of ids.
type state map[string]string

// holds checks that an index holds what was acknowledged, and of what was under way only what
// was sent.
func holds(t *testing.T, x *Index, safe, sent state) {
	t.Helper()
	v := x.view.Load()
	found := state{}
	for slot := v.First; slot < v.Next; slot++ {
		if !v.has(slot) {
			continue
		}
		r, err := x.writer.finder.read(v)(slot)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := found[string(r.id)]; twice {
			t.Fatalf("id %s is there twice", r.id)
		}
		found[string(r.id)] = string(r.body)
	}
	for id, text := range safe {
		if now, ok := found[id]; (!ok || now != text) && (!ok || now != sent[id]) && (ok || sent[id] != "") {
			t.Fatalf("id %s: %q, acknowledged %q, under way %q", id, now, text, sent[id])
		}
	}
	for id, text := range found {
		if text != safe[id] && text != sent[id] {
			t.Fatalf("id %s: %q was never sent", id, text)
		}
	}
}

// The power fails at every write operation of a small run, with all, some or none of what was
// not synced yet; again and again on what is left.
func TestNothingAcknowledgedIsLostWhenThePowerFails(t *testing.T) {
	runs := 6 // ALIKE_RUNS=200 takes two minutes
	if n, err := strconv.Atoi(os.Getenv("ALIKE_RUNS")); err == nil {
		runs = n
	}
	if testsize.Small() {
		runs = 3
	}
	r := recipes(t)["sets"]
	for run := range runs {
		random := rand.New(rand.NewPCG(uint64(run), 1))
		fs := vfstest.NewCrashable()
		safe := state{}
		created := false
		for cycle := range 6 {
			c := &crashing{fs: fs, cfg: vfstest.CrashCloneCfg{UnsyncedDataPercent: []int{0, 30, 100}[random.IntN(3)], RNG: rand.New(rand.NewPCG(uint64(run), uint64(cycle)+2))}}
			c.n.Store(int64(run) + int64(random.IntN(40+60*cycle)))
			o := OpenOptions{Options: Options{Recipe: r, ByID: true, Keys: bothKeys()[run%len(bothKeys())]}, FS: c.wrap(), Threads: 1, TailKeys: fewKeys / 2, pieceBytes: fewBytes}
			var x *Index
			var err error
			if x, err = Open(indexDir, o); errors.Is(err, os.ErrNotExist) && !created {
				x, err = Create(indexDir, o)
			}
			sent := state{}
			if err == nil {
				created = true
				holds(t, x, safe, state{})
				for len(sent) == 0 && c.after.Load() == nil {
					sent = some(t, x, random, safe)
				}
				for c.after.Load() == nil {
					runtime.Gosched() // another goroutine is about to take it, and may see what was sent last
				}
				before := len(sent)
				if more := some(t, x, random, state{}); len(more) == 0 {
					t.Fatal("an index without power acknowledges writes")
				} else if before == 0 {
					sent = more
				}
				if !errors.Is(x.Sync(), ErrReadOnly) || !errors.Is(x.Err(), ErrReadOnly) {
					t.Fatalf("%v, %v", x.Sync(), x.Err())
				}
				_ = x.Close()
			} else if !errors.Is(err, errPower) && !strings.Contains(err.Error(), errPower.Error()) {
				t.Fatalf("run %d, cycle %d: %v", run, cycle, err)
			}
			for c.after.Load() == nil { // it failed before it came to the write
				_, _ = c.wrap().Create("x")
			}
			fs = c.after.Load()
			after, err := Open(indexDir, OpenOptions{FS: fs, Options: Options{Recipe: r}})
			if err != nil {
				if !created {
					continue
				}
				t.Fatalf("run %d, cycle %d: %v", run, cycle, err)
			}
			holds(t, after, safe, sent)
			safe = contents(t, after, 0)
			if _, err := after.Verify(t.Context(), func(d Damage) { t.Errorf("run %d, cycle %d: %v", run, cycle, d) }); err != nil {
				t.Fatal(err)
			}
			if err := after.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A process, or the power, ends at any write of making an index: the next process makes it, or opens
// it.
func TestAnIndexThatWasBegunIsMadeAgain(t *testing.T) {
	o := OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true}}
	eachCrash(t, func(fs vfs.FS) error {
		o.FS = fs
		x, err := Create(indexDir, o)
		if err == nil {
			_ = x.Close()
		}
		return err
	}, func(left vfs.FS) error {
		o.FS = left
		x, err := Open(indexDir, o)
		if errors.Is(err, fs.ErrNotExist) {
			x, err = Create(indexDir, o)
		}
		if err == nil {
			err = x.Close()
		}
		return err
	})
}

// eachCrash calls first on file systems on which the power fails at each of its writes, and then
// again with what is left of them: all, some or none of what was not synced included.
func eachCrash(t *testing.T, first, again func(vfs.FS) error) {
	t.Helper()
	for n := int64(0); ; n++ {
		percent := []int{0, 50, 100}[n%3]
		c := &crashing{fs: vfstest.NewCrashable(), cfg: vfstest.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(n), 2))}}
		c.n.Store(n)
		err := first(c.wrap())
		if c.n.Load() >= 0 {
			if err != nil || n < 5 {
				t.Fatalf("%d writes, %v", n, err)
			}
			return // there are no more writes
		}
		for c.after.Load() == nil {
			runtime.Gosched() // another goroutine makes it
		}
		left := c.after.Load()
		names, _ := left.List(indexDir)
		if err := again(left); err != nil {
			t.Fatalf("%d percent, write %d, which leaves %v: %v", percent, n, names, err)
		}
	}
}

// What was begun is cleared away, what somebody else has made is not.
func TestAFolderOfSomebodyElseIsLeftAlone(t *testing.T) {
	o := OpenOptions{Options: Options{Recipe: recipes(t)["sets"]}}
	for _, files := range [][]string{{"store/letter"}, {"STATE"}, {"INDEX.new"}, {"letter"}, {"sort/letter"}} {
		for _, begun := range []bool{false, true} {
			fsys := vfstest.NewMem()
			o.FS = fsys
			for _, name := range files {
				writeFile(t, fsys, filepath.Join(indexDir, name), []byte("mine"))
			}
			if begun {
				header := o.Options.withDefaults().header()
				if err := header.write(fsys, filepath.Join(indexDir, "INDEX.new")); err != nil {
					t.Fatal(err)
				}
			}
			x, err := Create(indexDir, o)
			if ours := begun && files[0] != "letter"; ours != (err == nil) || err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatalf("%v, begun %t: %v", files, begun, err)
			}
			if err == nil {
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
				continue
			}
			left := map[string][]byte{}
			if walkFiles(t, fsys, indexDir, left); string(left[filepath.Join(indexDir, files[0])]) != "mine" {
				t.Errorf("%v: %q is left", files, left)
			}
		}
	}
}

// contents returns what an index holds from a slot on.
func contents(t *testing.T, x *Index, from uint64) state {
	t.Helper()
	v, all := x.view.Load(), state{}
	for slot := max(v.First, from); slot < v.Next; slot++ {
		if v.has(slot) {
			r, err := x.writer.finder.read(v)(slot)
			if err != nil {
				t.Fatal(err)
			}
			all[string(r.id)] = string(r.body)
		}
	}
	return all
}

// some adds and deletes a few documents. When it was acknowledged safe says so; else what was
// under way is returned, with "" for what was deleted.
func some(t *testing.T, x *Index, random *rand.Rand, safe state) (sent state) {
	t.Helper()
	sent = state{}
	var err error
	if random.IntN(4) == 0 {
		id := fmt.Sprint(random.IntN(20))
		sent[id] = ""
		_, err = x.Delete([]byte(id))
	} else {
		b := x.NewBatch()
		for range 1 + random.IntN(4) {
			id := fmt.Sprint(random.IntN(20))
			sent[id] = fmt.Sprint("text ", random.Uint64(), strings.Repeat(" word", random.IntN(300)))
			b.Add(Document{ID: []byte(id), Text: []byte(sent[id])})
		}
		err = x.Add(b)
	}
	if err == nil && random.IntN(20) == 0 {
		err = x.Compact(t.Context())
	}
	if err == nil {
		err = x.Sync()
	}
	if err != nil {
		return sent
	}
	for id, text := range sent {
		if safe[id] = text; text == "" {
			delete(safe, id)
		}
	}
	return state{}
}

// Every bit of a small index that is flipped, and every file that is cut, is detected when the
// index is opened or verified, or changes nothing.
func TestEveryFlippedBitIsDetectedOrHarmless(t *testing.T) {
	for _, keys := range bothKeys() {
		t.Run("keys "+string(keys), func(t *testing.T) { flipBits(t, keys) })
	}
}

func flipBits(t *testing.T, keys Keys) {
	fs := vfstest.NewMem()
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: keys}, FS: fs, TailKeys: fewKeys, pieceBytes: fewBytes})
	if err != nil {
		t.Fatal(err)
	}
	random, safe := rand.New(rand.NewPCG(1, 1)), state{}
	for range 8 {
		some(t, x, random, safe)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	walkFiles(t, fs, indexDir, files)
	trials, bytes := 150, 0 // ALIKE_TRIALS=1000000 tries nearly all
	if n, err := strconv.Atoi(os.Getenv("ALIKE_TRIALS")); err == nil {
		trials = n
	} else if testsize.Small() {
		trials = 15
	}
	for _, content := range files {
		bytes += len(content)
	}
	detected, harmless := 0, 0
	try := func(name string, content []byte) {
		damaged := vfstest.NewMem()
		for n, c := range files {
			if n == name {
				c = content
			}
			writeFile(t, damaged, n, c)
		}
		if sees(t, damaged, safe) {
			detected++
		} else {
			harmless++
		}
	}
	for name, content := range files {
		for bit := random.IntN(8); bit < 8*len(content); bit += 1 + random.IntN(max(2*10*bytes/trials, 1)) {
			flipped := append([]byte{}, content...)
			flipped[bit/8] ^= 1 << (bit % 8)
			try(name, flipped)
		}
		for cut := 0; cut < len(content); cut += 1 + random.IntN(max(2*5*bytes/trials, 1)) {
			try(name, content[:cut])
		}
	}
	t.Logf("%d detected, %d harmless", detected, harmless)
	if detected < harmless/10 {
		t.Error("hardly anything is detected: the test does not look at what matters")
	}
}

// sees tells whether damage is detected. If it is not, the index must hold what is safe.
func sees(t *testing.T, fs vfs.FS, safe state) bool {
	t.Helper()
	x, err := Open(indexDir, OpenOptions{FS: fs, ReadOnly: true, Threads: 1})
	if err != nil {
		return true
	}
	defer func() { _ = x.Close() }()
	damages := 0
	if _, err := x.Verify(t.Context(), func(Damage) { damages++ }); err != nil || damages > 0 {
		return true
	}
	holds(t, x, safe, state{})
	return false
}

func walkFiles(t *testing.T, fs vfs.FS, dir string, files map[string][]byte) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			walkFiles(t, fs, path, files)
			continue
		}
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		content := make([]byte, info.Size())
		if _, err := f.ReadAt(content, 0); err != nil && info.Size() > 0 {
			t.Fatal(err)
		}
		files[path] = content
		_ = f.Close()
	}
}

func writeFile(t *testing.T, fs vfs.FS, path string, content []byte) {
	t.Helper()
	if err := fs.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
