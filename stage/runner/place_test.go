package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/stage"
)

// run is a plan that was run, with all that it left.
type run struct {
	plan    *Plan
	work    string            // folder of its objects
	objects map[string]string // by name: STAGE/TASK
	results string            // folder
	wanted  map[string]string
}

// ranPlans runs a small plan of each kind.
func ranPlans(t *testing.T) map[string]*run {
	t.Helper()
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 9, 9, 2)}, BucketCap: 6}
	left, right := twoTables(t, 20, 15, 0)
	plan := func(p *Plan, err error) *Plan {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	at := func(name string) PlanOptions {
		return PlanOptions{Output: filepath.Join(t.TempDir(), "out", name), Work: t.TempDir(), Partitions: 3}
	}
	dedups, pairs, join := at(""), at("pairs.csv"), at("links.csv")
	dedups.Command, pairs.Command = stage.Dedup, stage.Pairs
	quotes, references := quoting(t, 2), quoting(t, 1)
	way := func(name string) *Plan { // one of the other ways to compare: in stars, beside references
		c := dedup.Config{Inputs: []string{quotes}, Beside: dedup.Against{references}, Survivors: dedup.OnePerCluster{Star: true}}
		ways()[name](&c)
		o := at("")
		o.Command, o.Partitions = stage.Dedup, 2
		return plan(Make(t.Context(), c, o))
	}
	byBands := linkage.Config{Left: left, Right: right, Threshold: 0.5, Match: linkage.All, Searching: linkage.Searching{Candidates: linkage.LSH}}
	all := map[string]*run{}
	for name, p := range map[string]*Plan{
		"dedup": plan(Make(t.Context(), c, dedups)), "pairs": plan(Make(t.Context(), c, pairs)),
		"join":              plan(MakeJoin(t.Context(), byBands, join)),
		"join in one task":  plan(MakeJoin(t.Context(), linkage.Config{Left: left, Right: right}, at("links.jsonl"))),
		"dedup of the same": nil,
		"containment":       way("containment, a low cap"),
		"a distance":        way("a distance, a low cap"),
		"an exact join":     way("jaccard, exact"),
	} {
		if p == nil { // other documents, whose plan has the same form
			dedups.Work, dedups.Output = t.TempDir(), filepath.Join(t.TempDir(), "out")
			c.Inputs = []string{hotCorpus(t, 3, 10, 9, 2)}
			p = plan(Make(t.Context(), c, dedups))
		}
		runAll(t, p, Options{})
		r := &run{plan: p, work: filepath.Join(p.Work, p.Digest), results: p.Output}
		if p.Command != stage.Dedup {
			r.results = filepath.Dir(p.Output)
		}
		r.objects, r.wanted = r.left(t), contents(t, r.results)
		all[name] = r
	}
	return all
}

// left reads all objects of the plan, by STAGE/TASK.
func (r *run) left(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, content := range contents(t, r.work) {
		_, object, _ := strings.Cut(name, "/") // behind digits of a hash
		all[object] = content
	}
	return all
}

// pathOf returns the path of an object.
func (r *run) pathOf(t *testing.T, name string) string {
	t.Helper()
	of, task := r.taskOf(t, name)
	return objectPath(r.plan, of.Name, task)
}

// objectPath returns the path of an object of a plan that works in a folder.
func objectPath(p *Plan, stage string, task int) string {
	return filepath.Join(p.Work, filepath.FromSlash(p.nameOf(stage, task)))
}

