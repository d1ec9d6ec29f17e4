package grow

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

type doc struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// config decides about short texts, and reads blocks of a few of them.
func config(inputs ...string) dedup.Config {
	return dedup.Config{
		Inputs: inputs, Signatures: dedup.OfShingles{Options: shingle.Options{N: 2}}, Decide: dedup.Similarity{Threshold: 0.5, Candidates: dedup.LSH{}},
		Survivors: dedup.OnePerCluster{Star: true}, IDsOnly: true,
		Corpus: corpus.Options{BlockSize: 300}, Threads: 2,
	}
}

// fresh undoes what another run has added; there is no folder for the work of one.
var fresh = dedup.WorkFolder{Fresh: true}

func collection(t testing.TB, fs vfs.FS, c dedup.Config, dir string) *Collection {
	t.Helper()
	r, err := c.Recipe()
	if err != nil {
		t.Fatal(err)
	}
	return New(dir, Options{Index: index.OpenOptions{Options: index.Options{Recipe: r}, FS: fs, TailKeys: 2000, Memory: c.Memory}, What: "this run", Fresh: c.Work == fresh})
}

// run runs dedup with an index and returns its output: kept.csv and removed.csv.
func run(t testing.TB, fs vfs.FS, c dedup.Config, dir string) (output string, s *dedup.Summary, err error) {
	t.Helper()
	known := collection(t, fs, c, dir)
	known.added = (*index.Index).Sync // so that a crash leaves some batches
	c.Survivors = dedup.NewTo{Known: known}
	s, err = dedup.Run(t.Context(), c)
	if closed := known.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", nil, err
	}
	for _, name := range []string{dedup.KeptIDsFile, dedup.RemovedFile} {
		b, err := os.ReadFile(filepath.Join(c.Output, name))
		if err != nil {
			t.Fatal(err)
		}
		output += string(b)
	}
	return output, s, nil
}

