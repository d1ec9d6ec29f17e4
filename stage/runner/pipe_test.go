package runner

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// engine is an engine that shuffles blocks as rows.
type engine struct {
	rows map[[2]uint32][][]byte // by stream and partition
}

// take takes what a process has written.
func (e *engine) take(t *testing.T, out []byte) {
	t.Helper()
	for len(out) > 0 {
		at := [2]uint32{binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:])}
		n := binary.LittleEndian.Uint32(out[8:])
		e.rows[at] = append(e.rows[at], out[12:12+n])
		out = out[12+n:]
	}
}

// give returns what a task reads, in any order, and a block twice.
func (e *engine) give(p *Plan, s stage.Stage, task int, rng *rand.Rand) []byte {
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

func TestAnEngineDropsWhatOneMachineRemoves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := makePlan(t, dedup.Config{}, PlanOptions{Command: stage.Dedup, Engine: 3, Partitions: 5})
	e := &engine{rows: map[[2]uint32][][]byte{}}
	texts, removed := []string{"one two three four five six seven eight", "some quite other text that is like no other"}, map[string]bool{}
	seen := map[string]bool{}
	for task := range 3 {
		var lines bytes.Buffer
		for i := range 20 {
			text := texts[rng.IntN(2)]
			if i%4 == 0 {
				text = fmt.Sprintf("text %d of part %d which is there once in all", i, task)
			}
			id := fmt.Sprintf("%d/%d", task, i)
			removed[id] = seen[text]
			seen[text] = true
			if i%3 == 0 { // in the same places of all parts
				fmt.Fprintf(&lines, "{\"text\":%q}\n", text)
				continue
			}
			fmt.Fprintf(&lines, "{\"id\":%q,\"text\":%q}\n", id, text)
		}
		var out bytes.Buffer
		if err := Pack(t.Context(), p, task, &lines, &out, Options{}); err != nil {
			t.Fatal(err)
		}
		e.take(t, out.Bytes())
	}
	for _, s := range p.Stages() {
		if s.Name == stage.Publish {
			break
		}
		for _, task := range rng.Perm(s.Tasks) {
			var out bytes.Buffer
			if err := Pipe(t.Context(), p, s.Name, task, bytes.NewReader(e.give(p, s, task, rng)), &out, Options{}); err != nil {
				t.Fatal(err)
			}
			e.take(t, out.Bytes())
		}
	}
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
	p := makePlan(t, dedup.Config{}, PlanOptions{Command: stage.Dedup, Engine: 1})
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
	if err := Pack(t.Context(), p, 0, strings.NewReader("{\"text\":\"t\"}\n{\"id\":"), io.Discard, Options{}); err == nil || !strings.Contains(err.Error(), ":2") {
		t.Errorf("a record that is damaged: %v", err)
	}
	if err := Pack(t.Context(), p, 1, strings.NewReader(""), io.Discard, Options{}); !errors.Is(err, stage.ErrStage) {
		t.Errorf("a part too many: %v", err)
	}
}
