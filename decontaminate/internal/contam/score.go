package contam

import "math"

// Frequencies are the numbers of documents, among Documents of the corpus, that have a gram.
type Frequencies struct {
	Documents int64
	Of        []uint32
}

// NewFrequencies returns those of an index, all zero.
func (x *Index) NewFrequencies() *Frequencies { return &Frequencies{Of: make([]uint32, len(x.keys))} }

// Add counts the grams of a note. It reports whether the note is whole.
func (f *Frequencies) Add(note []byte) (ok bool) {
	_, ok = EachGram(note, func(gram uint32) {
		if int(gram) < len(f.Of) {
			f.Of[gram]++
		}
	})
	return ok
}

// seldom is the number of documents, or of items, up to which a gram weighs something even if they are all there are.
const seldom = 200

// weight returns the weight of what occurs n times among many: 1 if once or never, 0 from a hundredth of them on.
func weight(n uint32, many int64) float64 {
	most := max(seldom, float64(many)/100)
	return max(0, 1-math.Log(max(1, float64(n)))/math.Log(most))
}

// A Finding is an item that stands in a document.
type Finding struct {
	*Item
	ID         string // of the row
	Answered   bool   // its answer is there too
	Score      float64
	Start, End int
	Excerpt    []byte // see Candidate
	Lead       int
}

// Part says what of the item stands there.
func (f *Finding) Part() string {
	switch {
	case f.Answered:
		return "question+answer"
	case len(f.Rows) > 0 || f.Passage != nil:
		return "question"
	}
	return "text"
}

// Name names the item among those of its set.
func (f *Finding) Name() string { return f.Item.ID }

// The rules by which a place counts.
const (
	leastAsked = 0.3 // weight of each sentence that asks, unless an answer stands beside the item
	leastTotal = 1   // weight of all words of the item
	short      = 12  // words up to which an item must stand there whole, and as sentences of its own or with an answer
	middling   = 40  // words up to which it must begin as the item does, or be sentences
	tiny       = 7   // words up to which it needs the answer, if it has one
)

// A Judge decides about candidates.
type Judge struct {
	x          *Index
	f          *Frequencies
	threshold  float64
	weights    map[int][]float64
	candidates []Candidate
	findings   []Finding
}

func NewJudge(x *Index, f *Frequencies, threshold float64) *Judge {
	return &Judge{x: x, f: f, threshold: threshold, weights: map[int][]float64{}}
}

// Findings returns the items that stand in a document, by its note, until the next call.
func (j *Judge) Findings(note []byte) (found []Finding, ok bool) {
	j.candidates, ok = j.x.Candidates(j.candidates[:0], note)
	j.findings = j.findings[:0]
	for i := range j.candidates {
		if f, is := j.Judge(&j.candidates[i]); is {
			j.findings = append(j.findings, f)
		}
	}
	return j.findings, ok
}

// weigh returns the weights of an item's words: of each that of the most frequent gram it lies in.
func (j *Judge) weigh(item int) []float64 {
	if w, known := j.weights[item]; known {
		return w
	}
	i := &j.x.Items[item]
	w := make([]float64, len(i.tokens))
	for n := range w {
		w[n] = 1
	}
	for at, g := range i.grams {
		v := min(weight(j.f.Of[g], j.f.Documents), weight(j.x.among[g], int64(len(j.x.Items))))
		for n := at; n < at+Gram; n++ {
			w[n] = min(w[n], v)
		}
	}
	j.weights[item] = w
	return w
}

// Judge tells whether an item stands at a place.
func (j *Judge) Judge(c *Candidate) (f Finding, ok bool) {
	i, w := &j.x.Items[c.Item], j.weigh(c.Item)
	found, total, words := matched(c.Matched, w, span{0, len(w)})
	if total < leastTotal {
		return f, false
	}
	f = Finding{Item: i, ID: i.ID, Score: found / total, Start: c.Start, End: c.End, Excerpt: c.Excerpt, Lead: c.Lead, Answered: c.Answer > 0}
	if f.Answered {
		f.ID = i.Rows[c.Answer-1].ID
	}
	n := len(w)
	head, tail := extremes(c.Matched, n)
	switch {
	case f.Score < j.threshold || words < leastWords(n):
		return f, false
	case n <= tiny:
		return f, words == n && (f.Answered || c.Starts && c.Ends && len(i.Rows) == 0)
	case n <= short:
		return f, words == n && (f.Answered || c.Starts && c.Ends) || words == n-1 && head && tail && c.Starts && c.Ends
	case n <= middling && !head && !(c.Starts && (tail || c.Ends)):
		return f, false
	}
	return f, f.Answered || j.asked(c, w)
}

// extremes tells whether one of the first two words is matched, and one of the last two.
func extremes(bits []byte, n int) (head, tail bool) {
	has := func(at int) bool { return bits[at/8]>>(at%8)&1 != 0 }
	return has(0) || has(1), has(n-1) || has(n-2)
}

// asked tells whether the sentences that ask are there: enough of each by weight, and some words of it in a row, which
// do not stand together by chance.
func (j *Judge) asked(c *Candidate, w []float64) bool {
	for _, s := range j.x.Items[c.Item].asking {
		found, total, words := matched(c.Matched, w, s)
		// A sentence that many items ask, of little weight, must be there as well.
		if found+leastAsked*float64(words) < leastAsked*(total+leastAsked*float64(s.to-s.from)) || row(c.Matched, s) < min(leastRun, s.to-s.from) {
			return false
		}
	}
	return true
}

// row returns the most matched words of a span that follow each other.
func row(bits []byte, of span) (most int) {
	n := 0
	for at := of.from; at < of.to; at++ {
		if n++; bits[at/8]>>(at%8)&1 == 0 {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// count returns the number of the matched words of a span.
func count(bits []byte, of span) (words int) {
	for n := of.from; n < of.to; n++ {
		words += int(bits[n/8] >> (n % 8) & 1)
	}
	return words
}

// matched returns the weight and number of the matched words of a span, and the weight of all of them.
func matched(bits []byte, w []float64, of span) (found, total float64, words int) {
	for n := of.from; n < of.to; n++ {
		total += w[n]
		if bits[n/8]>>(n%8)&1 != 0 {
			found += w[n]
			words++
		}
	}
	return found, total, words
}
