// Package dedup is the batch engine: it finds the near-duplicates of a corpus
// and, if asked to, writes the corpus without them.
//
// A run is a row of stages, each a function of the one before:
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
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// Run removes the near-duplicates of config.Inputs and writes the rest, with
// an account of what was removed, to config.Output. The folder holds a
// summary.json if and only if the run succeeded; after an error it is as before,
// unless config.Work is set: then the same call goes on from there.
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
	out, err := openOutput(ctx, &r.config)
	if err != nil {
		return nil, err
	}
	r.config.Begin = func() error { return out.checkEmpty(ctx, r.config.Work != "") }
	if err := r.begin(ctx, "dedup"); err != nil {
		return nil, err
	}
	staged := &Summary{}
	published, err := r.work.log.last(publishedKind, staged)
	if err != nil {
		return nil, err
	}
	if err := out.prepare(ctx, r.work, published, r.sources[r.refSources:]); err != nil {
		return nil, err
	}
	defer out.unlock()
	err = r.spoolStreams(ctx)
	switch {
	case err != nil:
	case published:
		r.summary, err = staged, out.publish(ctx)
	default:
		err = r.dedup(ctx, out)
	}
	if err == nil && r.work.log != nil && out.remote == nil {
		// The journal goes next, and nobody would clear the staging folder if it came back.
		_ = durable.SyncDir(out.fs, out.path)
	}
	if err != nil && !r.work.log.keeps() {
		err = errors.Join(err, out.discard(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return nil, err
	}
	return r.summary, nil
}

// Pairs calls emit for every pair of documents at or above the threshold, in
// the order of the input: by the first document, then the second. The first comes
// before the second or, by a directed measure, is the one that is inside the other: a
// pair that reaches the threshold in both directions is emitted twice. With config.With
// it looks for pairs of a document of Inputs with one of With only, the former first.
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
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if err := r.find(ctx, false); err != nil {
		return nil, err
	}
	r.table.dropKeys() // grouping is over
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

// Pair is two similar documents. The slices hold during the call only.
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
	removesParts bool              // removes what is inside other documents; see partEdge
	summary      *Summary
	clock        *clock
	work         *workspace

	refSources int
	leftFiles  int // sources of Inputs, where With is given
	sources    []corpus.Source
	sides      sides.Policy
	layouts    layouts
	table      *table
	classes    *classes
	verifier   *verifier
	edges      *extsort.Sorted // similar representatives; see verifier

	forecastEdges float64 // of chooseExact
}

// newRun returns the run of a search for pairs.
func newRun(config Config) (*run, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	recipe, err := config.Recipe()
	if err != nil {
		return nil, err
	}
	return newRunOf(config.withDefaults(), recipe), nil
}

