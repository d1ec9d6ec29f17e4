package overview

import (
	"cmp"
	"errors"
	"slices"

	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

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
