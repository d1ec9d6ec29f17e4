package dedup

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
)

// troubleCorpus writes a corpus with all that may go wrong, in every format:
// copies and edited copies, chains of them, more copies and more texts of one
// template than smallCap, empty documents, malformed records, repeated ids, a file
// that breaks off. It returns the folders of the inputs and of references.
func troubleCorpus(t testing.TB, seed uint64) (inputs, references string) {
	t.Helper()
	dir := t.TempDir()
	inputs, references = filepath.Join(dir, "in"), filepath.Join(dir, "references")
	docs := troubleDocs(seed)
	n := len(docs) / 6
	writeJSONL(t, filepath.Join(references, "r.jsonl"), docs[:n/2])
	writeJSONL(t, filepath.Join(references, "s.jsonl.gz"), docs[n/2:n])

	plain := strings.SplitAfter(jsonLines(t, docs[n:3*n]), "\n")
	for i, bad := range []string{
		"{\"id\":\"broken\n", "{\"id\":\"nothing\"}\n", "\n", "{\"id\":\"number\",\"text\":7}\n", plain[3], plain[n], plain[5],
	} {
		plain = slices.Insert(plain, (i+1)*len(plain)/8, bad)
	}
	writeFile(t, filepath.Join(inputs, "a", "plain.jsonl"), []byte(strings.Join(plain, "")))
	writeJSONL(t, filepath.Join(inputs, "a", "b", "zipped.jsonl.gz"), docs[3*n:4*n])
	writeJSONL(t, filepath.Join(inputs, "whole.jsonl.gz"), docs[4*n:4*n+n/2])
	writeFile(t, filepath.Join(inputs, "broken.jsonl.gz"), []byte(tree(t, inputs)["whole.jsonl.gz"])[:800])
	writeFile(t, filepath.Join(inputs, "whole.jsonl.gz"), nil) // so that ids are not repeated
	writeFile(t, filepath.Join(inputs, "squeezed.jsonl.zst"), zstdFrames(t, jsonLines(t, docs[4*n+n/2:5*n])))
	var table bytes.Buffer
	rows := csv.NewWriter(&table)
	_ = rows.Write([]string{"id", "size", "text"})
	for i, d := range docs[5*n : len(docs)-20] {
		_ = rows.Write([]string{d.id, fmt.Sprint(i * 7 % 11), d.text})
	}
	rows.Flush()
	writeFile(t, filepath.Join(inputs, "table.csv"), append(table.Bytes(), "one,field\n"...))
	for i, d := range docs[len(docs)-20:] {
		writeFile(t, filepath.Join(inputs, "texts", fmt.Sprintf("%02d.txt", i)), []byte(d.text))
	}
	return inputs, references
}

// smallCap is a bucket cap that the corpora here exceed.
const smallCap = 12

func troubleDocs(seed uint64) []testDoc {
	rng := rand.New(rand.NewPCG(seed, 99))
	var texts []string
	word := func() string { return fmt.Sprintf("w%d", rng.IntN(3000)) }
	random := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, " ")
	}
	edited := func(text string, edits int) string {
		words := strings.Fields(text)
		for range edits {
			words[rng.IntN(len(words))] = word()
		}
		return strings.Join(words, " ")
	}
	template := random(40)
	many := random(25)
	for i := range 240 {
		switch kind := rng.IntN(16); {
		case kind == 0:
			texts = append(texts, "")
		case kind == 1:
			texts = append(texts, word())
		case kind <= 3: // a hot bucket
			texts = append(texts, fmt.Sprintf("%s serial%d", template, i))
		case kind <= 5: // a class over the cap
			texts = append(texts, many)
		case kind <= 8 && i > 20: // a copy, or a link of a chain
			if from := texts[rng.IntN(i)]; len(from) > 100 {
				texts = append(texts, edited(from, rng.IntN(3)))
				continue
			}
			fallthrough
		default:
			texts = append(texts, random(20+rng.IntN(40)))
		}
	}
	docs := make([]testDoc, len(texts))
	for i, text := range texts {
		docs[i] = testDoc{fmt.Sprintf("doc-%d", i), text}
	}
	return docs
}

