package entities

import "testing"

func TestLargeClustersAreRightOrWrongAsAWhole(t *testing.T) {
	clusters := func(sizes ...int) *Result {
		r := &Result{}
		for _, n := range sizes {
			r.Clusters = append(r.Clusters, Cluster{Members: make([]uint32, n)})
		}
		return r
	}
	many := make([]int, 500)
	for i := range many {
		many[i] = 20
	}
	for _, c := range []struct {
		of        *Result
		low, high float64
	}{
		{clusters(), 1, 1},
		{clusters(3), 1, 1},
		{clusters(14, 7, 2), 1, 1},
		{clusters(200, 2, 2, 3), 0.5, 0.52},
		{clusters(100, 100, 100, 100, 100, 100, 100, 100), 0.66, 0.69}, // eight of eight are right: from 0.68 on
		{clusters(many...), 0.99, 1},
	} {
		if s := c.of.Sure(); s < c.low || s > c.high {
			t.Errorf("%d clusters: %v, want %v to %v", len(c.of.Clusters), s, c.low, c.high)
		}
	}
}
