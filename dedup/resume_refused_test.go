package dedup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// stopAtRecord runs a command until the nth record is in its journal, and returns
// what it leaves.
func (c command) stopAtRecord(t testing.TB, config Config, n int) *vfstest.Mem {
	t.Helper()
	on, stopped := c.runToRecord(t, config, n)
	if !stopped {
		t.Fatalf("a whole run has fewer than %d records", n)
	}
	return on
}

// runToRecord is stopAtRecord for a run that may end before.
func (c command) runToRecord(t testing.TB, config Config, n int) (on *vfstest.Mem, stopped bool) {
	t.Helper()
	on = vfstest.NewMem()
	records, dead := 0, false
	traced := newTracedFS(on, func(o operation) error {
		// What is written to the journal is a record; creating it has another name.
		if strings.HasSuffix(o.Path, "/alike.journal") && o.Kind == "write" {
			records++
		}
		dead = dead || records > n
		if dead {
			return errDead
		}
		return nil
	})
	_, err := c.on(t, context.Background(), traced, config)
	if err != nil && !errors.Is(err, errDead) {
		t.Fatalf("%d records: error %v", n, err)
	}
	traced.CloseAll()
	return on, err != nil
}

func copyOf(t testing.TB, from *vfstest.Mem) *vfstest.Mem {
	t.Helper()
	to := vfstest.NewMem()
	for name, data := range memTree(t, from, "/") {
		if strings.HasSuffix(name, "/") {
			if err := to.MkdirAll("/"+name, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		writeVFS(t, to, "/"+name, []byte(data))
	}
	return to
}

func writeVFS(t testing.TB, on vfs.FS, name string, data []byte) {
	t.Helper()
	if err := on.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := on.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestARunOfOtherSettingsIsRefusedWithTheNameOfWhatChanged(t *testing.T) {
	inputs, references := troubleCorpus(t, 7)
	v := variants(t)[0]
	config := func() Config { return v.resumable(inputs, references, 2) }
	left := commands[0].stopAtRecord(t, config(), 20)
	otherSketch, err := minhash.ParseScheme(strings.Replace(minhash.Default().String(), "seed=", "seed=7", 1))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		names  string
		change func(c *Config)
	}{
		{"Threshold", func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Threshold = 0.71 }) }},
		{"Recall", func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Candidates = Auto{Recall: 0.9} }) }},
		{"bands", func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Candidates = Bands{Bands: 30, Rows: 4} }) }},
		{"Candidates", func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Candidates = Auto{} }) }},
		{"Verify", func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Verify = recipe.Sketch }) }},
		{"BucketCap", func(c *Config) { c.BucketCap++ }},
		{"Keep", func(c *Config) { onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "longest") }) }},
		{"star", func(c *Config) { onePerCluster(c, func(s *OnePerCluster) { s.Star = true }) }},
		{"ids only", func(c *Config) { c.IDsOnly = true }},
		{"OnError", func(c *Config) { c.OnError = OnErrorFail }},
		{"words n=", func(c *Config) { ofShingles(c, func(s *OfShingles) { s.Options.N = 4 }) }},
		{"seed=7", func(c *Config) { ofShingles(c, func(s *OfShingles) { s.Scheme = otherSketch }) }},
		{"Format", func(c *Config) { c.Corpus.Format = corpus.Lines }},
		{"TextField", func(c *Config) { c.Corpus.TextField = "title" }},
		{"IDField", func(c *Config) { c.Corpus.IDField = corpus.NoID }},
		{"MaxRecord", func(c *Config) { c.Corpus.MaxRecord = 1 << 20 }},
		{"references", func(c *Config) { c.Beside = Against{references} }},
		{"plain.jsonl", func(c *Config) { c.Inputs = []string{filepath.Join(inputs, "a", "b")} }},
		{"r.jsonl", func(c *Config) { c.Inputs = append(c.Inputs, references) }},
	}
	for _, change := range cases {
		on := copyOf(t, left)
		c := config()
		change.change(&c)
		_, err := commands[0].on(t, context.Background(), on, c)
		var mismatch *journal.MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), change.names) || !strings.Contains(err.Error(), "Fresh") {
			t.Errorf("%s: error %v", change.names, err)
		}
		if err := left.Remove(workFolder + "/alike.lock"); err != nil && !errors.Is(err, os.ErrNotExist) { // of the killed process
			t.Fatal(err)
		}
		if !maps.Equal(memTree(t, on, "/"), memTree(t, left, "/")) {
			t.Errorf("%s: a refused run has changed something", change.names)
		}
	}
	if _, err := pairsOn(t, context.Background(), copyOf(t, left), config()); err == nil || !strings.Contains(err.Error(), "command") {
		t.Errorf("pairs of a run of dedup: error %v", err)
	}

	// Started over, a changed run is one of its own.
	c := config()
	bySimilarity(&c, func(s *Similarity) { s.Threshold = 0.9 })
	plain := v.config(inputs, references)
	bySimilarity(&plain, func(s *Similarity) { s.Threshold = 0.9 })
	want := commands[0].undisturbed(t, plain)
	c.Work = WorkFolder{Path: workFolder, Fresh: true}
	commands[0].goesOn(t, c, copyOf(t, left), want)
}

