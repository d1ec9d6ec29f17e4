package runner

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/stage"
)

// shuffle is an engine that shuffles blocks as rows.
type shuffle struct {
	rows map[[2]uint32][][]byte // by stream and partition
}

// take takes what a process has written.
func (e *shuffle) take(t *testing.T, out []byte) {
	t.Helper()
	for len(out) > 0 {
		at := [2]uint32{binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:])}
		n := binary.LittleEndian.Uint32(out[8:])
		e.rows[at] = append(e.rows[at], out[12:12+n])
		out = out[12+n:]
	}
}

// give returns what a task reads, in any order, and a block twice.
func (e *shuffle) give(p *Plan, s stage.Stage, task int, rng *rand.Rand) []byte {
	var blocks [][]byte
	reads := s.Reads
	if s.Documents {
		reads = append(slices.Clone(reads), stage.Documents.String())
	}
	for _, stream := range reads {
		blocks = append(blocks, e.rows[[2]uint32{uint32(stage.Streams()[stream]), uint32(task)}]...)
	}
	if len(blocks) > 0 {
		blocks = append(blocks, blocks[0])
	}
	rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	var in []byte
	for _, b := range blocks {
		in = append(binary.LittleEndian.AppendUint32(in, uint32(len(b))), b...)
	}
	return in
}

// runAll packs the lines of each part, and runs all stages, the tasks of each in any order. Where the plan has a
// place for blocks they stay there, and documents come as columns.
func (e *shuffle) runAll(t *testing.T, p *Plan, parts []string, rng *rand.Rand) {
	t.Helper()
	stages := p.Stages()
	stages = stages[:len(stages)-1] // but Publish
	for task, lines := range parts {
		var out bytes.Buffer
		o := Options{Columns: p.Work != ""}
		if o.Columns {
			lines = asColumns(t, p, task, lines)
		}
		if err := Pack(t.Context(), p, task, strings.NewReader(lines), &out, o); err != nil {
			t.Fatal(err)
		}
		e.take(t, out.Bytes())
	}
	for i, s := range stages {
		for _, task := range rng.Perm(s.Tasks) {
			var out bytes.Buffer
			var err error
			switch o := (Options{}); {
			case p.Work == "":
				err = Pipe(t.Context(), p, s.Name, task, bytes.NewReader(e.give(p, s, task, rng)), &out, o)
			case i == len(stages)-1:
				o.Blocks = &out
				fallthrough
			default:
				_, err = Run(t.Context(), p, s.Name, task, o)
			}
			if err != nil {
				t.Fatal(err)
			}
			e.take(t, out.Bytes())
		}
	}
}

// asColumns makes columns of lines of JSON with strings, in two batches of which the second one's offsets do not
// begin at 0.
func asColumns(t *testing.T, p *Plan, task int, lines string) string {
	t.Helper()
	o := p.optionsOf(p.FirstFiles[task], nil)
	names := o.Fields
	if p.Command != stage.Join {
		names = slices.Concat([]string{"text"}, o.Fields)
	}
	if o.IDField != corpus.NoID {
		names = append(slices.Clone(names), cmp.Or(o.IDField, "id"))
	}
	all := strings.SplitAfter(strings.TrimSuffix(lines, "\n"), "\n")
	var out []byte
	for start, rows := range [][]string{all[:len(all)/2], all[len(all)/2:]} {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(rows)))
		columns := make([]struct{ ends, present, values []byte }, len(names))
		at := make([]uint32, len(names))
		for c := range columns {
			at[c] = uint32(7 * start)
			columns[c].ends = binary.LittleEndian.AppendUint32(nil, at[c])
		}
		for _, line := range rows {
			var values map[string]*string
			if err := json.Unmarshal([]byte(line), &values); err != nil {
				t.Fatal(err)
			}
			for c, name := range names {
				present := byte(0)
				if v := values[name]; v != nil {
					present = 1
					at[c] += uint32(len(*v))
					columns[c].values = append(columns[c].values, *v...)
				}
				columns[c].present = append(columns[c].present, present)
				columns[c].ends = binary.LittleEndian.AppendUint32(columns[c].ends, at[c])
			}
		}
		for _, c := range columns {
			out = slices.Concat(out, c.ends, c.present, c.values)
		}
	}
	return string(out)
}

// inBothWays runs a test with blocks that go through the engine, and with blocks in a folder.
func inBothWays(t *testing.T, test func(t *testing.T, work string)) {
	for name, work := range map[string]string{"blocks through the engine": "", "blocks in a folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) { test(t, work) })
	}
}

func TestAnEngineFindsTheLinksOfOneMachine(t *testing.T) {
	inBothWays(t, func(t *testing.T, work string) {
		testEngineJoin(t, work, linkage.Config{Threshold: 0.5, Match: linkage.All, Searching: linkage.Searching{Candidates: linkage.LSH}})
		testEngineJoin(t, work, linkage.Config{})
	})
}

