package advise

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Limits of a sample. A text counts with its first textMost bytes. An advice takes about memoryEach bytes of memory
// for each byte of the sample, which has bytesMost of them, or bytesLeast where memory is scarce.
const (
	documentsMost = 6000
	bytesMost     = 8 << 20
	bytesLeast    = 128 << 10
	memoryEach    = 96
	textMost      = 16 << 10
)

// Document is a text of a sample.
type Document struct {
	ID   string
	Text []byte // its beginning

	key    uint64 // of the sample; copies often have the same
	digest uint64
	place  uint64 // block of the input
}

// Sample is some of the documents of a corpus, each text once: those with the smallest keys. The key of a text is a
// hash of its least feature, so two copies have the same one with a probability of their Jaccard similarity, and copies
// are in a sample far more often than if it were drawn document by document.
type Sample struct {
	Documents []Document // by key
	Whole     float64    // documents of the corpus
	Distinct  float64    // texts of the corpus, each once

	named   []Document // that were wanted by name, beside those above
	fair    [][]byte   // see fair; all texts if kept is 1
	scanned float64    // share of the blocks of the corpus whose texts had keys
	kept    float64    // share of these texts that the sample has
}

// Collector makes a sample of texts that come in any order.
type Collector struct {
	shingles *shingle.Shingler
	scratch  []uint64
	docs     []Document
	seen     map[uint64]struct{}
	wanted   map[string]bool // names of documents that are taken in any case
	named    []Document
	fair     fair
	most     int // bytes
	bytes    int
	dropped  uint64 // the least key that was dropped; 0: none
	n        int64
}

// NewCollector returns an empty collector of a sample for an advice that may take so many bytes of memory; 0: no
// ceiling.
func NewCollector(memory int64) *Collector {
	most := bytesMost
	if memory > 0 {
		most = int(min(max(memory/memoryEach, bytesLeast), bytesMost))
	}
	return &Collector{
		most:     most,
		fair:     fair{most: most / fairShare},
		shingles: shingler(places.Options(text.Options{})),
		seen:     map[uint64]struct{}{},
	}
}

// want makes Add take the documents of these names in any case.
func (c *Collector) want(names []string) {
	c.wanted = make(map[string]bool, len(names))
	for _, name := range names {
		c.wanted[name] = true
	}
}

// Add offers a document of a block of the input. It keeps no reference to the arguments.
func (c *Collector) Add(id, document []byte, place uint64) {
	c.n++
	document = document[:min(len(document), textMost)]
	if c.wanted[string(id)] {
		c.named = append(c.named, Document{ID: string(id), Text: slices.Clone(document)})
		delete(c.wanted, string(id))
	}
	digest := hashing.Bytes(document)
	if _, is := c.seen[digest]; is {
		return
	}
	c.seen[digest] = struct{}{}
	c.scratch = c.shingles.AppendFeatures(c.scratch[:0], document)
	if len(c.scratch) == 0 {
		return
	}
	c.fair.add(digest, document)
	least := uint64(math.MaxUint64)
	for _, feature := range c.scratch {
		least = min(least, hashing.Mix(feature))
	}
	key := hashing.Mix(least)
	if c.dropped > 0 && key >= c.dropped {
		return
	}
	c.docs = append(c.docs, Document{string(id), slices.Clone(document), key, digest, place})
	if c.bytes += len(document); len(c.docs) > 2*documentsMost || c.bytes > 2*c.most {
		c.trim()
	}
}

// trim drops the documents with the largest keys. Those with one key stay or go together.
func (c *Collector) trim() {
	sorting.Func(c.docs, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.digest, b.digest))
	})
	bytes := 0
	for i, d := range c.docs {
		if bytes += len(d.Text); i >= documentsMost || bytes > c.most {
			c.dropped = d.key
			break
		}
	}
	if c.dropped == 0 {
		return
	}
	c.docs = slices.DeleteFunc(c.docs, func(d Document) bool { return d.key >= c.dropped })
	c.bytes = 0
	for _, d := range c.docs {
		c.bytes += len(d.Text)
	}
}

