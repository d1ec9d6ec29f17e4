package index

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// SearchOptions are the options of a search.
type SearchOptions struct {
	// Threshold is the least similarity, by any measure; the zero value is the recipe's threshold.
	// Containment is that of the query in the document.
	Threshold measure.Threshold
	Top       int     // only the most similar ones; 0: all
	Recall    float64 // promised for a document at the threshold; 0: lsh.DefaultRecall
	// Exact compares the query with every document, so that none is missed, by any measure and threshold.
	// O(total length of all texts).
	Exact bool
	// Passages adds shared passages to the matches: those with at least as many tokens as a shingle.
	Passages bool
	// Encoding is that of the file if the query is all of it: corpus.Record has it. Passages are then places in the file.
	Encoding bom.Encoding
	// Accepts, if set, leaves out documents whose columns it does not accept.
	Accepts func(columns [][]byte) bool
	// Within is the value of the query in the field of the recipe's Within, empty but not nil if it has none.
	Within []byte
}

// A Match is a document that a search has found.
type Match struct {
	Slot       uint64
	ID         []byte
	Similarity float64
	Columns    [][]byte
	// Passages: A is the query, B the document; the longest first. Places are bytes of the text or, if it is that of a
	// whole file, of the file.
	Passages []passage.Span
}

// A Searcher searches an index. It owns scratch memory and belongs to one goroutine.
type Searcher struct {
	x         *collection
	maker     *recipe.Maker
	finder    *finder
	tokenizer *text.Tokenizer // nil: recipes without tokens
	shingle   int
	keys      []uint64
	words     []uint32
	sizes     sizes
}

// NewSearcher returns a searcher.
func (x *Index) NewSearcher() *Searcher {
	s := &Searcher{x: x.collection, maker: x.options.Recipe.NewMaker(recipe.MakerOptions{Signature: true}), finder: newFinder(x.collection)}
	if features, ok := x.options.Recipe.Features(); ok && features.Hash == "" {
		t, err := text.New(features.Text)
		if err != nil {
			panic("index: options that were valid are not: " + err.Error())
		}
		s.tokenizer, s.shingle = t, cmp.Or(features.N, shingle.DefaultN)
	}
	return s
}

// Search returns the documents that are similar to a text, the most similar first; of equally similar documents
// the earlier one first. Each similarity is exact if the recipe decides by sets. A directed measure is that of
// the text in the document.
//
// For a measure with a least Jaccard similarity, candidates come from the recipe's bands; for
// containment and overlap from the keys of Options.Containment. If these cannot reach the recall at
// the threshold, the error is ErrRecall. Expected cost: O(length) for the text and each candidate.
func (s *Searcher) Search(query []byte, o SearchOptions) ([]Match, error) {
	x := s.x
	value, err := x.valueAsked(o.Within)
	if err != nil {
		return nil, err
	}
	v, err := x.viewFor(o.Exact)
	if err != nil {
		return nil, err
	}
	s.maker.Within(value.Within)
	made := s.maker.Make(query)
	if made.Features == 0 {
		return nil, nil
	}
	q := s.query(query, made)
	q.within = value.Within
	o.Accepts = x.accepting(value, o.Accepts)
	t := o.Threshold
	if t == (measure.Threshold{}) {
		t = x.options.Recipe.Threshold()
	} else if !x.judge.bySets {
		return nil, errors.New("index: signatures decide here, so that a threshold of their own is all that searches have: leave it out")
	}
	var matches []Match
	if features, ok := x.options.Recipe.Features(); ok && features.Multiset != t.Measure().IsWeighted() {
		matches, err = s.recounted(v, query, t, o)
	} else {
		matches, err = s.all(v, q, t, o)
	}
	if err != nil {
		return nil, err
	}
	if matches, err = s.accepted(v, matches, o.Accepts); err != nil {
		return nil, err
	}
	sorting.Func(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Slot, b.Slot))
	})
	if o.Top > 0 && len(matches) > o.Top {
		matches = matches[:o.Top]
	}
	return s.described(v, query, matches, o)
}

