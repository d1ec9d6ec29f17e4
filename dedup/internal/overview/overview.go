// Package overview gathers the content of a report on the outcome of a run: how many documents were
// removed and from where, how similar they were, how large the clusters are, and some of the
// removed documents next to the ones that were kept in their place.
package overview

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

// Limits that keep a report small whatever the corpus is.
const (
	mostInputs  = 20
	mostMembers = 12 // listed of a cluster
	mostNearest = 12
	mostOthers  = 12
	mostText    = 1 << 20 // bytes of a record that is shown
)

// Bins is the number of equal parts of the similarities from 0 to 1 in the histogram.
const Bins = 50

// Overview is the outcome of a run. It is the same for any number of threads and any amount of
// memory.
type Overview struct {
	Copies       int64              // removed with a similarity of 1 by their digests
	Similarities [Bins]int64        // of the other removed documents to the kept ones; the last part includes 1
	Sizes        []Sizes            // of the clusters, ascending
	Suspicious   []Suspect          // the largest and those of the least similar Examples; by the similarity of Least, ascending
	Examples     []Example          // by similarity, ascending
	Inputs       []Input            // with records, those from which most records were removed first
	OtherInputs  int                // with records, not listed in Inputs
	Repeated     []passage.Repeated // passages of most kept documents of a sample, those with the most tokens over all first
	Sampled      int                // documents of the sample
	Across       []Across           // by files, if they are several, and by Options.By
}

// Sizes counts the clusters of Least to Most members.
type Sizes struct {
	Least, Most int
	Clusters    int64
}

// Suspect is a cluster that may hold what does not belong together.
type Suspect struct {
	Size    int
	Members []Member // the first few
	Least   Example  // of the removed documents that are no copies, the one least like the kept one; Removed "": there is none
	first   uint64
}

// Member is a document of a Suspect.
type Member struct {
	Name       string
	Similarity float64 // to the kept one; 0: it is kept
}

// Example is a removed document that is no copy.
type Example struct {
	Removed, Kept         string // names
	Similarity            float64
	RemovedText, KeptText []byte // nil: too long, or not available
	removed, kept         uint32
}

// Input is a file of records.
type Input struct {
	Name               string
	Documents, Removed int64
}

// Options are the results of a run.
type Options struct {
	Table    *doctable.Table
	Clusters *clusters.Result
	Shown    bitset.Set[uint32] // the documents that may be examples; nil: all
	By       string             // the field that documents have a value of; "": none
	Values   []string           // the first of these values
}

