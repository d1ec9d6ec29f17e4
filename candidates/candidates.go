// Package candidates finds candidate pairs of records, in one table or between two, by weighted
// sets of their tokens. It is the step before pairs are scored.
//
// A Store takes the records' vectors, in memory or in a file, and Find returns sorted pairs. Find
// has three methods (see Method): the k most similar records of each (package topk), all pairs at
// or above a similarity (the same index), and bands of weighted MinHash (packages minhash and lsh).
// For many records there is Keys: it finds those that share rare items, at a cost proportional to
// their number. The pairs are the same for any number of threads and any memory.
package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/topk"
)

// Method is a way to find candidates.
type Method string

// The methods. Of two tables the smaller one is indexed, and the records of the larger one are the
// queries.
const (
	// Auto chooses Bands if its estimated cost is at most half that of TopK, and TopK otherwise. It
	// never chooses Bands without a MinSimilarity.
	Auto Method = ""
	// TopK finds for every record of the larger table, exactly, the K most similar records of the
	// smaller one; with one table, for every record the K most similar other records.
	TopK Method = "topk"
	// Exact finds all pairs at or above MinSimilarity, exactly.
	Exact Method = "exact"
	// Bands finds a pair at or above MinSimilarity with the probability Recall, and also pairs
	// below it. It leaves out the records of the larger table that cannot reach MinSimilarity with
	// any record of the smaller one (see within). It does not compare the vectors: the caller
	// scores the pairs. For Cosine the recall holds if a feature has the same weight in all
	// vectors, as it has with inverse document frequencies.
	Bands Method = "lsh"
	// ByKeys is the method of Keys, not of Find: pairs of records that share items.
	ByKeys Method = "keys"
)

// Config says what to find. The zero value finds the 10 best by weighted Jaccard
// similarity.
type Config struct {
	Method  Method
	Measure measure.Measure // Cosine or WeightedJaccard; Jaccard means the latter
	K       int             // for TopK; 0: DefaultK
	// Both makes TopK search two tables in both directions: a pair is found if either record is one
	// of the K most similar ones to the other.
	Both bool
	// MinSimilarity is the least similarity of a pair; 0: any. Exact and Bands need it.
	MinSimilarity float64
	// Recall is the recall of Bands; 0: lsh.DefaultRecall.
	Recall float64

	// Names are hashes of the features' texts, by feature number. Bands hashes them, so that its
	// pairs do not depend on the numbering. nil: it hashes the numbers.
	Names []uint64

	Threads int   // 0: 1
	Memory  int64 // bytes for indexes and sorting, without the stores; 0: no limit
	// Dir is the folder for data that exceed Memory; nil: there is none, and Memory must be 0.
	Dir extsort.Dir
	// Keep returns names of files in Dir that are not in use, for pairs that Pairs.Save is to keep;
	// nil: the pairs cannot be saved.
	Keep func(prefix string) string

	// Unfiltered makes Bands sort all keys of two tables, not only the keys that both tables may
	// have. The pairs are the same; it is there to measure how much work the filter saves.
	Unfiltered bool
}

// DefaultK is the number of candidates of a record. Of a million synthetic persons with errors in
// up to four fields, 0.988 of the true pairs are among the 10 best, and 0.991 among the 50 best.
const DefaultK = 10

// Validate returns an error that describes the first invalid setting.
func (c Config) Validate() error {
	switch c.Method {
	case Auto, TopK:
	case Exact, Bands:
		if c.MinSimilarity == 0 {
			return fmt.Errorf("candidates: method %s without MinSimilarity: give the least similarity of a pair", c.Method)
		}
	default:
		return fmt.Errorf("candidates: unknown method %q: want %q, %q or %q", c.Method, TopK, Exact, Bands)
	}
	switch {
	case c.Threads < 0:
		return fmt.Errorf("candidates: %d threads", c.Threads)
	case c.Memory < 0 || c.Memory > 0 && c.Dir == nil:
		return errors.New("candidates: a limit of memory needs a folder for what exceeds it")
	case !(c.Recall >= 0 && c.Recall < 1):
		return fmt.Errorf("candidates: recall %v: want a number from 0 and below 1", c.Recall)
	}
	return c.search(TopK).Validate()
}

// search returns the options of the index for a method.
func (c *Config) search(m Method) topk.Options {
	o := topk.Options{Measure: c.Measure, MinSimilarity: c.MinSimilarity}
	if m == TopK {
		if o.K = c.K; o.K == 0 {
			o.K = DefaultK
		}
	}
	return o
}