// newRunOf returns a run of a valid configuration.
func newRunOf(config Config, recipe recipe.Recipe) *run {
	if field := config.Keep.Field(); field != "" {
		config.Corpus.Fields = []string{field}
	}
	r := &run{config: config, recipe: recipe, threshold: recipe.Threshold(), work: newWorkspace(&config, recipe.Signature())}
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

// begin finds the inputs, sees that no output is one of them, calls Config.Begin,
// and opens the work folder. Streams are not read yet.
func (r *run) begin(ctx context.Context, command string) error {
	if len(r.config.With) > 0 && command != "pairs" {
		return fmt.Errorf("%w: only Pairs takes a second collection: Run removes what is like references (Against)", ErrUsage)
	}
	if r.work.turn != nil {
		r.config.Corpus.Admit = r.work.turn.Take
	}
	if err := r.findSources(ctx); err != nil {
		return err
	}
	if err := r.config.Begin(); err != nil {
		return err
	}
	if r.config.Work != "" {
		if err := r.openLog(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

// close releases what the run holds outside memory. When it has succeeded, or
// nobody can go on with it, its files go.
func (r *run) close(succeeded bool) error {
	if r.verifier != nil {
		r.verifier.records.close()
	}
	if r.table != nil {
		r.table.close()
	}
	err := r.work.releaseAll(r.edges)
	if r.classes != nil {
		err = errors.Join(err, r.work.releaseAll(r.classes.members))
	}
	l := r.work.log
	switch {
	case l == nil:
		err = errors.Join(err, r.work.remove())
	case succeeded || !l.keeps():
		err = errors.Join(err, r.work.removeFiles(), l.journal.Remove())
	default:
		err = errors.Join(err, l.journal.Close())
	}
	if succeeded && err != nil { // the results are there
		r.config.OnNotice(setting.Textf("the work folder is not empty: %v; remove it", err))
		return nil
	}
	return err
}

// emitted ends a run whose results were emitted: from here on its files are of no
// use.
func (r *run) emitted() error {
	if err := r.config.Commit(); err != nil {
		return err
	}
	return r.work.log.note(finishedKind, true)
}

// finish completes the account of the run.
func (r *run) finish() {
	r.summary.SpilledBytes = r.work.spilled.Load()
	r.clock.stop()
}

// dedup finds the edges, clusters them and writes the output. It does so once more
// where rows cannot be copied.
func (r *run) dedup(ctx context.Context, out *outputDir) error {
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
	if err := out.writeSummary(r.summary); err != nil {
		return err
	}
	if err := out.syncFolders(r.sources[r.refSources:]); err != nil {
		return err
	}
	if err := r.work.log.note(publishedKind, r.summary); err != nil {
		return err
	}
	return out.publish(ctx)
}

// round does all between reading and the summary. It returns the rows that could not
// be copied.
func (r *run) round(ctx context.Context, out *outputDir) (lost []lostRows, err error) {
	if err := r.find(ctx, !r.config.Star); err != nil {
		return nil, err
	}
	if !r.mayLoseRows() {
		r.table.dropKeys() // grouping is over
	}
	var clusters *clustering
	err = r.clock.stage("cluster", 0, func() (int64, int64, error) {
		var err error
		if clusters, err = r.cluster(ctx); err != nil {
			return 0, 0, err
		}
		return clusters.clusters, 0, nil
	})
	if err != nil {
		return nil, err
	}
	s := r.summary
	s.Removed = clusters.removed.Len()
	s.Kept = s.Read - s.Skipped - s.Removed
	s.Clusters = clusters.clusters
	s.LargestClusters = append(s.LargestClusters, clusters.largest...)
	lost, err = r.write(ctx, out, clusters)
	return lost, errors.Join(err, clusters.release(r.work))
}

// write writes everything but the summary. It returns the rows that could not be
// copied.
func (r *run) write(ctx context.Context, out *outputDir, clusters *clustering) (lost []lostRows, err error) {
	r.verifier.records.close() // their memory is the compressors' now
	kept, err := r.newKeptWriter(out, clusters)
	if err != nil {
		return nil, err
	}
	total := r.inputBytes()
	if r.config.IDsOnly {
		total = 0
	}
	err = r.clock.stage("write", total, func() (items, bytes int64, err error) {
		err = r.writeAll(ctx, out, kept, clusters)
		return kept.items.Load(), kept.bytes.Load(), err
	})
	return kept.lost, err
}

// writeAll is write. The lists are small, but waiting for the disk to have them is
// not quick, so they are written beside the records.
func (r *run) writeAll(ctx context.Context, out *outputDir, kept *keptWriter, c *clustering) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return out.writeRemoved(ctx, r.table, c) })
	group.Go(func() error { return out.writeClusters(ctx, r.table, c) })
	if r.config.IDsOnly {
		group.Go(func() error { return out.writeKeptIDs(ctx, kept) })
		return group.Wait()
	}
	group.Go(func() error { return kept.write(ctx) })
	if slices.ContainsFunc(r.sources[r.refSources:], func(s corpus.Source) bool { return s.Format == corpus.Text }) {
		group.Go(func() error { return out.writeKeptList(ctx, kept) })
	}
	return group.Wait()
}

// find runs the stages from grouping up to verified edges. It finds all of them or, if
// sparse, enough to connect the same documents.
func (r *run) find(ctx context.Context, sparse bool) error {
	r.verifier = &verifier{r: r, records: newRecordStore(r)}
	exact := false
	err := r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		bySet := r.table.hasSets && r.config.Candidates != CandidatesLSH
		if r.classes, err = r.classify(ctx, bySet); err == nil {
			exact, err = r.chooseExact(ctx, sparse)
		}
		return int64(r.table.n), 0, err
	})
	if err != nil {
		return err
	}
	r.describe(exact)
	switch _, hamming := r.recipe.Distance(); {
	case hamming: // all pairs, even for clusters: of buckets over the cap, pairs of hubs would not do
		err = r.findAll(ctx)
	case exact:
		err = r.findExact(ctx, sparse)
		if errors.Is(err, errManyEdges) {
			r.describe(false)
			err = r.findByBands(ctx, sparse)
		}
	default:
		err = r.findByBands(ctx, sparse)
	}
	if err == nil {
		r.count()
	}
	return err
}

// findByBands finds what bands find.
func (r *run) findByBands(ctx context.Context, sparse bool) error {
	if sparse && r.recipe.MinKeys() == 1 { // else the votes of rims count too
		return r.findSparse(ctx)
	}
	return r.findAll(ctx)
}

// findExact joins the feature sets.
func (r *run) findExact(ctx context.Context, sparse bool) error {
	return r.clock.stage("verify", 0, func() (items, bytes int64, err error) {
		edges, n, err := r.step(ctx, "edges", func() ([]*extsort.Sorted, int64, error) {
			edges, err := r.join(ctx, r.joinAll(sparse))
			if err != nil {
				return nil, 0, err
			}
			return []*extsort.Sorted{edges}, edges.Len(), nil
		}, r.work.sorting("edges", 8, r.table.keyBits()))
		if err == nil {
			r.edges = edges[0]
			r.summary.Candidates += n
		}
		return n, 0, err
	})
}

