package pieces

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// mostLeaders is how many sets may lead, some 200 bytes for each of 20 words. The number does not depend on the memory of
// the run, so that the result does not.
const mostLeaders = 1 << 18

// Leaders puts sets into groups, in their order: a set joins the group of the first leader that it is similar to, or leads
// one of its own. Of n sets that are like k leaders n·k words are looked at, if sets differ in their rare words, in place
// of the n²/2 pairs. Every set is counted before the first one joins.
type Leaders struct {
	threshold measure.Threshold
	counts    []uint32 // of words, by their upper bits: how many sets have one of them, roughly
	sets      [][]uint64
	names     []uint64
	holders   map[uint64][]holder // of the words in the prefixes of leaders

	byRarity  []extsort.Entry // words, by their counts
	prefix    []uint64
	shared    []uint32 // words of prefixes, by leader
	suspected []uint32 // leaders that share one
}

// A holder is a leader, and the place of a word in its order by rarity.
type holder struct{ leader, place uint32 }

const countBits = 20

// NewLeaders returns Leaders without sets.
func NewLeaders(threshold measure.Threshold) *Leaders {
	return &Leaders{threshold: threshold, counts: make([]uint32, 1<<countBits), holders: map[uint64][]holder{}}
}

func (l *Leaders) Count(set []uint64) {
	for _, word := range set {
		l.counts[word>>(64-countBits)]++
	}
}

// Join returns the name of the leader whose group a set joins; ok is false if it leads. The set is sorted, and kept.
func (l *Leaders) Join(name uint64, set []uint64) (leader uint64, ok bool) {
	l.byRarity = l.byRarity[:0]
	for _, word := range set {
		l.byRarity = append(l.byRarity, extsort.Entry{Key: uint64(l.counts[word>>(64-countBits)]), Value: word})
	}
	slices.SortFunc(l.byRarity, func(a, b extsort.Entry) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	l.prefix = l.prefix[:0]
	for _, e := range l.byRarity[:l.threshold.Prefix(uint64(len(set)))] {
		l.prefix = append(l.prefix, e.Value)
	}
	prefix := l.prefix
	if i := l.find(set, prefix); i >= 0 {
		return l.names[i], true
	}
	if len(l.sets) < mostLeaders {
		for place, word := range prefix {
			l.holders[word] = append(l.holders[word], holder{uint32(len(l.sets)), uint32(place)})
		}
		l.sets, l.names, l.shared = append(l.sets, set), append(l.names, name), append(l.shared, 0)
	}
	return 0, false
}

// find returns the first leader that a set is similar to, or −1.
func (l *Leaders) find(set, prefix []uint64) int {
	for place, word := range prefix {
		for _, h := range l.holders[word] {
			of := l.sets[h.leader]
			// A pair can share no more than what it shares so far, this word, and all that is behind it in both.
			most := int(l.shared[h.leader]) + min(len(set)-place, len(of)-int(h.place))
			if uint64(most) < l.threshold.MinOverlap(uint64(len(set)), uint64(len(of))) {
				continue
			}
			if l.shared[h.leader]++; l.shared[h.leader] == 1 {
				l.suspected = append(l.suspected, h.leader)
			}
		}
	}
	first := -1
	for _, leader := range l.suspected {
		l.shared[leader] = 0
		if first < 0 || int(leader) < first {
			if _, ok := simjoin.Verify(set, l.sets[leader], l.threshold); ok {
				first = int(leader)
			}
		}
	}
	l.suspected = l.suspected[:0]
	return first
}
