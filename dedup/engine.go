// Package dedup is the batch engine: it finds the near-duplicates of a corpus
// and, if asked to, writes the corpus without them.
//
// A run is a sequence of stages, each a function of the one before:
//
//	read     records → table of documents (digest, band keys; signature or set where needed)
//	group    equal digests → classes; equal band keys → candidate pairs
//	verify   candidate pairs → edges, by the exact similarity
//	cluster  edges → clusters, and the one document of each that is kept
//	write    a second pass over the inputs copies the kept records out
//
// The order of documents is that of the input, and every stage's result is a
// function of it: outputs are the same bytes for any number of workers.
//
// Use Run to remove near-duplicates and Pairs to list similar pairs. For sets
// that are in memory already, package simjoin is enough.
package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/copies"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// Run removes the near-duplicates of config.Inputs and writes the rest, with an account of the
// removed documents, to config.Output. The folder holds a summary.json if and only if the run
// succeeded; after an error it is as before, unless config.Work is set: then the same call
// continues from there.
func Run(ctx context.Context, config Config) (summary *Summary, err error) {
	if config.Output == "" {
		return nil, fmt.Errorf("%w: no output folder", ErrUsage)
	}
	r, err := newRun(config)
	if err == nil {
		err = r.removal()
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(err == nil)) }()
	out, err := write.Open(ctx, r.config.fs, r.config.Output, r.config.Corpus)
	if err != nil {
		return nil, err
	}
	r.config.Begin = func() error { return out.CheckEmpty(ctx, r.config.Work != "") }
	if err := r.begin(ctx, "dedup"); err != nil {
		return nil, err
	}
	staged := &Summary{}
	published, err := r.log.Last(resume.Published, staged)
	if err != nil {
		return nil, err
	}
	if err := out.Prepare(ctx, r.work, r.log, published, r.sources[r.refSources:]); err != nil {
		return nil, err
	}
	defer out.Unlock()
	err = r.spoolStreams(ctx)
	switch {
	case err != nil:
	case published:
		r.summary, err = staged, out.Publish(ctx)
	default:
		err = r.dedup(ctx, out)
	}
	if err == nil && r.config.Known != nil {
		err = r.config.Known.End()
	}
	if err == nil && r.log != nil {
		out.Settle() // the journal is removed next
	}
	if err != nil && !r.log.Keeps() {
		err = errors.Join(err, out.Discard(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return nil, err
	}
	return r.summary, nil
}

// Pairs calls emit for every pair of documents at or above the threshold, in the order of the
// input: by the first document, then the second. The first comes before the second or, with a
// directed measure, is the one that is inside the other: a pair that reaches the threshold in both
// directions is emitted twice. With config.With it finds only pairs of a document of Inputs, the
// first one, with one of With.
func Pairs(ctx context.Context, config Config, emit func(Pair) error) (summary *Summary, err error) {
	r, err := newRun(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(err == nil)) }()
	if err := r.begin(ctx, "pairs"); err != nil {
		return nil, err
	}
	if err := r.spoolStreams(ctx); err != nil {
		return nil, err
	}
	if err := r.expect(ctx, false); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if err := r.find(ctx, false); err != nil {
		return nil, err
	}
	r.table.DropKeys() // grouping is over
	err = r.clock.stage("emit", 0, func() (int64, int64, error) { return r.emitPairs(ctx, emit) })
	if err == nil {
		err = r.emitted()
	}
	if err != nil {
		return nil, err
	}
	r.finish()
	return r.summary, nil
}

// Pair is two similar documents. The slices are valid only during the call.
type Pair struct {
	A, B       []byte  // ids; A comes first in the input or, by Containment, is inside B
	Similarity float64 // exact, unless the run was told to estimate
	Shared     int     // components in which the signatures agree, with Config.Shared
}

