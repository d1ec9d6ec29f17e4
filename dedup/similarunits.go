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
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/vfs"
)

// SimilarUnits calls join for each unit that is similar to an earlier one: with its number, and that of the first unit that
// is similar to it and joins none itself. LSH may miss some, which join none. Of config it uses Inputs, one file of JSON
// lines with the different units of a corpus, named "0", "1" and so on in the order in which they stand there first; Output, a
// folder that it makes and removes; Threads, Memory and Progress. Of o it uses Threshold and NGram. CutPassages calls it, as
// do plans.
//
// A run finds clusters, whose first units are like none before them. The units that are like these join them; Leaders
// finds what the others join. A run with OnePerCluster.Star would do all of it, but look at all pairs: of n variants of a
// line that is n²/2.
func SimilarUnits(ctx context.Context, config Config, o Passages, join func(unit, leader uint64) error) (err error) {
	threshold, err := measure.NewThreshold(measure.Jaccard, o.Threshold)
	if err != nil {
		return err
	}
	c := config
	c.Corpus, c.IDsOnly, c.Work, c.OnError = corpus.Options{Format: corpus.JSONL}, true, Unsynced{}, OnErrorFail
	c.Signatures, c.Decide = OfShingles{Options: shingle.Options{N: o.NGram}}, Similarity{Threshold: o.Threshold}
	u := &unitFiles{fs: c.fs, units: c.Inputs[0], removed: filepath.Join(c.Output, RemovedFile), o: o}
	if u.fs == nil {
		u.fs = vfs.OS
	}
	defer func() { err = errors.Join(err, u.fs.RemoveAll(c.Output)) }()
	if _, err := Run(ctx, c); err != nil {
		return err
	}
	left := 0
	err = u.eachRemoved(func(unit, kept uint64, similarity float64) error {
		if similarity >= o.Threshold {
			return join(unit, kept)
		}
		left++
		return ctx.Err()
	})
	if err != nil || left == 0 {
		return err
	}
	return u.joinLeft(ctx, pieces.NewLeaders(threshold), join)
}

// unitFiles are the units of a run, and its list of those that were removed.
type unitFiles struct {
	fs             vfs.FS
	units, removed string
	o              Passages
}

// joinLeft finds the leaders of the units that are not like the first of their cluster.
func (u *unitFiles) joinLeft(ctx context.Context, leaders *pieces.Leaders, join func(unit, leader uint64) error) error {
	err := u.eachLeft(ctx, func(_ uint64, set []uint64) error {
		leaders.Count(set)
		return nil
	})
	if err != nil {
		return err
	}
	return u.eachLeft(ctx, func(unit uint64, set []uint64) error {
		if leader, ok := leaders.Join(unit, set); ok {
			return join(unit, leader)
		}
		return nil
	})
}

// eachLeft calls visit for each unit that is not like the first of its cluster, with its set.
func (u *unitFiles) eachLeft(ctx context.Context, visit func(unit uint64, set []uint64) error) (err error) {
	file, err := u.fs.Open(u.units)
	if err != nil {
		return fault.InWorkFolder(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	units := &pieces.UnitReader{From: bufio.NewReader(file)}
	shingler, err := shingle.New(shingle.Options{N: u.o.NGram})
	if err != nil {
		return err
	}
	var features []uint64
	return u.eachRemoved(func(unit, _ uint64, similarity float64) error {
		if similarity >= u.o.Threshold {
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

// eachRemoved calls visit for each row of the list.
func (u *unitFiles) eachRemoved(visit func(unit, kept uint64, similarity float64) error) (err error) {
	file, err := u.fs.Open(u.removed)
	if err != nil {
		return fault.InWorkFolder(err)
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
