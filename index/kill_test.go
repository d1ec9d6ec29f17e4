package index

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
)

// childDir, if set, makes the test's program a writer of the index in that folder.
const childDir = "ALIKE_TEST_INDEX"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := writeUntilKilled(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if testsize.Small() {
		if err := flag.Set("rapid.checks", "10"); err != nil { // of 100: other runs draw more
			panic(err)
		}
	}
	os.Exit(m.Run()) // stores that have failed leave goroutines behind, see guarded: goleak is in package feed
}

// bothKeys are the places where keys are. Those on disk take minutes with the race detector,
// which meets them in TestKeysOnDiskAnswerAsKeysInMemoryDo.
func bothKeys() []Keys {
	if testsize.Small() {
		return []Keys{KeysInMemory}
	}
	return []Keys{KeysInMemory, KeysOnDisk}
}

// writers write at the same time.
const writers = 16

// writeUntilKilled adds documents, of which it first says that it sends them, and then that
// they were acknowledged.
func writeUntilKilled(dir string, out io.Writer) error {
	x, err := Open(dir, OpenOptions{TailKeys: 20 * fewKeys, pieceBytes: fewBytes})
	if err != nil {
		return err
	}
	base := x.Stats().Next
	var say sync.Mutex
	line := func(format string, args ...any) {
		say.Lock()
		defer say.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	line("ready")
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			b := x.NewBatch()
			for n := 0; ; n++ {
				b.Reset()
				id := fmt.Sprintf("%d-%d-%d", base, w, n)
				b.Add(Document{ID: []byte(id), Text: []byte("text of " + id)})
				line("sent %s", id)
				if x.Add(b) != nil || x.Sync() != nil {
					return
				}
				line("done %s", id)
			}
		})
	}
	group.Wait()
	return x.Err()
}

// A process with many writers is killed again and again. What it said was acknowledged is
// there, and nothing that was not sent. What came before the last process is looked at now and then,
// and at the end: to look at all each time takes longer than the writing. ALIKE_KILLS=200 does
// what a release does.
func TestNothingAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	for _, keys := range bothKeys() {
		t.Run("keys "+string(keys), func(t *testing.T) { killWriters(t, keys) })
	}
}

func killWriters(t *testing.T, keys Keys) {
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("ALIKE_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	x, err := Create(dir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: keys}, FS: vfs.OS})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	sent, done := map[string]bool{}, map[string]bool{}
	since, sentSince, doneSince := uint64(0), map[string]bool{}, map[string]bool{} // the last process
	random := rand.New(rand.NewPCG(1, 1))
	for kill := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			what, id, _ := strings.Cut(lines.Text(), " ")
			switch what {
			case "ready":
				time.AfterFunc(time.Duration(random.IntN(100))*time.Millisecond, func() { _ = child.Process.Kill() })
			case "sent":
				sent[id], sentSince[id] = true, true
			case "done":
				done[id], doneSince[id] = true, true
			}
		}
		_ = child.Wait() // it was killed
		x, err := Open(dir, OpenOptions{})
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		from, wanted, known := since, doneSince, sentSince
		if kill%25 == 24 || kill == kills-1 {
			from, wanted, known = 0, done, sent
		}
		there := contents(t, x, from)
		for id := range wanted {
			if there[id] != "text of "+id {
				t.Fatalf("kill %d: %s was acknowledged, and is lost", kill, id)
			}
		}
		for id := range there {
			if !known[id] {
				t.Fatalf("kill %d: %s was never sent", kill, id)
			}
		}
		since = x.Stats().Next
		clear(sentSince)
		clear(doneSince)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d documents acknowledged of %d sent", kills, len(done), len(sent))
	if len(done) == 0 {
		t.Error("nothing was acknowledged: the test does not look at anything")
	}
}