// Summary reports the work of Find.
type Summary struct {
	Method   Method // the method used; never Auto
	Searched int64  // records that were queries, or whose band keys were made
	// Dropped is the number of the larger table's records that cannot be in a pair and were left
	// out before sorting: none of their band keys is in the filter, or none of their features has a
	// list in which a pair can begin.
	Dropped int64
	Parts   int   // of the index; every query searches each of them
	Entries int64 // list entries or keys that were read
	// Compared is the number of pairs that were compared in full.
	Compared int64
	Params   lsh.Params // of Bands
	// Auto's estimates of the time of TopK and Bands on one core; 0: nothing was estimated.
	TopKSeconds, BandsSeconds float64
	Capped                    int64 // buckets from which Bands did not take all pairs
}

// Pair is a candidate pair.
type Pair struct {
	// A is a record of the left table and B one of the right table; with one table A < B.
	A, B uint32
	// Score is the similarity as measure.Measure.Score returns it; 0 for Bands, which does not
	// compute it.
	Score uint64
	// Mutual says that each record was found for the other: by TopK with one table, or with Both.
	Mutual bool
}

// Pairs are the pairs found, sorted by A, then B, without repeats. They can be read any number of
// times.
type Pairs struct {
	sorted *extsort.Sorted
	bands  bool
	saved  bool
}

// All ranges over the pairs. If reading fails, it yields the error last.
func (p *Pairs) All() iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		r := p.sorted.Reader()
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			pair := Pair{A: uint32(e.Key >> pairShift), B: uint32(e.Key), Score: e.Value}
			if p.bands {
				pair.Score = 0
			} else if again, ok := r.Peek(); ok && again.Key == e.Key {
				pair.Mutual = true
				r.Next()
			}
			if !yield(pair, nil) {
				_ = r.Close() // only reading ends here
				return
			}
		}
		if err := r.Close(); err != nil {
			yield(Pair{}, err)
		}
	}
}

// Save writes the pairs to files and returns these files for OpenPairs, in this process or another
// one. Close does not remove them. The pairs must have been found with Keep.
func (p *Pairs) Save(ctx context.Context) ([]extsort.Run, error) {
	runs, err := p.sorted.Save(ctx)
	p.saved = p.saved || err == nil
	return runs, err
}

// OpenPairs opens pairs that were found by method and kept by Save. c names their folder and the
// memory for reading them.
func OpenPairs(ctx context.Context, c Config, method Method, runs []extsort.Run) (*Pairs, error) {
	o := c.sorting("pairs", 4)
	o.Runs, o.Sum = runs, method == Bands || method == ByKeys
	sorted, err := extsort.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Pairs{sorted, method == Bands, true}, nil
}

// Close frees the memory, or removes the files.
func (p *Pairs) Close() error {
	if p.saved {
		return p.sorted.Detach()
	}
	return p.sorted.Close()
}

// sorting returns the options of a sorter that holds 1/share of the memory.
func (c *Config) sorting(name string, share int64) extsort.Options {
	o := extsort.Options{Dir: c.Dir, Name: "candidates-" + name, Memory: c.Memory / share, Threads: max(1, c.Threads), Temporary: c.Keep == nil}
	if c.Keep != nil {
		o.Name = c.Keep(name)
	}
	return o
}

// pairShift is the position of A in the key of a sorted entry; B is in the lower bits. The entry's
// value is the score.
const pairShift = 32

// pairBits returns the number of low bits that such keys use if A is one of so many records.
func pairBits(records int) int { return pairShift + bits.Len(uint(records)) }

// finder holds the state of one Find.
type finder struct {
	config      Config
	left, right *Store
	summary     *Summary
}

// sorter returns a sorter by the keyBits lowest bits of the key; it holds 1/share of the memory.
func (f *finder) sorter(name string, sum bool, share int64, keyBits int) (*extsort.Sorter, error) {
	o := f.config.sorting(name, share)
	o.Sum, o.KeyBits = sum, keyBits
	return extsort.New(o)
}

// sides returns the store that is indexed, the store of the queries, and whether the latter is the
// left one. With one table both are the same store.
func (f *finder) sides() (indexed, searched *Store, searchedIsLeft bool) {
	switch {
	case f.right == nil:
		return f.left, f.left, true
	case f.right.Features() <= f.left.Features():
		return f.right, f.left, true
	}
	return f.left, f.right, false
}

// key returns the key of a pair found by a search.
func (f *finder) key(searched, indexed uint32, searchedIsLeft bool) uint64 {
	a, b := searched, indexed
	if f.right == nil && b < a || f.right != nil && !searchedIsLeft {
		a, b = b, a
	}
	return uint64(a)<<pairShift | uint64(b)
}

