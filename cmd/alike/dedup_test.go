package main

import (
	"strings"
	"testing"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
)

func TestLargestClustersAreNamedAndStrangersWarnedOf(t *testing.T) {
	s := &alike.Summary{LargestEntities: []dedup.Entity{
		{Cluster: "a", Records: 5, Probability: 0.75}, {Cluster: "b", Records: 4, Probability: 1},
		{Cluster: "c", Records: 3, Probability: 0.5}, {Cluster: "d", Records: 2, Probability: 0.5},
	}}
	const largest = "largest clusters: a of 5 records (probability 0.750), b of 4 records (probability 1.000), c of 3 records (probability 0.500)\n"
	var out strings.Builder
	if tellEntities(&out, s); out.String() != largest {
		t.Errorf("%q, want %q", out.String(), largest)
	}
	out.Reset()
	s.DoubtfulClusters = 2
	if tellEntities(&out, s); !strings.HasPrefix(out.String(), largest+"alike: in 2 clusters most pairs ") {
		t.Errorf("%q does not warn", out.String())
	}
}
