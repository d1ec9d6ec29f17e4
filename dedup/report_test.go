package dedup

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// writeReport is a Config.Report whose page is the report itself.
func writeReport(w io.Writer, r *Report) error { return json.NewEncoder(w).Encode(r) }

// reported runs over inputs, and returns the report and the rows of a list of the output.
func reported(t *testing.T, c Config) (r Report, list func(name string) [][]string) {
	t.Helper()
	c.Output, c.Report = filepath.Join(t.TempDir(), "out"), writeReport
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(c.Output, ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r, func(name string) [][]string {
		file, err := os.Open(filepath.Join(c.Output, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
}

func TestTheReportTellsWhatTheListsTell(t *testing.T) {
	docs := generate(3, 1200)
	texts := map[string]string{}
	for _, d := range docs {
		texts[d.id] = d.text
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	for _, method := range []Candidates{Exact{}, LSH{}} {
		t.Run(fmt.Sprintf("%T", method), func(t *testing.T) {
			r, list := reported(t, Config{Inputs: []string{path}, Decide: Similarity{Threshold: 0.6, Candidates: method}})
			removed := map[string][]string{}
			least, counted := math.Inf(1), r.Copies
			for _, row := range list(RemovedFile) {
				removed[row[0]] = row
				if s, _ := strconv.ParseFloat(row[2], 64); s < least {
					least = s
				}
			}
			for _, n := range r.Similarities {
				counted += n
			}
			if int(counted) != len(removed) || counted != r.Summary.Removed || r.Inputs[0].Removed != counted {
				t.Errorf("%d removed by similarity and %d by file, %d in the list", counted, r.Inputs[0].Removed, len(removed))
			}
			clusters := map[string][]string{}
			for _, row := range list(ClustersFile) {
				clusters[row[1]] = append(clusters[row[1]], row[0])
			}
			bySize := int64(0)
			for _, s := range r.Sizes {
				bySize += s.Clusters
			}
			if int(bySize) != len(clusters) {
				t.Errorf("%d clusters by size, want %d", bySize, len(clusters))
			}
			sizes := map[int]int{}
			for _, c := range r.Suspicious {
				members, of := clusters[c.Members[0].Name], leastOf(clusters[c.Members[0].Name], removed)
				if sizes[c.Size]++; len(members) != c.Size || math.Abs(of-c.Least.Similarity) > 1e-6 || c.Members[1].Name != members[1] {
					t.Errorf("a cluster is %v, of %q with the least similarity %f", c, members, of)
				}
			}
			for _, size := range r.Summary.LargestClusters {
				if sizes[size]--; sizes[size] < 0 {
					t.Errorf("a cluster of %d is not shown", size)
				}
			}
			if len(r.Examples) < 10 {
				t.Fatalf("only %d examples", len(r.Examples))
			}
			if got := fmt.Sprintf("%.6f", r.Examples[0].Similarity); got != fmt.Sprintf("%.6f", least) {
				t.Errorf("the first example has the similarity %s, the least is %f", got, least)
			}
			for _, e := range append(r.Examples, r.Suspicious[0].Least) {
				row := removed[e.Removed]
				if row == nil || row[1] != e.Kept || row[2] != fmt.Sprintf("%.6f", e.Similarity) {
					t.Errorf("%s removed for %s with %f, the list has %q", e.Removed, e.Kept, e.Similarity, row)
				}
				if string(e.RemovedText) != texts[e.Removed] || string(e.KeptText) != texts[e.Kept] {
					t.Errorf("%s and %s are shown with other texts", e.Removed, e.Kept)
				}
			}
			if (method == (LSH{})) != (len(r.Recall) > 0) {
				t.Errorf("a curve of %d points by %T", len(r.Recall), method)
			}
		})
	}
}

// leastOf returns the least similarity of removed members that are no copies, 0 if there are none.
func leastOf(members []string, removed map[string][]string) (least float64) {
	for _, m := range members {
		if row := removed[m]; row != nil && row[2] != "1.000000" {
			if s, _ := strconv.ParseFloat(row[2], 64); least == 0 || s < least {
				least = s
			}
		}
	}
	return least
}

func TestTheReportShowsTextsOfCompressedFiles(t *testing.T) {
	docs, dir := generate(4, 400), t.TempDir()
	plain, packed := filepath.Join(dir, "docs.jsonl"), filepath.Join(dir, "packed", "docs.jsonl.gz")
	writeJSONL(t, plain, docs)
	data, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	writeFile(t, packed, b.Bytes())
	want, _ := reported(t, Config{Inputs: []string{plain}})
	got, _ := reported(t, Config{Inputs: []string{packed}})
	want.Inputs, got.Inputs = nil, nil // they have other names
	a, _ := json.Marshal(want)
	c, _ := json.Marshal(got)
	if string(a) != string(c) || !strings.Contains(string(a), "RemovedText") {
		t.Errorf("of compressed input the report is\n%s, want\n%s", c, a)
	}
}
