package alike

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
)

func TestTheLargestClustersOfRecordsAreDescribed(t *testing.T) {
	r := &JoinResult{Entities: &linkage.Entities{Clusters: []linkage.Cluster{
		{Members: []uint32{0, 4}, Probability: 0.9, Believed: 1},
		{Members: []uint32{1, 2, 5}, Probability: 0.6, Believed: 1},
	}}}
	r.Left = 7
	r.Entities.Clusters[1].Weakest.A, r.Entities.Clusters[1].Weakest.B = 2, 5
	var links dedup.Links
	describeEntities(&links, r)
	want := dedup.LinkedCluster{First: 1, Size: 3, Probability: 0.6, Weakest: dedup.Link{A: 2, B: 5, Similarity: 0.5}}
	if len(links.Largest) != 2 || links.Largest[0] != want {
		t.Errorf("the largest clusters are %v, want %v first", links.Largest, want)
	}
	if links.Doubtful != 1 { // the second: one pair of three is believed
		t.Errorf("%d clusters are doubtful, want 1", links.Doubtful)
	}
	var got []float64
	for record := range uint32(7) {
		p, _ := links.Probability(record)
		got = append(got, p)
	}
	if want := []float64{0.9, 0.6, 0.6, 0, 0.9, 0.6, 0}; !slices.Equal(got, want) {
		t.Errorf("probabilities %v, want %v", got, want)
	}
}
