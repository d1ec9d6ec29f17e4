package runner

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// smallPlan returns a plan to clean a small corpus.
func smallPlan(t *testing.T) *Plan {
	t.Helper()
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 2)}}
	return makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 2})
}

func TestAPlanThatWasEditedIsRefused(t *testing.T) {
	for what, edit := range map[string]func(p *Plan){
		"recipe":     func(p *Plan) { p.Recipe = strings.Replace(p.Recipe, "0.8", "0.7", 1) },
		"keep rule":  func(p *Plan) { p.Keep = "longest" },
		"partitions": func(p *Plan) { p.Partitions = 3 },
		"name":       func(p *Plan) { p.Files[0].Name = "other.jsonl" },
		"path":       func(p *Plan) { p.Files[0].Path = p.Files[1].Path },
		"size":       func(p *Plan) { p.Files[0].Size++ },
		"ends":       func(p *Plan) { p.Files[0].Ends = p.Files[1].Ends },
		"text field": func(p *Plan) { p.Reading.TextField = "body" },
		"skipped":    func(p *Plan) { p.Skipped++ },
		"results":    func(p *Plan) { p.Output += "2" },
		"digest":     func(p *Plan) { p.Digest = "0123456789abcdef" },
	} {
		p := smallPlan(t)
		edit(p)
		if _, err := Load(bytes.NewReader(jsonOf(t, p))); !errors.Is(err, stage.ErrEdited) {
			t.Errorf("a plan with another %s: %v", what, err)
		}
	}
}

// The author of a plan can give it any digest.
func TestAPlanWithTheDigestOfItsContentsIsNotBelievedEither(t *testing.T) {
	for what, edit := range map[string]func(p *Plan){
		"a memory below zero":     func(p *Plan) { p.Memory = -5 },
		"no memory":               func(p *Plan) { p.Memory = 0 },
		"too many partitions":     func(p *Plan) { p.Partitions = stage.MaxPartitions + 1 },
		"more tasks than files":   func(p *Plan) { p.FirstFiles = []int{0, 9} },
		"fewer than no inputs":    func(p *Plan) { p.Skipped = -1 },
		"one name for two inputs": func(p *Plan) { p.Files[1].Name = "./" + p.Files[0].Name },
		"no place of work files":  func(p *Plan) { p.Work = "" },
		"results nearby":          func(p *Plan) { p.Output = "../out" },
	} {
		p := smallPlan(t)
		edit(p)
		p.Digest = ""
		if err := p.Settle(); err == nil || errors.Is(err, stage.ErrEdited) {
			t.Errorf("%s: %v", what, err)
		}
	}
	names := []string{"", ".", "..", "../x", "../../victim.jsonl", "a/../../x", "/etc/passwd", "kept/../.."}
	if runtime.GOOS == "windows" {
		names = append(names, `..\x`, `a\..\..\x`, `C:x`, `C:\x`, `\x`, "NUL", "a/COM1")
	}
	for _, name := range names {
		p := smallPlan(t)
		p.Files[0].Name, p.Digest = name, ""
		if err := p.Settle(); !errors.Is(err, errOutside) {
			t.Errorf("an input named %q: %v", name, err)
		}
		bucket := place{&counting{folder: folder{root: t.TempDir()}}, "results/"}
		for _, at := range []place{{at: folder{root: t.TempDir()}}, bucket} {
			_, created := at.create(t.Context(), name)
			_, found := at.stat(t.Context(), name)
			for _, err := range []error{created, found} {
				if !errors.Is(err, errOutside) {
					t.Errorf("%q: %v", name, err)
				}
			}
		}
	}
}

func TestAnEnginesPlanIsForOneRun(t *testing.T) {
	o := PlanOptions{Command: stage.Dedup, Engine: []int{2}}
	if one, other := makePlan(t, dedup.Config{}, o), makePlan(t, dedup.Config{}, o); one.Digest == other.Digest {
		t.Error("the objects of two runs over other documents can be exchanged")
	}
}

func TestABlockForAnotherTaskIsRefusedInAPipe(t *testing.T) {
	p := makePlan(t, dedup.Config{}, PlanOptions{Command: stage.Dedup, Engine: []int{2}})
	other := makePlan(t, dedup.Config{}, PlanOptions{Command: stage.Dedup, Engine: []int{2}})
	packed := func(p *Plan, part int) []byte {
		var out bytes.Buffer
		if err := Pack(t.Context(), p, part, strings.NewReader(`{"id":"a","text":"t"}`), &out, Options{}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()[8:]
	}
	for what, c := range map[string]struct {
		in    []byte
		stage string
		task  int
		want  error
	}{
		"its documents":                   {packed(p, 1), "sketch", 1, nil},
		"documents of another part":       {packed(p, 0), "sketch", 1, stage.ErrBlock},
		"documents of another plan":       {packed(other, 1), "sketch", 1, stage.ErrBlock},
		"documents, which it reads not":   {packed(p, 1), "names", 1, stage.ErrBlock},
		"documents for a task too many":   {packed(p, 1), "sketch", 2, stage.ErrStage},
		"documents for a stage of no one": {packed(p, 1), "soup", 0, stage.ErrStage},
	} {
		if err := Pipe(t.Context(), p, c.stage, c.task, bytes.NewReader(c.in), new(bytes.Buffer), Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestResultsThatAreLostOrChangedAreWrittenAgain(t *testing.T) {
	bucket := &counting{folder: folder{root: t.TempDir()}}
	o := Options{Buckets: func(context.Context, string) (corpus.Bucket, error) { return bucket, nil }}
	c := dedup.Config{Inputs: []string{hotCorpus(t, 3, 6, 6, 2)}}
	c.Corpus.Buckets = o.Buckets
	for folder, output := range map[string]string{filepath.Join(t.TempDir(), "out"): "", filepath.Join(bucket.root, "out"): "s3://bucket/out"} {
		if output == "" {
			output = folder
		}
		p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: output, Partitions: 2})
		runAll(t, p, o)
		want := contents(t, folder)
		if len(want) != 5 {
			t.Fatalf("%d files", len(want))
		}
		for name, content := range want {
			path := filepath.Join(folder, name)
			for _, damage := range []func() error{
				func() error { return os.Remove(path) },
				func() error { return os.Truncate(path, int64(len(content)/2)) },
				func() error { return os.WriteFile(path, []byte(strings.Repeat("x", len(content))), 0o666) },
			} {
				if err := damage(); err != nil {
					t.Fatal(err)
				}
				runAll(t, p, o)
				if !maps.Equal(contents(t, folder), want) {
					t.Errorf("%s was not written again", path)
				}
			}
		}
	}
}

func TestATaskWritesThroughNoLink(t *testing.T) {
	p := smallPlan(t)
	elsewhere := t.TempDir()
	for _, link := range []string{filepath.Join(p.Work, p.Digest), filepath.Dir(objectPath(p, "sketch", 0)), filepath.Join(p.Output, dedup.KeptFolder)} {
		if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, link); err != nil {
			t.Skip(err)
		}
		var err error
		for _, s := range p.Stages() {
			for task := range s.Tasks {
				if _, failed := Run(t.Context(), p, s.Name, task, Options{}); err == nil {
					err = failed
				}
			}
		}
		if err == nil || !strings.Contains(err.Error(), "a symbolic link, not made by this program") {
			t.Errorf("%s: %v", link, err)
		}
		if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
			t.Errorf("%s: something was written through the link: %v, %v", link, left, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	runAll(t, p, Options{})
}