func jsonLines(t testing.TB, docs []testDoc) string {
	t.Helper()
	var b strings.Builder
	for i, d := range docs {
		fmt.Fprintf(&b, "{\"id\":%q,\"size\":%d,\"text\":%q}\n", d.id, i*7%13, d.text)
	}
	return b.String()
}

// zstdFrames compresses lines in several frames.
func zstdFrames(t testing.TB, lines string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for chunk := range slices.Chunk(strings.SplitAfter(lines, "\n"), 7) {
		b = w.EncodeAll([]byte(strings.Join(chunk, "")), b)
	}
	return b
}

// variant is a way to configure a run.
type variant struct {
	name string
	set  func(c *Config, references string)
}

// commands returns what the variant matters to.
func (v variant) commands() []command {
	switch {
	case strings.Contains(v.name, "stars"):
		return commands[:1]
	case strings.Contains(v.name, "across"):
		return commands[1:]
	}
	return commands
}

func keepRule(t testing.TB, rule string) cluster.Keep {
	t.Helper()
	k, err := cluster.ParseKeep(rule)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// variants are the ways in which the engine goes; where tests do less every sixth of them.
func variants(t testing.TB) (some []variant) {
	for i, v := range allVariants(t) {
		if !testsize.Small() || i%6 == 0 {
			some = append(some, v)
		}
	}
	return some
}

func allVariants(t testing.TB) []variant {
	withReferences := func(c *Config, references string) { c.Beside = Against{references} }
	fromRecords := func(c *Config) { c.limits.retain = 1 }
	return []variant{
		{"banded", func(c *Config, _ string) { bySimilarity(c, func(s *Similarity) { s.Candidates = LSH{} }) }},
		{"banded from records with references", func(c *Config, references string) {
			bySimilarity(c, func(s *Similarity) { s.Candidates = LSH{} })
			fromRecords(c)
			withReferences(c, references)
		}},
		{"banded stars", func(c *Config, references string) {
			bySimilarity(c, func(s *Similarity) { s.Candidates = LSH{} })
			onePerCluster(c, func(s *OnePerCluster) { s.Star, s.Keep = true, keepRule(t, "max:size") })
			fromRecords(c)
			withReferences(c, references)
		}},
		{"two bands to agree", func(c *Config, _ string) {
			bySimilarity(c, func(s *Similarity) { s.Candidates = Bands{Bands: 30, Rows: 4, MinBands: 2} })
			onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "longest") })
			fromRecords(c)
		}},
		{"exact", func(c *Config, references string) {
			bySimilarity(c, func(s *Similarity) { s.Candidates = Exact{} })
			onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "last") })
			withReferences(c, references)
		}},
		{"exact stars", func(c *Config, _ string) {
			bySimilarity(c, func(s *Similarity) { s.Candidates = Exact{} })
			onePerCluster(c, func(s *OnePerCluster) { s.Star, s.Keep = true, keepRule(t, "shortest") })
		}},
		{"auto", func(c *Config, _ string) {
			onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "min:size") })
		}},
		{"auto from records with references", func(c *Config, references string) {
			fromRecords(c)
			withReferences(c, references)
		}},
		{"containment", func(c *Config, references string) {
			bySimilarity(c, func(s *Similarity) { s.Measure = measure.Containment })
			onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "max:size") })
			withReferences(c, references)
		}},
		{"containment by samples, from records with references", func(c *Config, references string) {
			bySimilarity(c, func(s *Similarity) { s.Measure = measure.MaxContainment })
			onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "min:size") })
			fromRecords(c)
			withReferences(c, references)
		}},
		{"containment by samples across", func(c *Config, references string) {
			c.Beside = With{references}
			bySimilarity(c, func(s *Similarity) { s.Measure, s.Candidates = measure.Containment, LSH{} })
		}},
		{"third texts, of containment", func(c *Config, references string) {
			c.Signatures = OfShingles{Options: shingle.Options{N: 1}}
			bySimilarity(c, func(s *Similarity) { s.Measure, s.Threshold, s.ThirdTexts = measure.MaxContainment, 0.15, true })
			withReferences(c, references)
		}},
		{"third texts from records", func(c *Config, _ string) {
			c.Signatures = OfShingles{Options: shingle.Options{N: 1}}
			bySimilarity(c, func(s *Similarity) { s.Threshold, s.ThirdTexts = 0.1, true })
			fromRecords(c)
		}},
		{"whole texts, of containment with references", func(c *Config, references string) {
			c.Signatures = OfShingles{Options: shingle.Options{N: 1}}
			bySimilarity(c, func(s *Similarity) { s.Measure, s.Threshold, s.ThirdTexts = measure.MaxContainment, 0.15, true })
			onePerCluster(c, func(s *OnePerCluster) { s.Whole = true })
			withReferences(c, references)
		}},
		{"whole texts from records", func(c *Config, _ string) {
			c.Signatures = OfShingles{Options: shingle.Options{N: 1}}
			bySimilarity(c, func(s *Similarity) { s.Threshold = 0.1 })
			onePerCluster(c, func(s *OnePerCluster) { s.Whole = true })
			fromRecords(c)
		}},
		{"cosine from records", func(c *Config, _ string) {
			bySimilarity(c, func(s *Similarity) { s.Measure, s.Candidates = measure.Cosine, LSH{} })
			fromRecords(c)
		}},
		{"weighted Jaccard", func(c *Config, _ string) {
			bySimilarity(c, func(s *Similarity) { s.Measure = measure.WeightedJaccard })
		}},
		{"sketches", func(c *Config, references string) {
			bySimilarity(c, func(s *Similarity) { s.Verify = recipe.Sketch })
			withReferences(c, references)
		}},
		{"ids only", func(c *Config, references string) {
			c.IDsOnly = true
			withReferences(c, references)
		}},
		{"sketches, not verified", func(c *Config, _ string) {
			bySimilarity(c, func(s *Similarity) { s.Verify = recipe.None })
			onePerCluster(c, func(s *OnePerCluster) { s.Star = true })
		}},
		{"within values, from records with references", func(c *Config, references string) {
			c.Within = "size"
			onePerCluster(c, func(s *OnePerCluster) { s.Keep = keepRule(t, "max:size") })
			fromRecords(c)
			withReferences(c, references)
		}},
		{"across, banded", func(c *Config, references string) {
			c.Beside = With{references}
			bySimilarity(c, func(s *Similarity) { s.Candidates = LSH{} })
			fromRecords(c)
		}},
		{"across, exact", func(c *Config, references string) {
			c.Beside, c.limits.index = With{references}, 300
			bySimilarity(c, func(s *Similarity) { s.Candidates = Exact{} })
		}},
		{"across, auto", func(c *Config, references string) {
			c.Inputs, c.Beside = []string{references}, With(c.Inputs)
			fromRecords(c)
		}},
	}
}

