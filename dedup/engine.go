// Package dedup is the batch engine: it finds the near-duplicates of a corpus
// and, if asked to, writes the corpus without them.
//
// A run is a sequence of steps, each a function of the results of those before:
//
//	settle   Config → settings, complete and checked
//	begin    settings → inputs (the files), job (memory, journal, account)
//	spool    inputs → inputs whose streams are files
//	weigh    inputs → weights of shingles by how many documents have them, if asked for
//	link     inputs → links of records, in place of similar texts
//	expect   a sample of the inputs → choice: bands, exact join, or open
//	read     inputs → documents (digest, band keys; signature or set where needed)
//	find     documents → found: classes of equal ones; candidate pairs → edges, by the exact similarity; without those
//	         that third texts contradict, if these are asked
//	cluster  edges → clusters, and the one document of each that is kept
//	write    the kept records are copied, from the inputs or from what was decoded of them
//	emit     in place of the last two: edges → pairs, in order
//
// The order of documents is that of the input, and every step's result is a
// function of it: outputs are the same bytes for any number of workers.
//
// Use Run to remove near-duplicates and Pairs to list similar pairs. For sets
// that are in memory already, package simjoin is enough.
package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/streams"
	"github.com/alike-dev/alike/internal/tagging"
)

// Run removes the near-duplicates of config.Inputs and writes the rest, with an account of the
// removed documents, to config.Output. The folder holds a summary.json if and only if the run
// succeeded; after an error it is as before, unless config.Work is a WorkFolder: then the same call
// continues from there.
func Run(ctx context.Context, config Config) (summary *Summary, err error) {
	if config.Output == "" {
		return nil, fmt.Errorf("%w: no output folder", ErrUsage)
	}
	s, err := settleRemoval(config)
	if err != nil {
		return nil, err
	}
	out, err := write.Open(ctx, s.fs, s.Output, s.Corpus)
	if err != nil {
		return nil, err
	}
	j, in, err := begin(ctx, s, "dedup", func() error { return out.CheckEmpty(ctx, s.Folder != "") })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close(err == nil)) }()
	end := nothing
	if s.Known != nil {
		end = s.Known.End
	}
	return runInto(ctx, j, in, out, in.own(), &Summary{}, func(in *inputs) (*Summary, error) { return removal(ctx, j, in, out) }, end)
}

// nothing is a last step that there need not be.
func nothing() error { return nil }