func write(t testing.TB, path string, docs []doc) {
	t.Helper()
	var b strings.Builder
	for _, d := range docs {
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// some returns documents, many of which are like an earlier one.
func some(random *rand.Rand, n int) (docs []doc) {
	for i := range n {
		var words []string
		if len(docs) > 0 && random.IntN(2) == 0 {
			words = strings.Fields(docs[random.IntN(len(docs))].Text)
			for range random.IntN(3) {
				words[random.IntN(len(words))] = fmt.Sprint("w", random.IntN(50))
			}
		} else {
			for range 5 + random.IntN(10) {
				words = append(words, fmt.Sprint("w", random.IntN(50)))
			}
		}
		docs = append(docs, doc{fmt.Sprint("d", i), strings.Join(words, " ")})
	}
	return docs
}

// ids returns the ids of the documents of an index, in the order of their slots.
func ids(t testing.TB, fs vfs.FS, c dedup.Config, dir string) (ids []string) {
	t.Helper()
	known := collection(t, fs, c, dir)
	if err := known.open(t.Context(), nil, c.Corpus); err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	damages := 0
	if _, err := known.x.Verify(t.Context(), func(d index.Damage) { damages++; t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	for slot := range known.x.Stats().Next {
		if id, ok, err := known.x.Slots().ID(slot); err != nil {
			t.Fatal(err)
		} else if ok {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// However a collection comes, what is kept of it is what the engine keeps of all at once.
func TestWhatIsKeptOfPartsIsWhatIsKeptOfAllAtOnce(t *testing.T) {
	for seed := range uint64(12) { // each opens a store for each part: rapid's hundred would take seconds
		random := rand.New(rand.NewPCG(seed, 1))
		docs := some(random, 1+random.IntN(60))
		dir := t.TempDir()
		all := config(filepath.Join(dir, "all.jsonl"))
		all.Output = filepath.Join(dir, "all")
		write(t, all.Inputs[0], docs)
		if _, err := dedup.Run(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(all.Output, dedup.KeptIDsFile))
		if err != nil {
			t.Fatal(err)
		}
		fs, got, part := vfstest.NewMem(), "id\n", 0
		for from := 0; from < len(docs); part++ {
			to := from + 1 + random.IntN(len(docs)-from)
			c := config(filepath.Join(dir, fmt.Sprint(part, ".jsonl")))
			c.Output = filepath.Join(dir, fmt.Sprint("out-", part))
			write(t, c.Inputs[0], docs[from:to])
			output, s, err := run(t, fs, c, "index")
			if err != nil {
				t.Fatal(err)
			}
			if s.Read != s.Kept+s.Removed+s.Skipped || s.Skipped > 0 || s.Known > s.Removed {
				t.Fatalf("%+v", s)
			}
			kept, removed, _ := strings.Cut(strings.TrimPrefix(output, "id\n"), "id,kept_id,similarity\n")
			if n := int64(strings.Count(removed, "\n")); n != s.Removed {
				t.Fatalf("%d rows for %d that were removed", n, s.Removed)
			}
			got += kept
			from = to
		}
		if got != string(want) {
			t.Fatalf("kept in %d parts:\n%s\nat once:\n%s", part, got, want)
		}
		if there := ids(t, fs, all, "index"); "id\n"+strings.Join(there, "\n")+"\n" != got {
			t.Fatalf("in the index:\n%v\nkept:\n%s", there, got)
		}
	}
}

var errPower = errors.New("no power")

// failing is a file system that stops at its nth write operation: then it holds what survives a
// crash, and nothing works any more.
type failing struct {
	*vfstest.Mem
	n     atomic.Int64
	after atomic.Pointer[vfstest.Mem]
}

func (f *failing) wrap(random *rand.Rand) vfs.FS {
	return vfstest.Inject(f.Mem, func(op vfstest.Op) error {
		if op.Kind.Writes() && f.n.Add(-1) == -1 {
			f.after.Store(f.CrashClone(vfstest.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[random.IntN(3)], RNG: rand.New(rand.NewPCG(random.Uint64(), 2))}))
		}
		if f.n.Load() < 0 {
			return errPower
		}
		return nil
	})
}

// A run ends at any write to the index, and is repeated on what is left of that: it comes to the
// output of a run that was left alone, and nothing is in the index twice.
func TestAKilledRunThatIsRepeatedComesToTheSame(t *testing.T) {
	for keys, apart := range map[index.Keys]int{index.KeysInMemory: 24, index.KeysOnDisk: 90} {
		t.Run("keys "+string(keys), func(t *testing.T) { killRuns(t, keys, apart) })
	}
}

// killRuns ends runs at writes that are so many apart at most.
func killRuns(t *testing.T, keys index.Keys, apart int) {
	random := rand.New(rand.NewPCG(3, 3))
	docs := some(random, 300)
	dir := t.TempDir()
	first, second := config(filepath.Join(dir, "1.jsonl")), config(filepath.Join(dir, "2.jsonl"))
	first.Output, second.Output = filepath.Join(dir, "out-1"), filepath.Join(dir, "out-2")
	write(t, first.Inputs[0], docs[:100])
	write(t, second.Inputs[0], docs[100:])
	before := vfstest.NewCrashable()
	r, err := first.Recipe()
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.Create("index", index.OpenOptions{Options: index.Options{Recipe: r, ByID: true, Keys: keys}, FS: before})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, before, first, "index"); err != nil {
		t.Fatal(err)
	}
	whole := before.CrashClone(vfstest.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(random.Uint64(), 2))})
	want, _, err := run(t, whole, second, "index")
	if err != nil {
		t.Fatal(err)
	}
	wantIDs := ids(t, whole, second, "index")
	again := func(what string, fs vfs.FS) {
		t.Helper()
		if err := os.RemoveAll(second.Output); err != nil {
			t.Fatal(err)
		}
		got, _, err := run(t, fs, second, "index")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got != want {
			t.Fatalf("%s: the output is\n%s\nwant\n%s", what, got, want)
		}
		if there := ids(t, fs, second, "index"); !slices.Equal(there, wantIDs) {
			t.Fatalf("%s: in the index are\n%v\nwant\n%v", what, there, wantIDs)
		}
	}
	again("repeated after its end", whole)
	if _, _, err := run(t, whole, second, "index"); err == nil {
		t.Error("an output folder that is not empty is taken")
	}
	partly := 0
	for n := 0; ; n += 1 + random.IntN(apart) {
		f := &failing{Mem: before.CrashClone(vfstest.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(random.Uint64(), 2))})}
		f.n.Store(int64(n))
		if err := os.RemoveAll(second.Output); err != nil {
			t.Fatal(err)
		}
		_, _, err := run(t, f.wrap(random), second, "index")
		if f.n.Load() >= 0 {
			if err != nil {
				t.Fatal(err)
			}
			break // there are no more writes
		}
		left := f.after.Load()
		for ; left == nil; left = f.after.Load() {
			runtime.Gosched() // another goroutine makes it
		}
		if progressed(t, left, second) {
			partly++
			if _, _, err := run(t, left, otherRun(t, second), "index"); !errors.Is(err, ErrUnfinished) {
				t.Fatalf("write %d: another run goes over a part of this one: %v", n, err)
			}
		}
		again(fmt.Sprintf("ended at write %d (%v)", n, err), left)
	}
	if partly < 3 {
		t.Errorf("%d runs ended between documents: the test sees too little", partly)
	}
}

// progressed tells whether the index has documents of a run whose output is not in its place.
func progressed(t *testing.T, fs vfs.FS, c dedup.Config) bool {
	t.Helper()
	known := collection(t, fs, c, "index")
	if err := known.open(t.Context(), nil, corpus.Options{}); err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	note, err := known.x.Note(noteName)
	if err != nil {
		t.Fatal(err)
	}
	var p progress
	if err := json.Unmarshal(note, &p); err != nil {
		t.Fatal(err)
	}
	return p.unfinished()
}

// otherRun is a run of the same input to another folder.
func otherRun(t *testing.T, c dedup.Config) dedup.Config {
	c.Output = filepath.Join(t.TempDir(), "other")
	return c
}

// With Fresh another run undoes what a run has added that did not end, though it had added all but its output was not in its
// place.
func TestAnotherRunUndoesAPartOfOne(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("whole ", whole), func(t *testing.T) { undoRun(t, whole) })
	}
}