// config returns the configuration of a variant over a corpus.
func (v variant) config(inputs, references string) Config {
	c := Config{
		Inputs:    []string{inputs},
		BucketCap: smallCap,
		Corpus:    corpus.Options{BlockSize: 1500, IDField: "id"},
		Decide:    Similarity{Threshold: 0.7},
	}
	v.set(&c, references)
	c.Report = writeReport
	return c
}

// tiny makes every segment go to disk at once, every segment a part, a note where
// one may be, every text one whose features are used up block by block, and every
// record that does not fit in its block one that waits for its turn.
func tiny(c *Config) {
	c.limits.memory, c.limits.segment, c.limits.part, c.limits.output, c.limits.together = 1, 1, 1, 1, 1
	c.limits.text, c.limits.record = 1, 1
	c.limits.due = every(7)
}

// every returns a function that is true each nth time.
func every(n int) func() bool {
	var mu sync.Mutex
	calls := 0
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return calls%n == 0
	}
}

// outcome is all of a run that may not depend on how it went.
type outcome struct {
	files   map[string]string // of the output folder, but for the summary
	lines   []string          // of pairs
	counts  string            // of the summary
	skipped []string
	untidy  bool // something of the work folder is left
}

func (o outcome) differsFrom(want outcome) string {
	switch {
	case o.counts != want.counts:
		return fmt.Sprintf("counts\n%s, want\n%s", o.counts, want.counts)
	case !slices.Equal(o.skipped, want.skipped):
		return fmt.Sprintf("skipped %q, want %q", o.skipped, want.skipped)
	case !slices.Equal(o.lines, want.lines):
		return fmt.Sprintf("%d pairs, want %d, or others", len(o.lines), len(want.lines))
	case !maps.Equal(o.files, want.files):
		for name, data := range want.files {
			if got, ok := o.files[name]; !ok {
				return "no " + name
			} else if got != data {
				return fmt.Sprintf("%s differs: %d bytes, want %d", name, len(got), len(data))
			}
		}
		return fmt.Sprintf("files %q, want %q", slices.Sorted(maps.Keys(o.files)), slices.Sorted(maps.Keys(want.files)))
	}
	return ""
}