func TestAChangedInputIsRefusedByName(t *testing.T) {
	inputs, references := troubleCorpus(t, 7)
	v := variants(t)[0]
	left := commands[0].stopAtRecord(t, v.resumable(inputs, references, 2), 20)
	refused := func(what string) {
		t.Helper()
		_, err := dedupOn(t, context.Background(), copyOf(t, left), v.resumable(inputs, references, 2))
		if err == nil || !strings.Contains(err.Error(), "table.csv") || !strings.Contains(err.Error(), "Fresh") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	path := filepath.Join(inputs, "table.csv")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, before.ModTime().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	refused("another time")
	writeFile(t, path, append(data, '\n'))
	if err := os.Chtimes(path, time.Time{}, before.ModTime()); err != nil {
		t.Fatal(err)
	}
	refused("another size")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused("gone")
}

// counter counts what is done in each stage.
type counter struct {
	mu    sync.Mutex
	stage string
	items map[string]int64
}

func (c *counter) Stage(name string, _ int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = name
}

func (c *counter) Advance(items, _ int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[string]int64{}
	}
	c.items[c.stage] += items
}

// noted sums up what the journal of a stopped run says was done.
func noted(t *testing.T, on *vfstest.Mem, c Config) map[string]int64 {
	t.Helper()
	c.fs = on
	s, err := settle(c)
	if err != nil {
		t.Fatal(err)
	}
	w := newSpace(s)
	if err := w.Keep(workFolder + "/" + resume.FilesFolder); err != nil {
		t.Fatal(err)
	}
	done := map[string]int64{}
	parts := doctable.NewBuilder(doctable.Options{Sources: make([]corpus.Source, 1<<10), Space: w})
	defer parts.Close()
	for line := range strings.Lines(readVFS(t, on, workFolder+"/alike.journal")) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		switch fields[1] {
		case resume.Part:
			var name doctable.PartName
			if err := json.Unmarshal([]byte(fields[2]), &name); err != nil {
				t.Fatal(err)
			}
			blocks, err := parts.AddPart(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range blocks {
				done["read"] += int64(b.Docs)
			}
		case group.VotedKind:
			done["group"] = numberBehind(t, fields[2], `"Bands":`)
		case "candidates":
			done["group"] = int64(s.recipe.Keys())
		case "edges-so-far", "edges":
			done["verify"] = numberBehind(t, fields[2], `"Count":`)
		}
	}
	return done
}

