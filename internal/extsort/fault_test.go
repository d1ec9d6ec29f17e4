package extsort

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/vfs/vfstest"
)

const workoutEntries = 5000

// workout uses everything that writes and reads runs: spilling, saving, merging
// in passes, reading, removing. It returns what it read.
func workout(dir Dir) (got []Entry, err error) {
	ctx := context.Background()
	tiny := sizes{chunk: 64, combine: 1, part: 64, partMax: 256}
	s, err := New(Options{Dir: dir, Name: "x", Scheme: "test", Memory: 24 << 10, Threads: 1, sizes: tiny})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	entries := makeEntries(rand.New(rand.NewPCG(5, 5)), workoutEntries, "uniform", 64)
	if err := add(s, entries[:workoutEntries/4], 2); err != nil {
		return nil, err
	}
	if _, err := s.Save(ctx); err != nil {
		return nil, err
	}
	if err := add(s, entries[workoutEntries/4:], 1); err != nil {
		return nil, err
	}
	sorted, err := s.Sort(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	if _, err := sorted.Save(ctx); err != nil {
		return nil, err
	}
	if _, err := eachPart(sorted, 2); err != nil {
		return nil, err
	}
	return readAll(sorted.Reader())
}

func TestEveryFailingOperationIsAnErrorAndLeavesNoRunOpen(t *testing.T) {
	want := twin(makeEntries(rand.New(rand.NewPCG(5, 5)), workoutEntries, "uniform", 64), false)
	var operations atomic.Int64
	failAt := int64(-1)
	var failed vfstest.Op
	injector := func(op vfstest.Op) error {
		if operations.Add(1) == failAt {
			failed = op
			return &fs.PathError{Op: "use", Path: op.Path, Err: vfstest.ErrInjected} // as the operating system does
		}
		return nil
	}
	count := int64(0)
	for failAt = -1; failAt <= count; failAt++ {
		operations.Store(0)
		failed = vfstest.Op{}
		fs := vfstest.NewMem()
		fs.UseWindowsSemantics(true) // a file that is open cannot be removed
		dir := newFolder(fs)
		dir.fs = vfstest.Inject(fs, injector)
		got, err := workout(dir)
		dir.fs = fs
		left := dir.list(t)
		switch {
		case failAt < 0:
			count = operations.Load()
			failAt = 0 // the next one is 1
			if err != nil || !slices.Equal(got, want) || len(left) > 0 {
				t.Fatalf("without a failure: %d entries, %v, left %v", len(got), err, left)
			}
			t.Logf("%d operations", count)
			continue
		case failed.Path == "": // this time fewer operations did
			if err != nil {
				t.Fatalf("without a failure: %v", err)
			}
		case err == nil:
			t.Errorf("operation %d of %d, kind %d, %s: no error", failAt, count, failed.Kind, failed.Path)
		case !errors.Is(err, vfstest.ErrInjected):
			t.Errorf("operation %d: error %v hides its cause", failAt, err)
		case !strings.Contains(err.Error(), ".run"):
			t.Errorf("operation %d: error %q does not name the run", failAt, err)
		}
		if failed.Kind != vfstest.OpRemove && len(left) > 0 {
			t.Errorf("operation %d, kind %d, %s: left %v", failAt, failed.Kind, failed.Path, left)
		}
	}
}

// Who has chosen the folder knows the remedy: see exitCode of the command.
func TestAFullDiskIsToldAsOneWithTheRun(t *testing.T) {
	dir := newFolder(vfstest.NewMem())
	dir.fs = vfstest.Inject(dir.fs, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpFileWrite && strings.Contains(op.Path, "x-000003") {
			return &fs.PathError{Op: "write", Path: op.Path, Err: syscall.ENOSPC}
		}
		return nil
	})
	_, err := workout(dir)
	if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), "x-000003.run") != 1 || !strings.HasPrefix(err.Error(), "work folder: ") {
		t.Errorf("error %v", err)
	}
}

// savedRun makes a run of a few blocks and returns its bytes.
func savedRun(t testing.TB, o Options, entries []Entry) []byte {
	t.Helper()
	dir := newFolder(vfstest.NewMem())
	o.Dir, o.sizes = dir, small
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := add(s, entries, 1); err != nil {
		t.Fatal(err)
	}
	names, err := s.Save(context.Background())
	if err != nil || len(names) != 1 {
		t.Fatalf("Save: %v, %v", names, err)
	}
	data := contents(t, dir, names[0].Name)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return data
}

