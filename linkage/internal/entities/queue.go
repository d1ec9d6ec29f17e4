package entities

// An entry is two clusters by their first records within the group, and the evidence between them.
type entry struct {
	evidence float64
	a, b     uint32
}

func (x entry) before(y entry) bool {
	switch {
	case x.evidence != y.evidence:
		return x.evidence > y.evidence
	case x.a != y.a:
		return x.a < y.a
	}
	return x.b < y.b
}

// queue is a binary heap of entries, the largest evidence first. (container/heap would allocate every entry.)
type queue []entry

func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

func (q *queue) push(x entry) {
	*q = append(*q, x)
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (q *queue) pop() entry {
	h := *q
	top := h[0]
	h[0] = h[len(h)-1]
	*q = h[:len(h)-1]
	q.sink(0)
	return top
}

func (q queue) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(q) {
			return
		}
		if next+1 < len(q) && q[next+1].before(q[next]) {
			next++
		}
		if !q[next].before(q[i]) {
			return
		}
		q[i], q[next] = q[next], q[i]
		i = next
	}
}
