package passage

import "slices"

// walk takes passages from length cap down to least, as long as that is cheap. It returns
// how many lengths it has finished, and whether those were all.
//
// The best of a place only shrinks, so the last known value bounds it from above. The
// places of a whose bound is the current length therefore include all that really reach
// it. In order of a, each takes the first place of b that fits, or is put back under the
// length that it can still have.
func (t *tiling) walk() (levels int, finished bool) {
	queue := t.enqueue()
	budget := 4 * len(t.place)
	var places []int32
	for ; t.cap >= t.least; t.cap-- {
		places = queue.take(t.cap, places[:0])
		for _, a := range places {
			if room := t.room[a]; room < t.cap {
				queue.put(a, room)
				continue
			}
			length, b := t.look(a, &budget)
			if budget < 0 {
				return levels, false
			}
			if length == t.cap {
				t.mark(a, b, length)
			} else {
				queue.put(a, length)
			}
		}
		levels++
	}
	return levels, true
}

// look returns the best length of a place of a, at most cap, and for cap itself the first
// place of b that has it; a length below least if there is none. It goes up and down in
// suffix order until the texts there share too little, or until the budget of steps is
// used up.
func (t *tiling) look(a int32, budget *int) (length, b int32) {
	length = t.least - 1
	consider := func(q, common int32) (further bool) {
		*budget--
		if q >= t.split {
			n := min(common, t.room[q])
			if n > length || n == length && q < b {
				length, b = n, q
			}
		}
		return *budget >= 0
	}
	// A run no longer than the best one so far can only give an earlier place of b, and that
	// matters only if the length is taken now.
	futile := func(common int32) bool {
		return common < length || common == length && length < t.cap
	}
	k := t.rank[a]
	common := t.cap
	for i := k; i > 0; i-- {
		common = min(common, t.lcp[i])
		if futile(common) || !consider(t.place[i-1], common) {
			break
		}
	}
	common = t.cap
	for i := int(k) + 1; i < len(t.place); i++ {
		common = min(common, t.lcp[i])
		if futile(common) || !consider(t.place[i], common) {
			break
		}
	}
	return length, b
}

// enqueue puts every candidate of a into a queue by its best, and sets rank.
func (t *tiling) enqueue() *queue {
	if t.rank == nil {
		t.rank = make([]int32, len(t.room))
	}
	q := &queue{least: t.least, first: make([]int32, t.cap+1), next: make([]int32, t.split)}
	for k, p := range t.place {
		t.rank[p] = int32(k)
		if p < t.split {
			q.put(p, min(t.best[k], t.cap))
		}
	}
	return q
}

// queue holds places of a by length, as linked lists of places plus one.
type queue struct {
	least       int32
	first, next []int32
}

// put adds a place, or drops it if the length is too short.
func (q *queue) put(place, length int32) {
	if length >= q.least {
		q.next[place] = q.first[length]
		q.first[length] = place + 1
	}
}

// take appends the places of the given length, ascending.
func (q *queue) take(length int32, places []int32) []int32 {
	for e := q.first[length]; e != 0; e = q.next[e-1] {
		places = append(places, e-1)
	}
	slices.Sort(places)
	return places
}
