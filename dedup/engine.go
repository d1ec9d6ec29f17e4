// Package dedup is the batch engine: it finds the near-duplicates of a corpus
// and, if asked to, writes the corpus without them.
//
// A run is a row of stages, each a function of the one before:
//
//	read     records → table of documents (digest, band keys; signature or set where needed)
//	group    equal digests → classes; equal band keys → candidate pairs
//	verify   candidate pairs → edges, by the exact Jaccard similarity
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

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/simjoin"
)

// Run removes the near-duplicates of config.Inputs and writes the rest, with
// an account of what was removed, to config.Output. The folder holds a
// summary.json if and only if the run succeeded; after an error it is as before.
func Run(ctx context.Context, config Config) (summary *Summary, err error) {
	if config.Output == "" {
		return nil, fmt.Errorf("%w: no output folder", ErrUsage)
	}
	r, err := newRun(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	out, err := openOutput(&r.config)
	if err != nil {
		return nil, err
	}
	if err := r.findSources(ctx); err != nil {
		return nil, err
	}
	err = out.prepare()
	if err == nil {
		err = r.dedup(ctx, out)
	}
	if err != nil {
		return nil, errors.Join(err, out.discard())
	}
	return r.summary, nil
}

// Pairs calls emit for every pair of documents at or above the threshold, in
// the order of the input: by the first document, then the second.
func Pairs(ctx context.Context, config Config, emit func(Pair) error) (summary *Summary, err error) {
	r, err := newRun(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.findSources(ctx); err != nil {
		return nil, err
	}
	if err := r.find(ctx, false); err != nil {
		return nil, err
	}
	err = r.clock.stage("emit", 0, func() (int64, int64, error) { return r.emitPairs(ctx, emit) })
	if err != nil {
		return nil, err
	}
	r.clock.stop()
	return r.summary, nil
}

// Pair is two similar documents. The slices hold during the call only.
type Pair struct {
	A, B       []byte  // ids; A comes first in the input
	Similarity float64 // exact, unless the run was told to estimate
}

// run is the state of one run.
type run struct {
	config    Config
	summary   *Summary
	clock     *clock
	threshold simjoin.Threshold
	banding   lsh.Params // zero when signatures are not needed
	dir       *workDir

	refSources int
	sources    []corpus.Source
	table      *table
	classes    *classes
	edges      []edge
	verifier   *verifier
}

func newRun(config Config) (*run, error) {
	config = config.withDefaults()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	threshold, err := simjoin.NewThreshold(config.Threshold)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if field := config.Keep.Field(); field != "" {
		config.Corpus.Fields = []string{field}
	}
	r := &run{config: config, threshold: threshold, dir: &workDir{parent: config.Work}}
	if r.banding, err = chooseBanding(&config); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	r.summary = &Summary{
		Threshold: config.Threshold, Verify: string(config.Verify),
		TextScheme: config.Features.String(), SketchScheme: config.Sketch.String(),
		LargestClusters: []int{},
	}
	r.clock = startClock(r.summary, &r.config)
	return r, nil
}

// chooseBanding returns the bands to make keys for, none when candidates are
// exact whatever the corpus.
func chooseBanding(config *Config) (lsh.Params, error) {
	if config.Candidates == CandidatesExact {
		return lsh.Params{}, nil
	}
	if config.Banding != (lsh.Params{}) {
		return config.Banding, config.Banding.Validate(config.Sketch.K())
	}
	banding, err := lsh.Tune(config.Threshold, config.Recall, config.Sketch.K(), config.Sketch.Bits())
	if errors.Is(err, lsh.ErrRecallOutOfReach) && config.Candidates == CandidatesAuto && config.Verify == VerifyExact {
		return lsh.Params{}, nil
	}
	return banding, err
}

// close releases what the run holds outside memory.
func (r *run) close() error {
	if r.verifier != nil {
		r.verifier.records.close()
	}
	return r.dir.remove()
}

// dedup finds the edges, clusters them and writes the output.
func (r *run) dedup(ctx context.Context, out *outputDir) error {
	if err := r.find(ctx, !r.config.Star); err != nil {
		return err
	}
	var clusters *clustering
	var removed []removal
	err := r.clock.stage("cluster", 0, func() (int64, int64, error) {
		clusters = clusterClasses(r.table, r.classes, r.edges, &r.config)
		var err error
		removed, err = removals(ctx, r.classes, clusters, r.edges, r.verifier)
		return int64(len(clusters.sizes)), 0, err
	})
	if err != nil {
		return err
	}
	s := r.summary
	s.Removed = int64(len(removed))
	s.Kept = s.Read - s.Skipped - s.Removed
	s.Clusters = int64(len(clusters.sizes))
	s.LargestClusters = append(s.LargestClusters, clusters.sizes[:min(largestMax, len(clusters.sizes))]...)
	kept := &keptWriter{t: r.table, r: clusters, config: &r.config, out: out}
	err = r.clock.stage("write", kept.total(), func() (int64, int64, error) {
		err := r.write(ctx, out, kept, removed)
		return kept.items.Load(), kept.bytes.Load(), err
	})
	if err != nil {
		return err
	}
	r.clock.stop()
	if err := out.writeSummary(s); err != nil {
		return err
	}
	return out.publish()
}

// write writes everything but the summary. The lists are small, but waiting for
// the disk to have them is not quick, so they are written beside the records.
func (r *run) write(ctx context.Context, out *outputDir, kept *keptWriter, removed []removal) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return kept.write(ctx) })
	group.Go(func() error { return out.writeRemoved(r.table, removed) })
	group.Go(func() error { return out.writeClusters(r.table, kept.r) })
	if slices.ContainsFunc(r.sources[r.refSources:], func(s corpus.Source) bool { return s.Format == corpus.Text }) {
		group.Go(func() error { return out.writeKeptList(r.table, kept.r) })
	}
	return group.Wait()
}