// Find gathers the overview, without the texts of examples. It goes once through the removed
// documents and once through the members of clusters.
func Find(o Options) (*Overview, error) {
	v := &Overview{Sizes: sizes(o.Clusters)}
	examples, err := v.rate(o)
	if err == nil {
		err = v.countInputs(o)
	}
	if err == nil {
		err = v.nameClusters(o, examples)
	}
	if err == nil {
		err = v.name(o, examples)
	}
	for _, across := range []func(Options) (*Across, error){acrossFiles, acrossValues} {
		if err == nil {
			var a *Across
			if a, err = across(o); a != nil {
				v.Across = append(v.Across, *a)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func sizes(c *clusters.Result) (of []Sizes) {
	for i, n := range c.BySize {
		if n > 0 {
			of = append(of, Sizes{Least: 1 << i, Most: 1<<(i+1) - 1, Clusters: n})
		}
	}
	return of
}

// rate counts the similarities, and chooses examples: those that are least similar, where errors
// show first, and as many others, at random but always the same.
func (v *Overview) rate(o Options) ([]example, error) {
	nearest := chosen{most: mostNearest, before: func(a, b example) int {
		return cmp.Or(cmp.Compare(a.similarity, b.similarity), cmp.Compare(a.doc, b.doc))
	}}
	others := chosen{most: mostNearest + mostOthers, before: func(a, b example) int { return cmp.Compare(a.order(), b.order()) }}
	docs := o.Table.Scanner()
	err := o.Clusters.Similarities.Visit(func(e extsort.Entry) error {
		x := example{doc: uint32(e.Key), similarity: math.Float64frombits(e.Value)}
		v.Similarities[min(max(int(x.similarity*Bins), 0), Bins-1)]++
		if !nearest.takes(x) && !others.takes(x) || o.Shown != nil && !o.Shown.Has(x.doc) || docs.Doc(x.doc).Length > mostText {
			return docs.Err
		}
		nearest.add(x)
		others.add(x)
		return docs.Err
	})
	v.Copies = o.Clusters.Removed.Len() - o.Clusters.Similarities.Len()
	all := nearest.all
	for _, x := range others.all {
		if len(all) < mostNearest+mostOthers && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	sorting.Func(all, nearest.before)
	return all, err
}

// countInputs counts the removed records of each file.
func (v *Overview) countInputs(o Options) error {
	t := o.Table
	removed := make([]int64, len(t.Sources))
	err := o.Clusters.Removed.Visit(func(e extsort.Entry) error {
		removed[t.FileOf(uint32(e.Key))]++
		return nil
	})
	if err != nil {
		return err
	}
	if t.Known != nil {
		for doc := uint32(t.References); doc < uint32(t.Docs); doc++ {
			if t.Known.Has(doc) {
				removed[t.FileOf(doc)]++
			}
		}
	}
	for file := t.ReferenceFiles; file < len(t.Sources); file++ {
		if s := &t.Sources[file]; s.Format != corpus.Text {
			first, end := t.DocsOfFile(file)
			v.Inputs = append(v.Inputs, Input{Name: s.Label(), Documents: int64(end - first), Removed: removed[file]})
		}
	}
	sorting.Stable(v.Inputs, func(a, b Input) int { return cmp.Compare(b.Removed, a.Removed) })
	v.OtherInputs = max(0, len(v.Inputs)-mostInputs)
	v.Inputs = v.Inputs[:len(v.Inputs)-v.OtherInputs]
	return nil
}

// nameClusters names the first members of the largest clusters, and of those of the least similar examples.
func (v *Overview) nameClusters(o Options, examples []example) error {
	at := map[uint64]*Suspect{} // by the smallest document
	for _, c := range o.Clusters.Largest {
		at[uint64(c.First)] = &Suspect{}
	}
	labels := extsort.NewLookup(o.Clusters.Labels)
	nearest := sorting.Sorted(slices.Values(examples[:min(len(examples), mostNearest)]), func(a, b example) int { return cmp.Compare(a.doc, b.doc) })
	for _, x := range nearest {
		if first, ok := labels.Find(uint64(x.doc)); ok && at[first] == nil {
			at[first] = &Suspect{}
		}
	}
	removed, similarities := extsort.NewLookup(o.Clusters.Removed), extsort.NewLookup(o.Clusters.Similarities)
	docs := o.Table.Scanner()
	err := o.Clusters.Labels.Visit(func(e extsort.Entry) error {
		c := at[e.Value]
		if c == nil {
			return docs.Err
		}
		kept, gone := removed.Find(e.Key)
		m := Member{Similarity: 1}
		if !gone {
			m.Similarity = 0
		} else if bits, ok := similarities.Find(e.Key); ok {
			m.Similarity = math.Float64frombits(bits)
			if c.Least.Removed == "" || m.Similarity < c.Least.Similarity {
				c.Least = Example{Removed: docs.ID(uint32(e.Key)), Similarity: m.Similarity, removed: uint32(e.Key), kept: uint32(kept)}
			}
		}
		if c.Size++; len(c.Members) < mostMembers {
			m.Name = docs.ID(uint32(e.Key))
			c.Members = append(c.Members, m)
		}
		return docs.Err
	})
	cursor := o.Table.Cursor()
	for first, c := range at {
		if c.first = first; c.Least.Removed != "" {
			c.Least.Kept = cursor.ID(c.Least.kept)
		}
		v.Suspicious = append(v.Suspicious, *c)
	}
	least := func(s Suspect) float64 {
		if s.Least.Removed == "" {
			return 1 // only copies
		}
		return s.Least.Similarity
	}
	sorting.Func(v.Suspicious, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(least(a), least(b)), cmp.Compare(b.Size, a.Size), cmp.Compare(a.first, b.first))
	})
	return errors.Join(err, labels.Err(), labels.Close(), removed.Err(), removed.Close(), similarities.Err(), similarities.Close(), cursor.Err)
}

// name names the examples, and the documents kept in their place.
func (v *Overview) name(o Options, examples []example) error {
	ordered := sorting.Sorted(slices.Values(examples), func(a, b example) int { return cmp.Compare(a.doc, b.doc) })
	kept := map[uint32]uint32{}
	removed := extsort.NewLookup(o.Clusters.Removed)
	for _, x := range ordered {
		by, _ := removed.Find(uint64(x.doc))
		kept[x.doc] = uint32(by)
	}
	docs := o.Table.Cursor()
	for _, x := range examples {
		v.Examples = append(v.Examples, Example{
			Removed: docs.ID(x.doc), Kept: docs.ID(kept[x.doc]), Similarity: x.similarity, removed: x.doc, kept: kept[x.doc],
		})
	}
	return errors.Join(removed.Err(), removed.Close(), docs.Err)
}

// Documents returns the documents whose texts are shown, ascending.
func (v *Overview) Documents(t *doctable.Table) (docs []uint32, err error) {
	c := t.Cursor()
	for e := range v.shown() {
		for _, doc := range []uint32{e.removed, e.kept} {
			if c.Doc(doc).Length <= mostText {
				docs = append(docs, doc)
			}
		}
	}
	slices.Sort(docs)
	return slices.Compact(docs), c.Err
}

// shown ranges over all examples.
func (v *Overview) shown() iter.Seq[*Example] {
	return func(yield func(*Example) bool) {
		for i := range v.Examples {
			if !yield(&v.Examples[i]) {
				return
			}
		}
		for i := range v.Suspicious {
			if e := &v.Suspicious[i].Least; e.Removed != "" && !yield(e) {
				return
			}
		}
	}
}

// Show gives the examples the texts of documents, as far as they are available.
func (v *Overview) Show(texts map[uint32][]byte) {
	for e := range v.shown() {
		e.RemovedText, e.KeptText = texts[e.removed], texts[e.kept]
	}
}

// example is a removed document and its similarity to the kept one.
type example struct {
	doc        uint32
	similarity float64
}

// order is a number that is independent of the document's content.
func (x example) order() uint64 { return hashing.Mix(uint64(x.doc)) }

// chosen is the first few examples in an order without equals.
type chosen struct {
	most   int
	before func(a, b example) int
	all    []example // in their order
}

func (c *chosen) takes(x example) bool {
	return len(c.all) < c.most || c.before(x, c.all[len(c.all)-1]) < 0
}

// add takes an example, if it is among the first. O(most), but rarely: of n in random order, most ·
// log n are among the first when they come.
func (c *chosen) add(x example) {
	if !c.takes(x) {
		return
	}
	at, _ := slices.BinarySearchFunc(c.all, x, c.before)
	c.all = slices.Insert(c.all, at, x)
	c.all = c.all[:min(len(c.all), c.most)]
}

// Limits of the sample in which repeated passages are looked for.
const (
	mostSampled   = 1000
	mostDraws     = 4 * mostSampled
	sampledRecord = 64 << 10 // bytes
	sampledBytes  = 1 << 20
	mostRepeated  = 12
	repeatedText  = 1 << 10 // bytes
)

// Sample draws kept documents, always the same ones. The documents are ascending.
func Sample(t *doctable.Table, c *clusters.Result) (docs []uint32, err error) {
	draws := make([]uint32, 0, mostDraws)
	if t.Docs-t.References <= mostDraws {
		for doc := t.References; doc < t.Docs; doc++ {
			draws = append(draws, uint32(doc))
		}
	} else {
		for i := range uint64(mostDraws) {
			draws = append(draws, uint32(t.References)+uint32(hashing.Mix(i)%uint64(t.Docs-t.References)))
		}
		slices.Sort(draws)
		draws = slices.Compact(draws)
	}
	type kept struct {
		doc    uint32
		length int64
	}
	var all []kept
	removed, at := extsort.NewLookup(c.Removed), t.Scanner()
	for _, doc := range draws {
		if _, gone := removed.Find(uint64(doc)); gone || t.Skipped.Has(doc) || t.Known != nil && t.Known.Has(doc) {
			continue
		}
		if n := int64(at.Doc(doc).Length); n <= sampledRecord {
			all = append(all, kept{doc, n})
		}
	}
	sorting.Func(all, func(a, b kept) int { return cmp.Compare(hashing.Mix(uint64(a.doc)), hashing.Mix(uint64(b.doc))) })
	bytes := int64(0)
	for _, k := range all {
		if bytes += k.length; len(docs) == mostSampled || bytes > sampledBytes {
			break
		}
		docs = append(docs, k.doc)
	}
	slices.Sort(docs)
	return docs, errors.Join(at.Err, removed.Err(), removed.Close())
}

// Repeat finds the passages that most texts of the sample have. Of long ones the beginning is enough.
func (v *Overview) Repeat(texts [][]byte) error {
	words, err := text.New(text.Options{})
	if err != nil {
		return err
	}
	v.Sampled = len(texts)
	v.Repeated = passage.Common(words, texts, passage.Often(len(texts)), mostRepeated)
	for i := range v.Repeated {
		r := &v.Repeated[i]
		r.Text = r.Text[:min(len(r.Text), repeatedText)]
	}
	return nil
}
