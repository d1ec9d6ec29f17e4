package dedup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/text"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// A stream cannot be known by its name: an interrupted run goes on with the same one
// only, whether it is an input or a reference.
func TestAStreamThatIsAnotherOneIsRefused(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // a stream is copied to a temporary folder, which the file system in memory cannot remove
	inputs, references := troubleCorpus(t, 12)
	data, err := os.ReadFile(filepath.Join(inputs, "a", "plain.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	v := variants(t)[0]
	for _, as := range []string{"input", "reference"} {
		config := func(stream string, base Config) Config {
			base.Inputs, base.Beside = []string{inputs, "-"}, nil
			if as == "reference" {
				base.Inputs, base.Beside = []string{inputs}, Against{"-"}
			}
			base.Corpus.Stdin = strings.NewReader(stream)
			return base
		}
		stream := string(data)
		want := commands[0].undisturbed(t, config(stream, v.config(inputs, references)))
		for _, n := range []int{1, 5, 20, 56} {
			left := commands[0].stopAtRecord(t, config(stream, v.resumable(inputs, references, 2)), n)
			for what, other := range map[string]string{
				"another": strings.ToUpper(stream), "empty": "", "shorter": stream[:len(stream)-1], "longer": stream + "\n",
			} {
				_, err := commands[0].on(t, context.Background(), copyOf(t, left), config(other, v.resumable(inputs, references, 2)))
				if !errors.Is(err, corpus.ErrChanged) || !strings.Contains(err.Error(), "stdin.jsonl") || !strings.Contains(err.Error(), "Fresh") {
					t.Errorf("%s, %d records, %s: error %v", as, n, what, err)
				}
			}
			commands[0].goesOn(t, config(stream, v.resumable(inputs, references, 2)), left, want)
		}
	}
}

// kindOfFile tells which files of a work folder could be taken for each other.
func kindOfFile(name string) string {
	return name[:strings.IndexAny(name+"-", "-")] + filepath.Ext(name)
}

// A whole file of a run in the place of another one, as a mistaken copy leaves it, has
// checksums that fit it. The run goes on without it or not at all.
func TestAFileInThePlaceOfAnotherOneIsRefused(t *testing.T) {
	inputs, references := troubleCorpus(t, 10)
	refused := map[string]int{}
	for _, v := range variants(t)[:3] {
		command := commands[0]
		want := command.undisturbed(t, v.config(inputs, references))
		for _, n := range []int{20, 56} {
			left := command.stopAtRecord(t, v.resumable(inputs, references, 2), n)
			folder := workFolder + "/" + resume.FilesFolder + "/"
			names, err := left.List(folder)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(names)
			last := map[string]string{} // by kind
			for _, name := range names {
				kind := kindOfFile(name)
				other, found := last[kind]
				last[kind] = name
				if !found {
					continue
				}
				on := copyOf(t, left)
				writeVFS(t, on, folder+name, []byte(readVFS(t, left, folder+other)))
				got, err := command.on(t, context.Background(), on, v.resumable(inputs, references, 2))
				if err != nil {
					refused[kind]++
					if !strings.Contains(err.Error(), "Fresh") {
						t.Errorf("%s over %s: error %v", other, name, err)
					}
					continue
				}
				if d := got.differsFrom(want); d != "" {
					t.Errorf("%s, %s over %s: %s", v.name, other, name, d)
				}
			}
		}
	}
	t.Logf("refused %v", refused)
	if refused["read.part"] == 0 || len(refused) < 2 {
		t.Errorf("refused only %v", refused)
	}
}

// What an earlier process has staged is taken over only as it was left.
func TestAnOutputThatIsNotWhatWasWrittenIsWrittenAgain(t *testing.T) {
	inputs, references := troubleCorpus(t, 10)
	v := variants(t)[0]
	want := commands[0].undisturbed(t, v.config(inputs, references))
	_, records, _ := strings.Cut(readVFS(t, lastBeforeTheEnd(t, v, inputs, references), workFolder+"/alike.journal"), " . ")
	before, _, _ := strings.Cut(records, " "+resume.Published+" ")
	last := strings.Count(before, "\n") - 1 // of the records before all is staged
	changed := 0
	for n := last - 6; n <= last; n += 2 {
		left := commands[0].stopAtRecord(t, v.resumable(inputs, references, 1), n)
		for name, data := range memTree(t, left, outFolder+"/"+write.StagingFolder) {
			if strings.HasSuffix(name, "/") || data == "" {
				continue
			}
			on := copyOf(t, left)
			writeVFS(t, on, outFolder+"/"+write.StagingFolder+"/"+name, []byte(strings.Repeat("x", len(data))))
			commands[0].goesOn(t, v.resumable(inputs, references, 2), on, want)
			changed++
		}
	}
	if changed == 0 {
		t.Error("nothing was staged")
	}
}

// lastBeforeTheEnd is what a run leaves that is stopped when it removes its journal.
func lastBeforeTheEnd(t *testing.T, v variant, inputs, references string) *vfstest.Mem {
	t.Helper()
	on, dead := vfstest.NewMem(), false
	traced := newTracedFS(on, func(o operation) error {
		dead = dead || o.Kind == "remove" && strings.HasSuffix(o.Path, "/alike.journal")
		if dead {
			return errDead
		}
		return nil
	})
	_, _ = commands[0].on(t, context.Background(), traced, v.resumable(inputs, references, 1))
	if !dead {
		t.Fatal("the journal was not removed")
	}
	traced.CloseAll()
	return on
}

// A file that was written anew has another state, whatever size and time it was given.
func TestAnInputWithItsOldSizeAndTimeIsRefused(t *testing.T) {
	inputs, references := troubleCorpus(t, 7)
	path := filepath.Join(inputs, "table.csv")
	s, _, err := corpus.Find(t.Context(), []string{path}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s[0].State(), "status changed") {
		t.Skip("this system does not tell when a file's status has changed")
	}
	v := variants(t)[0]
	left := commands[0].stopAtRecord(t, v.resumable(inputs, references, 2), 20)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-2] ^= 1
	writeFile(t, path, data)
	if err := os.Chtimes(path, time.Time{}, before.ModTime()); err != nil {
		t.Fatal(err)
	}
	_, err = dedupOn(t, context.Background(), left, v.resumable(inputs, references, 2))
	if err == nil || !strings.Contains(err.Error(), "table.csv") || !strings.Contains(err.Error(), "Fresh") || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("error %v", err)
	}
}