// run is the state of one run.
type run struct {
	config       Config
	recipe       recipe.Recipe
	threshold    measure.Threshold // of the recipe; when parts are removed, of containment
	removesParts bool              // removes documents that are inside others; see graph.Edges
	summary      *Summary
	clock        *clock
	work         *scratch.Space
	log          *resume.Log // nil: nothing is kept for another process

	expected   Candidates // by expect; "": what is decided when the inputs have been read
	knownState string     // of Config.Known when the run began
	removed    bitset.Set // with Config.Known: documents removed in favour of another one of this run
	refSources int
	leftFiles  int // number of sources of Inputs, with With
	sources    []corpus.Source
	sides      sides.Policy
	layouts    feed.Layouts
	table      *table.Table
	classes    *copies.Classes
	kept       *reread.Kept          // records that were read, kept for verification; nil: not needed
	records    *reread.Store         // records for verification
	sizes      *extsort.Sorted       // of sets, if they are needed and the table has none
	edges      *extsort.Sorted       // between similar representatives; see graph.Edges
	links      *Links                // of Config.Link
	page       func(io.Writer) error // writes the report; nil: there is none

	forecastEdges float64 // of chooseExact
}

func (r *run) storeOptions() reread.Options {
	return reread.Options{Table: r.table, Recipe: r.recipe, Corpus: r.config.Corpus, Layouts: &r.layouts, Space: r.work, Kept: r.kept}
}

// graph is the vertex set of pairs of the run's documents.
func (r *run) graph() graph.Graph { return graph.Graph{Space: r.work, Docs: r.table.Docs} }

// newRun returns the run of a search for pairs.
func newRun(config Config) (*run, error) {
	asked := config.Verify
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	recipe, err := config.recipe()
	if err != nil {
		return nil, err
	}
	r := newRunOf(config, recipe)
	r.noticeStored(asked)
	return r, nil
}

// newRunOf returns a run of a valid configuration with its defaults.
func newRunOf(config Config, recipe recipe.Recipe) *run {
	if field := config.Keep.Field(); field != "" {
		config.Corpus.Fields = []string{field}
	}
	if config.Fingerprints {
		config.Corpus = asStored(config.Corpus)
	}
	r := &run{config: config, recipe: recipe, threshold: recipe.Threshold(), work: newSpace(&config, recipe.Signature())}
	r.summary = &Summary{Threshold: config.Threshold, Verify: string(config.Verify), LargestClusters: []int{}}
	r.summary.TextScheme, r.summary.SketchScheme = recipe.Lines()
	if _, hamming := recipe.Distance(); hamming {
		r.summary.Verify, r.summary.Decision = "hamming", recipe.Decision()
	}
	if config.Measure != measure.Jaccard {
		r.summary.Measure = config.Measure.String()
	}
	r.clock = startClock(r.summary, &r.config)
	return r
}

// newSpace returns the run's memory and folder. scheme is the line on how signatures are made, with
// which the table's parts begin.
func newSpace(c *Config, scheme string) *scratch.Space {
	return scratch.New(scratch.Options{
		FS: c.fs, Threads: c.Threads, Ceiling: c.Memory, Scheme: scheme, Memory: c.limits.memory, Record: c.limits.record,
	})
}

// begin finds the inputs, checks that no output is one of them, calls Config.Begin, and opens the
// work folder. Streams are not read yet.
func (r *run) begin(ctx context.Context, command string) (err error) {
	if len(r.config.With) > 0 && command != "pairs" {
		return fmt.Errorf("%w: only Pairs takes a second collection: Run removes what is like references (Against)", ErrUsage)
	}
	if err := r.findSources(ctx); err != nil {
		return err
	}
	if err := r.config.Begin(); err != nil {
		return err
	}
	if err := r.beginKnown(ctx); err != nil {
		return err
	}
	if r.work.Turn != nil {
		r.config.Corpus.Admit = r.work.Turn.Take
	}
	if r.config.Work == "" {
		return nil
	}
	r.log, err = resume.Open(ctx, r.work, resume.Options{
		Folder: r.config.Work, Fresh: r.config.Fresh, Settings: r.settings(command), Due: r.config.limits.due,
	})
	if r.log.Resumed() {
		r.config.OnNotice(setting.Textf("continuing the run in %s", r.config.Work))
	}
	return err
}

