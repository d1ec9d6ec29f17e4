package index

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// SearchOptions say what is wanted of a search.
type SearchOptions struct {
	// Threshold is the least similarity, by any measure; the zero value is that of the recipe.
	// A containment is that of the query in the document.
	Threshold measure.Threshold
	Top       int     // the most similar ones only; 0: all
	Recall    float64 // that is promised for a document at the threshold; 0: lsh.DefaultRecall
	// Passages are asked for with the matches: those of as many tokens as a shingle has.
	Passages bool
}

// ErrRecall says that a search cannot promise the recall. Errors of this kind tell what it
// can.
var ErrRecall = errors.New("index: recall out of reach")

// A Match is a document that a search has found.
type Match struct {
	Slot       uint64
	ID         []byte
	Similarity float64
	Columns    [][]byte
	Passages   []passage.Span // A is the query, B the document; the longest first
}

// A Searcher searches an index. It owns scratch memory and belongs to one goroutine.
type Searcher struct {
	x         *Index
	maker     *recipe.Maker
	finder    *finder
	tokenizer *text.Tokenizer // nil: recipes without tokens
	shingle   int
	keys      []uint64
	words     []uint32
	set       []uint64
}

// NewSearcher returns a searcher.
func (x *Index) NewSearcher() *Searcher {
	s := &Searcher{x: x, maker: x.options.Recipe.NewMaker(recipe.MakerOptions{Signature: true}), finder: newFinder(x)}
	if features, ok := x.options.Recipe.Features(); ok && features.Hash == "" {
		t, err := text.New(features.Text)
		if err != nil {
			panic("index: options that were valid are not: " + err.Error())
		}
		s.tokenizer, s.shingle = t, cmp.Or(features.N, shingle.DefaultN)
	}
	return s
}

// Search returns the documents like a text, the most similar first, of equally similar ones
// the one that came first. Each similarity is exact where the recipe decides by sets. A
// directed measure is that of the text in the document.
//
// By a measure with a least Jaccard similarity candidates are those of the recipe's bands, by
// containment and overlap those of Options.Containment; if the recall asked for is not to be
// had from them at the threshold, the error is ErrRecall. Of expected cost O(length) for the
// text and each candidate.
func (s *Searcher) Search(query []byte, o SearchOptions) ([]Match, error) {
	x, v := s.x, s.x.view.Load()
	made := s.maker.Make(query)
	if made.Features == 0 {
		return nil, nil
	}
	q := s.query(query, made)
	t := o.Threshold
	if t == (measure.Threshold{}) {
		t = x.options.Recipe.Threshold()
	} else if !x.judge.bySets {
		return nil, errors.New("index: signatures decide here, so that a threshold of their own is all that searches have: leave it out")
	}
	votes, apart, err := s.promise(t, q, cmp.Or(o.Recall, lsh.DefaultRecall))
	if err != nil {
		return nil, err
	}
	matches, err := s.matches(v, q, t, votes, apart)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Slot, b.Slot))
	})
	if o.Top > 0 && len(matches) > o.Top {
		matches = matches[:o.Top]
	}
	return s.described(v, query, matches, o.Passages)
}

func (s *Searcher) query(text []byte, made recipe.Made) *query {
	s.keys = append(s.maker.AppendKeys(s.keys[:0]), digestKey(made.Digest))
	s.words = s.x.judge.appendWords(s.words[:0], s.maker.Signature())
	q := &query{keys: s.keys, digest: made.Digest, words: s.words, set: s.maker.Set}
	if len(text) > recipe.LongText && s.x.judge.bySets {
		s.set = s.finder.sets.AppendSet(s.set[:0], text)
		q.set = func() []uint64 { return s.set }
	}
	return q
}

// promise makes the query one by the keys that serve the threshold, and returns in how many
// of them, and how far apart by their sketches, candidates may be. It is an error if the
// recall is out of reach.
func (s *Searcher) promise(t measure.Threshold, q *query, recall float64) (votes, apart int, err error) {
	r := s.x.options.Recipe
	if _, distance := r.Distance(); distance {
		return 1, math.MaxInt, nil // keys miss nothing
	}
	if least, ok := t.LeastJaccard(); ok {
		got := r.Banding().Probability(r.Agreement(least))
		// Bands tuned for the recall at their own threshold are taken at their word there.
		if got < recall && t != r.Threshold() {
			return 0, 0, fmt.Errorf("%w: the index finds %.3g of the documents at %s, not %.3g: take a higher threshold, or an index of a lower one", ErrRecall, got, t, recall)
		}
		return r.MinKeys(), s.x.judge.mostApart(r, t), nil
	}
	scale := uint64(s.x.options.Containment)
	if scale == 0 {
		return 0, 0, setting.Errorf("%w: the index has no keys for %s: make it with %s 16", ErrRecall, t.Measure(), setting.Containment)
	}
	set := q.features()
	// A document that reaches the threshold shares so many features at least, of each of
	// which both have the key or none.
	shared := t.MinOverlap(uint64(len(set)), math.MaxUint32)
	if t.Measure() == measure.MaxContainment {
		return 0, 0, fmt.Errorf("%w: a short document inside the query may have no key: take containment, which asks for the query inside a document", ErrRecall)
	}
	if got := 1 - math.Pow(1-1/float64(scale), float64(shared)); got < recall {
		return 0, 0, fmt.Errorf("%w: of %d common shingles, which %s asks of a query of %d, a document is found with probability %.3g, not %.3g: take a longer query, or an index with more keys of containment",
			ErrRecall, shared, t, len(set), got, recall)
	}
	s.keys = appendScaled(s.keys[:0], s.x.scaled, set)
	q.keys = s.keys
	return sampledVotes(shared, scale, recall), math.MaxInt, nil
}

