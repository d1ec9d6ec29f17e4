package dedup

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/recipe"
)

// A run that may choose between bands and an exact join does so before it reads, if it can tell the costs
// from a sample: for the one it needs no sets, for the other no signatures.
const (
	expectShare  = 24        // it has this share of the input
	expectMost   = 512 << 10 // but at most so many bytes
	expectBlock  = 1 << 15   // from places of the input with so many bytes
	expectDocs   = 16        // documents that it must have,
	expectTimes  = 4         // for which it may be so many times as large
	expectTokens = 16 << 10  // features of it that are held at most
)

// expect decides, if it can, between exact and lsh candidates, from a sample of the inputs. Like chooseExact it
// depends only on the inputs and the settings. sparse is that of find.
func expect(ctx context.Context, j *job, in *inputs, sparse bool) (choice, error) {
	how, r := asked(j.settings), &j.recipe
	if !mayExpect(j.settings, in) {
		return how, nil
	}
	s, err := sampleSets(ctx, j.settings, in)
	if err != nil || s == nil || len(s.docs) < expectDocs || 2*s.short(shortSets(j.settings, r).Most) > len(s.docs) { // short sets need no signatures
		return how, err
	}
	share := float64(s.bytes) / float64(max(in.bytes(), s.bytes))
	f, err := forecast.Of(forecast.Options{Recipe: *r, Sides: new(sides.Self()), Threshold: j.threshold, Cap: j.BucketCap, Share: share, Thin: s.thin}, s)
	if err != nil {
		return how, err
	}
	docs, features := float64(len(s.docs))/share, float64(s.features)/share
	again := forecast.ForPairs
	if verify.SetsFit(int64(docs), int64(features)) {
		again = forecast.Once
	}
	bands := f.Signatures() + f.ByBands(r.Keys(), sparse, again)
	if features > float64(retain(j.settings, how)) { // its sets take more memory than bands
		bands *= exactAgain
	}
	switch many := features > float64(j.limits.exact); {
	case f.Exact()+f.Sets() > bands, many && r.Banding().Rows > 1:
		how.expected = MethodLSH
	case many, f.Edges > edgesMore: // perhaps one large cluster, which is known before all its pairs
	default:
		how.expected = MethodExact
		how.recipe, err = j.exactRecipe()
	}
	return how, err
}

// mayExpect tells whether the choice is open, and a sample can be taken of all inputs: they are one
// collection in plain files, whose blocks can be read in any order.
func mayExpect(c *settings, in *inputs) bool {
	if r := &c.recipe; c.Method != methodAuto || !r.BySets() || r.Keys() == 0 || r.MinKeys() > 1 || r.Sample().Size > 0 ||
		c.Shared || c.Fingerprints || c.Known != nil || c.Link != nil || c.limits.retain > 0 || c.Verify != recipe.Exact ||
		in.references > 0 || in.left > 0 || in.bytes() < c.limits.expect {
		return false
	}
	return !slices.ContainsFunc(in.sources, func(s corpus.Source) bool { return !s.InPlace() || s.Format == corpus.CSV })
}

// sampleSets makes the sets of documents from places that are spread evenly over the inputs. It returns nil if
// they are too long for a sample, and ignores what cannot be read: the run will report that.
func sampleSets(ctx context.Context, c *settings, in *inputs) (*sampledSets, error) {
	o := c.Corpus
	o.BlockSize = expectBlock
	s := &sampledSets{maker: c.recipe.NewSetMaker(), parser: corpus.NewParser(o), digests: map[uint64]bool{}, tokens: make([]uint64, 0, expectTokens)}
	all := max(in.bytes(), 1)
	most := min(max(all, expectLeast)/expectShare, expectMost)
	blocks := max(most/expectBlock, 1)
	files := min(max(expectDocs+expectDocs/4, int(most*int64(len(in.sources))/all)), len(in.sources))
	each := max(blocks/int64(files), 1)
	for i := range files {
		source := in.sources[i*len(in.sources)/files]
		every := max(source.Size/expectBlock/each, 1)
		file, err := corpus.Open(ctx, source, o)
		if err != nil {
			continue
		}
		if source.Format != corpus.Text { // which is one block
			file.Skip(func(seq int64) bool { return seq%every != every/2 })
		}
		s.take(file, each, c.withinOf)
		_ = file.Close() // it was only read
		if s.bytes > expectTimes*most || s.long {
			return nil, ctx.Err()
		}
	}
	return s, ctx.Err()
}

// sampledSets are the documents of a sample, each once, in the form that forecasts take.
type sampledSets struct {
	maker    *recipe.SetMaker
	parser   *corpus.Parser
	scratch  []uint64
	digests  map[uint64]bool
	docs     []sampledSet
	tokens   []uint64 // of the sets of one document after the other, those that forecast.Wants
	thin     uint
	features int64 // of all documents, with repeats
	bytes    int64 // of the blocks that they are from
	long     bool  // several blocks of a file have too few documents
}

type sampledSet struct {
	digest   uint64 // of the text
	features int    // with repeats
	end      int    // in tokens
}

// take adds the documents of up to so many blocks.
func (s *sampledSets) take(file *corpus.File, blocks int64, within func(*corpus.Record) recipe.Within) {
	var b corpus.Block
	defer b.Release()
	for block := range blocks {
		if s.long = block >= 4 && len(s.docs)*int(blocks) < expectDocs*int(block); s.long || file.Next(&b) != nil {
			return
		}
		s.bytes += int64(len(b.Data()))
		var record corpus.Record
		for s.parser.Start(file, &b); s.parser.Next(&record); {
			if record.Err == nil && len(record.Text) <= expectMost {
				s.add(record.Text, within(&record))
			}
		}
	}
}