// Sample returns the sample, if the share scanned of the blocks of a corpus was offered.
func (c *Collector) Sample(scanned float64) *Sample {
	c.trim()
	c.fair.trim()
	s := &Sample{Documents: c.docs, named: c.named, scanned: scanned, kept: 1}
	for _, t := range c.fair.texts {
		s.fair = append(s.fair, t.text)
	}
	if c.dropped > 0 {
		s.kept = float64(c.dropped) / math.MaxUint64
	}
	s.Whole = float64(c.n) / scanned
	s.Distinct = float64(len(c.seen)) / scanned
	return s
}

// texts returns the texts of the documents, then those of the named ones.
func (s *Sample) texts() (texts [][]byte) {
	for _, d := range slices.Concat(s.Documents, s.named) {
		texts = append(texts, d.Text)
	}
	return texts
}

// Pairs that are surely no copies are so many, and so much alike, that up to othersMost of them stand for all.
const (
	othersMost = 8192
	othersFrom = 0.3 // of cover; below it a pair is one of these
)

// thin leaves out some of the pairs that are surely no copies, evenly, and lets the others weigh more.
func (s *Sample) thin(pairs []pair) []pair {
	others := 0
	for _, p := range pairs {
		if p.cover < othersFrom {
			others++
		}
	}
	if others <= othersMost {
		return pairs
	}
	share := float64(othersMost) / float64(others)
	kept := pairs[:0]
	for _, p := range pairs {
		if p.cover < othersFrom {
			if float64(s.drawn(p)>>11)*0x1p-53 >= share {
				continue
			}
			p.weight /= share
		}
		kept = append(kept, p)
	}
	return kept
}

// drawn returns a hash of the texts of a pair, by which pairs are drawn.
func (s *Sample) drawn(p pair) uint64 {
	return hashing.Mix(s.Documents[p.a].digest ^ hashing.Mix(s.Documents[p.b].digest))
}

// weigh sets for how many pairs of the whole each pair stands: one over the probability that the sample has both.
// common has the features in common of the sets by witnessCut, of which keys are made.
func (s *Sample) weigh(pairs []pair, common []int, sets [][]uint64) {
	for i := range pairs {
		p := &pairs[i]
		a, b := &s.Documents[p.a], &s.Documents[p.b]
		jaccard := float64(common[i]) / float64(len(sets[p.a])+len(sets[p.b])-common[i])
		scanned := s.scanned * s.scanned
		if a.place == b.place {
			scanned = s.scanned
		}
		p.weight *= 1 / (scanned * s.kept * (jaccard + (1-jaccard)*s.kept))
	}
}

// Limits of a fair sample.
const (
	fairMost  = 2000
	fairLeast = 200 // by fewer it is not counted
	fairShare = 4   // its bytes are one in so many of those of the sample
)

// fair is a sample of texts that are drawn one by one, by their digests. In a Sample texts come with others that have the
// same least feature, and of a template that lacks it few: there they look rare. By a fair sample it is counted what many
// texts have.
type fair struct {
	texts   []fairText
	bytes   int
	most    int    // bytes
	dropped uint64 // the least order that was dropped; 0: none
}

type fairText struct {
	order uint64
	text  []byte
}

// add offers a text. It keeps no reference to it.
func (f *fair) add(digest uint64, text []byte) {
	order := hashing.Mix(digest)
	if f.dropped > 0 && order >= f.dropped {
		return
	}
	f.texts = append(f.texts, fairText{order, slices.Clone(text)})
	if f.bytes += len(text); len(f.texts) > 2*fairMost || f.bytes > 2*f.most {
		f.trim()
	}
}

// trim drops the texts that come last.
func (f *fair) trim() {
	sorting.Func(f.texts, func(a, b fairText) int { return cmp.Compare(a.order, b.order) })
	f.bytes = 0
	for i, t := range f.texts {
		if i == fairMost || f.bytes+len(t.text) > f.most {
			f.dropped = t.order
			clear(f.texts[i:])
			f.texts = f.texts[:i]
			return
		}
		f.bytes += len(t.text)
	}
}

// counted returns texts by which it is counted what many texts have, and how many of them have a rare feature at most. nil:
// the documents of the sample, as there are no others, or too few fair ones.
func (s *Sample) counted() (texts [][]byte, most int) {
	if s.kept == 1 || len(s.fair) < fairLeast {
		return nil, int(shingle.RareMost(uint64(len(s.Documents))))
	}
	share := float64(len(s.fair)) / max(s.Distinct, 1)
	return s.fair, max(int(float64(shingle.RareMost(uint64(s.Distinct)))*share), 1)
}
