package dedup

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/passages"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
)

// findNear finds the pieces that go if those that are similar count as one.
func findNear(ctx context.Context, j *job, p *passages.Job, o Passages, d *passages.Documents, all *extsort.Sorted) (g *passages.Groups, err error) {
	name := j.space.Unique("units", ".part")
	file, err := j.space.Create(name)
	if err != nil {
		return nil, err
	}
	units, err := passages.Unite(ctx, p, d, all, file)
	defer func() { err = errors.Join(err, units.Close()) }()
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	path, err := j.space.PathOf(name)
	if err != nil {
		return nil, err
	}
	like, err := compareUnits(ctx, j, o, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.space.Release(like)) }()
	if err := j.space.Remove(name); err != nil {
		return nil, scratch.Error(err)
	}
	return passages.GroupNear(ctx, p, units, all, like)
}

// compareUnits returns, of each unit that is like one before it, the number of the first such one that is like none before
// it: number → number. A run of its own finds clusters, whose first documents are like none before them. The documents
// that are like these have theirs; Leaders finds those of the others.
//
// One run with OnePerCluster.Star would do all of it, but look at all pairs: of n variants of a line that is n²/2.
func compareUnits(ctx context.Context, j *job, o Passages, units string) (like *extsort.Sorted, err error) {
	out, err := j.space.PathOf(j.space.Unique("near", ".part"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.space.FS.RemoveAll(out)) }()
	c := Config{
		Inputs: []string{units}, Corpus: corpus.Options{Format: corpus.JSONL}, Output: out, IDsOnly: true, Work: Unsynced{}, OnError: OnErrorFail, Threads: j.Threads, Progress: j.Progress, fs: j.fs, limits: j.limits,
		Signatures: OfShingles{Options: shingle.Options{N: o.NGram}}, Decide: Similarity{Threshold: o.Threshold},
	}
	if j.Memory > 0 { // half of what is for data is left by the other stages: see CutPassages
		c.Memory = j.Memory/2 + scratch.Outside(j.Threads)
	}
	if _, err := Run(ctx, c); err != nil {
		return nil, err
	}
	rows := filepath.Join(out, RemovedFile)
	return j.space.Sorted(ctx, j.space.Sorting("like", 8, 32), func(to *extsort.Appender) error {
		threshold, err := measure.NewThreshold(measure.Jaccard, o.Threshold)
		if err != nil {
			return err
		}
		left := 0
		err = eachRemoved(j, rows, func(unit, kept uint64, similarity float64) error {
			if similarity >= o.Threshold {
				return to.Add(unit, kept)
			}
			left++
			return ctx.Err()
		})
		if err != nil || left == 0 {
			return err
		}
		return joinLeft(ctx, j, o, units, rows, passages.NewLeaders(threshold), to)
	})
}

// joinLeft adds the leaders of the units that are not like the first of their cluster.
func joinLeft(ctx context.Context, j *job, o Passages, units, rows string, leaders *passages.Leaders, to *extsort.Appender) error {
	err := eachLeft(ctx, j, o, units, rows, func(_ uint64, set []uint64) error {
		leaders.Count(set)
		return nil
	})
	if err != nil {
		return err
	}
	return eachLeft(ctx, j, o, units, rows, func(unit uint64, set []uint64) error {
		if leader, ok := leaders.Join(unit, set); ok {
			return to.Add(unit, leader)
		}
		return nil
	})
}

// eachLeft calls visit for each unit that is not like the first of its cluster, with its set.
func eachLeft(ctx context.Context, j *job, o Passages, path, rows string, visit func(unit uint64, set []uint64) error) (err error) {
	file, err := j.space.FS.Open(path)
	if err != nil {
		return scratch.Error(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	units := &passages.UnitReader{From: bufio.NewReader(file)}
	shingler, err := shingle.New(shingle.Options{N: o.NGram})
	if err != nil {
		return err
	}
	var features []uint64
	return eachRemoved(j, rows, func(unit, _ uint64, similarity float64) error {
		if similarity >= o.Threshold {
			return nil
		}
		text, err := units.Text(unit)
		if err != nil {
			return err
		}
		features = shingler.AppendFeatures(features[:0], text)
		return errors.Join(ctx.Err(), visit(unit, slices.Clone(shingle.Set(features))))
	})
}

// eachRemoved calls visit for each row of removed.csv, whose documents are named by numbers.
func eachRemoved(j *job, path string, visit func(unit, kept uint64, similarity float64) error) (err error) {
	file, err := j.space.FS.Open(path)
	if err != nil {
		return scratch.Error(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rows := csv.NewReader(file)
	rows.ReuseRecord = true
	_, err = rows.Read() // the header
	for err == nil {
		var row []string
		if row, err = rows.Read(); err != nil {
			break
		}
		unit, bad := strconv.ParseUint(row[0], 10, 32)
		kept, worse := strconv.ParseUint(row[1], 10, 32)
		similarity, worst := strconv.ParseFloat(row[2], 64)
		if err = errors.Join(bad, worse, worst); err == nil {
			err = visit(unit, kept, similarity)
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}