func (s *sampledSets) add(text []byte, within recipe.Within) {
	digest := within.Key(hashing.Bytes(text))
	s.scratch = s.maker.AppendFeatures(s.scratch[:0], text)
	n := len(s.scratch)
	if n == 0 || s.digests[digest] {
		return
	}
	s.digests[digest] = true
	s.features += int64(n)
	s.scratch = within.Set(s.scratch)
	s.tokens = append(s.tokens, distinct.Sort(slices.DeleteFunc(s.scratch, s.unwanted))...)
	s.docs = append(s.docs, sampledSet{digest, n, len(s.tokens)})
	for len(s.tokens) > expectTokens {
		s.thin++
		kept, start := s.tokens[:0], 0
		for i := range s.docs {
			end := s.docs[i].end
			for _, token := range s.tokens[start:end] {
				if !s.unwanted(token) {
					kept = append(kept, token)
				}
			}
			start, s.docs[i].end = end, len(kept)
		}
		s.tokens = kept
	}
}

func (s *sampledSets) unwanted(token uint64) bool { return !forecast.Wants(token, s.thin) }

// Each implements forecast.Documents.
func (s *sampledSets) Each(visit func(d forecast.Document)) error {
	for i, d := range s.docs {
		visit(forecast.Document{Number: uint32(i), Features: uint32(d.features), Digest: d.digest})
	}
	return nil
}

// Sets implements forecast.Documents.
func (s *sampledSets) Sets(of []uint32, _ func(uint64) bool, visit func(number uint32, set []uint64)) error {
	for _, doc := range of {
		start := 0
		if doc > 0 {
			start = s.docs[doc-1].end
		}
		visit(doc, s.tokens[start:s.docs[doc].end])
	}
	return nil
}

// short counts the documents of up to most features.
func (s *sampledSets) short(most int) (n int) {
	for _, d := range s.docs {
		if d.features <= most {
			n++
		}
	}
	return n
}

// exactSpare is by how much more an exact join may cost, in nanoseconds: it misses nothing. exactAgain is which
// part of the cost of bands it must cost if there are too many features to keep sets that are perhaps not needed: it takes
// more memory, and with little memory more time than the forecast says.
const (
	exactSpare = 2e6
	exactAgain = 0.75
)

// A join that was not asked for is given up when it has found more edges than edgesMore plus
// edgesEach for each document and, for a list of pairs, edgesOver times the edges of the forecast:
// a large cluster can be known without finding all its pairs.
const (
	edgesEach = 32
	edgesMore = 1 << 20
	edgesOver = 4
)

// Sets of up to shortMost features are short: hashed to 32 bits they take no more room than the
// keys of 16 bands, and no signature is made. The limit is lower if sets that can be similar to short
// ones would have more than nearMost features: at low thresholds most texts could be similar to a
// short one, and all of them would have keys of both kinds. (Reuters' stories at 0.3: three times the
// time of bands alone.)
const (
	shortMost = 32
	nearMost  = 40
)

// shortSets reports which sets the prefix filter finds exactly, by their rarest features; LSH or
// the exact join finds the rest. Callers that ask for bands get only bands.
func shortSets(c *settings, r *recipe.Recipe) recipe.ShortSets {
	most := uint64(shortMost)
	for most > 0 && c.threshold.MaxSize(most) > nearMost {
		most--
	}
	if most == 0 || c.Method != methodAuto || !r.BySets() || c.Shared || c.Known != nil || r.Keys() == 0 ||
		r.MinKeys() > 1 || r.Sample().Size > 0 || r.Banding().Rows <= 1 {
		return recipe.ShortSets{}
	}
	return recipe.ShortSets{Most: int(most), Near: int(c.threshold.MaxSize(most))}
}

// choice is what keys documents get.
type choice struct {
	recipe   recipe.Recipe // as asked for or, if an exact join is expected, without keys
	expected string        // exact or lsh; "": what is decided when the inputs have been read
}

func asked(s *settings) choice { return choice{recipe: s.recipe} }

// Numbers of features up to which a run keeps all feature sets although it was not asked to. A
// collection of up to retainMost features is joined exactly before bands would have begun; keeping
// more would take memory and time that bands do not need. That is worth it for sets of single tokens,
// which are smaller than their texts and have so much in common that they are often joined, and where
// containment is found by samples, for which texts would be read again (32 MiB). All that contains a
// document is sought with sets made again where an index of them, of bytesIndexed a feature, would take
// more than the memory that was allowed: that takes 1.8 times the processor time of the index in memory.
const (
	retainMost    = 64 << 10
	retainTokens  = 2 << 20
	retainSampled = 4 << 20
	retainExact   = 32 << 20
	bytesIndexed  = 24
)

// retain returns the number of features up to which all sets are kept.
func retain(c *settings, how choice) int64 {
	switch {
	case how.recipe.Keys() == 0 && !c.threshold.Measure().ByParts(): // they will be joined
		return math.MaxInt64
	case how.expected == MethodLSH:
		return 0
	case c.limits.retain > 0:
		return c.limits.retain
	case how.recipe.Keys() == 0 && c.Memory == 0:
		return math.MaxInt64
	case how.recipe.Keys() == 0:
		return max(retainExact, c.Memory/bytesIndexed)
	case how.recipe.Sample().Size > 0:
		return retainSampled
	case c.Features.N == 1:
		return retainTokens
	}
	return retainMost
}
