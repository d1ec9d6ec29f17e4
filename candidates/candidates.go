// Package candidates finds, in one table of records or in two, the pairs that may belong
// together, by weighted sets of their tokens: what a scoring of pairs begins with.
//
// A Store takes the records' vectors, in memory or beyond it, and Find returns pairs, sorted.
// There are three ways, see Method: the k most similar records of each (package topk), all
// pairs from a similarity on (the same index), and bands of weighted MinHash (packages
// minhash and lsh). Of many records Keys finds those that share rare items, at a cost that
// grows as their number does. Pairs are the same for any number of threads and any memory.
package candidates

import (
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

// The methods. Of two tables the smaller one is indexed and the larger one searched for.
const (
	// Auto takes Bands where that is estimated to cost half as much as TopK or less, and
	// TopK otherwise. It never takes Bands without a MinSimilarity.
	Auto Method = ""
	// TopK finds, for every record of the larger table, the K most similar ones of the
	// smaller one, exactly; of one table for every record the K most similar others.
	TopK Method = "topk"
	// Exact finds all pairs at or above MinSimilarity, exactly.
	Exact Method = "exact"
	// Bands finds a pair at or above MinSimilarity with the probability Recall, and others
	// below it. Of the larger of two tables it leaves out what cannot reach that with any
	// record of the smaller one, see within. It does not look at the vectors again: who scores the pairs decides. For
	// Cosine the promise holds where a feature has the same weight in all vectors, as
	// inverse document frequencies have.
	Bands Method = "lsh"
	// ByKeys is what Keys does, and not Find: pairs of records that share items.
	ByKeys Method = "keys"
)

// Config says what to find. The zero value finds the 10 best by weighted Jaccard
// similarity.
type Config struct {
	Method  Method
	Measure measure.Measure // Cosine or WeightedJaccard; Jaccard is taken for the latter
	K       int             // of TopK, 0: DefaultK
	// Both has TopK of two tables search in both directions: a pair is found if either
	// record is one of the K most similar ones to the other.
	Both bool
	// MinSimilarity is the least similarity of a pair, 0: any. Exact and Bands need one.
	MinSimilarity float64
	// Recall is that of Bands, 0: lsh.DefaultRecall.
	Recall float64

	// Names are hashes of what the features stand for, by number: Bands are made of them, so that they do
	// not depend on the numbering. nil: of the numbers.
	Names []uint64

	Threads int   // 0: 1
	Memory  int64 // bytes for indexes and sorting, without the stores; 0: no limit
	// Dir is where goes what exceeds Memory; nil: nowhere, and Memory must be 0.
	Dir extsort.Dir
	// Keep returns names of files in Dir that no others have, for pairs that Pairs.Save may be
	// called of; nil: of none.
	Keep func(prefix string) string

	// Unfiltered has Bands sort all keys that it makes of two tables, and not only those that
	// both may have. Pairs are the same; it is there to measure what the filter saves.
	Unfiltered bool
}

// DefaultK is the number of candidates of a record. Of a million synthetic persons whose
// fields are wrong in up to four places, 0.988 of the true pairs are among the 10 best, and
// 0.991 among the 50 best (docs/benchmarks.md).
const DefaultK = 10

// Validate returns an error that says what is wrong with the config.
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

// Summary says what Find has done.
type Summary struct {
	Method   Method // Auto is resolved
	Searched int64  // records that were searched for, or had their bands taken
	// Dropped is how many of the larger table's records have nothing in common with the
	// smaller one that could make a pair, and were left out before anything was sorted: no
	// band key that the filter has, or no feature with a list that a pair can begin in.
	Dropped int64
	Parts   int   // in which the index was made, each of which meets all that is searched for
	Entries int64 // list entries, or keys, that were looked at
	// Compared is how many pairs were compared in full.
	Compared int64
	Params   lsh.Params // of Bands
	// What Auto has estimated that TopK and Bands take of one core; 0: it had no choice.
	TopKSeconds, BandsSeconds float64
	Capped                    int64 // buckets of Bands of which not all pairs were taken
}

// Pair is a candidate pair.
type Pair struct {
	// A is a record of the left table and B one of the right one; of one table A is the
	// smaller number.
	A, B uint32
	// Score is their similarity as measure.Measure.Score has it. Bands do not compute it: 0.
	Score uint64
	// Mutual says that each was found for the other: of TopK with one table, or with Both.
	Mutual bool
}

// Pairs are what Find found, sorted by A, then B, each once. They are read any number of
// times.
type Pairs struct {
	sorted *extsort.Sorted
	bands  bool
	saved  bool
}

// All ranges over the pairs. An error is the last that it yields.
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
				_ = r.Close() // reading was all it did
				return
			}
		}
		if err := r.Close(); err != nil {
			yield(Pair{}, err)
		}
	}
}

// Save puts the pairs into files and names these for OpenPairs, in this process or another one.
// Close leaves them where they are. They must have been found with Keep.
func (p *Pairs) Save(ctx context.Context) ([]extsort.Run, error) {
	runs, err := p.sorted.Save(ctx)
	p.saved = p.saved || err == nil
	return runs, err
}

// OpenPairs opens what Save has left of pairs that were found by a method; c says where they are,
// and the memory to read them with.
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

// pairShift is where the key of a sorted entry has A; B is in the lower bits, and the value
// is the score.
const pairShift = 32

// pairBits returns how many low bits such keys use, by the number of records that A may be.
func pairBits(records int) int { return pairShift + bits.Len(uint(records)) }

// Find returns the candidate pairs of left and right, or of left alone where right is nil.
// The caller closes them. Both stores must be finished and share one numbering of features,
// which should be dense: memory is taken for each number of the indexed side. There may be
// up to 2³¹ records a side.
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

// finder is one Find.
type finder struct {
	config      Config
	left, right *Store
	summary     *Summary
}

// sorter returns a sorter, by so many low bits of the key, that holds 1/share of the memory.
func (f *finder) sorter(name string, sum bool, share int64, keyBits int) (*extsort.Sorter, error) {
	o := f.config.sorting(name, share)
	o.Sum, o.KeyBits = sum, keyBits
	return extsort.New(o)
}

// sides returns which store is indexed and which is searched for, and whether that is
// the left one. Of one table it is both.
func (f *finder) sides() (indexed, searched *Store, searchedIsLeft bool) {
	switch {
	case f.right == nil:
		return f.left, f.left, true
	case f.right.Features() <= f.left.Features():
		return f.right, f.left, true
	}
	return f.left, f.right, false
}

// key returns the key of a pair that was found by searching.
func (f *finder) key(searched, indexed uint32, searchedIsLeft bool) uint64 {
	a, b := searched, indexed
	if f.right == nil && b < a || f.right != nil && !searchedIsLeft {
		a, b = b, a
	}
	return uint64(a)<<pairShift | uint64(b)
}
