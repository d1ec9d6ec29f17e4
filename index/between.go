package index

import (
	"errors"
	"slices"

	"github.com/alike-dev/alike/cluster"
)

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
