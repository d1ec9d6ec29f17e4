package dedup

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/recipe"
)

// A run that may choose between bands and an exact join does so before it reads, if it can tell the costs
// from a sample: for the one it needs no sets, for the other no signatures. Small inputs are read sooner than
// judged.
const (
	expectLeast  = 1 << 20   // bytes of input from which on a sample is taken
	expectShare  = 24        // it has this share of the input
	expectMost   = 512 << 10 // but at most so many bytes
	expectBlock  = 1 << 15   // from places of the input with so many bytes
	expectDocs   = 16        // documents that it must have,
	expectTimes  = 4         // for which it may be so many times as large
	expectTokens = 16 << 10  // features of it that are held at most
)

// expect decides, if it can, between exact and lsh candidates, from a sample of the inputs. Like chooseExact it
// depends only on the inputs and the settings. sparse is that of find.
func (r *run) expect(ctx context.Context, sparse bool) error {
	if !r.mayExpect() {
		return nil
	}
	s, err := r.sampleSets(ctx)
	if err != nil || s == nil || len(s.docs) < expectDocs || 2*s.short(r.shortSets().Most) > len(s.docs) { // short sets need no signatures
		return err
	}
	o := r.forecastOptions()
	o.Share, o.Thin = float64(s.bytes)/float64(max(r.inputBytes(), s.bytes)), s.thin
	f, err := forecast.Of(o, s)
	if err != nil {
		return err
	}
	docs, features := float64(len(s.docs))/o.Share, float64(s.features)/o.Share
	again := forecast.ForPairs
	if verify.SetsFit(int64(docs), int64(features)) {
		again = forecast.Once
	}
	bands := f.Signatures() + f.ByBands(r.recipe.Keys(), sparse, again)
	if features > float64(r.retain()) { // its sets take more memory than bands
		bands *= exactAgain
	}
	switch many := features > float64(r.config.limits.exact); {
	case f.Exact()+f.Sets() > bands, many && r.recipe.Banding().Rows > 1:
		r.expected = CandidatesLSH
	case many, f.Edges > edgesMore: // perhaps one large cluster, which is known before all its pairs
	default:
		exact := r.config
		exact.Candidates = CandidatesExact
		r.expected = CandidatesExact
		r.recipe, err = exact.recipe()
	}
	return err
}

// mayExpect tells whether the choice is open, and a sample can be taken of all inputs: they are one
// collection in plain files, whose blocks can be read in any order.
func (r *run) mayExpect() bool {
	c := &r.config
	if c.Candidates != CandidatesAuto || !r.recipe.BySets() || r.recipe.Keys() == 0 || r.recipe.MinKeys() > 1 || r.recipe.Sample().Size > 0 ||
		c.Shared || c.Fingerprints || c.Known != nil || c.Link != nil || c.limits.retain > 0 || c.Verify != VerifyExact ||
		r.refSources > 0 || len(c.With) > 0 || r.inputBytes() < c.limits.expect {
		return false
	}
	return !slices.ContainsFunc(r.sources, func(s corpus.Source) bool { return !s.InPlace() || s.Format == corpus.CSV })
}

// sampleSets makes the sets of documents from places that are spread evenly over the inputs. It returns nil if
// they are too long for a sample, and ignores what cannot be read: the run will report that.
func (r *run) sampleSets(ctx context.Context) (*sampledSets, error) {
	o := r.config.Corpus
	o.BlockSize = expectBlock
	s := &sampledSets{maker: r.recipe.NewSetMaker(), parser: corpus.NewParser(o), digests: map[uint64]bool{}, tokens: make([]uint64, 0, expectTokens)}
	all := max(r.inputBytes(), 1)
	most := min(max(all, expectLeast)/expectShare, expectMost)
	blocks := max(most/expectBlock, 1)
	files := min(max(expectDocs+expectDocs/4, int(most*int64(len(r.sources))/all)), len(r.sources))
	each := max(blocks/int64(files), 1)
	for i := range files {
		source := r.sources[i*len(r.sources)/files]
		every := max(source.Size/expectBlock/each, 1)
		file, err := corpus.Open(ctx, source, o)
		if err != nil {
			continue
		}
		if source.Format != corpus.Text { // which is one block
			file.Skip(func(seq int64) bool { return seq%every != every/2 })
		}
		s.take(file, each)
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
func (s *sampledSets) take(file *corpus.File, blocks int64) {
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
				s.add(record.Text)
			}
		}
	}
}

func (s *sampledSets) add(text []byte) {
	digest := hashing.Bytes(text)
	s.scratch = s.maker.AppendFeatures(s.scratch[:0], text)
	n := len(s.scratch)
	if n == 0 || s.digests[digest] {
		return
	}
	s.digests[digest] = true
	s.features += int64(n)
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
