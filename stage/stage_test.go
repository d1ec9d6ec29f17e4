package stage

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/vfs/vfstest"
)

const testRecipe = "text/v2 nfkc fold words n=2 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1 | bands=32 rows=3 | jaccard>=0.5 exact"

// world is a cluster in memory: blocks by stream and partition, and documents by task.
type world struct {
	plan      *Plan
	documents [][]Document
	blocks    map[[2]int][][]byte
	kept      []uint64
	memory    int64
}

func newWorld(t testing.TB, command, keep string, partitions int, joined bool, first []int, documents []Document) *world {
	t.Helper()
	w := &world{
		plan:   &Plan{Version: PlanVersion, Command: command, Recipe: testRecipe, BucketCap: 1000, Keep: keep, Partitions: partitions, Joined: joined, FirstFiles: first},
		blocks: map[[2]int][][]byte{}, documents: make([][]Document, len(first)),
	}
	if err := w.plan.Settle(""); err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		task := w.plan.TaskOf(d.Position)
		w.documents[task] = append(w.documents[task], d)
	}
	return w
}

// part is what one task reads.
type part struct {
	w    *world
	task int
	kept []uint64
}

func (p *part) Blocks(_ context.Context, s Stream, visit func(block []byte) error) error {
	for _, b := range p.w.blocks[[2]int{int(s), p.task}] {
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) Step(_ Stage, number int) Input { return &part{w: p.w, task: number} }

func (p *part) Documents(_ context.Context, wanted func(uint64) bool, visit func(*Document) error) (n DocumentCounts, err error) {
	for _, d := range p.w.documents[p.task] {
		n.Read++
		if wanted(d.Position) {
			if err := visit(&d); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (p *part) Keep(_ context.Context, kept func(uint64) bool, _ Edits) error {
	for _, d := range p.w.documents[p.task] {
		if kept(d.Position) {
			p.kept = append(p.kept, d.Position)
		}
	}
	return nil
}

// taken are the blocks of one run of a task. It fails behind so many, if that is not negative.
type taken struct {
	blocks [][]byte
	heads  []Header
	fail   int
}

var errKilled = errors.New("killed")

func (o *taken) Block(h Header, block []byte) error {
	if len(o.blocks) == o.fail {
		return errKilled
	}
	o.blocks, o.heads = append(o.blocks, bytes.Clone(block)), append(o.heads, h)
	return nil
}

// run runs one task and returns what it makes.
func (w *world) run(t testing.TB, s Stage, task, fail int) (*taken, *part, error) {
	t.Helper()
	fsys := vfstest.NewMem()
	if err := fsys.MkdirAll("/work", 0o755); err != nil {
		t.Fatal(err)
	}
	space := scratch.New(scratch.Options{FS: fsys, Threads: 1, Memory: w.memory})
	if err := space.Keep("/work"); err != nil {
		t.Fatal(err)
	}
	p, o := &part{w: w, task: task}, &taken{fail: fail}
	err := Run(context.Background(), w.plan, s.Name, task, p, o, space)
	return o, p, err
}

// runAll runs all stages but the last, the tasks of each in the order of rng.
func (w *world) runAll(t testing.TB, rng *rand.Rand, again bool) {
	t.Helper()
	for _, s := range w.plan.Stages() {
		if s.Name == Publish {
			slices.Sort(w.kept)
			return
		}
		made := make([]*taken, s.Tasks)
		for _, task := range rng.Perm(s.Tasks) {
			if again { // killed once, and run by another machine at the same time
				if _, _, err := w.run(t, s, task, rng.IntN(3)); err != nil && !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
			}
			o, p, err := w.run(t, s, task, -1)
			if err != nil {
				t.Fatal(err)
			}
			made[task], w.kept = o, append(w.kept, p.kept...)
			if again {
				second, _, err := w.run(t, s, task, -1)
				if err != nil || !slices.EqualFunc(second.blocks, o.blocks, bytes.Equal) {
					t.Fatalf("stage %s, task %d makes other blocks the second time (%v)", s.Name, task, err)
				}
			}
		}
		for _, o := range made {
			w.put(o)
		}
	}
}

// put hands the blocks of a task to who reads them.
func (w *world) put(o *taken) {
	for i, h := range o.heads {
		at := [2]int{int(h.Stream), h.Partition}
		w.blocks[at] = append(w.blocks[at], o.blocks[i])
	}
}

// text returns the text of a stream.
func (w *world) text(t testing.TB, s Stream) string {
	t.Helper()
	var b strings.Builder
	for _, block := range w.blocks[[2]int{int(s), 0}] {
		if err := EachRow(block, w.plan.ID(), s, func(_ []uint64, payload []byte) error { b.Write(payload); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// someDocuments draws documents of a few words, many of them alike, in some files.
func someDocuments(t *rapid.T, first []int) (documents []Document) {
	file, record := 0, uint64(0)
	for range rapid.IntRange(0, 40).Draw(t, "documents") {
		if rapid.IntRange(0, 5).Draw(t, "next file") == 0 {
			file, record = rapid.IntRange(file, first[len(first)-1]+1).Draw(t, "file"), 0
		}
		record += uint64(rapid.IntRange(1, 2).Draw(t, "step"))
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 6).Draw(t, "words")
		documents = append(documents, Document{
			Position: uint64(file)<<32 + record<<12, Text: []byte(strings.Join(words, " ")), Name: []byte(fmt.Sprintf("%d/%d", file, record)),
		})
	}
	slices.SortFunc(documents, func(a, b Document) int { return int(int64(a.Position - b.Position)) })
	return slices.CompactFunc(documents, func(a, b Document) bool { return a.Position == b.Position })
}

// alike is the slow twin: all pairs that share a key, by their sets.
func alike(t testing.TB, documents []Document) (pairs [][2]int, lines string) {
	r, err := recipe.Parse(testRecipe)
	if err != nil {
		t.Fatal(err)
	}
	sets, maker := make([][]uint64, len(documents)), r.NewSetMaker()
	keys, keyer := make([][]uint64, len(documents)), r.NewMaker(recipe.MakerOptions{})
	for i, d := range documents {
		sets[i] = maker.AppendSet(nil, d.Text)
		if keyer.Make(d.Text).Features > 0 {
			keys[i] = keyer.AppendKeys(nil)
		}
	}
	for i := range documents {
		for j := i + 1; j < len(documents); j++ {
			meet := slices.ContainsFunc(keys[i], func(key uint64) bool { return slices.Contains(keys[j], key) })
			if inter, ok := simjoin.Verify(sets[i], sets[j], r.Threshold()); ok && meet {
				pairs = append(pairs, [2]int{i, j})
				lines += fmt.Sprintf("%s,%s,%.6f\n", documents[i].Name, documents[j].Name, float64(inter)/float64(len(sets[i])+len(sets[j])-inter))
			}
		}
	}
	return pairs, lines
}

func TestStagesListThePairsThatComparingAllFinds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		first := []int{0, 1, 1 << 20, 1<<31 - 2}[:rapid.IntRange(1, 4).Draw(r, "tasks")]
		documents := someDocuments(r, first)
		w := newWorld(t, Pairs, "", rapid.IntRange(1, 9).Draw(r, "partitions"), rapid.Bool().Draw(r, "joined"), first, documents)
		w.memory = int64(rapid.IntRange(0, 1).Draw(r, "everything goes to disk"))
		w.runAll(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1)), rapid.IntRange(0, 7).Draw(r, "again") == 7)
		if _, want := alike(t, documents); w.text(t, PairsText) != want {
			r.Fatalf("pairs\n%swant\n%s", w.text(t, PairsText), want)
		}
	})
}

func TestStagesKeepTheFirstOfWhatIsConnected(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		first := []int{0, 3, 1<<31 - 2}[:rapid.IntRange(1, 3).Draw(r, "tasks")]
		documents := someDocuments(r, first)
		w := newWorld(t, Dedup, "first", rapid.IntRange(1, 9).Draw(r, "partitions"), rapid.Bool().Draw(r, "joined"), first, documents)
		w.memory = int64(rapid.IntRange(0, 1).Draw(r, "everything goes to disk"))
		w.runAll(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1)), rapid.IntRange(0, 7).Draw(r, "again") == 7)
		label := make([]int, len(documents))
		for i := range label {
			label[i] = i
		}
		pairs, _ := alike(t, documents)
		for changed := true; changed; {
			changed = false
			for _, p := range pairs {
				least := min(label[p[0]], label[p[1]])
				changed = changed || label[p[0]] != least || label[p[1]] != least
				label[p[0]], label[p[1]] = least, least
			}
		}
		var kept []uint64
		for i, d := range documents {
			if label[i] == i {
				kept = append(kept, d.Position)
			}
		}
		if !slices.Equal(w.kept, kept) {
			r.Fatalf("kept %x, want %x", w.kept, kept)
		}
	})
}