// countsOf returns what of a summary is a function of the input.
func countsOf(s *Summary) string {
	c := *s
	c.Stages, c.Seconds, c.PeakMemoryBytes, c.SpilledBytes = nil, 0, 0, 0
	counts, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(counts)
}

// outFolder and workFolder are on the file systems of these tests.
const (
	outFolder  = "/faults/out"
	workFolder = "/faults/work"
)

// dedupOn runs Run on a file system and returns what came of it.
func dedupOn(t testing.TB, ctx context.Context, on vfs.FS, c Config) (o outcome, err error) {
	t.Helper()
	return folderOn(t, on, c, func(c Config) (counts string, err error) {
		s, err := Run(ctx, c)
		if err == nil {
			counts = countsOf(s)
		}
		return counts, err
	})
}

// folderOn runs a command that fills the output folder on a file system, and returns what came of it.
func folderOn(t testing.TB, on vfs.FS, c Config, run func(c Config) (counts string, err error)) (o outcome, err error) {
	t.Helper()
	c.fs, c.Output = on, outFolder
	c.OnSkip = func(p *corpus.Problem) { o.skipped = append(o.skipped, p.Error()) }
	c.OnNotice = func(notice Notice) {
		o.untidy = o.untidy || strings.Contains(notice.String(), "the work folder is not empty")
	}
	if o.counts, err = run(c); err != nil {
		return o, err
	}
	if traced, ok := on.(*tracedFS); ok {
		on = traced.FS
	}
	o.files = memTree(t, on, outFolder)
	if o.files[write.SummaryFile] == "" {
		t.Error("no summary")
	}
	delete(o.files, write.SummaryFile)
	return o, nil
}

// pairsOn runs Pairs on a file system and returns what came of it.
func pairsOn(t testing.TB, ctx context.Context, on vfs.FS, c Config) (o outcome, err error) {
	t.Helper()
	c.fs = on
	c.OnSkip = func(p *corpus.Problem) { o.skipped = append(o.skipped, p.Error()) }
	c.OnNotice = func(notice Notice) {
		o.untidy = o.untidy || strings.Contains(notice.String(), "the work folder is not empty")
	}
	s, err := Pairs(ctx, c, func(p Pair) error {
		o.lines = append(o.lines, fmt.Sprintf("%s,%s,%.6f", p.A, p.B, p.Similarity))
		return nil
	})
	if err == nil {
		o.counts = countsOf(s)
	}
	return o, err
}

// command is Run or Pairs.
type command struct {
	name string
	on   func(t testing.TB, ctx context.Context, on vfs.FS, c Config) (outcome, error)
}

var commands = []command{{"dedup", dedupOn}, {"pairs", pairsOn}}

// undisturbed returns what a command gives in memory, on one thread.
func (c command) undisturbed(t testing.TB, config Config) outcome {
	t.Helper()
	config.Threads = 1
	o, err := c.on(t, context.Background(), vfstest.NewMem(), config)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.files) == 0 && len(o.lines) == 0 {
		t.Fatal("nothing came of it")
	}
	return o
}