// The number of open files does not grow with the input.
func TestFewFilesOfTheWorkFolderAreOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * scratch.OpenFiles {
		record := fmt.Sprintf("{\"text\":%q}\n", near(i%7))
		writeFile(t, filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), []byte(strings.Repeat(record, 5)))
	}
	config := variants(t)[0].resumable(dir, "", 2)
	config.Beside = nil
	config.limits.part = 1
	parts, most := map[string]bool{}, 0
	var traced *tracedFS
	traced = newTracedFS(vfstest.NewMem(), func(o operation) error { // traced.mu is held
		if strings.HasSuffix(o.Path, ".part") {
			parts[o.Path] = true
		}
		open := 0
		for _, name := range traced.Files {
			if strings.Contains(name, resume.FilesFolder) {
				open++
			}
		}
		most = max(most, open)
		return nil
	})
	if _, err := commands[0].on(t, context.Background(), traced, config); err != nil {
		t.Fatal(err)
	}
	const pending = 4 * 16 // runs of four sorters that wait to be synced
	t.Logf("%d parts, %d files open", len(parts), most)
	if len(parts) < 2*scratch.OpenFiles || most > scratch.OpenFiles+pending+2 {
		t.Errorf("%d parts, %d files open", len(parts), most)
	}
}

// fingerprint is what a run of a configuration must have in common with the one that
// it goes on with.
func fingerprint(t *testing.T, c *settings) string {
	t.Helper()
	r, err := c.newRecipe()
	if err := errors.Join(c.validate(), err); err != nil {
		t.Fatal(err)
	}
	c.use(r)
	var all strings.Builder
	for s := range identity(c, "dedup", &inputs{}, "") {
		all.WriteString(s.String() + "\n")
	}
	return all.String()
}

