package dedup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/lsh"
)

// partner is a document similar to another one.
type partner struct {
	doc        uint32
	similarity float64
}

// expander turns edges between representatives into pairs of documents.
type expander struct {
	r     *run
	start []uint32 // of each document's neighbours; len(docs)+1
	to    []partner
	cap   int // members of a class up to which all its pairs are listed; 0: any number
	// crowd holds the members of classes over the cap but the first few: pairs of
	// two of them are not listed, as those of a hot bucket are not compared.
	crowd map[uint32]bool
}

// emitPairs emits the pairs of all documents in order, one document's partners
// in memory at a time.
func (r *run) emitPairs(ctx context.Context, emit func(Pair) error) (items, bytes int64, err error) {
	x := newExpander(r)
	var partners []partner
	var a, b []byte
	for i := range r.table.docs {
		doc := uint32(i)
		partners = x.partners(partners[:0], doc)
		if len(partners) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return items, 0, err
		}
		a = r.table.appendID(a[:0], doc)
		for _, p := range partners {
			b = r.table.appendID(b[:0], p.doc)
			if err := emit(Pair{a, b, p.similarity}); err != nil {
				return items, 0, err
			}
			items++
		}
	}
	return items, 0, nil
}

// newExpander lays out the edges as adjacency lists.
func newExpander(r *run) *expander {
	n := len(r.table.docs)
	x := &expander{r: r, start: make([]uint32, n+1), to: make([]partner, 2*len(r.edges))}
	if r.config.Candidates != CandidatesExact { // who asks for exact wants every pair
		x.cap = r.config.BucketCap
		x.findCrowds()
	}
	for _, e := range r.edges {
		x.start[e.a+1]++
		x.start[e.b+1]++
	}
	for i := range n {
		x.start[i+1] += x.start[i]
	}
	at := slices.Clone(x.start)
	for _, e := range r.edges {
		x.to[at[e.a]] = partner{e.b, e.similarity}
		at[e.a]++
		x.to[at[e.b]] = partner{e.a, e.similarity}
		at[e.b]++
	}
	return x
}

// partners appends the documents after doc that are similar to it, ascending.
func (x *expander) partners(dst []partner, doc uint32) []partner {
	if !x.r.table.compared(doc) {
		return dst
	}
	rep := x.r.classes.rep[doc]
	first := len(dst)
	dst = x.appendClass(dst, doc, partner{rep, 1})
	for _, p := range x.to[x.start[rep]:x.start[rep+1]] {
		dst = x.appendClass(dst, doc, p)
	}
	slices.SortFunc(dst[first:], func(a, b partner) int { return cmp.Compare(a.doc, b.doc) })
	return dst
}

// appendClass appends the members after doc of the class of p.
func (x *expander) appendClass(dst []partner, doc uint32, p partner) []partner {
	i, several := x.r.classes.index[p.doc]
	if !several {
		if p.doc > doc {
			dst = append(dst, p)
		}
		return dst
	}
	members := x.r.classes.members[i]
	if x.cap > 0 && len(members) > x.cap && x.crowd[doc] {
		members = members[:lsh.Hubs]
	}
	after, found := slices.BinarySearch(members, doc)
	if found {
		after++
	}
	for _, member := range members[after:] {
		dst = append(dst, partner{member, p.similarity})
	}
	return dst
}

// findCrowds fills in crowd and counts the classes over the cap.
func (x *expander) findCrowds() {
	x.crowd = map[uint32]bool{}
	classes := 0
	for _, members := range x.r.classes.members {
		if len(members) <= x.cap {
			continue
		}
		classes++
		for _, doc := range members[min(lsh.Hubs, len(members)):] {
			x.crowd[doc] = true
		}
	}
	if classes == 0 {
		return
	}
	x.r.summary.BucketsCapped += int64(classes)
	x.r.config.OnNotice(fmt.Sprintf("texts with more than %d copies: %d; of their pairs, those with the first %d copies are listed, with --candidates exact all",
		x.cap, classes, lsh.Hubs))
}
