package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// crashing is a file system on which the power fails just before its nth write
// operation. From then on nothing works there, and after holds what is left.
type crashing struct {
	fs    *vfstest.Mem
	n     int
	cfg   vfstest.CrashCloneCfg
	after *vfstest.Mem
}

var errPower = errors.New("no power")

func (c *crashing) wrap() vfs.FS {
	return vfstest.Inject(c.fs, func(op vfstest.Op) error {
		if c.after == nil && op.Kind.Writes() {
			if c.n == 0 {
				c.after = c.fs.CrashClone(c.cfg)
			}
			c.n--
		}
		if c.after != nil {
			return errPower
		}
		return nil
	})
}

// someRecord has up to five blocks of a disk, so that it can be torn in many ways.
func someRecord(r *rand.Rand, n int) string {
	size := r.IntN(50)
	if r.IntN(3) == 0 {
		size = r.IntN(20_000)
	}
	return fmt.Sprint(n, strings.Repeat(string(rune('a'+n%26)), size))
}

// A run is resumed after crash upon crash, each at another write operation and with
// another part of what was not synced yet. What Open has shown once, and what Append
// has acknowledged, is there ever after.
func TestNothingAcknowledgedIsLostByAnyCrash(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		fs := vfstest.NewCrashable()
		var safe []string // safe on disk, in order
		for crash := range 25 {
			c := &crashing{fs: fs, n: crash, cfg: vfstest.CrashCloneCfg{
				UnsyncedDataPercent: []int{0, 20, 50, 80, 100}[r.IntN(5)], RNG: r,
			}}
			pending := safe // with the record that was being written, if any
			j, err := Open(c.wrap(), folder, someSettings, false)
			if err == nil {
				if got := records(t, j); !slices.Equal(got, safe) {
					t.Fatalf("seed %d, crash %d: %d records, want %d", seed, crash, len(got), len(safe))
				}
				for c.after == nil {
					v := someRecord(r, len(safe))
					pending = append(slices.Clone(safe), fmt.Sprintf("part %q", v))
					if j.Append("part", v) == nil {
						safe = pending
					}
				}
				_ = j.Close()
			} else if !errors.Is(err, errPower) {
				t.Fatalf("seed %d, crash %d: %v", seed, crash, err)
			}
			fs = c.after
			// The record that was being written may be there or not.
			j = open(t, fs)
			got := records(t, j)
			closeJournal(t, j)
			if !slices.Equal(got, safe) && !slices.Equal(got, pending) {
				t.Fatalf("seed %d, crash %d: %d records, want %d or %d", seed, crash, len(got), len(safe), len(pending))
			}
			safe = got
		}
	}
}

func TestACrashWhileCreatingStartingOverOrRemovingLeavesAllOrNothing(t *testing.T) {
	for name, end := range map[string]func(fs vfs.FS) error{
		"create": func(fs vfs.FS) error {
			j, err := Open(fs, folder, someSettings, false)
			if err == nil {
				_ = j.Close()
			}
			return err
		},
		"fresh": func(fs vfs.FS) error {
			j, err := Open(fs, folder, someSettings, true)
			if err == nil {
				_ = j.Close()
			}
			return err
		},
		"remove": func(fs vfs.FS) error {
			j, err := Open(fs, folder, someSettings, false)
			if err == nil {
				err = j.Remove()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 20 {
				for seed := range uint64(40) {
					c := &crashing{fs: vfstest.NewCrashable(), n: n, cfg: vfstest.CrashCloneCfg{
						UnsyncedDataPercent: 25 * int(seed%5), RNG: rand.New(rand.NewPCG(seed, 1)),
					}}
					if name != "create" {
						j := open(t, c.fs)
						add(t, j, "part", 1)
						closeJournal(t, j)
					}
					err := end(c.wrap())
					if c.after == nil {
						c.after = c.fs.CrashClone(c.cfg)
						if n < 6 {
							t.Errorf("no more than %d write operations", n)
						}
					}
					j := open(t, c.after)
					if got := records(t, j); len(got) > 0 && (err == nil || !slices.Equal(got, []string{"part 1"})) {
						t.Errorf("records %q after %v", got, err)
					}
					closeJournal(t, j)
				}
			}
		})
	}
}

