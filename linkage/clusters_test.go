package linkage

import (
	"context"
	"fmt"
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