func numberBehind(t *testing.T, text, name string) (n int64) {
	t.Helper()
	_, rest, ok := strings.Cut(text, name)
	if !ok {
		t.Fatalf("no %s in %s", name, text)
	}
	for _, c := range []byte(rest) {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

func TestWhatTheJournalSaysIsNotDoneAgain(t *testing.T) {
	inputs, references := troubleCorpus(t, 8)
	command := commands[1]
	for _, v := range allVariants(t)[:2] {
		all := &counter{}
		c := v.config(inputs, references)
		c.Progress = all
		want := command.undisturbed(t, c)
		docs := all.items["read"]
		bands := all.items["group"] / docs
		seen := map[string]bool{}
		for n, step := 1, 4; ; n += step {
			on, stopped := command.runToRecord(t, v.resumable(inputs, references, 2), n)
			if !stopped {
				break
			}
			before := noted(t, on, v.resumable(inputs, references, 2))
			if before["group"] > 0 {
				step = 1 // few notes follow
			}
			again := &counter{}
			c := v.resumable(inputs, references, 2)
			c.Progress = again
			command.goesOn(t, c, on, want)
			if got := again.items["read"]; got != docs-before["read"] {
				t.Errorf("%s, %d records: read %d documents, want %d of %d", v.name, n, got, docs-before["read"], docs)
			}
			if got := again.items["verify"]; got != all.items["verify"]-before["verify"] {
				t.Errorf("%s, %d records: compared %d pairs, want %d of %d", v.name, n, got, all.items["verify"]-before["verify"], all.items["verify"])
			}
			if got := again.items["group"]; before["verify"] == 0 && got != (bands-before["group"])*docs {
				t.Errorf("%s, %d records: grouped %d bands, want %d of %d", v.name, n, got/docs, bands-before["group"], bands)
			}
			for stage := range before {
				seen[stage] = true
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: stopped in %q only", v.name, slices.Sorted(maps.Keys(seen)))
		}
	}
}

func TestAWorkFolderInUseIsRefused(t *testing.T) {
	t.Parallel()
	inputs, references := troubleCorpus(t, 9)
	v := variants(t)[0]
	on := vfstest.NewMem()
	held, err := journal.Open(on, workFolder, func(func(journal.Setting) bool) {}, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dedupOn(t, context.Background(), on, v.resumable(inputs, references, 2))
	if !errors.Is(err, journal.ErrInUse) || !strings.Contains(err.Error(), workFolder) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err = dedupOn(t, ctx, on, v.resumable(inputs, references, 2)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// A process that was killed is gone a moment later.
	go func() {
		time.Sleep(resume.LockWait / 10)
		if err := held.Remove(); err != nil {
			t.Error(err)
		}
	}()
	want := commands[0].undisturbed(t, v.config(inputs, references))
	commands[0].goesOn(t, v.resumable(inputs, references, 2), on, want)
}

// Whatever a disk makes of the files of a run, it goes on to the same result or not
// at all.
func TestADamagedWorkFolderGivesAnErrorOrTheSameResult(t *testing.T) {
	inputs, references := troubleCorpus(t, 10)
	rng := rand.New(rand.NewPCG(1, 1))
	refused, same := 0, 0
	some := allVariants(t)[:5]
	if testsize.Small() {
		some = some[:2]
	}
	for _, v := range some {
		command := commands[0]
		want := command.undisturbed(t, v.config(inputs, references))
		left := command.stopAtRecord(t, v.resumable(inputs, references, 2), 56)
		names, err := left.List(workFolder + "/" + resume.FilesFolder)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		for i, name := range names {
			names[i] = resume.FilesFolder + "/" + name
		}
		names = append(names, "alike.journal")
		for _, name := range names {
			if !thorough && name != "alike.journal" && rng.IntN(4) > 0 || testsize.Small() && rng.IntN(6) > 0 {
				continue
			}
			path := workFolder + "/" + name
			data := []byte(readVFS(t, left, path))
			if len(data) == 0 {
				continue
			}
			on := copyOf(t, left)
			at := rng.IntN(len(data))
			if rng.IntN(4) == 0 {
				data = data[:at] // cut off
			} else {
				data[at] ^= 1 << rng.IntN(8)
			}
			writeVFS(t, on, path, data)
			got, err := command.on(t, context.Background(), on, v.resumable(inputs, references, 2))
			if err != nil {
				refused++
				if !strings.Contains(err.Error(), "Fresh") {
					t.Errorf("%s: byte %d of %s: error %v", v.name, at, name, err)
				}
				continue
			}
			same++
			if d := got.differsFrom(want); d != "" {
				t.Errorf("%s: byte %d of %s: %s", v.name, at, name, d)
			}
		}
	}
	t.Logf("%d refused, %d with the same result", refused, same)
	if refused == 0 {
		t.Error("no damage was found")
	}
}

func TestAnOutputFolderInUseIsLeftAlone(t *testing.T) {
	t.Parallel()
	inputs, references := troubleCorpus(t, 9)
	on := vfstest.NewMem()
	staged := filepath.Join(outFolder, write.StagingFolder)
	if err := on.MkdirAll(staged, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Take(on, filepath.Join(outFolder, write.StagingLock))
	if err != nil {
		t.Fatal(err)
	}
	config := variants(t)[0].config(inputs, references)
	if _, err := dedupOn(t, context.Background(), on, config); !errors.Is(err, filelock.ErrTaken) || !strings.Contains(err.Error(), outFolder) {
		t.Errorf("error %v", err)
	}
	if _, err := on.Stat(staged); err != nil {
		t.Errorf("what another run has staged: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := dedupOn(t, context.Background(), on, config); err != nil {
		t.Error(err)
	}
	if names, err := on.List(outFolder); err != nil || slices.Contains(names, write.StagingLock) {
		t.Errorf("left behind: %v, error %v", names, err)
	}
}
