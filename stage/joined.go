package stage

import (
	"context"
	"fmt"
	"slices"
)

// Of a small plan, most of what stages cost is the start of their tasks and the way of rows from one to another. So a plan
// that is Joined has one stage of one task in place of each run of stages between two passes over documents:
//
//	sketch → group (names, classes, group) → texts → clusters (verify, labels, members, clusters) → write → publish
//
// This task runs the tasks of all of these stages, its steps, one after the other. Rows from a step to another stay in it.

// Steps returns the stages that a joined stage stands for, in their order. Any other stage stands for itself.
func (s Stage) Steps() []Stage {
	if s.steps == nil {
		return []Stage{s}
	}
	return s.steps
}

// joinStages joins runs of stages that read no documents and write no results.
func joinStages(all []Stage) (fewer []Stage) {
	var run []Stage
	for i, s := range all {
		if s.Documents || s.Name == Write || s.Name == Publish {
			fewer = append(fewer, s)
			continue
		}
		run = append(run, s)
		if next := all[i+1]; next.Documents || next.Name == Write || next.Name == Publish { // Publish is the last
			fewer = append(fewer, joinRun(run, all[i+1:]))
			run = nil
		}
	}
	return fewer
}

// joinRun makes one stage of a run of them, with the name of its last one. behind are the stages after it.
func joinRun(run, behind []Stage) Stage {
	if len(run) == 1 {
		return run[0]
	}
	reads := func(all []Stage, of Stream) bool {
		return slices.ContainsFunc(all, func(reader Stage) bool { return slices.Contains(reader.reads, of) })
	}
	var ways ways
	joined := Stage{Name: run[len(run)-1].Name, Tasks: 1, steps: run}
	for _, writer := range run {
		for _, s := range writer.writes {
			ways.inside[s] = reads(run, s)
			ways.outside[s] = !ways.inside[s] || reads(behind, s)
			if ways.outside[s] && !slices.Contains(joined.writes, s) {
				joined.writes = append(joined.writes, s)
			}
		}
	}
	for _, reader := range run {
		for _, s := range reader.reads {
			if !ways.inside[s] && !slices.Contains(joined.reads, s) {
				joined.reads = append(joined.reads, s)
			}
		}
	}
	joined.run = func(t *task) error { return t.steps(run, &ways) }
	return joined
}

// ways says which streams of steps other ones read, and which leave their task.
type ways struct{ inside, outside [streamsEnd]bool }

// steps runs the tasks of a run of stages, one after the other.
func (t *task) steps(run []Stage, ways *ways) error {
	between := &between{rows: t.spool(16), places: map[[2]int][]blockPlace{}}
	for _, s := range run {
		for number := range s.Tasks {
			out := &emitter{plan: t.plan, task: number, out: between, outer: t.out, ways: ways}
			in := &stepInput{Input: t.in.Step(s, number), between: between, ways: ways, number: number}
			step := &task{ctx: t.ctx, plan: t.plan, number: number, in: in, out: out, space: t.space}
			err := step.end(s.run(step))
			if err == nil {
				err = out.flush()
			}
			if err != nil {
				return fmt.Errorf("step %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// between are the blocks that steps of a task have made for other ones.
type between struct {
	rows   *spool
	places map[[2]int][]blockPlace // by stream and partition
}

type blockPlace struct {
	offset int64
	bytes  int
}

// Block implements Output.
func (b *between) Block(h Header, block []byte) error {
	at, err := b.rows.add(block)
	key := [2]int{int(h.Stream), h.Partition}
	b.places[key] = append(b.places[key], blockPlace{at, len(block)})
	return err
}

// stepInput is what a step reads: blocks of earlier steps, and those of earlier stages.
type stepInput struct {
	Input
	between *between
	ways    *ways
	number  int
}

// Blocks implements Input.
func (in *stepInput) Blocks(ctx context.Context, s Stream, visit func(block []byte) error) error {
	if !in.ways.inside[s] {
		return in.Input.Blocks(ctx, s, visit)
	}
	var block []byte
	for _, at := range in.between.places[[2]int{int(s), in.number}] {
		b, err := in.between.rows.at(at.offset, at.bytes)
		if err != nil {
			return err
		}
		block = append(block[:0], b...) // what visit adds to the spool may move it
		if err := visit(block); err != nil {
			return err
		}
	}
	return nil
}