// A process that is killed between a write and its sync leaves a record that is only
// in the system's memory. The next process relies on it.
func TestWhatOpenHasShownSurvivesALossOfPower(t *testing.T) {
	fs := vfstest.NewCrashable()
	j := open(t, fs)
	add(t, j, "part", 1)
	killed := false
	j.file = vfstest.InjectFile(j.file, "journal", func(op vfstest.Op) error {
		killed = killed || op.Kind == vfstest.OpFileSyncData
		if killed {
			return errPower
		}
		return nil
	})
	if err := j.Append("part", 2); err == nil {
		t.Error("appended without a sync")
	}
	_ = j.Close()
	j = open(t, fs)
	shown := records(t, j)
	closeJournal(t, j)
	j = open(t, fs.CrashClone(vfstest.CrashCloneCfg{}))
	if got := records(t, j); len(shown) != 2 || !slices.Equal(got, shown) {
		t.Errorf("records %q, and %q before the loss of power", got, shown)
	}
	closeJournal(t, j)
}

// failing fails the nth operation, counted over reads and writes, and all after it
// if it stays.
func failing(fs vfs.FS, n int, stays bool, err error) (wrapped vfs.FS, failed func() bool) {
	count := 0
	return vfstest.Inject(fs, func(op vfstest.Op) error {
		count++
		if count-1 == n || stays && count-1 > n {
			return &os.PathError{Op: "use", Path: op.Path, Err: err} // as the operating system does
		}
		return nil
	}), func() bool { return count > n }
}

func TestEveryOperationMayFail(t *testing.T) {
	for _, stays := range []bool{false, true} {
		for n := 0; ; n++ {
			fs := vfstest.NewMem()
			broken, failed := failing(fs, n, stays, syscall.EIO)
			want := []string{}
			j, err := Open(broken, folder, someSettings, false)
			if err == nil {
				for i := range 3 {
					if err = j.Append("part", i); err == nil {
						want = append(want, fmt.Sprintf("part %d", i))
					} else if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), journalName) {
						t.Errorf("operation %d: %v", n, err)
					}
				}
				_ = j.Close()
			} else if !errors.Is(err, syscall.EIO) || !strings.Contains(filepath.ToSlash(err.Error()), folder) {
				t.Errorf("operation %d: %v", n, err)
			}
			j = open(t, fs)
			got := records(t, j)
			// A record that can neither be synced nor taken back may be there.
			if stays && len(got) == len(want)+1 {
				got = got[:len(want)]
			}
			if !slices.Equal(got, want) {
				t.Errorf("operation %d: records %q, want %q", n, got, want)
			}
			closeJournal(t, j)
			if !failed() {
				if n < 15 {
					t.Errorf("only %d operations", n)
				}
				break
			}
		}
	}
}

// smallDisk has room for so many bytes of the journal's records.
type smallDisk struct {
	vfs.FS
	free int
}

type smallDiskFile struct {
	vfs.File
	disk *smallDisk
}

func (d *smallDisk) OpenReadWrite(name string) (vfs.File, error) {
	f, err := d.FS.OpenReadWrite(name)
	return smallDiskFile{f, d}, err
}

func (f smallDiskFile) WriteAt(p []byte, at int64) (int, error) {
	if len(p) == 1 { // a byte of a block that is there already
		return f.File.WriteAt(p, at)
	}
	n := min(len(p), f.disk.free)
	f.disk.free -= n
	if m, err := f.File.WriteAt(p[:n], at); err != nil {
		return m, err
	}
	if n < len(p) {
		return n, noSpace
	}
	return n, nil
}