// contents reads all files below a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		content, err := os.ReadFile(path)
		all[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *run) put(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(r.pathOf(t, name), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// taskOf returns the stage and the number of the task that has left an object.
func (r *run) taskOf(t *testing.T, name string) (of stage.Stage, task int) {
	t.Helper()
	task, err := strconv.Atoi(path.Base(name))
	if err == nil {
		of, err = r.plan.Find(path.Dir(name), task)
	}
	if err != nil {
		t.Fatal(err)
	}
	return of, task
}

// checkReaders runs the tasks that read a stage, as if it had been done well, and in order. Each must fail, or leave
// what it left before. It returns how many failed.
func (r *run) checkReaders(t *testing.T, name string) (refused int) {
	t.Helper()
	of, _ := r.taskOf(t, name)
	for _, s := range r.plan.Stages() {
		if !slices.ContainsFunc(s.Reads, func(stream string) bool { return slices.Contains(of.Writes, stream) }) {
			continue
		}
		for task := range s.Tasks {
			if _, err := Run(t.Context(), r.plan, s.Name, task, Options{Again: true}); errors.Is(err, ErrObject) {
				refused++
			} else if err != nil {
				t.Errorf("%s %d: %v", s.Name, task, err)
			}
			object := fmt.Sprintf("%s/%06d", s.Name, task)
			if left, err := os.ReadFile(r.pathOf(t, object)); err != nil || string(left) != r.objects[object] {
				t.Errorf("%s is another one: %v", object, err)
			}
		}
	}
	return refused
}

// checkMended runs the task of an object, unless it counts as done, and expects the object that was there first.
func (r *run) checkMended(t *testing.T, name string) {
	t.Helper()
	of, task := r.taskOf(t, name)
	if _, err := Run(t.Context(), r.plan, of.Name, task, Options{}); err != nil {
		t.Errorf("%s is not made again: %v", name, err)
	}
	if left, err := os.ReadFile(r.pathOf(t, name)); err != nil || string(left) != r.objects[name] {
		t.Errorf("%s was not made again: %v", name, err)
	}
}

// checkRest removes the objects of the stages behind that of an object, and the results, and runs all again.
func (r *run) checkRest(t *testing.T, name string) {
	t.Helper()
	err := os.RemoveAll(r.results)
	stages := r.plan.Stages()
	for i := len(stages) - 1; stages[i].Name != path.Dir(name); i-- {
		for task := range stages[i].Tasks {
			err = errors.Join(err, os.RemoveAll(objectPath(r.plan, stages[i].Name, task)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, r.plan, Options{})
	if !maps.Equal(contents(t, r.results), r.wanted) || !maps.Equal(r.left(t), r.objects) {
		t.Error("other results")
	}
}

// checkOpen opens an object as a reader of its stage does, and as its own task does that looks whether it was done.
func (r *run) checkOpen(t *testing.T, name, what string) {
	t.Helper()
	of, task := r.taskOf(t, name)
	for _, reader := range r.plan.table(of).sections {
		by := reader.tasks - 1
		if reader.own {
			by = task
		}
		st, err := openStore(t.Context(), r.plan, nil, reader.reader, by)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.load(t.Context(), of); !errors.Is(err, ErrObject) {
			t.Errorf("%s in the place of %s is read by %s: %v", what, name, reader.reader, err)
		}
	}
	st, err := openStore(t.Context(), r.plan, nil, of.Name, task)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := st.done(t.Context(), of, task, nil); done != nil || err != nil {
		t.Errorf("%s in the place of %s counts as done: %v", what, name, err)
	}
}

func TestAnObjectInThePlaceOfAnotherIsRefusedOrMadeAgain(t *testing.T) {
	all := ranPlans(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for _, what := range slices.Sorted(maps.Keys(all)) {
		r := all[what]
		t.Run(what, func(t *testing.T) {
			for _, place := range slices.Sorted(maps.Keys(r.objects)) {
				for _, from := range slices.Sorted(maps.Keys(all)) {
					for _, name := range slices.Sorted(maps.Keys(all[from].objects)) {
						// All objects of the plan itself; of another plan that of the same task, and some others.
						if from == what && name == place || from != what && name != place && rng.IntN(10) > 0 {
							continue
						}
						r.put(t, place, all[from].objects[name])
						r.checkOpen(t, place, from+" "+name)
						if rng.IntN(90) == 0 {
							if r.checkReaders(t, place) == 0 && path.Dir(place) != stage.Publish {
								t.Errorf("%s %s in the place of %s: no task refuses it", from, name, place)
							}
							r.checkMended(t, place)
						}
						if rng.IntN(1000) == 0 {
							r.put(t, place, all[from].objects[name])
							r.checkRest(t, place)
						}
					}
				}
				r.put(t, place, r.objects[place])
			}
		})
	}
}

func TestADamagedObjectIsRefusedOrMadeAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	flip := func(whole []byte, at int) []byte { whole[at] ^= 1 << rng.IntN(8); return whole }
	damage := []func(whole []byte) []byte{
		func([]byte) []byte { return nil },
		func(whole []byte) []byte { return whole[:rng.IntN(len(whole))] },
		func(whole []byte) []byte { return whole[:len(whole)-1] },
		func(whole []byte) []byte { return append(whole, 0) },
		func(whole []byte) []byte { return make([]byte, len(whole)) },
		func(whole []byte) []byte { return flip(whole, rng.IntN(headerBytes)) },
		func(whole []byte) []byte { return flip(whole, rng.IntN(len(whole))) },
		func(whole []byte) []byte { return flip(whole, len(whole)-1-rng.IntN(len(endMagic))) },
	}
	all := ranPlans(t)
	for _, what := range slices.Sorted(maps.Keys(all)) {
		r := all[what]
		t.Run(what, func(t *testing.T) {
			for _, place := range slices.Sorted(maps.Keys(r.objects)) {
				r.put(t, place, string(damage[rng.IntN(len(damage))]([]byte(r.objects[place]))))
				r.checkReaders(t, place)
				for _, s := range r.plan.Stages() {
					for task := range s.Tasks {
						if _, err := Run(t.Context(), r.plan, s.Name, task, Options{}); err != nil && !errors.Is(err, ErrObject) {
							t.Errorf("%s %d: %v", s.Name, task, err)
						}
					}
				}
				if !maps.Equal(contents(t, r.results), r.wanted) {
					t.Fatalf("%s: other results", place)
				}
				r.put(t, place, r.objects[place])
			}
		})
	}
}
