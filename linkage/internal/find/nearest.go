// Package find finds the pairs of records that may belong together.
package find

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/memory"
	"github.com/alike-dev/alike/linkage/internal/steps"
	"github.com/alike-dev/alike/linkage/internal/windows"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/record"
	"github.com/alike-dev/alike/simjoin"
)

// The number of candidates of each record: FirstK; four times as many, up to LastK, if so many belong together.
const (
	FirstK = 10
	LastK  = 160
)

// A Finder finds candidates in tables.
type Finder struct {
	*held.Tables
	Threads   int
	Method    candidates.Config // how similar records are found
	AlsoKeys  bool              // the pairs that share keys are candidates beside the most similar records
	WordsFrom int               // number of records above which similarity is that of words only: grams cost ten times as much
	Memory    *memory.Memory
	Steps     *steps.Keeper
	Summary   candidates.Summary // of the last search

	windows *windows.Windows // nil: no columns make windows, or a table is not held whole
	stored  *storedItems     // of a table that is not held; nil: there is none
	Sieved  *Sieved          // results about a table that is not held whole; nil: both are
}

// Nearest finds candidates by similarity and, unless similarity decides, by windows. With TopK the former are the pairs in
// which one record is among the k records that are most similar to the other.
func (t *Finder) Nearest(ctx context.Context, whole *compare.Records, k int) (_ *candidates.Pairs, err error) {
	left, err := t.vectors(whole, t.Left, everyRow(t.Left))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, left.Close()) }()
	var right *candidates.Store
	if t.Right != nil {
		if right, err = t.vectors(whole, t.Right, everyRow(t.Right)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, right.Close()) }()
	}
	found, summary, err := candidates.Find(ctx, t.search(k), left, right)
	if errors.Is(err, lsh.ErrRecallOutOfReach) || errors.Is(err, lsh.ErrNoBound) {
		return nil, setting.Errorf("%s lsh: bands do not find pairs of so little similarity (%s %v) with this recall: take topk or exact, a higher one, or less %s",
			setting.Candidates, setting.Threshold, t.Method.MinSimilarity, setting.Recall)
	}
	t.Summary = summary
	if err != nil {
		return nil, err
	}
	var others *someRecords
	if t.Right != nil {
		others = &someRecords{Table: t.Right, side: 1}
	}
	return t.withClose(ctx, t.search(k), found, &someRecords{Table: t.Left}, others)
}

// SharingToo returns the pairs that share keys, for candidates beside the k most similar records of each: of many records that
// are equally similar, as people of one home, those that share what is rare are not left out. The more candidates a record
// has, the more of them may share a key by chance. It returns nil if the method of finding candidates was chosen, or if similarity tells
// all, as in one column.
func (t *Finder) SharingToo(ctx context.Context, k int) (*candidates.Pairs, error) {
	if !t.AlsoKeys || len(t.Kinds) < 2 {
		return nil, nil
	}
	v, err := t.Vocabulary(ctx)
	if err != nil {
		return nil, err
	}
	return t.byKeysOfAll(ctx, v, candidates.DefaultExpected*float64(k)/FirstK)
}

// BySimilarity tells whether candidates are found by a least similarity.
func (t *Finder) BySimilarity() bool { return t.Method.Method != candidates.TopK }