// close releases the run's files. They are removed if the run has succeeded, or no other process
// can continue it.
func (r *run) close(succeeded bool) error {
	if r.records != nil {
		r.records.Close()
	}
	if r.table != nil {
		r.table.Close()
	}
	err := r.work.ReleaseAll(r.edges, r.sizes)
	if r.classes != nil {
		err = errors.Join(err, r.work.ReleaseAll(r.classes.Members))
	}
	err = errors.Join(err, r.work.Close(), r.log.Close(succeeded))
	if succeeded && err != nil { // the results are complete
		r.config.OnNotice(setting.Textf("the work folder is not empty: %v; remove it", err))
		return nil
	}
	return err
}

// emitted ends a run whose results were emitted: from here on its files are no longer needed.
func (r *run) emitted() error {
	if err := r.config.Commit(); err != nil {
		return err
	}
	return r.log.Note(resume.Finished, true)
}

// finish completes the run's summary.
func (r *run) finish() {
	r.summary.SpilledBytes = r.work.SpilledBytes()
	r.clock.stop()
}

// dedup finds the edges, clusters them and writes the output. If rows cannot be copied, it does all
// this once more.
func (r *run) dedup(ctx context.Context, out *write.Folder) error {
	if r.config.Link != nil {
		if err := r.link(ctx); err != nil {
			return err
		}
	}
	if err := r.expect(ctx, !r.config.Star); err != nil {
		return err
	}
	if err := r.read(ctx); err != nil {
		return err
	}
	if err := r.restoreLost(); err != nil {
		return err
	}
	for {
		lost, err := r.round(ctx, out)
		if err != nil {
			return err
		}
		if len(lost) == 0 {
			break
		}
		if err := r.anotherRound(lost); err != nil {
			return err
		}
	}
	r.finish()
	if err := out.WriteLast(r.summary, r.page); err != nil {
		return err
	}
	if err := out.SyncFolders(r.sources[r.refSources:]); err != nil {
		return err
	}
	if err := r.addKept(ctx); err != nil {
		return err
	}
	if err := r.log.Note(resume.Published, r.summary); err != nil {
		return err
	}
	return out.Publish(ctx)
}

// round does everything between reading and the summary. It returns the rows that could not be
// copied.
func (r *run) round(ctx context.Context, out *write.Folder) (lost []write.LostRows, err error) {
	if err := r.find(ctx, !r.config.Star); err != nil {
		return nil, err
	}
	if !r.mayLoseRows() {
		r.table.DropKeys() // grouping is over
	}
	var found *clusters.Result
	err = r.clock.stage("cluster", 0, func() (int64, int64, error) {
		var err error
		if found, err = clusters.Find(ctx, r.clusterOptions(), r.classes.Members, r.edges); err != nil {
			return 0, 0, err
		}
		return found.Clusters, 0, nil
	})
	if err != nil {
		return nil, err
	}
	s := r.summary
	s.Removed = found.Removed.Len()
	if r.config.Known != nil {
		r.countKnown()
		if r.removed, err = removedSet(r.table, found); err != nil {
			return nil, errors.Join(err, found.Release())
		}
	}
	s.Kept = s.Read - s.Skipped - s.Removed
	s.Clusters = found.Clusters
	for _, c := range found.Largest {
		s.LargestClusters = append(s.LargestClusters, c.Size)
	}
	lost, err = r.write(ctx, out, found)
	return lost, errors.Join(err, found.Release())
}

// write writes everything except the summary. It returns the rows that could not be copied.
func (r *run) write(ctx context.Context, out *write.Folder, c *clusters.Result) (lost []write.LostRows, err error) {
	report, err := r.report(c)
	if err != nil {
		return nil, err
	}
	defer report.close()
	r.records.Close() // the compressors need their memory now
	o := write.Options{
		Table: r.table, Clusters: c, Corpus: r.config.Corpus, IDsOnly: r.config.IDsOnly, Wanted: report.decoded, Want: report.put, Space: r.work, Log: r.log,
		NoteBytes: r.config.limits.output, Progress: r.config.Progress,
	}
	total := r.inputBytes()
	if o.IDsOnly {
		total = 0
	}
	err = r.clock.stage("write", total, func() (items, bytes int64, err error) {
		n, err := write.All(ctx, o, out)
		lost = n.Lost
		return n.Items, n.Bytes, err
	})
	if err == nil && len(lost) == 0 {
		r.page, err = report.finish(ctx)
	}
	return lost, err
}