// accepted returns the matches whose columns are accepted, in the memory of matches.
func (s *Searcher) accepted(v *view, matches []Match, accepts func([][]byte) bool) ([]Match, error) {
	if accepts == nil {
		return matches, nil
	}
	kept, read := matches[:0], s.finder.read(v)
	for _, m := range matches {
		wanted, err := accepted(accepts, m.Slot, read)
		if err != nil {
			return nil, err
		}
		if wanted {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// recounted returns the documents that reach a threshold of which the index's sets do not tell, since it counts
// repeated features and they do not, or the other way round: sets are made anew from all texts.
func (s *Searcher) recounted(v *view, text []byte, t measure.Threshold, o SearchOptions) ([]Match, error) {
	features, _ := s.x.options.Recipe.Features()
	if s.x.options.Keep != KeepText {
		return nil, setting.Errorf("index: its sets %s, so that it cannot tell %s: take another %s, or an index made with that one, or one that keeps texts",
			counted(features.Multiset), t.Measure(), setting.Measure)
	}
	if !o.Exact {
		return nil, setting.Errorf("%w: the keys are of sets that %s: for %s take %s exact, which compares every document",
			ErrRecall, counted(features.Multiset), t.Measure(), setting.Candidates)
	}
	features.Multiset = !features.Multiset
	r, err := recipe.New(recipe.Options{Features: features, Threshold: t, Keys: recipe.NoKeys})
	if err != nil {
		return nil, err
	}
	other := &Searcher{x: s.x, maker: r.NewMaker(recipe.MakerOptions{}), finder: newFinder(s.x)}
	other.finder.sets = r.NewSetMaker()
	other.maker.Make(text)
	return other.matches(v, &query{set: other.finder.setOfText(other.maker, text)}, t, v.slots)
}

// counted says in words whether sets count repeated features.
func counted(multiset bool) string {
	if multiset {
		return "count repeated shingles"
	}
	return "do not count repeated shingles"
}

// all returns the documents that reach the threshold.
func (s *Searcher) all(v *view, q *query, t measure.Threshold, o SearchOptions) ([]Match, error) {
	if o.Exact {
		return s.matches(v, q, t, v.slots)
	}
	slots, err := s.candidates(v, q, t, cmp.Or(o.Recall, lsh.DefaultRecall))
	if err != nil {
		return nil, err
	}
	matches, err := s.matches(v, q, t, slices.Values(slots))
	if err != nil {
		return nil, err
	}
	return s.withCopies(v, matches)
}

func (s *Searcher) query(text []byte, made recipe.Made) *query {
	s.keys = append(s.maker.AppendKeys(s.keys[:0]), digestKey(made.Digest))
	s.words = s.x.judge.appendWords(s.words[:0], s.maker.Signature())
	return &query{keys: s.keys, digest: made.Digest, words: s.words, set: s.finder.setOfText(s.maker, text)}
}

// candidates returns the documents that may reach the threshold, ascending, by the keys for its
// measure. It is an error if the recall cannot be reached.
func (s *Searcher) candidates(v *view, q *query, t measure.Threshold, recall float64) ([]uint64, error) {
	r, apart := s.x.options.Recipe, math.MaxInt
	if _, distance := r.Distance(); !distance { // with a distance, keys miss nothing
		least, ok := t.LeastJaccard()
		if !ok {
			return s.finder.sampled(v, q, t, recall)
		}
		// Bands that were tuned for the recall at the recipe's threshold are trusted there.
		if got := r.Banding().Probability(r.Agreement(least)); got < recall && t != r.Threshold() {
			return nil, setting.Errorf("%w: the index finds %.3g of the documents at %s, not %.3g: take a higher threshold, an index of a lower one, or %s exact, which compares every document",
				ErrRecall, got, t, recall, setting.Candidates)
		}
		apart = s.x.judge.mostApart(r, t)
	}
	v.touch(q.keys)
	return s.finder.candidates(v, v.Range, q.keys, r.MinKeys(), func(held *facts) bool { return s.finder.near(held, q, apart) })
}

// matches returns which of the documents reach the threshold.
func (s *Searcher) matches(v *view, q *query, t measure.Threshold, slots iter.Seq[uint64]) (matches []Match, err error) {
	f := s.finder
	read := f.read(v)
	for slot := range slots {
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
	return matches, nil
}

// withCopies adds the documents that equal a match: see Index.keysOf.
func (s *Searcher) withCopies(v *view, matches []Match) ([]Match, error) {
	if s.x.window.expires() {
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

// described reads the remaining fields of matches.
func (s *Searcher) described(v *view, query []byte, matches []Match, o SearchOptions) ([]Match, error) {
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
		if o.Passages {
			if r.kind != bodyText || s.tokenizer == nil {
				return nil, errors.New("index: passages are those of texts, and the index has none: make one that keeps them")
			}
			m.Passages = passage.InTexts(s.tokenizer, query, r.body, s.shingle)
			inQuery, inDocument := o.Encoding.Places(query), r.encoding.Places(r.body)
			for i := range m.Passages {
				p := &m.Passages[i]
				p.StartA, p.EndA = inQuery.InFile(p.StartA), inQuery.InFile(p.EndA)
				p.StartB, p.EndB = inDocument.InFile(p.StartB), inDocument.InFile(p.EndB)
			}
		}
		kept = append(kept, m)
	}
	return kept, nil
}

// Sizes returns the sizes of all documents, for UseSizes of another searcher of this index, at any later time. It reads
// the documents whose sizes are not known yet.
func (s *Searcher) Sizes() (Sizes, error) {
	err := s.sizes.read(s.finder, s.x.view.Load())
	return s.sizes.known, err
}

// UseSizes saves Neighbours from reading documents for their sizes.
func (s *Searcher) UseSizes(known Sizes) { s.sizes = sizes{known: known} }

// Between returns which of some documents are alike by the recipe, and how much: links are between places in slots.
// Documents that have gone are in none. It reads each once: O(total length), and O(n²) comparisons.
func (s *Searcher) Between(slots []uint64) (links []cluster.Link, err error) {
	v, by := s.x.view.Load(), s.x.options.Recipe.NewComparer(false)
	sets, words := make([][]uint64, len(slots)), make([][]uint32, len(slots))
	for i, slot := range slots {
		alive, err := v.facts(slot, &s.finder.held)
		switch {
		case err != nil:
			return nil, err
		case !alive:
		case !s.x.judge.bySets:
			words[i] = slices.Clone(s.finder.held.words)
		default:
			r, err := s.finder.read(v)(slot)
			if err == nil {
				sets[i] = slices.Clone(s.finder.setOf(r))
			} else if !errors.Is(err, errGone) {
				return nil, err
			}
		}
	}
	for b := range slots {
		for a := range b {
			similarity, alike := 0.0, false
			switch {
			case s.x.judge.bySets:
				similarity, alike = by.Sets(sets[a], sets[b])
			case words[a] != nil && words[b] != nil:
				similarity, alike = by.Signatures(words[a], words[b])
			}
			if alike {
				links = append(links, cluster.Link{Edge: cluster.Edge{A: uint32(a), B: uint32(b)}, Similarity: similarity})
			}
		}
	}
	return links, nil
}

// Sizes are the numbers of features of documents, by slot from From on; 0 of those that have gone.
type Sizes struct {
	From uint64
	Of   []uint32
}

// sizes are those that a searcher knows.
type sizes struct {
	known  Sizes
	ofSize map[uint32][]uint64 // by size, slots in ascending order, of the first listed ones of known
	listed int
}

// of returns the size of the document of a slot, 0 if it had gone when it was asked for.
func (s *sizes) of(slot uint64) uint64 {
	if at := slot - s.known.From; at < uint64(len(s.known.Of)) {
		return uint64(s.known.Of[at])
	}
	return 0
}

// slots returns the slots of each size, ascending. Some may have gone.
func (s *sizes) slots() map[uint32][]uint64 {
	if s.ofSize == nil {
		s.ofSize = map[uint32][]uint64{}
	}
	for ; s.listed < len(s.known.Of); s.listed++ {
		if size := s.known.Of[s.listed]; size > 0 {
			s.ofSize[size] = append(s.ofSize[size], s.known.From+uint64(s.listed))
		}
	}
	return s.ofSize
}

func (s *sizes) read(f *finder, v *view) error {
	if s.known.Of == nil {
		s.known.From = v.First
	}
	read := f.read(v)
	for slot := s.known.From + uint64(len(s.known.Of)); slot < v.Next; slot++ {
		size := 0
		if v.has(slot) {
			r, err := read(slot)
			if err == nil {
				size = len(f.setOf(r))
			} else if !errors.Is(err, errGone) {
				return err
			}
		}
		s.known.Of = append(s.known.Of, uint32(size))
	}
	return nil
}