func testEngineJoin(t *testing.T, work string, c linkage.Config) {
	rng := rand.New(rand.NewPCG(3, 4))
	left, right := twoTables(t, 90, 70, 0)
	c.Left, c.Right = usable(t, right), left
	want := plainJoin(t, c, false)
	c.Right = usable(t, left) // of which the engine hands over lines
	p, err := MakeJoin(t.Context(), c, PlanOptions{Engine: []int{3, 2}, Partitions: 4, Work: work})
	if err != nil {
		t.Fatal(err)
	}
	e := &shuffle{rows: map[[2]uint32][][]byte{}}
	e.runAll(t, p, slices.Concat(cutLines(t, c.Left, 3), cutLines(t, c.Right, 2)), rng)
	blocks := e.rows[[2]uint32{uint32(stage.LinksText), 0}]
	slices.SortFunc(blocks, func(a, b []byte) int { // by task and number
		return cmp.Or(cmp.Compare(binary.LittleEndian.Uint32(a[28:]), binary.LittleEndian.Uint32(b[28:])), cmp.Compare(binary.LittleEndian.Uint32(a[32:]), binary.LittleEndian.Uint32(b[32:])))
	})
	got := strings.Join(p.Join.Header, ",") + "\n"
	for _, block := range blocks {
		err = errors.Join(err, stage.EachRow(block, p.ID(), stage.LinksText, func(_ []uint64, line []byte) error { got += string(line); return nil }))
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != want || strings.Count(want, "\n") < 30 {
		t.Errorf("%d links, want %d", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
}

func TestAnEngineDropsWhatOneMachineRemoves(t *testing.T) {
	inBothWays(t, func(t *testing.T, work string) { testEngineDedup(t, work, "") })
}

func TestAnEngineDropsWithinValues(t *testing.T) {
	inBothWays(t, func(t *testing.T, work string) { testEngineDedup(t, work, "lang") })
}

func testEngineDedup(t *testing.T, work, within string) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := makePlan(t, dedup.Config{Within: within}, PlanOptions{Command: stage.Dedup, Engine: []int{3}, Partitions: 5})
	p.Work = work
	e := &shuffle{rows: map[[2]uint32][][]byte{}}
	texts, removed := []string{"one two three four five six seven eight", "some quite other text that is like no other"}, map[string]bool{}
	seen := map[string]bool{}
	var parts []string
	for task := range 3 {
		var lines strings.Builder
		for i := range 20 {
			text := texts[rng.IntN(2)]
			if i%4 == 0 {
				text = fmt.Sprintf("text %d of part %d which is there once in all", i, task)
			}
			id, lang := fmt.Sprintf("%d/%d", task, i), []string{"de", "en", ""}[i%5%3]
			key := text
			if within != "" {
				key += lang
			}
			removed[id] = seen[key]
			seen[key] = true
			if i%3 == 0 { // in the same places of all parts
				fmt.Fprintf(&lines, "{\"text\":%q,\"lang\":%q}\n", text, lang)
				continue
			}
			fmt.Fprintf(&lines, "{\"id\":%q,\"text\":%q,\"lang\":%q}\n", id, text, lang)
		}
		parts = append(parts, lines.String())
	}
	e.runAll(t, p, parts, rng)
	dropped := map[string]bool{}
	for task := range uint32(3) {
		for _, block := range e.rows[[2]uint32{uint32(stage.Drops), task}] {
			err := stage.EachRow(block, p.ID(), stage.Drops, func(words []uint64, _ []byte) error {
				dropped[fmt.Sprintf("%d/%d", words[0]>>32, uint32(words[0]))] = true
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for id, want := range removed {
		if dropped[id] != want {
			t.Errorf("document %s: dropped is %v, want %v", id, dropped[id], want)
		}
	}
}

func TestWhatIsNoBlockInAPipeIsRefused(t *testing.T) {
	p := makePlan(t, dedup.Config{}, PlanOptions{Command: stage.Dedup, Engine: []int{1}})
	var packed bytes.Buffer
	if err := Pack(t.Context(), p, 0, strings.NewReader(`{"id":"a","text":"t"}`), &packed, Options{}); err != nil {
		t.Fatal(err)
	}
	good := packed.Bytes()[8:]
	flipped := bytes.Clone(good)
	flipped[len(good)-1] ^= 1
	for what, c := range map[string]struct {
		in   []byte
		want error
	}{
		"a block that ends too soon":  {good[:len(good)-1], io.ErrUnexpectedEOF},
		"a length that ends too soon": {good[:3], io.ErrUnexpectedEOF},
		"a length of nothing":         {[]byte{0, 0, 0, 0}, stage.ErrBlock},
		"a block that is damaged":     {flipped, stage.ErrBlock},
	} {
		if err := Pipe(t.Context(), p, "sketch", 0, bytes.NewReader(c.in), io.Discard, Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, columns := range map[string]string{
		"a batch that ends too soon":   "\x01\x00\x00\x00\x00\x00\x00\x00",
		"offsets that descend":         "\x01\x00\x00\x00\x05\x00\x00\x00\x04\x00\x00\x00\x01",
		"too many rows":                "\xff\xff\xff\xff",
		"a number of rows and no more": "\x01\x00\x00\x00",
	} {
		err := Pack(t.Context(), p, 0, strings.NewReader(columns), io.Discard, Options{Columns: true})
		if err == nil || !strings.Contains(err.Error(), "standard input is no batch of 2 columns") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := Pack(t.Context(), p, 0, strings.NewReader("{\"text\":\"t\"}\n{\"id\":"), io.Discard, Options{}); err == nil || !strings.Contains(err.Error(), ":2") {
		t.Errorf("a record that is damaged: %v", err)
	}
	if err := Pack(t.Context(), p, 1, strings.NewReader(""), io.Discard, Options{}); !errors.Is(err, stage.ErrStage) {
		t.Errorf("a part too many: %v", err)
	}
}