func contents(t testing.TB, dir *folder, name string) []byte {
	t.Helper()
	file, err := dir.fs.Open(filepath.Join("runs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(file); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readRun opens bytes as a run and reads all of it.
func readRun(t testing.TB, o Options, data []byte) ([]Entry, error) {
	t.Helper()
	dir := newFolder(vfstest.NewMem())
	file, err := dir.Create("y.run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(bytes.Clone(data)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	named := Run{Name: "y.run"}
	if len(data) >= headerFixed {
		named.ID = binary.LittleEndian.Uint64(data[32:])
	}
	o.Dir, o.sizes, o.Runs = dir, small, []Run{named}
	s, err := Open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	entries, err := readAll(s.Reader())
	if cerr := s.Close(); cerr != nil {
		t.Fatal(cerr)
	}
	return entries, err
}

func TestEveryFlippedBitIsDetected(t *testing.T) {
	entries := makeEntries(rand.New(rand.NewPCG(2, 2)), 150, "uniform", 64)
	o := Options{Name: "x", Scheme: "scheme k=128", Memory: smallMemory}
	data := savedRun(t, o, entries)
	if got, err := readRun(t, o, data); err != nil || !slices.Equal(got, twin(entries, false)) {
		t.Fatalf("the whole run: %v", err)
	}
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			flipped := bytes.Clone(data)
			flipped[i] ^= bit
			_, err := readRun(t, o, flipped)
			version := i >= 12 && i < 16
			if want := ErrCorrupt; !errors.Is(err, want) && !(version && errors.Is(err, ErrVersion)) {
				t.Fatalf("bit %#x of byte %d: error %v", bit, i, err)
			} else if !strings.Contains(err.Error(), "y.run") || !strings.Contains(err.Error(), "Fresh") {
				t.Fatalf("error %q names no run or no remedy", err)
			}
		}
	}
}

// A run in the place of another one is refused although it is whole, and so is one that
// has a block of the other.
func TestNothingOfOneRunPassesInAnother(t *testing.T) {
	entries := makeEntries(rand.New(rand.NewPCG(2, 2)), 150, "uniform", 64)
	dir := newFolder(vfstest.NewMem())
	o := Options{Dir: dir, Name: "x", Scheme: "scheme", Memory: smallMemory, sizes: small}
	var named [2]Run
	var data [2][]byte
	for i := range named { // the same entries, hence the same bytes but for what tells runs apart
		s, err := New(o)
		if err == nil {
			err = add(s, entries, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		saved, err := s.Save(context.Background())
		if err != nil || len(saved) != 1 {
			t.Fatalf("Save: %v, %v", saved, err)
		}
		named[i], data[i] = saved[0], contents(t, dir, saved[0].Name)
	}
	open := func(what string, content []byte) {
		t.Helper()
		file, err := dir.Create(named[0].Name)
		if err == nil {
			_, err = file.Write(content)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Runs = named[:1]
		s, err := Open(context.Background(), o)
		if err == nil {
			_, err = readAll(s.Reader())
		}
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), named[0].Name) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	open("another run in its place", bytes.Clone(data[1]))
	mixed := bytes.Clone(data[0])
	const start = (headerFixed + len("scheme") + entryBytes - 1) / entryBytes * entryBytes
	copy(mixed[start:], data[1][start:][:entryBytes*(1+small.chunk)])
	open("a block of another run", mixed)
}

func TestEveryTruncationIsDetected(t *testing.T) {
	o := Options{Name: "x", Scheme: "scheme", Memory: smallMemory}
	data := savedRun(t, o, makeEntries(rand.New(rand.NewPCG(2, 2)), 150, "uniform", 64))
	for n := range data {
		if _, err := readRun(t, o, data[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut after %d bytes of %d: error %v", n, len(data), err)
		}
	}
	if _, err := readRun(t, o, append(bytes.Clone(data), 0)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a byte too many: error %v", err)
	}
}

func TestRunOfAnotherSchemeIsRefusedWithBothNames(t *testing.T) {
	entries := makeEntries(rand.New(rand.NewPCG(2, 2)), 150, "uniform", 64)
	data := savedRun(t, Options{Name: "x", Scheme: "k=128"}, entries)
	_, err := readRun(t, Options{Name: "x", Scheme: "k=64"}, data)
	if !errors.Is(err, ErrScheme) || !strings.Contains(err.Error(), "k=128") || !strings.Contains(err.Error(), "k=64") {
		t.Errorf("error %v", err)
	}
	if _, err := readRun(t, Options{Name: "x", Scheme: "k=128", Sum: true}, data); !errors.Is(err, ErrScheme) {
		t.Errorf("a run without sums taken for one with them: error %v", err)
	}
}

func TestSavedRunsSurviveAPowerFailure(t *testing.T) {
	fs := vfstest.NewCrashable()
	dir := newFolder(fs)
	o := Options{Dir: dir, Name: "x", Memory: smallMemory, sizes: small}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	entries := makeEntries(rand.New(rand.NewPCG(3, 3)), 20_000, "uniform", 64)
	if err := add(s, entries, 1); err != nil {
		t.Fatal(err)
	}
	if o.Runs, err = s.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "runs"} { // the caller's part
		folder, err := fs.OpenDir(name)
		if err == nil {
			err = errors.Join(folder.Sync(), folder.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := add(s, entries, 1); err != nil { // is lost
		t.Fatal(err)
	}
	sorted, err := s.Sort(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = newFolder(fs.CrashClone(vfstest.CrashCloneCfg{}))
	if err := sorted.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := collectParts(t, after, 1); !slices.Equal(got, twin(entries, false)) {
		t.Errorf("%d entries after the crash, want %d, or others", len(got), len(entries))
	}
	if err := after.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCancelledContextStopsSortingAndReading(t *testing.T) {
	dir := newFolder(vfstest.NewMem())
	for _, memory := range []int64{0, smallMemory} {
		s, err := New(Options{Dir: dir, Name: "x", Memory: memory, Threads: 2, sizes: small})
		if err != nil {
			t.Fatal(err)
		}
		if err := add(s, makeEntries(rand.New(rand.NewPCG(3, 3)), 20_000, "uniform", 64), 1); err != nil {
			t.Fatal(err)
		}
		sorted, err := s.Sort(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		err = sorted.Each(ctx, 2, func(int, []Entry, bool) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("memory %d: Each returned %v", memory, err)
		}
		stop := errors.New("stop")
		if err := sorted.Each(context.Background(), 2, func(int, []Entry, bool) error { return stop }); err != stop {
			t.Errorf("memory %d: Each returned %v instead of visit's error", memory, err)
		}
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
		if err := add(s, makeEntries(rand.New(rand.NewPCG(3, 3)), 10_000, "uniform", 64), 1); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sort(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("memory %d: Sort returned %v", memory, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left := dir.list(t); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
