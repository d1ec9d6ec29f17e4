package linkage

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClustersKeepSourcesApart(t *testing.T) {
	var table strings.Builder
	table.WriteString("id,shop,name\n")
	for i := range 40 {
		fmt.Fprintf(&table, "%d,a,thing %x%x\n%d,b,thing %x%x\n", 3*i, i*i+1000, i, 3*i+1, i*i+1000, i)
		if i%10 == 0 {
			fmt.Fprintf(&table, "%d,a,thing %x%x\n", 3*i+2, i*i+1000, i)
		}
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		sources []string
		largest int
	}{{nil, 3}, {[]string{"shop"}, 2}} {
		r, err := Join(context.Background(), Config{Left: path, Sources: test.sources, Clusters: true, Fields: []Field{{Left: "name"}}})
		if err != nil {
			t.Fatal(err)
		}
		largest := 0
		for _, c := range r.Entities.Clusters {
			largest = max(largest, len(c.Members))
		}
		if len(r.Entities.Clusters) != 40 || largest != test.largest {
			t.Errorf("sources %v: %d clusters, the largest of %d records, want 40 and %d", test.sources, len(r.Entities.Clusters), largest, test.largest)
		}
	}
}

func TestDataTellIfTwoThirdsOfTheLinksAreRight(t *testing.T) {
	entities := func(right, alone float64) *Entities {
		return &Entities{Pairs: 10, Right: right, RightAlone: alone}
	}
	for name, test := range map[string]struct {
		linked   int
		expected [2]float64
		entities *Entities
		want     bool
	}{
		"nothing was found":                 {0, [2]float64{0, 0}, &Entities{}, true},
		"two thirds of the links":           {4, [2]float64{0.67, 0.8}, nil, true},
		"half of the links":                 {4, [2]float64{0.5, 0.7}, nil, false},
		"links that contradict each other":  {4, [2]float64{0.4, 0.6}, nil, false},
		"a range that says nothing":         {4, [2]float64{0.55, 1}, nil, false},
		"nobody knows":                      {4, [2]float64{math.NaN(), math.NaN()}, nil, false},
		"clusters that hold":                {4, [2]float64{0.8, 1}, entities(9, 6), true},
		"clusters of pairs that are not so": {4, [2]float64{0.8, 1}, entities(9, 4), false},
	} {
		r := &Result{Entities: test.entities}
		r.Linked, r.ExpectedPrecision = test.linked, test.expected
		if got := r.Tells(); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