// findAll groups band keys and verifies all pairs that meet in buckets. Of those that
// are too large for that, it joins the documents.
func (r *run) findAll(ctx context.Context) error {
	met, err := r.meet(ctx, false)
	if err != nil {
		return err
	}
	if _, hamming := r.recipe.Distance(); hamming && met[2].Len() > 0 {
		pairs, err := r.withHotPairs(ctx, met[0], met[2])
		if err != nil {
			return errors.Join(err, r.work.releaseAll(met...))
		}
		met = append(met, pairs)
		r.edges, err = r.verify(ctx, "edges", pairs, nil)
		return errors.Join(err, r.work.releaseAll(met...))
	}
	hot, err := r.findHot(ctx, met[2])
	if err != nil {
		return errors.Join(err, r.work.releaseAll(met...))
	}
	edges, err := r.verify(ctx, "edges", met[0], hot.joined)
	if err == nil && hot.edges != nil {
		r.edges, err = r.merged(ctx, edges, hot.edges)
		err = errors.Join(err, r.work.release(edges))
	} else {
		r.edges = edges
	}
	return errors.Join(err, r.work.releaseAll(append(met, hot.edges)...))
}

// merged returns the edges of both.
func (r *run) merged(ctx context.Context, a, b *extsort.Sorted) (*extsort.Sorted, error) {
	return r.work.sorted(ctx, r.work.sorting("edges", 8, r.table.keyBits()), func(to *extsort.Appender) error {
		add := func(e extsort.Entry) error { return to.Add(e.Key, e.Value) }
		return errors.Join(each(a, add), each(b, add))
	})
}

// findSparse verifies spokes, and then those other pairs that cross between the
// clusters that spokes make.
func (r *run) findSparse(ctx context.Context) error {
	met, err := r.meet(ctx, true)
	if err != nil {
		return err
	}
	spokes, rims, hubs := met[0], met[1], met[2]
	edges, err := r.verify(ctx, "spoke-edges", spokes, nil)
	if err != nil {
		return errors.Join(err, r.work.releaseAll(met...))
	}
	met = append(met, edges)
	var crossing *extsort.Sorted
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		labels, err := r.components(ctx, edges)
		if err != nil {
			return 0, 0, err
		}
		crossing, err = r.crossing(ctx, spokes, rims, hubs, labels)
		return 0, 0, errors.Join(err, r.work.release(labels))
	})
	if err != nil {
		return errors.Join(err, r.work.releaseAll(met...))
	}
	met = append(met, crossing)
	more, err := r.verify(ctx, "crossing-edges", crossing, nil)
	if err != nil {
		return errors.Join(err, r.work.releaseAll(met...))
	}
	r.edges, err = r.merged(ctx, edges, more)
	return errors.Join(err, r.work.releaseAll(append(met, more)...))
}

// meet returns the pairs that meet in buckets; see candidates.
func (r *run) meet(ctx context.Context, sparse bool) (met []*extsort.Sorted, err error) {
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		met, r.summary.BucketsCapped, err = r.step(ctx, "candidates", func() ([]*extsort.Sorted, int64, error) {
			return r.candidates(ctx, sparse)
		}, r.voteOptions()...)
		return int64(r.table.n), 0, err
	})
	return met, err
}

// verify returns the edges among pairs and counts both. Pairs of two documents of
// which all such pairs are known are passed over.
func (r *run) verify(ctx context.Context, kind string, pairs *extsort.Sorted, known bitset) (edges *extsort.Sorted, err error) {
	err = r.clock.stage("verify", 0, func() (items, bytes int64, err error) {
		found, n, err := r.step(ctx, kind, func() ([]*extsort.Sorted, int64, error) {
			what := verification{pairs: pairs, votes: uint64(r.recipe.MinKeys()), known: known}
			if r.work.log != nil {
				what.kind = kind + "-so-far"
			}
			edges, n, err := r.verifier.verify(ctx, what)
			if err != nil {
				return nil, 0, err
			}
			return []*extsort.Sorted{edges}, n, nil
		}, r.work.sorting("edges", 8, r.table.keyBits()))
		if err == nil {
			edges = found[0]
			r.summary.Candidates += n
		}
		return n, 0, err
	})
	return edges, err
}

// describe notes in the summary how candidates are found.
func (r *run) describe(exact bool) {
	s := r.summary
	if exact {
		s.CandidateMethod, s.ExpectedRecall = string(CandidatesExact), 1
		return
	}
	if _, hamming := r.recipe.Distance(); hamming {
		s.CandidateMethod, s.Bands, s.ExpectedRecall = "blocks", r.recipe.Keys(), 1
		return
	}
	s.CandidateMethod = string(CandidatesLSH)
	banding := r.recipe.Banding()
	s.Bands, s.Rows = banding.Bands, banding.Rows
	least, _ := r.threshold.LeastJaccard()
	s.ExpectedRecall = banding.Probability(r.recipe.Agreement(least))
}

// count fills in the pairs. A copy is a candidate that is verified by its digest.
func (r *run) count() {
	s := r.summary
	s.Candidates += r.classes.copies
	s.Verified = r.edges.Len() + r.classes.copies
	s.Rejected = s.Candidates - s.Verified
}
