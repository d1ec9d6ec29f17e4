package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
)

// runCommand calls the command as main does, with its messages thrown away.
func runCommand(t *testing.T, args ...string) {
	t.Helper()
	cmd := newRoot(args)
	cmd.SetErr(io.Discard)
	if err := cmd.Execute(); err != nil {
		t.Fatalf("alike %s: %v", strings.Join(args, " "), err)
	}
}

// joinRetail lists the pairs of the market baskets from the command line.
func joinRetail(t *testing.T, threshold string) (csv []byte) {
	t.Helper()
	if testsize.Small() {
		t.Skip("half a minute under the race detector, which other joins are run under")
	}
	out := filepath.Join(t.TempDir(), "pairs.csv")
	runCommand(t, "pairs", "--format", "lines", "--tokens", "space", "--ngram", "1", "--candidates", "exact",
		"--id-field", "-", "--threshold", threshold, "--quiet", "-o", out, shareddata.Path(t, "setsim_retail", "sets.txt.zst"))
	csv, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return csv
}

func TestPairsOfRealBasketsAreTheKnownOnesByteForByte(t *testing.T) {
	sets := shareddata.Path(t, "setsim_retail", "sets.txt.zst")
	rows, err := csv.NewReader(shareddata.Open(t, "setsim_retail", "pairs_jaccard_0.8.csv.zst")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	pairs := make([][4]int, len(rows)-1) // rows[0] is the header
	for i, row := range rows[1:] {
		for j := range row {
			if pairs[i][j], err = strconv.Atoi(row[j]); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.SortFunc(pairs, func(p, q [4]int) int { return slices.Compare(p[:], q[:]) })
	want := bytes.NewBufferString("a,b,similarity\n")
	for _, p := range pairs {
		fmt.Fprintf(want, "%s:%d,%s:%d,%.6f\n", sets, p[0]+1, sets, p[1]+1, float64(p[2])/float64(p[3]))
	}
	if got := joinRetail(t, "0.8"); !bytes.Equal(got, want.Bytes()) || len(pairs) != 568171 {
		t.Errorf("%d bytes that are not the %d known pairs", len(got), len(pairs))
	}
}

func TestRealBasketsHaveAsManyPairsAsAreKnown(t *testing.T) {
	for threshold, want := range map[string]int{"0.6": 1276096, "0.75": 608384, "0.9": 563005} {
		if got := bytes.Count(joinRetail(t, threshold), []byte("\n")) - 1; got != want {
			t.Errorf("%d pairs at threshold %s, want %d", got, threshold, want)
		}
	}
}