func TestForestsOfAnyNumberOfPartitionsAreMergedToOne(t *testing.T) {
	for partitions, forests := range map[int]int{16: 0, 17: 1, 257: 2} {
		w := newWorld(t, Dedup, "first", partitions, false, []int{0}, nil)
		rng := rand.New(rand.NewPCG(uint64(partitions), 1))
		links := cluster.New(1000)
		for task := range partitions {
			o := &taken{fail: -1}
			e := emitter{plan: w.plan, task: task, out: o}
			for range 700 / partitions {
				a := rng.Uint64N(999)
				b := a + 1 + rng.Uint64N(999-a)
				links.Union(uint32(a), uint32(b))
				if err := e.add(ForestEdges, task/mergeWidth, nil, a, b); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.flush(); err != nil {
				t.Fatal(err)
			}
			w.put(o)
		}
		stages := w.plan.forests()
		if len(stages) != forests+1 {
			t.Errorf("%d partitions: %d stages, want %d", partitions, len(stages), forests+1)
		}
		for _, s := range stages {
			for task := range s.Tasks {
				o, _, err := w.run(t, s, task, -1)
				if err != nil {
					t.Fatal(err)
				}
				w.put(o)
			}
		}
		smallest := map[uint32]uint64{}
		for _, block := range w.blocks[[2]int{int(Labels), 0}] {
			err := EachRow(block, w.plan.ID(), Labels, func(words []uint64, _ []byte) error {
				root := links.Find(uint32(words[0]))
				if least, found := smallest[root]; !found {
					smallest[root] = words[1]
				} else if words[1] != least {
					t.Errorf("%d partitions: document %d has label %d, others of its tree have %d", partitions, words[0], words[1], least)
				}
				if words[1] > words[0] || links.Find(uint32(words[1])) != root {
					t.Errorf("%d partitions: document %d has label %d", partitions, words[0], words[1])
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		trees := map[uint32]int{}
		for document := range uint32(1000) {
			trees[links.Find(document)]++
		}
		for root, size := range trees {
			if _, found := smallest[root]; found != (size > 1) {
				t.Errorf("%d partitions: a tree of %d documents has labels: %v", partitions, size, found)
			}
		}
	}
}

func TestAFlippedBitIsAnErrorThatNamesTheBlock(t *testing.T) {
	documents := []Document{{Text: []byte("a b c d"), Name: []byte("x")}, {Position: 1, Text: []byte("a b c d e"), Name: []byte("y")}}
	w := newWorld(t, Dedup, "first", 1, false, []int{0}, documents)
	sketched, _, err := w.run(t, w.plan.Stages()[0], 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range sketched.heads {
		if h.Stream != Names {
			continue
		}
		for bit := range 8 * len(sketched.blocks[i]) {
			b := bytes.Clone(sketched.blocks[i])
			b[bit/8] ^= 1 << (bit % 8)
			w.blocks[[2]int{int(Names), 0}] = [][]byte{b}
			if _, _, err = w.run(t, w.plan.Stages()[1], 0, -1); !errors.Is(err, ErrBlock) {
				t.Fatalf("bit %d is flipped: %v", bit, err)
			}
		}
		if !strings.Contains(err.Error(), " of stream names from task 0 for partition 0") {
			t.Errorf("the error does not name the block: %v", err)
		}
	}
}

func TestBlocksThatATaskDoesNotReadAreRefused(t *testing.T) {
	documents := []Document{{Text: []byte("a b c d"), Name: []byte("x")}, {Position: 1, Text: []byte("a b c d e"), Name: []byte("y")}}
	w := newWorld(t, Dedup, "first", 1, false, []int{0}, documents)
	other := newWorld(t, Dedup, "last", 1, false, []int{0}, documents)
	for of, from := range map[string]*world{"of another plan": other, "comes after block": w} {
		made, _, err := from.run(t, from.plan.Stages()[0], 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range made.heads {
			if h.Stream == Names {
				w.blocks[[2]int{int(Names), 0}] = [][]byte{made.blocks[i], made.blocks[i]}
			}
		}
		if _, _, err := w.run(t, w.plan.Stages()[1], 0, -1); !errors.Is(err, ErrBlock) || !strings.Contains(err.Error(), of) {
			t.Errorf("%s: %v", of, err)
		}
	}
	if _, _, err := w.run(t, Stage{Name: "nothing"}, 0, -1); !errors.Is(err, ErrStage) {
		t.Errorf("a stage that is none: %v", err)
	}
	if _, _, err := w.run(t, Stage{Name: "sketch"}, 1, -1); !errors.Is(err, ErrStage) {
		t.Errorf("a task too many: %v", err)
	}
}

func TestPlansThatCannotBeRunAreRefused(t *testing.T) {
	good := Plan{Version: PlanVersion, Command: Pairs, Recipe: testRecipe, BucketCap: 10, Partitions: 2, FirstFiles: []int{0, 2}}
	for what, change := range map[string]func(p *Plan){
		"version":    func(p *Plan) { p.Version++ },
		"command":    func(p *Plan) { p.Command = "join" },
		"recipe":     func(p *Plan) { p.Recipe = "soup" },
		"exact":      func(p *Plan) { p.Recipe = strings.Replace(testRecipe, " | bands=32 rows=3", "", 1) },
		"keep":       func(p *Plan) { p.Keep = "none" },
		"cap":        func(p *Plan) { p.BucketCap = 1 },
		"partitions": func(p *Plan) { p.Partitions = MaxPartitions + 1 },
		"files":      func(p *Plan) { p.FirstFiles = []int{0, 3, 2} },
		"no files":   func(p *Plan) { p.FirstFiles = nil },
		"digest":     func(p *Plan) { p.Digest = "soup" },
	} {
		p := good
		if change(&p); p.Settle("") == nil {
			t.Errorf("a plan with another %s is taken", what)
		}
	}
	if err := good.Settle(""); err != nil {
		t.Error(err)
	}
}

func FuzzBlocksThatAreDamagedAreRefused(f *testing.F) {
	p := &Plan{Version: PlanVersion, Command: Pairs, Recipe: testRecipe, BucketCap: 10, Partitions: 2, FirstFiles: []int{0}}
	if err := p.Settle(""); err != nil {
		f.Fatal(err)
	}
	o := &taken{fail: -1}
	pack := NewPacker(p, 0, o)
	if err := errors.Join(pack.Add(&Document{Text: []byte("text"), Name: []byte("n")}), pack.Flush()); err != nil {
		f.Fatal(err)
	}
	f.Add(o.blocks[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		if len(b) >= HeaderBytes { // damage behind the checksum is what parsers meet
			h := Header{Plan: p.ID(), Stream: 1 + Stream(binary.LittleEndian.Uint32(b[24:]))%(streamsEnd-1), Rows: int(binary.LittleEndian.Uint32(b[40:]) % math.MaxInt16)}
			h.seal(b)
		}
		_ = EachDocument(b, p, func(*Document) error { return nil })
		_ = EachRow(b, p.ID(), Stream(uint8(len(b)))%streamsEnd, func([]uint64, []byte) error { return nil })
	})
}

func TestPlansOutliveJSON(t *testing.T) {
	w := newWorld(t, Dedup, "max:score", 3, true, []int{0, 5}, nil)
	line, err := json.Marshal(w.plan)
	if err != nil {
		t.Fatal(err)
	}
	var again Plan
	if err := errors.Join(json.Unmarshal(line, &again), again.Settle("")); err != nil || again.ID() != w.plan.ID() {
		t.Errorf("%v: id %x, want %x", err, again.ID(), w.plan.ID())
	}
	for what, change := range map[string]func(p *Plan) (inputs string){
		"recipe":      func(p *Plan) string { p.Recipe = strings.Replace(p.Recipe, "seed=1", "seed=2", 1); return "" },
		"keep rule":   func(p *Plan) string { p.Keep = "last"; return "" },
		"partitions":  func(p *Plan) string { p.Partitions++; return "" },
		"first files": func(p *Plan) string { p.FirstFiles = []int{0, 6}; return "" },
		"digest":      func(p *Plan) string { p.Digest = "0123456789abcdef"; return "" },
		"inputs":      func(*Plan) string { return "others" },
	} {
		var edited Plan
		if err := json.Unmarshal(line, &edited); err != nil {
			t.Fatal(err)
		}
		if err := edited.Settle(change(&edited)); !errors.Is(err, ErrEdited) {
			t.Errorf("a plan whose %s was edited: %v", what, err)
		}
	}
}
