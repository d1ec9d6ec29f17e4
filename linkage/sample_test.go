package linkage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

// TestASampleIsOfTheWholeTable samples tables of one file and of several.
func TestASampleIsOfTheWholeTable(t *testing.T) {
	file := func(from, to int) string {
		var s strings.Builder
		s.WriteString("id,value\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&s, "%d,v%d\n", i, i)
		}
		return s.String()
	}
	one := write(t, "one.csv", file(0, 1000))
	several := filepath.Dir(write(t, "a.csv", file(0, 400)))
	if err := os.WriteFile(filepath.Join(several, "b.csv"), []byte(file(400, 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{one, several} {
		s, err := findSource(t.Context(), table, "", corpus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{60, 100, 5000} {
			rows, _, err := s.sample(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) > n || len(rows) < min(n, 1000)/2-2 {
				t.Errorf("%s: a sample of %d has %d", filepath.Base(table), n, len(rows))
			}
			quarters := map[int]int{}
			for _, row := range rows {
				var i int
				fmt.Sscanf(string(row[0]), "%d", &i)
				quarters[i/250]++
			}
			for q := range 4 {
				if quarters[q] < len(rows)/10 {
					t.Errorf("%s: of a sample of %d, quarter %d has %d", filepath.Base(table), n, q, quarters[q])
				}
			}
		}
	}
}