// undoRun ends a run when the index has a part, or the whole, of what it keeps.
func undoRun(t *testing.T, whole bool) {
	docs := some(rand.New(rand.NewPCG(5, 5)), 200)
	dir := t.TempDir()
	c := config(filepath.Join(dir, "1.jsonl"))
	c.Output = filepath.Join(dir, "out")
	write(t, c.Inputs[0], docs)
	fs := vfstest.NewMem()
	ctx, cancel := context.WithCancel(t.Context())
	known := collection(t, fs, c, "index")
	config := c
	config.Survivors = dedup.NewTo{Known: stopping{known, cancel, whole}}
	if _, err := dedup.Run(ctx, config); err == nil {
		t.Fatal("a cancelled run ends well")
	}
	if n := known.Index().Stats().Documents; n == 0 {
		t.Fatal("it has added nothing: the test does not look at anything")
	}
	if err := Unfinished(known.Index()); !errors.Is(err, ErrUnfinished) {
		t.Fatal(err)
	}
	if err := known.Close(); err != nil {
		t.Fatal(err)
	}
	other := otherRun(t, c)
	if _, _, err := run(t, fs, other, "index"); !errors.Is(err, ErrUnfinished) || !strings.Contains(err.Error(), "this run") {
		t.Fatal(err)
	}
	other.Work = fresh
	_, s, err := run(t, fs, other, "index")
	if err != nil {
		t.Fatal(err)
	}
	if there := ids(t, fs, c, "index"); s.Known != 0 || int64(len(there)) != s.Kept {
		t.Errorf("%d known, %d in the index, %d kept", s.Known, len(there), s.Kept)
	}
	if _, _, err := run(t, fs, otherRun(t, c), "index"); err != nil {
		t.Errorf("the run before has ended: %v", err)
	}
}

// stopping ends the run when some documents are in the index.
type stopping struct {
	*Collection
	cancel context.CancelFunc
	whole  bool // when all of them are
}

func (s stopping) Keep(ctx context.Context, kept *dedup.Kept) error {
	half := *kept
	if !s.whole {
		half.Sources = append(slices.Clone(kept.Sources), corpus.Source{Path: "not there", Format: corpus.JSONL})
		half.Documents++
	}
	err := s.Collection.Keep(ctx, &half)
	s.cancel()
	return errors.Join(err, ctx.Err())
}

