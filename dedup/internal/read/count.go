package read

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/bits"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
)

// CountOptions say in what to count features.
type CountOptions struct {
	Recipe   recipe.Recipe // whose features have no weights yet
	Corpus   corpus.Options
	Sources  []corpus.Source
	Layouts  *feed.Layouts
	Space    *scratch.Space
	Rare     bool              // only rare features count
	Most     uint64            // documents that have one at most; 0: shingle.RareMost
	Sketch   *countmin.Options // nil: the counts are exact
	Progress meter.Progress
}

// A Rarity is the weights of the features of a collection.
type Rarity struct {
	Weight func(feature uint64) uint8
	Bytes  int64 // of memory that it holds
}

// Count reads all sources and counts in how many documents each feature is. It ignores what cannot be used: Records
// reports that.
func Count(ctx context.Context, o CountOptions) (rarity Rarity, n Counts, err error) {
	c := &counting{CountOptions: o}
	if o.Sketch == nil {
		if c.sorter, err = extsort.New(c.sorting()); err != nil {
			return rarity, n, err
		}
	}
	c.feeder = feed.NewFeeder(o.Sources, feed.NewOpener(ctx, o.Sources, o.Corpus, o.Space.Share(8), nil), o.Layouts, nil, nil)
	defer c.feeder.Close()
	sketches := make([]*countmin.Sketch, o.Space.Threads)
	group, inner := errgroup.WithContext(ctx)
	for i := range sketches {
		group.Go(func() error {
			if o.Sketch == nil {
				to := c.sorter.Appender()
				return errors.Join(c.count(inner, func(feature uint64) error { return to.Add(feature, 1) }), to.Flush())
			}
			made, err := countmin.New(*o.Sketch)
			if err != nil {
				return err
			}
			sketches[i] = made
			return c.count(inner, func(feature uint64) error {
				made.Add(feature, 1)
				return nil
			})
		})
	}
	if err = group.Wait(); o.Sketch == nil {
		rarity, err = c.exact(ctx, err)
	} else if err == nil {
		rarity, err = c.estimated(sketches)
	}
	return rarity, Counts{c.documents.Load(), c.bytes.Load()}, err
}

// counting is the state that the workers of Count share.
type counting struct {
	CountOptions
	feeder    *feed.Feeder
	sorter    *extsort.Sorter // nil: counts are estimated
	documents atomic.Int64
	bytes     atomic.Int64
}

// sorting returns the options of the sorter, which merges the entries of a feature, one for each document.
func (c *counting) sorting() extsort.Options {
	o := c.Space.Sorting("shingles", 2, 0)
	o.Sum = true
	return o
}

// count is one worker: it adds each feature of each document once.
func (c *counting) count(ctx context.Context, add func(feature uint64) error) error {
	sets, parser := c.Recipe.NewSetMaker(), corpus.NewParser(c.Corpus)
	parser.Overwrite(true)
	var set []uint64
	var b corpus.Block
	defer b.Release()
	var file *feed.OpenFile
	for ctx.Err() == nil {
		var err error
		file, err = c.feeder.Take(file, &b)
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, corpus.ErrUnavailable):
			return err
		case err != nil: // at its end, or damaged
			file = nil
			continue
		}
		documents := int64(0)
		var record corpus.Record
		for parser.Start(file.File, &b); parser.Next(&record); {
			if record.Err != nil {
				continue
			}
			documents++
			c.bytes.Add(int64(len(record.Raw)))
			set = sets.AppendSet(set[:0], record.Text)
			for _, feature := range set {
				if err := add(feature); err != nil {
					return err
				}
			}
			if len(record.Text) > recipe.LongText {
				set = nil
			}
		}
		parser.Trim()
		c.documents.Add(documents)
		c.Progress.Advance(documents, file.Advance())
	}
	return ctx.Err()
}

// estimated returns the weights by the sum of sketches.
func (c *counting) estimated(sketches []*countmin.Sketch) (Rarity, error) {
	sum := sketches[0]
	for _, s := range sketches[1:] {
		if err := sum.Merge(s); err != nil {
			return Rarity{}, err
		}
	}
	weights := shingle.NewRarities(uint64(c.documents.Load()))
	weight := func(feature uint64) uint8 { return weights.Weight(uint64(sum.Estimate(feature))) }
	return Rarity{weight, int64(4 * sum.Width() * sum.Depth())}, nil
}

// exact returns the weights by the sorted features, unless counting has failed.
func (c *counting) exact(ctx context.Context, failed error) (rarity Rarity, err error) {
	sorted, err := c.Space.Ended(ctx, c.sorter, failed)
	if err != nil {
		return rarity, err
	}
	defer func() { err = errors.Join(err, c.Space.Release(sorted)) }()
	t := &frequent{others: shingle.MostWeight}
	weights := shingle.NewRarities(uint64(c.documents.Load()))
	weight := func(_, df uint64) uint8 { return weights.Weight(df) }
	if c.Rare {
		most := cmp.Or(c.Most, shingle.RareMost(uint64(c.documents.Load())))
		t.others, weight = 1, func(feature, df uint64) uint8 { return shingle.RareWeight(feature, df, most) }
	}
	limit := c.Space.Share(4)
	err = sorted.Visit(func(e extsort.Entry) error {
		if w := weight(e.Key, e.Value); w < t.others {
			t.features, t.weights = append(t.features, e.Key), append(t.weights, w)
			if limit > 0 && t.bytes() > limit {
				return tooFrequent
			}
		}
		return ctx.Err()
	})
	t.index()
	return Rarity{t.weight, t.bytes()}, err
}

// tooFrequent says that the features of several documents exceed their share of the memory.
var tooFrequent = fault.Because(fault.ErrUsage, "the shingles that several documents have do not fit in a quarter of the memory: raise %s, or take %s sketch",
	setting.Memory, setting.IDF)

// frequent are the features that several documents have, with their weights: features are hashes, so their top bits
// lead near to their place.
type frequent struct {
	others   uint8    // weight of all other features
	features []uint64 // ascending
	weights  []uint8
	starts   []int // of the features with the same top bits
	shift    uint
}

func (t *frequent) bytes() int64 { return int64(9*cap(t.features) + 8*cap(t.starts)) }

// perStart is about how many features have the same top bits.
const perStart = 8

func (t *frequent) index() {
	top := bits.Len(uint(len(t.features) / perStart))
	t.shift = uint(64 - top)
	t.starts = make([]int, 1<<top+1)
	for _, f := range t.features {
		t.starts[f>>t.shift+1]++
	}
	for i := range t.starts[1:] {
		t.starts[i+1] += t.starts[i]
	}
}

func (t *frequent) weight(feature uint64) uint8 {
	at := feature >> t.shift
	for i := t.starts[at]; i < t.starts[at+1]; i++ {
		if t.features[i] == feature {
			return t.weights[i]
		}
	}
	return t.others
}