// noSpace is what a full disk says: on Windows ERROR_DISK_FULL.
var noSpace = func() error {
	if runtime.GOOS == "windows" {
		return syscall.Errno(112)
	}
	return syscall.ENOSPC
}()

func TestAFullDiskLeavesWholeRecords(t *testing.T) {
	for free := range 60 {
		disk := &smallDisk{vfstest.NewCrashable(), free}
		j := open(t, disk)
		want := []string{}
		var err error
		for i := 0; err == nil; i++ {
			if err = j.Append("part", i); err == nil {
				want = append(want, fmt.Sprintf("part %d", i))
			}
		}
		if !errors.Is(err, noSpace) || !strings.HasPrefix(err.Error(), "work folder: ") {
			t.Errorf("%v", err)
		}
		if got := records(t, j); !slices.Equal(got, want) {
			t.Errorf("records %q, want %q", got, want)
		}
		again := open(t, disk.FS.(*vfstest.Mem).CrashClone(vfstest.CrashCloneCfg{}))
		if got := records(t, again); !slices.Equal(got, want) {
			t.Errorf("records on disk %q, want %q", got, want)
		}
		closeJournal(t, again)
		disk.free = 1000
		add(t, j, "more", nil)
		closeJournal(t, j)
		j = open(t, disk)
		if got := records(t, j); !slices.Equal(got, append(want, "more null")) {
			t.Errorf("records %q after %q and one more", got, want)
		}
		closeJournal(t, j)
	}
}

// A bit that flips is found, unless it is in the last record, which is taken for
// one that was not written to its end.
func TestEveryFlippedBitIsFound(t *testing.T) {
	fs := vfstest.NewMem()
	j := open(t, fs)
	for i := range 3 {
		add(t, j, "part", i)
	}
	want := records(t, j)
	closeJournal(t, j)
	whole := readFile(t, fs, journalName)
	last := len(whole) - len("CCCCCCCC part 2\n")
	for i := range whole {
		for bit := range 8 {
			damaged := slices.Clone(whole)
			damaged[i] ^= 1 << bit
			fs := vfstest.NewMem()
			writeFile(t, fs, journalName, damaged)
			j, err := Open(fs, folder, someSettings, false)
			switch {
			case i < last && !errors.Is(err, ErrCorrupt):
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			case i >= last && err != nil:
				t.Errorf("bit %d of byte %d of the last record: %v", bit, i, err)
			}
			if err != nil {
				continue
			}
			if got := records(t, j); !slices.Equal(got, want[:2]) {
				t.Errorf("bit %d of byte %d: records %q", bit, i, got)
			}
			closeJournal(t, j)
		}
	}
}

func TestDamageWhileTheJournalIsOpenIsFound(t *testing.T) {
	fs := vfstest.NewMem()
	j := open(t, fs)
	defer closeJournal(t, j)
	add(t, j, "part", 1)
	f, err := fs.OpenReadWrite(filepath.Join(folder, journalName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), j.first+checksumLen+1); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Last("part", new(int)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

func TestEveryCutIsAJournalOfFewerRecordsOrRefused(t *testing.T) {
	fs := vfstest.NewMem()
	j := open(t, fs)
	for i := range 3 {
		add(t, j, "part", i)
	}
	want := records(t, j)
	closeJournal(t, j)
	whole := readFile(t, fs, journalName)
	begin := bytesToRecords(whole)
	for size := range whole {
		fs := vfstest.NewMem()
		writeFile(t, fs, journalName, whole[:size])
		j, err := Open(fs, folder, someSettings, false)
		if size < begin {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes: %v", size, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
			continue
		}
		if got := records(t, j); !slices.Equal(got, want[:(size-begin)/len("CCCCCCCC part 0\n")]) {
			t.Errorf("%d bytes: records %q", size, got)
		}
		closeJournal(t, j)
	}
}