// find runs the stages up to verified edges. It finds all of them or, if sparse,
// enough to connect the same documents.
func (r *run) find(ctx context.Context, sparse bool) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	err := r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		r.classes, err = classify(ctx, r.table, r.config.Threads)
		return int64(len(r.table.docs)), 0, err
	})
	if err != nil {
		return err
	}
	r.verifier = &verifier{
		t: r.table, config: &r.config, threshold: r.threshold,
		records: newRecordStore(r.table, &r.config, r.dir),
	}
	exact := chooseExact(&r.config, r.banding, r.table.sets != nil)
	r.describe(exact)
	if exact {
		err = r.clock.stage("verify", 0, func() (items, bytes int64, err error) {
			r.edges, err = joinExact(ctx, r.table, r.classes, &r.config, r.threshold)
			r.summary.Candidates = int64(len(r.edges))
			return r.summary.Candidates, 0, err
		})
	} else {
		err = r.findByBands(ctx, sparse)
	}
	if err != nil {
		return err
	}
	r.count()
	return nil
}

// findByBands groups band keys and verifies what meets in a bucket.
func (r *run) findByBands(ctx context.Context, sparse bool) error {
	g := newGrouper(r.table, r.classes, &r.config, r.banding)
	var err error
	if !sparse {
		err = r.findAmong(ctx, g.all)
	} else if err = r.findAmong(ctx, g.spokes); err == nil {
		labels := cluster.Components(len(r.table.docs), links(r.edges))
		err = r.findAmong(ctx, func(ctx context.Context) ([]pair, error) { return g.crossing(ctx, labels) })
	}
	r.summary.BucketsCapped = g.capped
	return err
}

// findAmong adds the edges among the pairs that group returns.
func (r *run) findAmong(ctx context.Context, group func(context.Context) ([]pair, error)) error {
	var pairs []pair
	err := r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		pairs, err = group(ctx)
		return int64(len(pairs)), 0, err
	})
	if err != nil {
		return err
	}
	r.summary.Candidates += int64(len(pairs))
	return r.clock.stage("verify", 0, func() (items, bytes int64, err error) {
		edges, err := r.verifier.verify(ctx, pairs)
		r.edges = append(r.edges, edges...)
		slices.SortFunc(r.edges, edge.compare)
		return int64(len(pairs)), 0, err
	})
}

// describe notes in the summary how candidates are found.
func (r *run) describe(exact bool) {
	s := r.summary
	if exact {
		s.CandidateMethod, s.ExpectedRecall = string(CandidatesExact), 1
		return
	}
	s.CandidateMethod = string(CandidatesLSH)
	s.Bands, s.Rows = r.banding.Bands, r.banding.Rows
	agree := lsh.ComponentAgreement(r.config.Threshold, r.config.Sketch.Bits())
	s.ExpectedRecall = r.banding.Probability(agree)
}

// count fills in the pairs. A copy is a candidate that is verified by its digest.
func (r *run) count() {
	s := r.summary
	copies := int64(0)
	for _, members := range r.classes.members {
		copies += int64(len(members) - 1)
	}
	s.Candidates += copies
	s.Verified = int64(len(r.edges)) + copies
	s.Rejected = s.Candidates - s.Verified
	r.table.dropKeys() // grouping is over
}
