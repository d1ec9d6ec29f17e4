package dedup

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// site is a kind of operation on a kind of file.
type site struct{ kind, file string }

var (
	digits    = regexp.MustCompile(`\d+`)
	temporary = regexp.MustCompile(`\.alike-[0-9a-z]+\.tmp`)
)

func siteOf(o operation) site {
	file := temporary.ReplaceAllString(path.Base(o.Path), "T")
	return site{o.Kind, digits.ReplaceAllString(file, "#")}
}

// sites counts the operations of a command.
func (c command) sites(t *testing.T, config Config) map[site]int {
	t.Helper()
	counts := map[site]int{}
	on := newTracedFS(vfstest.NewMem(), func(o operation) error {
		counts[siteOf(o)]++
		return nil
	})
	if _, err := c.on(t, context.Background(), on, config); err != nil {
		t.Fatal(err)
	}
	return counts
}

// failure is the nth operation of a site that fails, once.
type failure struct {
	site
	n   int
	err error
}

// faults returns a failure for an operation of each site that was not tried before; thorough, for each operation.
func faults(rng *rand.Rand, sites map[site]int, tried map[site]bool) (all []failure) {
	reasons := []error{syscall.ENOSPC, syscall.EIO}
	for _, s := range slices.SortedFunc(maps.Keys(sites), func(a, b site) int {
		return strings.Compare(a.kind+a.file, b.kind+b.file)
	}) {
		switch {
		case thorough:
			for n := range sites[s] {
				all = append(all, failure{s, n + 1, reasons[n%2]})
			}
		case !tried[s]:
			all = append(all, failure{s, 1 + rng.IntN(sites[s]), reasons[rng.IntN(2)]})
		}
		tried[s] = true
	}
	return all
}

// TestEveryFailingOperationIsAnErrorThatLeavesNothingHalfDone fails an operation of each site once, in the first run that
// has the site: the runs are those of each variant and command, in an order by chance.
func TestEveryFailingOperationIsAnErrorThatLeavesNothingHalfDone(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	inputs, references := troubleCorpus(t, 6)
	rng := rand.New(rand.NewPCG(11, 1))
	type run struct {
		variant
		command
		work string
	}
	var runs []run
	for _, v := range variants(t) {
		for _, c := range v.commands() {
			runs = append(runs, run{v, c, ""}, run{v, c, workFolder})
		}
	}
	rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	if testsize.Small() {
		runs = runs[:2]
	}
	tried := map[site]bool{}
	for _, r := range runs {
		config := func() Config {
			c := r.resumable(inputs, references, 1)
			c.Work = WorkFolder{Path: r.work}
			return c
		}
		all := faults(rng, r.sites(t, config()), tried)
		if len(all) == 0 {
			continue
		}
		if testsize.Small() {
			all = all[:min(5, len(all))]
		}
		want := r.undisturbed(t, r.config(inputs, references))
		for n, f := range all {
			c := config()
			c.Threads = 1 + 3*(n%2)
			r.meets(t, f, c, want, filepath.ToSlash(temp))
			if t.Failed() {
				t.Fatalf("%s, %s, work %q: %s %s, number %d: %v", r.variant.name, r.command.name, r.work, f.kind, f.file, f.n, f.err)
			}
		}
	}
}

// meets runs a command that meets a fault, and again without it.
func (c command) meets(t *testing.T, f failure, config Config, want outcome, temp string) {
	t.Helper()
	on := vfstest.NewMem()
	count := 0
	var met operation
	traced := newTracedFS(on, func(o operation) error {
		if siteOf(o) == f.site {
			if count++; count == f.n {
				met = o
				return f.err
			}
		}
		return nil
	})
	got, err := c.on(t, context.Background(), traced, config)
	if open := traced.Left(); len(open) > 0 {
		t.Errorf("left open %q", open)
	}
	traced.CloseAll()
	removing := strings.HasPrefix(f.kind, "remove")
	if err == nil {
		if removing {
			delete(got.files, write.StagingFolder+"/") // empty
		}
		if d := got.differsFrom(want); d != "" {
			t.Errorf("no error from %v, and %s", met, d)
		}
		// What is only read from here on may fail to close, what is not wanted any more
		// may stay, and what cannot be looked at is taken for what is not there.
		closing := f.kind == "close" || f.kind == "close written" && (strings.HasSuffix(f.file, ".part") || strings.HasPrefix(f.file, "records"))
		decodedAgain := f.file == "decoded" && f.kind != "read"
		// Run looks at the output folder once more when all is in its place, so that an
		// empty folder does not come back after a power failure.
		afterwards := met.Path == outFolder && f.n == count
		if met.Kind != "" && !removing && !closing && !decodedAgain && !afterwards && f.kind != "stat" && !got.untidy {
			t.Errorf("no error from %v", met)
		}
		return
	}
	if !errors.Is(err, f.err) || !strings.Contains(err.Error(), met.Path) {
		t.Errorf("%v: the error is %q", met, err)
	}
	out := memTree(t, on, outFolder)
	for name := range out {
		if first, _, _ := strings.Cut(name, "/"); first != write.StagingFolder && (config.Work == nil || name == write.SummaryFile) {
			t.Errorf("%v: %s is left", met, name)
		}
	}
	if _, err := on.Stat(outFolder); config.Work == nil && !removing && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: the output folder is left: %v", met, slices.Collect(maps.Keys(out)))
	}
	if left := memTree(t, on, temp); config.Work == nil && !removing && len(left) > 0 {
		t.Errorf("%v: left in the work folder: %v", met, slices.Collect(maps.Keys(left)))
	}
	config.limits.due = every(7)
	c.goesOn(t, config, on, want)
}