// harmless are the fields of Config that cannot change a result, or that stand in the
// fingerprint by other means, with the reason.
var harmless = map[string]string{
	"Inputs":           "every file that they lead to is a setting with its state; streams are compared",
	"Against":          "as the inputs; how many there are is a setting",
	"With":             "as the inputs; after how many they come is a setting, see TestARunWithAnotherSecondSideIsRefused",
	"Corpus.Stdin":     "streams are compared, byte by byte",
	"Corpus.Lookups":   "goroutines; the order does not depend on them",
	"Corpus.Buckets":   "where objects come from; their versions are settings",
	"Corpus.ReadAhead": "when bytes are fetched, not which",
	"Corpus.Visit":     "is told only",
	"Corpus.seen":      "is told only",
	"Corpus.Texts":     "a text is a setting with its version, which names the command and the file's state",
	"Corpus.NoText":    "of tables that are joined: a document has a text",
	"Link":             "excludes Work",
	"Corpus.Admit":     "who waits for whom",
	"Corpus.AtOnce":    "where blocks of a stream end, not what they hold",
	"Beside":           "see modes",
	"Signatures":       "see modes",
	"Decide":           "see modes",
	"Survivors":        "see modes",
	"Work":             "see modes",
	"Known":            "its state is a setting, see beginKnown",
	"Outputs":          "other files of the caller, which the engine does not write",
	"Reads":            "what they hold is in other settings",
	"Begin":            "is called before anything is done",
	"Threads":          "results are the same for any number",
	"Memory":           "results are the same for any amount",
	"Timings":          "measures only",
	"Folder":           "where the journal itself is",
	"Finder":           "the run puts nothing there",
	"Fresh":            "removes the journal",
	"NoSync":           "not with a folder to go on from",
	"OnSkip":           "is told only",
	"OnNotice":         "is told only",
	"Report":           "writes a page of what was found",
	"Commit":           "is called when all was emitted",
	"Progress":         "is told only",
	"fs":               "where the journal itself is",
	"limits":           "zero but in tests",
	"Features.Hash":    "follows from the sketch scheme, which is a setting",
	"Banding.Bands":    "changed with the other two: see changes",
	"Places":           "the caller gets more of each pair",
	"Banding.Rows":     "changed with the other two: see changes",
	"Banding.MinBands": "changed with the other two: see changes",
}