// NearestOnce returns the pairs of Nearest. An earlier process may have found them.
func (t *Finder) NearestOnce(ctx context.Context, whole *compare.Records, k int) (*candidates.Pairs, error) {
	return t.once(ctx, t.search(k), fmt.Sprintf("pairs-%d", k), func() (*candidates.Pairs, error) { return t.Nearest(ctx, whole, k) })
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
func (t *Finder) search(k int) candidates.Config {
	s := t.Method
	s.K, s.Names = k, t.Numbering.Hashes()
	s.Memory, s.Dir, s.Keep = t.Memory.Sorting()/2, t.Memory, t.Steps.Names()
	return s
}

// vectors returns the vectors of some rows of a table, by which candidates are found. The caller must close them.
func (t *Finder) vectors(whole *compare.Records, table *record.Table, rows iter.Seq[uint32]) (_ *candidates.Store, err error) {
	skip := t.frequent()
	if t.Records[0]+t.Records[1] > t.WordsFrom {
		skip = t.Numbering.IsGram
	}
	share := t.Memory.Sorting() / 4
	if share == 0 || t.vectorBytes() <= share {
		v := &simjoin.Vectors{}
		if err := whole.AddVectors(table, rows, skip, v.Append); err != nil {
			return nil, err
		}
		return candidates.StoreOf(v), nil
	}
	s := candidates.NewStore(t.Memory, t.Memory.Unique("vectors", ".part"), share)
	err = whole.AddVectors(table, rows, skip, s.Append)
	if err == nil {
		err = s.Finish()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// mostMet is about how many records with a token in common a record meets on average, counted once for each token, in a search for
// the most similar ones.
const mostMet = 1 << 17

// frequent returns a function that tells which tokens are left out of a search for the most similar records: the most frequent
// ones of long texts, which tell least, as far as they would make the time of a search grow with the number of records. With a
// least similarity none is. O(values and their tokens).
func (t *Finder) frequent() func(token uint32) bool {
	none := func(uint32) bool { return false }
	records := t.Records[0] + t.Records[1]
	if t.BySimilarity() || records == 0 {
		return none
	}
	count := make([]float64, t.Numbering.Tokens()) // of the values with each token
	for f := range t.Left.Columns {
		values := t.Numbering.Column(f)
		for v := range values.Len() {
			for _, token := range values.Tokens(uint32(v)) {
				count[token] += float64(values.Count(uint32(v)))
			}
		}
	}
	sorted := slices.Clone(count)
	slices.Sort(sorted)
	met := 0.0
	for _, n := range sorted {
		if met += n * n / float64(records*len(t.All())); met > mostMet {
			return func(token uint32) bool { return count[token] >= n }
		}
	}
	return none
}

// vectorBytes returns an upper bound of the memory of all records' vectors: a number and a weight for each feature.
func (t *Finder) vectorBytes() (n int64) {
	for f := range t.Left.Columns {
		values := t.Numbering.Column(f)
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

// once returns the candidates that an earlier process has noted, or else calls find and notes them.
func (t *Finder) once(ctx context.Context, c candidates.Config, kind string, find func() (*candidates.Pairs, error)) (*candidates.Pairs, error) {
	var s foundPairs
	switch found, err := t.Steps.Log.Last(kind, &s); {
	case err != nil:
		return nil, err
	case found:
		t.Summary = s.Search
		return candidates.OpenPairs(ctx, c, s.Search.Method, s.Runs)
	}
	pairs, err := find()
	if err != nil || t.Steps.Log == nil {
		return pairs, err
	}
	if s.Runs, err = pairs.Save(ctx); err == nil {
		s.Search = t.Summary
		err = t.Steps.Note(kind, s)
	}
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return pairs, nil
}

// ReadAtOnce is how many candidates are read until it is asked whether the context has ended.
const ReadAtOnce = 1 << 14

// Each ranges over candidates until the context has ended, which is the last error.
func Each(ctx context.Context, pairs *candidates.Pairs) iter.Seq2[candidates.Pair, error] {
	return func(yield func(candidates.Pair, error) bool) {
		n := 0
		for p, err := range pairs.All() {
			if n++; err == nil && n%ReadAtOnce == 0 {
				err = ctx.Err()
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// OtherThan returns pairs of some records of a table, of the given rows, with others of it that are similar or, unless
// similarity decides, near by windows.
func (t *Finder) OtherThan(ctx context.Context, whole *compare.Records, side int, rows []uint32) (pairs []compare.Pair, err error) {
	table := t.All()[side]
	some, err := t.vectors(whole, table, slices.Values(rows))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, some.Close()) }()
	every, err := t.vectors(whole, table, everyRow(table))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, every.Close()) }()
	search := t.search(FirstK + 1) // one of them is the record itself
	search.Both = false
	found, _, err := candidates.Find(ctx, search, some, every)
	if err != nil {
		return nil, err
	}
	if found, err = t.withClose(ctx, search, found, &someRecords{table, side, rows}, &someRecords{Table: table, side: side}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for p, err := range Each(ctx, found) {
		if err != nil {
			return nil, err
		}
		if a := rows[p.A]; a != p.B {
			pairs = append(pairs, compare.Pair{A: a, B: p.B})
		}
	}
	return pairs, nil
}

// MayHaveDistances tells whether a column is of numbers or dates, and MayHaveWindows whether two are, so that records may be
// near each other in both.
func (t *Finder) MayHaveDistances() bool { return measured(t.Kinds) > 0 }
func (t *Finder) MayHaveWindows() bool   { return measured(t.Kinds) > 1 }

func measured(kinds []record.Kind) (n int) {
	for _, kind := range kinds {
		if kind.Measured() {
			n++
		}
	}
	return n
}

// UseWindows makes windows of the columns that have scales, with the shifts between the tables, and of texts.
func (t *Finder) UseWindows(scales []*closeness.Scale, shifts []closeness.Shift) {
	var columns []windows.Column
	for f, scale := range scales {
		if scale == nil && !t.Kinds[f].OfWords() {
			continue
		}
		c := windows.Column{At: f, Values: t.Numbering.Column(f), Scale: scale, Shift: shifts[f].By}
		if c.Counts[0] = c.Values.Counts(); c.Shift != 0 {
			c.Counts = t.CountsOf(f)
		}
		columns = append(columns, c)
	}
	t.windows = windows.New(columns, t.Records)
}

// windowKeys returns the keys by windows of the records of a side, or of the given rows of it.
func (t *Finder) windowKeys(side int, rows []uint32) candidates.OtherKeys {
	if t.windows == nil {
		return nil
	}
	return func() func([]candidates.Key, int) []candidates.Key {
		keys := t.windows.Keys(t.All()[side], side)
		if rows == nil {
			return keys
		}
		return func(dst []candidates.Key, i int) []candidates.Key { return keys(dst, int(rows[i])) }
	}
}

// withClose adds pairs by windows to the pairs that a search has found, unless similarity decides; right is nil for one
// table. It closes the pairs.
func (t *Finder) withClose(ctx context.Context, search candidates.Config, pairs *candidates.Pairs, left, right *someRecords) (*candidates.Pairs, error) {
	if t.windows == nil || t.BySimilarity() {
		return pairs, nil
	}
	keys := candidates.KeysConfig{Threads: t.Threads, Memory: search.Memory, Dir: search.Dir, Keep: search.Keep}
	keys.Others[0] = t.windowKeys(left.side, left.rows)
	var others candidates.Items
	if right != nil {
		keys.Others[1], others = t.windowKeys(right.side, right.rows), right
	}
	near, err := candidates.Keys(ctx, keys, left, others)
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return candidates.Union(ctx, search, left.Len(), pairs, near)
}

// someRecords are some rows of a table, nil: all, as candidates.Items that have no items: only other keys count.
type someRecords struct {
	*record.Table
	side int
	rows []uint32
}

func (s *someRecords) Append(dst []uint32, _ int) []uint32 { return dst }

func (s *someRecords) Len() int {
	if s.rows != nil {
		return len(s.rows)
	}
	return s.Rows()
}
