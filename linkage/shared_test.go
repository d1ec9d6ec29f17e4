package linkage

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
)

// TestRealTablesAreJoinedWithoutLabels holds the decision against the truth of real data. All
// are made with the same command and no setting; bench/RESULTS.md has the figures.
func TestRealTablesAreJoinedWithoutLabels(t *testing.T) {
	for _, c := range []struct {
		folder      string
		right       string // "": one table
		least       float64
		slow        bool // with the race detector
		trueToLabel bool // the estimates must hold; not so where records that agree in everything are not in the truth
	}{
		{"er_abt_buy_full", "tableB", 0.92, true, true},
		{"er_dblp_acm", "tableB", 0.985, true, true},
		{"er_restaurants", "tableB", 0.82, false, false},
		{"dedup_cora", "", 0.80, true, true},
		{"dedup_febrl1", "", 0.99, false, true},
		{"dedup_splink_fake1000", "", 0.90, false, true},
	} {
		t.Run(c.folder, func(t *testing.T) {
			if testsize.Small() && c.slow {
				t.Skip("takes most of a minute with the race detector, which other tables meet; it is tested without")
			}
			folder := shareddata.Path(t, c.folder)
			config := Config{Left: unpacked(t, folder, "tableA")}
			if c.right == "" {
				config.Left = unpacked(t, folder, "table")
			} else {
				config.Right = unpacked(t, folder, c.right)
			}
			r := join(t, config)
			truth := map[[2]string]bool{}
			for _, row := range readCSV(t, filepath.Join(folder, "truth.csv")) {
				truth[ordered(c.right == "", row[0], row[1])] = true
			}
			right := 0.0
			for l := range r.Links.All() {
				if truth[ordered(c.right == "", string(l.A), string(l.B))] {
					right++
				}
			}
			precision, recall := right/float64(r.Links.Len()), right/float64(len(truth))
			if f1 := 2 * precision * recall / (precision + recall); f1 < c.least {
				t.Errorf("F1 %.4f, want %v: precision %.3f, recall %.3f", f1, c.least, precision, recall)
			}
			if c.trueToLabel && !(near(precision, r.ExpectedPrecision) && near(recall, r.ExpectedRecall)) {
				t.Errorf("precision %.3f is estimated %.3f, recall %.3f is %.3f", precision, r.ExpectedPrecision, recall, r.ExpectedRecall)
			}
		})
	}
}

// near tells whether a share is at most 0.05 outside an expected range.
func near(share float64, expected [2]float64) bool {
	return expected[0]-0.05 <= share && share <= expected[1]+0.05
}

func ordered(order bool, a, b string) [2]string {
	if order && a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

// unpacked returns the path of a table; it is read as it is where it may be.
func unpacked(t *testing.T, folder, name string) string {
	path := filepath.Join(folder, name+".csv")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return path + ".zst"
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	if filepath.Ext(path) == ".zst" {
		d, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		r = csv.NewReader(d)
	}
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// TestWhatOtherColumnsSayChangesNoDecision adds to a table of real data columns that say again what one of it says.
func TestWhatOtherColumnsSayChangesNoDecision(t *testing.T) {
	folder := shareddata.Path(t, "dedup_splink_fake1000")
	rows := readCSV(t, filepath.Join(folder, "table.csv"))
	header, err := os.ReadFile(filepath.Join(folder, "table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(strings.SplitN(string(header), "\n", 2)[0], ",")
	truth := map[[2]string]bool{}
	for _, row := range readCSV(t, filepath.Join(folder, "truth.csv")) {
		truth[ordered(true, row[0], row[1])] = true
	}
	f1 := func(column int, made func(string) string) float64 {
		var s strings.Builder
		w := csv.NewWriter(&s)
		add := func(row []string, more string) {
			if err := w.Write(append(slices.Clone(row), more)); err != nil {
				t.Fatal(err)
			}
		}
		add(names, "more")
		for _, row := range rows {
			add(row, made(row[column]))
		}
		w.Flush()
		right := 0.0
		r := join(t, Config{Left: write(t, "t.csv", s.String())})
		for l := range r.Links.All() {
			if truth[ordered(true, string(l.A), string(l.B))] {
				right++
			}
		}
		return 2 * right / float64(r.Links.Len()+len(truth))
	}
	want := f1(1, func(string) string { return "" })
	for column := 1; column < len(names); column++ {
		for what, made := range map[string]func(string) string{
			"three letters": func(s string) string { return s[:min(3, len(s))] },
			"one letter":    func(s string) string { return s[:min(1, len(s))] },
		} {
			if got := f1(column, made); got < want-0.01 || got > want+0.01 {
				t.Errorf("%s, %s: F1 %.4f, and %.4f without", names[column], what, got, want)
			}
		}
	}
}