// runInto prepares the output folder for the sources that are written, calls run, with streams in files, which stages and
// publishes the output, and then end. After an error the output is discarded, unless another process can go on. One that
// was killed when all was staged
// is only published; its summary was noted.
func runInto[S any](
	ctx context.Context, j *job, in *inputs, out *write.Folder, written []corpus.Source, noted *S, run func(*inputs) (*S, error), end func() error,
) (summary *S, err error) {
	published, err := j.log.Last(resume.Published, noted)
	if err != nil {
		return nil, err
	}
	if err := out.Prepare(ctx, j.space, j.log, published, written); err != nil {
		return nil, err
	}
	defer out.Unlock()
	summary = noted
	switch in, err = spool(ctx, j, in); {
	case err != nil:
	case published:
		err = out.Publish(ctx)
	default:
		summary, err = run(in)
	}
	if err == nil {
		err = end()
	}
	if err == nil && j.log != nil {
		out.Settle() // the journal is removed next
	}
	if err != nil && !j.log.Keeps() {
		err = errors.Join(err, out.Discard(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return nil, err
	}
	return summary, nil
}

// removal finds the edges, clusters them and writes the output. If rows cannot be copied, it does
// this once more.
func removal(ctx context.Context, j *job, in *inputs, out *write.Folder) (*Summary, error) {
	j, err := weigh(ctx, j, in)
	if err != nil {
		return nil, err
	}
	sparse := !j.Star && !j.ThirdTexts // which ask all that is similar
	links, err := link(ctx, j, in)
	if err != nil {
		return nil, err
	}
	how, err := expect(ctx, j, in, sparse)
	if err != nil {
		return nil, err
	}
	docs, err := readAll(ctx, j, in, how, links)
	if err != nil {
		return nil, err
	}
	if err := restoreLost(j, in, docs); err != nil {
		return nil, err
	}
	var written *written
	for {
		f, err := find(ctx, j, in, how, docs, sparse)
		if err != nil {
			return nil, err
		}
		if written, err = keep(ctx, j, in, f, out); err != nil {
			return nil, err
		}
		if len(written.lost) == 0 {
			break
		}
		if err := anotherRound(j, in, f, written.lost); err != nil {
			return nil, err
		}
	}
	s := j.account.finish(j.space)
	return s, publish(ctx, j, out, in.own(), s, written.page, func() error { return addKept(ctx, j, in, docs.table, written.removed) })
}

// publish writes the summary and the page (nil: none), makes the output of the written sources durable, calls last, and
// moves all of it to its place.
func publish(ctx context.Context, j *job, out *write.Folder, written []corpus.Source, summary any, page *Page, last func() error) error {
	if err := out.WriteLast(summary, page); err != nil {
		return err
	}
	if err := out.SyncFolders(written); err != nil {
		return err
	}
	if err := last(); err != nil {
		return err
	}
	if err := j.log.Note(resume.Published, summary); err != nil {
		return err
	}
	return out.Publish(ctx)
}

// written is what was written of the kept documents.
type written struct {
	page    *Page              // nil: there is none
	removed bitset.Set[uint32] // with NewTo.Known: documents removed in favour of another one of the run
	lost    []write.LostRows   // rows that could not be copied: the rest is void
}

// keep clusters the edges and writes the documents that stay, everything except the summary.
func keep(ctx context.Context, j *job, in *inputs, f *found, out *write.Folder) (w *written, err error) {
	if !mayLoseRows(j, in) {
		f.docs.table.DropKeys() // grouping is over
	}
	var of *clusters.Result
	err = j.account.stage("cluster", 0, func() (int64, int64, error) {
		var err error
		if of, err = clusters.Find(ctx, f.clusterOptions(), f.classes.Members, f.edges); err != nil {
			return 0, 0, err
		}
		return of.Clusters, 0, nil
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, of.Release()) }()
	j.account.clusters(of, f.docs.table.Known)
	if w := j.account.Counted(); w != nil {
		if err := w.countRemoved(f.docs.table, of); err != nil {
			return nil, err
		}
	}
	w = &written{}
	if j.Known != nil {
		if w.removed, err = removedSet(f.docs.table, of); err != nil {
			return nil, err
		}
	}
	return w, writeKept(ctx, j, in, f, of, out, w)
}

// writeKept writes the kept documents and the lists, and fills in what was written.
func writeKept(ctx context.Context, j *job, in *inputs, f *found, of *clusters.Result, out *write.Folder, w *written) error {
	report, err := newReport(j, in, f, of)
	if err != nil {
		return err
	}
	defer report.close()
	f.records.Close() // the compressors need the memory now
	o := write.Options{
		Table: f.docs.table, Clusters: of, Corpus: j.Corpus, IDsOnly: j.IDsOnly, Wanted: report.decoded, Want: report.put, Kept: f.docs.decoded, Space: j.space, Log: j.log,
		NoteBytes: j.limits.output, Progress: j.Progress, Meter: j.account.meter,
	}
	if j.Tags != nil {
		o.Tags = tagging.Duplicates(j.Tags.Prefix, in.references > 0)
	}
	if links := f.docs.links; links != nil {
		o.Records, o.Probability = true, links.Probability
	}
	total := in.bytes()
	if o.IDsOnly {
		total = 0
	}
	var beside errgroup.Group
	ended := make(chan struct{}) // the writing
	beside.Go(func() error {     // while its end waits for the disk
		select {
		case <-report.ready:
		case <-ended:
			if err != nil || len(w.lost) > 0 {
				return nil
			}
		}
		return report.gather(ctx)
	})
	err = j.account.stage("write", total, func() (items, bytes int64, err error) {
		n, err := write.All(ctx, o, out)
		w.lost = n.Lost
		return n.Items, n.Bytes, err
	})
	close(ended)
	if err = cmp.Or(err, beside.Wait()); err != nil || len(w.lost) > 0 {
		return err
	}
	w.page, err = report.finish()
	return err
}

// Pairs calls emit for every pair of documents at or above the threshold, in the order of the
// input: by the first document, then the second. The first comes before the second or, with a
// directed measure, is the one that is inside the other: a pair that reaches the threshold in both
// directions is emitted twice. Beside a collection With it finds only pairs of a document of Inputs,
// the first one, with one of that collection.
func Pairs(ctx context.Context, config Config, emit func(Pair) error) (summary *Summary, err error) {
	s, err := settle(config)
	if err != nil {
		return nil, err
	}
	j, in, err := begin(ctx, s, "pairs", s.Begin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close(err == nil)) }()
	if in, err = spool(ctx, j, in); err != nil {
		return nil, err
	}
	if j, err = weigh(ctx, j, in); err != nil {
		return nil, err
	}
	how, err := expect(ctx, j, in, false)
	if err != nil {
		return nil, err
	}
	docs, err := readAll(ctx, j, in, how, nil)
	if err != nil {
		return nil, err
	}
	f, err := find(ctx, j, in, how, docs, false)
	if err != nil {
		return nil, err
	}
	docs.table.DropKeys() // grouping is over
	if err := emitPairs(ctx, j, f, emit); err != nil {
		return nil, err
	}
	if err := j.emitted(); err != nil {
		return nil, err
	}
	return j.account.finish(j.space), nil
}

// Sketch calls emit for every document of config.Inputs in input order. Data that do not fit in
// Config.Memory go to disk.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (summary *Summary, err error) {
	s, err := settleSketch(config)
	if err != nil {
		return nil, err
	}
	j, in, err := begin(ctx, s, "sketch", s.Begin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close(err == nil)) }()
	if in, err = spool(ctx, j, in); err != nil {
		return nil, err
	}
	docs, err := readAll(ctx, j, in, asked(s), nil)
	if err != nil {
		return nil, err
	}
	if err := emitSketches(ctx, j, docs, emit); err != nil {
		return nil, err
	}
	if err := j.emitted(); err != nil {
		return nil, err
	}
	summary = j.account.finish(j.space)
	summary.Kept = summary.Read - summary.Skipped
	return summary, nil
}