// Whatever the format, the index has what is kept, under the names of the output. What has the
// name of another document is skipped.
func TestRecordsOfAllFormatsAreAddedUnderTheirNames(t *testing.T) {
	docs := some(rand.New(rand.NewPCG(7, 7)), 120)
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.MkdirAll(filepath.Join(in, "texts"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(in, "a.jsonl"), docs[:30])
	plain, err := os.ReadFile(filepath.Join(in, "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := os.Create(filepath.Join(in, "b.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(compressed)
	fmt.Fprintln(z, "no record")
	fmt.Fprint(z, strings.NewReplacer(`"id":"d`, `"id":"z`, `"text":"`, `"text":"w1 w7 w3 w9 `).Replace(string(plain)))
	if err := errors.Join(z.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	table, err := os.Create(filepath.Join(in, "c.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := csv.NewWriter(table)
	_ = rows.Write([]string{"text", "other"})
	for _, d := range docs[60:90] {
		_ = rows.Write([]string{d.Text, "a\nb"})
	}
	rows.Flush()
	if err := errors.Join(rows.Error(), table.Close()); err != nil {
		t.Fatal(err)
	}
	for _, d := range docs[90:] {
		if err := os.WriteFile(filepath.Join(in, "texts", d.ID+".txt"), []byte(d.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := config(in)
	c.Output = filepath.Join(dir, "out")
	fs := vfstest.NewMem()
	output, s, err := run(t, fs, c, "index")
	if err != nil {
		t.Fatal(err)
	}
	kept, _, _ := strings.Cut(strings.TrimPrefix(output, "id\n"), "id,kept_id")
	there := ids(t, fs, c, "index")
	if want := strings.Fields(kept); !slices.Equal(there, want) || s.Skipped != 1 || len(want) < 50 {
		t.Fatalf("in the index are\n%v\nkept\n%v, %d skipped", there, want, s.Skipped)
	}
	// A file of the same name with other texts: its records have the names of those that are there.
	c.Inputs = []string{filepath.Join(dir, "c.csv")}
	c.Output = filepath.Join(dir, "out-2")
	if err := os.WriteFile(c.Inputs[0], []byte("text\nv1 v2 v3 v4 v5\nv6 v7 v8 v9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	c.OnSkip = func(p *corpus.Problem) { told = append(told, p.Error()) }
	c.Corpus.IDField = "text" // unlike all others
	if _, s, err = run(t, fs, c, "index"); err != nil || s.Kept != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := os.WriteFile(c.Inputs[0], []byte("id,text\nd0,u1 u2 u3 u4 u5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Corpus.IDField, c.Output = "id", filepath.Join(dir, "out-3")
	if _, s, err = run(t, fs, c, "index"); err != nil || s.Skipped != 1 || len(told) != 1 || !strings.Contains(told[0], `d0 is that of a document in the index`) {
		t.Fatalf("%+v, %v, told %q", s, err, told)
	}
}

// An index and the run that grows it have one ceiling: what does not fit is refused before anything is
// read or, where it is what the run keeps, added, by a message with the ceiling that does.
func TestAnIndexAndTheRunHaveOneCeiling(t *testing.T) {
	random, dir, fs := rand.New(rand.NewPCG(3, 3)), t.TempDir(), vfstest.NewMem()
	first, second := config(filepath.Join(dir, "a.jsonl")), config(filepath.Join(dir, "b.jsonl"))
	var docs []doc
	for i := range 4000 { // like nothing
		docs = append(docs, doc{fmt.Sprint(i), fmt.Sprint(random.Uint64(), " ", random.Uint64(), " ", random.Uint64())})
	}
	write(t, first.Inputs[0], docs[:2000])
	write(t, second.Inputs[0], docs[2000:])
	first.Output, second.Output = filepath.Join(dir, "first"), filepath.Join(dir, "second")
	if _, _, err := run(t, fs, first, "index"); err != nil {
		t.Fatal(err)
	}
	least := regexp.MustCompile(`Memory (\d+)MiB`)
	refused := 0
	for second.Memory = 1 << 20; ; refused++ {
		_, s, err := run(t, fs, second, "index")
		if err == nil {
			if s.Kept != 2000 {
				t.Errorf("%d documents are kept", s.Kept)
			}
			break
		}
		m := least.FindStringSubmatch(err.Error())
		if !errors.Is(err, index.ErrMemory) || m == nil || refused == 3 { // for what a sample lets expect, what is there, what is kept
			t.Fatalf("with %d bytes: %v", second.Memory, err)
		}
		if got := len(ids(t, fs, first, "index")); got != 2000 {
			t.Fatalf("%d documents were added by a run that was refused", got-2000)
		}
		mebibytes, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		second.Memory = mebibytes << 20
	}
	if refused == 0 {
		t.Error("one MiB was enough")
	}
	if got := len(ids(t, fs, first, "index")); got != 4000 {
		t.Errorf("the index has %d documents", got)
	}
}

// Line n of a stream is another document each time: a run that has ended is not repeated by one that reads another
// stream under the same name, and what has no id is not mistaken for what had its place.
func TestEachStreamAddsItsDocuments(t *testing.T) {
	fs, dir := vfstest.NewMem(), t.TempDir()
	c := config("-")
	c.Output = filepath.Join(dir, "out")
	days := []string{"{\"text\":\"one two three four\"}\n{\"text\":\"five six seven eight\"}\n", "{\"text\":\"red green blue white\"}\n"}
	for i, day := range days {
		c.Corpus.Stdin = strings.NewReader(day)
		output, s, err := run(t, fs, c, "index")
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(day, "\n"); s.Kept != int64(want) || s.Apart != int64(i) {
			t.Fatalf("day %d: %+v\n%s", i, s, output)
		}
		if err := os.RemoveAll(c.Output); err != nil {
			t.Fatal(err)
		}
	}
	got := ids(t, fs, c, "index")
	if len(got) != 3 || got[0] != "stdin.jsonl:1" || got[1] != "stdin.jsonl:2" || !regexp.MustCompile(`^stdin\.jsonl:1#[0-9a-f]{16}$`).MatchString(got[2]) {
		t.Fatal(got)
	}
}

// A run over a stream is killed at any write to the index. With the same stream it is repeated; with another one it is
// refused, and undone by Fresh. Nothing of either stream is missing then, or there twice.
func TestAKilledRunOverAStreamIsRepeatedOrUndone(t *testing.T) {
	refused, output := 0, filepath.Join(t.TempDir(), "out")
	for at := int64(1); ; at += 5 {
		random := rand.New(rand.NewPCG(uint64(at), 7))
		c := config("-")
		c.Output = output
		begin := func() {
			if err := os.RemoveAll(output); err != nil {
				t.Fatal(err)
			}
		}
		first := "{\"text\":\"one two three four\"}\n{\"text\":\"five six seven eight\"}\n"
		other := "{\"text\":\"red green blue white\"}\n"
		f := &failing{Mem: vfstest.NewCrashable()}
		f.n.Store(at)
		begin()
		c.Corpus.Stdin = strings.NewReader(first)
		_, _, err := run(t, f.wrap(random), c, "index")
		if f.after.Load() == nil {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		for _, day := range []string{first, other} {
			fs := vfs.FS(f.after.Load().CrashClone(vfstest.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))}))
			begin()
			c.Work, c.Corpus.Stdin = nil, strings.NewReader(day)
			_, _, err := run(t, fs, c, "index")
			if errors.Is(err, ErrOtherInput) && day == other {
				refused++
				begin()
				c.Work, c.Corpus.Stdin = fresh, strings.NewReader(day)
				_, _, err = run(t, fs, c, "index")
			}
			if err != nil {
				t.Fatalf("write %d: %v", at, err)
			}
			c.Work = nil
			if got, most := len(ids(t, fs, c, "index")), strings.Count(day, "\n"); got != most && (day == first || got != most+2) {
				t.Fatalf("write %d: %d documents for %q", at, got, day)
			}
		}
	}
	if refused == 0 {
		t.Fatal("no run was refused")
	}
}

// A new index takes what memory there is, as one that is built does: its floor and that of the run, which together exceed
// a small ceiling, are no reason to refuse it. If memory has no room for its keys, they are on disk.
func TestASmallCeilingHasRoomForANewIndex(t *testing.T) {
	dir := t.TempDir()
	for n, keys := range map[int]index.Keys{200: index.KeysInMemory, 60_000: index.KeysOnDisk} {
		c := config(filepath.Join(dir, fmt.Sprint(n, ".jsonl")))
		c.Memory, c.Output = 64<<20, filepath.Join(dir, fmt.Sprint("out-", n))
		var docs []doc
		for i := range n {
			docs = append(docs, doc{fmt.Sprint(i), fmt.Sprint("a", i, " b", i, " c", i)})
		}
		write(t, c.Inputs[0], docs)
		known := collection(t, vfstest.NewMem(), c, "index")
		sources, _, err := corpus.Find(t.Context(), c.Inputs, c.Corpus)
		if err != nil {
			t.Fatal(err)
		}
		if err := known.open(t.Context(), sources, c.Corpus); err != nil {
			t.Fatal(err)
		}
		if got := known.Index().Options().Keys; got != keys {
			t.Errorf("%d documents: keys %q", n, got)
		}
		if err := known.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