// TestEveryFieldOfConfigIsInTheFingerprint changes the fields one by one, those of the
// structs in it too: a field that somebody adds is in the fingerprint, or has its reason
// in harmless.
func TestEveryFieldOfConfigIsInTheFingerprint(t *testing.T) {
	base := func() *settings {
		c := complete(Config{Inputs: []string{"in"}, Output: "out"})
		c.Corpus.TextField, c.Corpus.IDField, c.Corpus.MaxRecord, c.Corpus.BlockSize = "text", "id", 1<<20, 1<<20
		return c
	}
	otherSketch, err := minhash.ParseScheme(strings.Replace(minhash.Default().String(), "seed=", "seed=7", 1))
	if err != nil {
		t.Fatal(err)
	}
	// Fields of which not every value will do, or which have no values of their own kind.
	changes := map[string]func(c *settings){
		"Features.Text.Normalize": func(c *settings) { c.Features.Text.Normalize = text.NFC },
		"Features.Text.Tokens":    func(c *settings) { c.Features.Text.Tokens = text.Chars },
		"Features.Text.StopWords": func(c *settings) { c.Features.Text.StopWords = []string{"the"} },
		"Features.Text.MinLength": func(c *settings) { c.Features.Text.MinLength = 5 },
		"Features.Text.Filter": func(c *settings) {
			c.Features.Text.Filter, c.Features.Text.FilterName = func([]byte) bool { return true }, "all"
		},
		"Features.Text.FilterName": func(c *settings) {
			c.Features.Text.Filter, c.Features.Text.FilterName = func([]byte) bool { return true }, "other"
		},
		"Features.Text.Version": func(c *settings) { c.Features.Text.Version = text.V1 },
		"Features.Weights":      func(c *settings) { c.Features.Weights = &shingle.Weights{Name: "exact"} },
		"Rarity": func(c *settings) {
			c.Rarity = &Rarity{}
			c.Features.Weights = &shingle.Weights{Name: c.Rarity.String()}
		},
		"Corpus.Format": func(c *settings) { c.Corpus.Format = corpus.Lines },
		"Corpus.Fields": func(c *settings) { c.Corpus.Fields = []string{"x"} },
		"Sketch":        func(c *settings) { c.Sketch = otherSketch },
		"Texts":         func(c *settings) { byDistance(c, 3); c.Texts = someTexts{} },
		"Distance":      func(c *settings) { byDistance(c, 3) },
		"Threshold":     func(c *settings) { c.Threshold = 0.71 },
		"Recall":        func(c *settings) { c.Recall = 0.9 },
		"Fingerprints":  func(c *settings) { c.Fingerprints, c.Verify = true, recipe.Sketch },
		"Method":        func(c *settings) { c.Method = MethodLSH },
		"Verify":        func(c *settings) { c.Verify = recipe.Sketch },
		"OnError":       func(c *settings) { c.OnError = OnErrorFail },
		"Keep":          func(c *settings) { c.Keep = keepRule(t, "longest") },
		"Tags":          func(c *settings) { c.Tags = &Tags{} },
		"Banding":       func(c *settings) { c.Banding = lsh.Params{Bands: 30, Rows: 4, MinBands: 1} },
	}
	before := fingerprint(t, base())
	met := map[string]bool{}
	var walk func(path string, at []int, of reflect.Type)
	walk = func(path string, at []int, of reflect.Type) {
		met[path] = true
		change, special := changes[path]
		switch {
		case special:
		case harmless[path] != "":
			return
		case of.Kind() == reflect.Struct:
			for i := range of.NumField() {
				name := of.Field(i).Name
				if path != "" {
					name = path + "." + name
				}
				walk(name, append(slices.Clone(at), i), of.Field(i).Type)
			}
			return
		default:
			change = func(c *settings) { increase(t, path, reflect.ValueOf(c).Elem().FieldByIndex(at)) }
		}
		c := base()
		change(c)
		if fingerprint(t, c) == before {
			t.Errorf("%s is not in the fingerprint, and no reason says why", path)
		}
	}
	for _, part := range []string{"Config", "modes"} {
		f, _ := reflect.TypeFor[settings]().FieldByName(part)
		walk("", f.Index, f.Type)
	}
	for path := range harmless {
		if !met[path] && !strings.HasPrefix(path, "Banding.") {
			t.Errorf("there is no field %s any more", path)
		}
	}
}

// increase gives a field of a simple type another value.
func increase(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch {
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	default:
		t.Errorf("%s: say in changes how to change a %s", path, v.Type())
	}
}

// byDistance makes a configuration decide by Hamming distance.
func byDistance(c *settings, d int) {
	c.Sketch, c.Distance = recipe.SimHash(simhash.Default()), &d
	c.Threshold, c.Recall, c.Banding, c.Method, c.Verify = 0, 0, lsh.Params{}, "", ""
}

// someTexts is a text scheme of which only the line counts.
type someTexts struct{}

func (someTexts) String() string                   { return "some texts" }
func (someTexts) Size() int                        { return 8 }
func (someTexts) HammingBits() int                 { return 64 }
func (someTexts) NewSketcher() recipe.TextSketcher { return nil }

// A work folder that holds a run under other names of the same files is refused.
func TestInputsThatAreNamedOtherwiseAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in", "sub", "a.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, []byte(`{"text":"one"}`+"\n"))
	settings := func(input string) (all []journal.Setting) {
		c, err := settle(Config{Inputs: []string{input}, Output: "out"})
		if err != nil {
			t.Fatal(err)
		}
		in, err := findInputs(t.Context(), c, newAccount(c))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Collect(identity(c, "dedup", in, ""))
	}
	a, b := settings(filepath.Join(dir, "in")), settings(filepath.Join(dir, "in", "sub"))
	if fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("outputs go to other places, and the fingerprint is the same")
	}
}
