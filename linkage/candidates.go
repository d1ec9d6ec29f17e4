package linkage

import (
	"context"
	"errors"
	"iter"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
)

// manyRecords is the number of records above which candidates are the pairs that share a key, and not the most
// similar pairs. If the configuration asks for the latter all the same, their similarity is that of words only: among
// so many records there are enough that share a word, and grams cost ten times as much.
const manyRecords = 30_000

// The number of candidates of each record: firstK; four times as many, up to lastK, if so many belong together.
const (
	firstK = 10
	lastK  = 160
)

// nearest finds candidates by similarity and, unless similarity decides, by windows. With TopK the former are the pairs in
// which one record is among the k records that are most similar to the other.
func (t *tables) nearest(ctx context.Context, c *Config, whole *compare.Records, k int) (_ *candidates.Pairs, err error) {
	left, err := t.vectors(c, whole, t.left, everyRow(t.left))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, left.Close()) }()
	var right *candidates.Store
	if t.right != nil {
		if right, err = t.vectors(c, whole, t.right, everyRow(t.right)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, right.Close()) }()
	}
	found, summary, err := candidates.Find(ctx, t.search(c, k), left, right)
	if errors.Is(err, lsh.ErrRecallOutOfReach) || errors.Is(err, lsh.ErrNoBound) {
		return nil, setting.Errorf("%s lsh: bands do not find pairs of so little similarity (%s %v) with this recall: take topk or exact, a higher one, or less %s",
			setting.Candidates, setting.Threshold, c.Threshold, setting.Recall)
	}
	t.result.Search = summary
	if err != nil {
		return nil, err
	}
	var others *someRecords
	if t.right != nil {
		others = &someRecords{Table: t.right}
	}
	return t.withClose(ctx, c, t.search(c, k), found, &someRecords{Table: t.left}, others)
}

// everyRow ranges over all rows of a table.
func everyRow(table *record.Table) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range uint32(table.Rows()) {
			if !yield(i) {
				return
			}
		}
	}
}

// search returns the configuration to find candidates, by TopK the k best of a record, in half of the memory; the
// other half is for the vectors.
func (t *tables) search(c *Config, k int) candidates.Config {
	s := c.search(k)
	s.Names = t.numbering.Hashes()
	s.Memory, s.Dir, s.Keep = t.memory.sorting()/2, t.memory, t.keeper.names()
	return s
}

// search returns the configuration to find candidates, by TopK the k best of a record.
func (c *Config) search(k int) candidates.Config {
	s := candidates.Config{
		Method: candidates.TopK, Measure: c.scale().Measure, K: k, Both: true, Recall: c.Recall, Unfiltered: c.limits.unfiltered, Threads: c.Threads,
	}
	if !c.bySimilarity() {
		return s
	}
	s.MinSimilarity = c.Threshold
	switch c.Candidates {
	case LSH:
		s.Method = candidates.Bands
	case Exact:
		s.Method = candidates.Exact
	default:
		s.Method = candidates.Auto
	}
	return s
}

// vectors returns the vectors of some rows of a table, by which candidates are found. The caller must close them.
func (t *tables) vectors(c *Config, whole *compare.Records, table *record.Table, rows iter.Seq[uint32]) (_ *candidates.Store, err error) {
	skip := func(uint32) bool { return false }
	if t.result.Left+t.result.Right > c.limits.many && !c.bySimilarity() {
		skip = t.numbering.IsGram
	}
	share := t.memory.sorting() / 4
	if share == 0 || t.vectorBytes() <= share {
		v := &simjoin.Vectors{}
		if err := whole.AddVectors(table, rows, skip, v.Append); err != nil {
			return nil, err
		}
		return candidates.StoreOf(v), nil
	}
	s := candidates.NewStore(t.memory, t.memory.Unique("vectors", ".part"), share)
	err = whole.AddVectors(table, rows, skip, s.Append)
	if err == nil {
		err = s.Finish()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// vectorBytes returns an upper bound of the memory of all records' vectors: a number and a weight for each feature.
func (t *tables) vectorBytes() (n int64) {
	for f := range t.left.Columns {
		values := t.numbering.Column(f)
		for v := range values.Len() {
			n += 8 * int64(values.Count(uint32(v))) * int64(len(values.Tokens(uint32(v))))
		}
	}
	return n
}

// foundPairs is a note about candidates.
type foundPairs struct {
	Runs   []extsort.Run
	Search candidates.Summary
}

// findOnce returns the candidates that an earlier process has noted, or else calls find and notes them.
func (t *tables) findOnce(ctx context.Context, c candidates.Config, kind string, find func() (*candidates.Pairs, error)) (*candidates.Pairs, error) {
	var s foundPairs
	switch found, err := t.keeper.log.Last(kind, &s); {
	case err != nil:
		return nil, err
	case found:
		t.result.Search = s.Search
		return candidates.OpenPairs(ctx, c, s.Search.Method, s.Runs)
	}
	pairs, err := find()
	if err != nil || t.keeper.log == nil {
		return pairs, err
	}
	if s.Runs, err = pairs.Save(ctx); err == nil {
		s.Search = t.result.Search
		err = t.keeper.note(kind, s)
	}
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return pairs, nil
}
