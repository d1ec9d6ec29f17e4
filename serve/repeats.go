package serve

import (
	"cmp"
	"maps"
	"sync"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/sorting"
)

// repeats count the duplicates of documents since the server began, which are not stored themselves. Many goroutines
// use them.
type repeats struct {
	mu sync.Mutex
	of map[string]*repeat
}

// repeat is what came to one document.
type repeat struct {
	id         string
	duplicates int64
	sum, least float64 // of their similarities
}

// mostRepeats is how many documents are counted at once. When there are more, those with the fewest duplicates, of half
// of them, are forgotten: as in a lossy count, one that has a large share of all duplicates stays.
const mostRepeats = 4096

// add counts a verdict if it is of a duplicate.
func (r *repeats) add(v *index.Verdict) {
	if v.New || v.Known {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.of[string(v.Of)]
	if of == nil {
		if len(r.of) >= mostRepeats {
			r.forget()
		}
		if r.of == nil {
			r.of = map[string]*repeat{}
		}
		of = &repeat{id: string(v.Of), least: 1}
		r.of[of.id] = of
	}
	of.duplicates++
	of.sum += v.Similarity
	of.least = min(of.least, v.Similarity)
}

// forget leaves the upper half. r.mu is held.
func (r *repeats) forget() {
	for _, of := range r.sorted()[mostRepeats/2:] {
		delete(r.of, of.id)
	}
}

func (r *repeats) sorted() []*repeat {
	return sorting.Sorted(maps.Values(r.of), func(a, b *repeat) int {
		return cmp.Or(cmp.Compare(b.duplicates, a.duplicates), cmp.Compare(a.id, b.id))
	})
}

// first returns the documents with the most duplicates, n of them at most.
func (r *repeats) first(n int) []repeat {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.sorted()
	most := make([]repeat, min(n, len(all)))
	for i := range most {
		most[i] = *all[i]
	}
	return most
}