// begin finds the inputs, checks that no output is one of them, calls ready, and opens the work
// folder. Streams are not read yet. The caller closes the job.
func begin(ctx context.Context, s *settings, command string, ready func() error) (*job, *inputs, error) {
	if len(s.With) > 0 && command != "pairs" {
		return nil, nil, fmt.Errorf("%w: only Pairs takes a second collection: Run removes what is like references (Against)", ErrUsage)
	}
	j := newJob(s)
	in, err := findInputs(ctx, s, j.account)
	if err == nil {
		err = ready()
	}
	known := ""
	if err == nil {
		known, err = beginKnown(ctx, j, in)
	}
	if err == nil {
		j, err = j.open(ctx, command, in, known)
	}
	if err != nil {
		return nil, nil, errors.Join(err, j.close(false))
	}
	return j, in, nil
}

// spooled is the note of a stream that was copied.
type spooled struct {
	Source  int // its number
	Name    string
	Version string // of its bytes
}

// spool copies the streams among the inputs to the work folder, since they are read more than once,
// and returns the inputs with these files in their place. A resumed run reads the streams again that
// an earlier process has copied: it continues only if they are the same, which it cannot know before
// it has read them.
func spool(ctx context.Context, j *job, in *inputs) (*inputs, error) {
	before := map[int]spooled{}
	for s, err := range resume.All[spooled](j.log, resume.Spooled) {
		if err != nil {
			return nil, err
		}
		before[s.Source] = s
	}
	files := *in
	files.sources = slices.Clone(in.sources)
	for i, s := range in.sources {
		if !s.Stream {
			continue
		}
		note := spooled{Source: i, Name: fmt.Sprintf("input-%d", i)}
		path, err := j.space.PathOf(note.Name)
		if err != nil {
			return nil, err
		}
		j.Progress.Stage("spool", 0)
		was, again := before[i]
		files.sources[i], err = uninterrupted(ctx, func() (corpus.Source, error) {
			if again {
				return streams.Again(ctx, j.space.FS, s, j.Corpus, path, was.Version)
			}
			return streams.Copy(ctx, j.space.FS, s, j.Corpus, path, j.log != nil)
		})
		if err == nil && !again {
			note.Version = files.sources[i].Version
			err = j.log.Note(resume.Spooled, note)
		}
		if err != nil {
			return nil, err
		}
	}
	return &files, nil
}

// uninterrupted reads a stream. The other end of the stream may neither write nor close it, so an
// interrupted run does not wait for it.
func uninterrupted(ctx context.Context, read func() (corpus.Source, error)) (corpus.Source, error) {
	type result struct {
		source corpus.Source
		err    error
	}
	copied := make(chan result, 1)
	go func() {
		source, err := read()
		copied <- result{source, err}
	}()
	select {
	case <-ctx.Done():
		return corpus.Source{}, ctx.Err()
	case c := <-copied:
		return c.source, c.err
	}
}