// Union returns the pairs that are in either of two results of the same records, and closes both. c says in how much memory
// and which folder pairs are sorted; left is the number of left records. A pair of both is Mutual, and its Score means
// nothing. O(pairs).
func Union(ctx context.Context, c Config, left int, x, y *Pairs) (_ *Pairs, err error) {
	defer func() { err = errors.Join(err, x.Close(), y.Close()) }()
	f := &finder{config: c}
	sorter, err := f.sorter("union", false, 4, pairBits(left))
	if err != nil {
		return nil, err
	}
	out := sorter.Appender()
	add := func(of *Pairs) error {
		for p, err := range of.All() {
			if err == nil {
				err = out.Add(uint64(p.A)<<pairShift|uint64(p.B), 0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(add(x), add(y), out.Flush()); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	sorted, err := sorter.Sort(ctx)
	if err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	return &Pairs{sorted: sorted}, nil
}

// Find returns the candidate pairs of left and right, or within left if right is nil. The caller
// closes them. Both stores must be finished and share one numbering of features. The numbering
// should be dense: memory is taken for every feature number of the indexed side. A side has at most
// 2³¹ records.
func Find(ctx context.Context, c Config, left, right *Store) (*Pairs, Summary, error) {
	var s Summary
	if err := c.Validate(); err != nil {
		return nil, s, err
	}
	c.Threads = max(c.Threads, 1)
	if c.Measure != measure.Cosine {
		c.Measure = measure.WeightedJaccard
	}
	f := &finder{config: c, left: left, right: right, summary: &s}
	if s.Method = c.Method; s.Method == Auto {
		method, err := f.choose()
		if err != nil {
			return nil, s, err
		}
		s.Method = method
	}
	pairs, err := f.sorter("pairs", s.Method == Bands, 4, pairBits(left.Len()))
	if err != nil {
		return nil, s, err
	}
	if s.Method == Bands {
		err = f.bands(ctx, pairs)
	} else {
		indexed, searched, searchedIsLeft := f.sides()
		err = f.topk(ctx, indexed, searched, searchedIsLeft, pairs)
		if err == nil && c.Both && s.Method == TopK && right != nil {
			err = f.topk(ctx, searched, indexed, !searchedIsLeft, pairs)
		}
	}
	if err != nil {
		return nil, s, errors.Join(err, pairs.Close())
	}
	sorted, err := pairs.Sort(ctx)
	if err != nil {
		return nil, s, errors.Join(err, pairs.Close())
	}
	return &Pairs{sorted: sorted, bands: s.Method == Bands}, s, nil
}

// Keys finds the pairs of records that share a key. A key is a smallest set of up to three items
// that few records are expected to have together; one item that few records have is enough. Keys
// misses pairs that share no such items, except pairs of records with exactly equal items. It costs
// O(records) for any number of records, because keys must be rarer the more records there are. A
// pair's Score is the sum of the information of its shared keys, in units of 1/1024 nat; Mutual is
// never set. right is nil for one table.
//
// If more records share a key than expected, the items of the key depend on each other or the
// records are copies of one record. Such groups are divided by the rarest item of each record, and
// within a part each record is paired only with its next neighbours.
//
// The keys are those of A. Borthwick, S. Ash, B. Pang, S. Qureshi, T. Jones, "Scalable blocking for
// very large databases" (DMKD 2020), by expectation in place of counting.
func Keys(ctx context.Context, c KeysConfig, left, right Items) (_ *Pairs, err error) {
	if c.Threads < 0 || c.Memory < 0 || c.Memory > 0 && c.Dir == nil {
		return nil, fmt.Errorf("candidates: %d threads, %d bytes of memory: want none below 0, and a folder with a limit of memory", c.Threads, c.Memory)
	}
	k := &keyer{KeysConfig: c, left: left, right: right}
	k.Threads, k.Expected = max(1, c.Threads), cmp.Or(c.Expected, DefaultExpected)
	if err := k.weigh(ctx); err != nil {
		return nil, err
	}
	k.makeRarest()
	f := &finder{config: Config{Threads: k.Threads, Memory: k.Memory, Dir: c.Dir, Keep: c.Keep}}
	keys, err := f.sorter("keys", false, 2, 0)
	if err != nil {
		return nil, err
	}
	if right == nil {
		err = k.addRepeated(ctx, keys)
	} else {
		err = k.addShared(ctx, keys)
	}
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	sorted, err := keys.Sort(ctx)
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	pairs, err := f.sorter("pairs", true, 4, pairBits(left.Len()))
	if err != nil {
		return nil, errors.Join(err, sorted.Close())
	}
	if err := errors.Join(k.meet(ctx, sorted, pairs), sorted.Close()); err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	found, err := pairs.Sort(ctx)
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return &Pairs{sorted: found}, nil
}