// sampledVotes returns in how many keys a document that shares so many features with the
// query agrees with the probability recall, at least 1: what agrees in fewer is left out.
func sampledVotes(shared, scale uint64, recall float64) int {
	p, below, n := 1/float64(scale), 0.0, float64(shared)
	if scale == 1 {
		return int(shared)
	}
	all, _ := math.Lgamma(n + 1)
	for votes := 0; ; votes++ {
		a, _ := math.Lgamma(float64(votes) + 1)
		b, _ := math.Lgamma(n - float64(votes) + 1)
		below += math.Exp(all - a - b + float64(votes)*math.Log(p) + (n-float64(votes))*math.Log1p(-p))
		if 1-below < recall {
			return max(votes, 1)
		}
	}
}

// matches returns the candidates that reach the threshold.
func (s *Searcher) matches(v *view, q *query, t measure.Threshold, votes, apart int) (matches []Match, err error) {
	f := s.finder
	read := f.read(v)
	slots, err := f.candidates(v, v.Range, q.keys, votes, func(held *facts) bool { return f.near(held, q, apart) })
	if err != nil {
		return nil, err
	}
	for _, slot := range slots {
		similarity, alike := 0.0, false
		if !s.x.judge.bySets {
			similarity, alike, err = f.compare(v, slot, q, read)
		} else {
			similarity, alike, err = s.exact(slot, q, t, read)
		}
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if alike {
			matches = append(matches, Match{Slot: slot, Similarity: similarity})
		}
	}
	return s.withCopies(v, matches)
}

// withCopies adds the documents that equal one that was found: see Index.keysOf.
func (s *Searcher) withCopies(v *view, matches []Match) ([]Match, error) {
	if s.x.expires() {
		return matches, nil
	}
	seen := make(map[uint64]bool, len(matches))
	for _, m := range matches {
		seen[m.Slot] = true
	}
	for _, m := range matches[:len(matches):len(matches)] {
		if alive, err := v.facts(m.Slot, &s.finder.held); err != nil {
			return nil, err
		} else if !alive {
			continue
		}
		digest := s.finder.held.digest
		copies, err := s.finder.copies(v, digestKey(digest), digest)
		if err != nil {
			return nil, err
		}
		for _, slot := range copies {
			if !seen[slot] {
				seen[slot] = true
				matches = append(matches, Match{Slot: slot, Similarity: m.Similarity})
			}
		}
	}
	return matches, nil
}

// exact decides about one document by its set.
func (s *Searcher) exact(slot uint64, q *query, t measure.Threshold, read func(uint64) (record, error)) (float64, bool, error) {
	r, err := read(slot)
	if err != nil {
		return 0, false, err
	}
	mine, other := q.features(), s.finder.setOf(r)
	inter, alike := simjoin.Verify(mine, other, t)
	if !alike {
		return 0, false, nil
	}
	return t.Measure().Similarity(uint64(inter), uint64(len(mine)), uint64(len(other))), true, nil
}

// described reads the rest of what is told of matches.
func (s *Searcher) described(v *view, query []byte, matches []Match, passages bool) ([]Match, error) {
	kept := matches[:0]
	for _, m := range matches {
		r, err := s.finder.read(v)(m.Slot)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m.ID = append([]byte{}, r.id...)
		columns, err := parseColumns(append([]byte{}, r.columns...))
		if err != nil {
			return nil, err
		}
		m.Columns = columns
		if passages {
			if r.kind != bodyText || s.tokenizer == nil {
				return nil, errors.New("index: passages are those of texts, and the index has none: make one that keeps them")
			}
			m.Passages = passage.InTexts(s.tokenizer, query, r.body, s.shingle)
		}
		kept = append(kept, m)
	}
	return kept, nil
}
