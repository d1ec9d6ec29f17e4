package dedup

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// tagged is a record as a tagged output has it.
type tagged struct {
	ID          string   `json:"id" parquet:"id"`
	Text        string   `json:"text" parquet:"text"`
	Cluster     string   `json:"cluster" parquet:"cluster"`
	ClusterSize int64    `json:"cluster_size" parquet:"cluster_size"`
	DuplicateOf *string  `json:"duplicate_of" parquet:"duplicate_of,optional"`
	Similarity  *float64 `json:"similarity" parquet:"similarity,optional"`
	DuplicateIn *string  `json:"duplicate_in" parquet:"duplicate_in,optional"`
}

// tagsOf says in one line what a record's tags are.
func (r *tagged) tags() string {
	of, in, similarity := "-", "-", "-"
	if r.DuplicateOf != nil {
		of, similarity = *r.DuplicateOf, fmt.Sprintf("%.6f", *r.Similarity)
	}
	if r.DuplicateIn != nil {
		in = *r.DuplicateIn
	}
	return fmt.Sprintf("%s of %d, like %s (%s) in %s", r.Cluster, r.ClusterSize, of, similarity, in)
}

// writeAs writes documents in the format of the name.
func writeAs(t *testing.T, path string, docs []testDoc) {
	t.Helper()
	var b bytes.Buffer
	switch filepath.Ext(path) {
	case ".csv":
		w := csv.NewWriter(&b)
		w.UseCRLF = true
		_ = w.Write([]string{"id", "text"})
		for _, d := range docs {
			_ = w.Write([]string{d.id, d.text + "\n\"quoted\""})
		}
		w.Flush()
	case ".parquet":
		type row struct {
			ID   string `parquet:"id"`
			Text string `parquet:"text"`
		}
		w := parquet.NewGenericWriter[row](&b, parquet.MaxRowsPerRowGroup(40))
		for _, d := range docs {
			if _, err := w.Write([]row{{d.id, d.text}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		writeJSONL(t, path, docs)
		return
	}
	writeFile(t, path, b.Bytes())
}

// readTagged reads a file of kept/.
func readTagged(t *testing.T, path string) (rows []tagged) {
	t.Helper()
	switch data := readFile(t, path); filepath.Ext(path) {
	case ".csv":
		r := csv.NewReader(bytes.NewReader(data))
		all, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, cells := range all[1:] {
			row := tagged{ID: cells[0], Text: cells[1], Cluster: cells[2]}
			row.ClusterSize, _ = strconv.ParseInt(cells[3], 10, 64)
			if cells[4] != "" {
				similarity, err := strconv.ParseFloat(cells[5], 64)
				if err != nil {
					t.Fatal(err)
				}
				row.DuplicateOf, row.Similarity = &cells[4], &similarity
				if len(cells) > 6 {
					row.DuplicateIn = &cells[6]
				}
			}
			rows = append(rows, row)
		}
	case ".parquet":
		rows, err := parquet.Read[tagged](bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return rows
	default:
		for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			var row tagged
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// wantedTags are the tags that follow from the lists of a run that removes: by id.
func wantedTags(t *testing.T, out string, docs []testDoc, fileOf map[string]string, references bool) map[string]string {
	t.Helper()
	rows := func(name string) [][]string {
		all, err := csv.NewReader(bytes.NewReader(readFile(t, filepath.Join(out, name)))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return all[1:]
	}
	clusters, sizes := map[string]string{}, map[string]int64{}
	for _, row := range rows("clusters.csv") {
		clusters[row[0]] = row[1]
		sizes[row[1]]++
	}
	want := map[string]string{}
	for _, d := range docs {
		r := tagged{Cluster: d.id, ClusterSize: 1}
		if c, ok := clusters[d.id]; ok {
			r.Cluster, r.ClusterSize = c, sizes[c]
		}
		want[d.id] = r.tags()
	}
	for _, row := range rows("removed.csv") {
		similarity, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		c := clusters[row[0]]
		r := tagged{Cluster: c, ClusterSize: sizes[c], DuplicateOf: &row[1], Similarity: &similarity}
		if in := fileOf[row[1]]; references {
			r.DuplicateIn = &in
		}
		want[row[0]] = r.tags()
	}
	return want
}

// A run that tags says in every record what a run that removes says in its lists, in the same files and order.
func TestTagsSayWhatWouldBeRemoved(t *testing.T) {
	dir := t.TempDir()
	docs := generate(11, 400)
	names := []string{"a.jsonl", "b.jsonl.gz", "c.csv", "d.parquet", "e.jsonl"}
	fileOf, parts := map[string]string{}, map[string][]testDoc{}
	for i, d := range docs {
		name := names[i*len(names)/len(docs)]
		fileOf[d.id], parts[name] = filepath.Join(dir, "in", name), append(parts[name], d)
	}
	for name, part := range parts {
		writeAs(t, filepath.Join(dir, "in", name), part)
	}
	inputs := []string{filepath.Join(dir, "in", "a.jsonl"), filepath.Join(dir, "in", "b.jsonl.gz"), filepath.Join(dir, "in", "c.csv"), filepath.Join(dir, "in", "d.parquet")}
	for what, set := range map[string]func(c *Config){
		"all":             func(c *Config) {},
		"stars":           func(c *Config) { c.Survivors = OnePerCluster{Star: true} },
		"the longest":     func(c *Config) { c.Survivors = OnePerCluster{Keep: keepRule(t, "longest")} },
		"references":      func(c *Config) { c.Beside = Against{filepath.Join(dir, "in", "e.jsonl")} },
		"one thread":      func(c *Config) { c.Threads, c.limits.segment = 1, 1<<10 },
		"little memory":   func(c *Config) { c.limits.memory, c.limits.part = 1<<16, 1<<12 },
		"ids in one list": func(c *Config) { c.IDsOnly = true },
	} {
		t.Run(what, func(t *testing.T) {
			out := t.TempDir()
			config := Config{Inputs: inputs, Decide: Similarity{Threshold: 0.6}, Output: filepath.Join(out, "removed")}
			set(&config)
			if _, err := Run(context.Background(), config); err != nil {
				t.Fatal(err)
			}
			config.Output, config.Tags = filepath.Join(out, "tagged"), &Tags{}
			summary, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			want := wantedTags(t, filepath.Join(out, "removed"), docs, fileOf, config.Beside != nil)
			if summary.Removed != 0 || summary.Kept != summary.Read || *summary.Tagged == 0 {
				t.Errorf("%d of %d kept, %d removed, %d tagged", summary.Kept, summary.Read, summary.Removed, *summary.Tagged)
			}
			if config.IDsOnly {
				compareList(t, filepath.Join(config.Output, KeptIDsFile), docs[:summary.Kept], want)
				return
			}
			for _, input := range inputs {
				compareTagged(t, filepath.Join(config.Output, KeptFolder, filepath.Base(input)), parts[filepath.Base(input)], want)
			}
		})
	}
}

// compareTagged compares a file of kept/ with the documents of its input.
func compareTagged(t *testing.T, path string, docs []testDoc, want map[string]string) {
	t.Helper()
	if strings.HasSuffix(path, ".gz") {
		writeFile(t, path+".jsonl", gunzip(t, readFile(t, path)))
		path += ".jsonl"
	}
	rows := readTagged(t, path)
	if len(rows) != len(docs) {
		t.Fatalf("%s has %d records, want %d", path, len(rows), len(docs))
	}
	for i, r := range rows {
		if r.ID != docs[i].id || !strings.HasPrefix(r.Text, docs[i].text) || r.tags() != want[r.ID] {
			t.Errorf("%s: record %d is %s, %s; want %s, %s", path, i, r.ID, r.tags(), docs[i].id, want[docs[i].id])
		}
	}
}

// compareList compares kept.csv with the documents.
func compareList(t *testing.T, path string, docs []testDoc, want map[string]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(readFile(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(docs)+1 {
		t.Fatalf("%d rows, want %d", len(all)-1, len(docs))
	}
	for i, cells := range all[1:] {
		r := tagged{ID: cells[0], Cluster: cells[1]}
		r.ClusterSize, _ = strconv.ParseInt(cells[2], 10, 64)
		if cells[3] != "" {
			similarity, _ := strconv.ParseFloat(cells[4], 64)
			r.DuplicateOf, r.Similarity = &cells[3], &similarity
		}
		if r.ID != docs[i].id || r.tags() != want[r.ID] {
			t.Errorf("row %d is %s, %s; want %s, %s", i, r.ID, r.tags(), docs[i].id, want[docs[i].id])
		}
	}
}

// A name is never written twice into one record.
func TestARecordWithTheNameOfATagEndsTheRun(t *testing.T) {
	for name, content := range map[string]string{
		"a.jsonl":   `{"text":"one two three","cluster":1}`,
		"b.jsonl":   `{"text":"one two three","\u0073imilarity":1}`,
		"c.csv":     "text,duplicate_of\none two three,x\n",
		"d.tsv":     "text\tcluster_size\none two three\t1\n",
		"e.parquet": "",
	} {
		path := filepath.Join(t.TempDir(), name)
		if content == "" {
			var b bytes.Buffer
			type row struct {
				Text    string `parquet:"text"`
				Cluster struct {
					A int64 `parquet:"a"`
				} `parquet:"cluster"`
			}
			w := parquet.NewGenericWriter[row](&b)
			if _, err := w.Write([]row{{Text: "one two three"}}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			content = b.String()
		}
		writeFile(t, path, []byte(content))
		config := Config{Inputs: []string{path}, Output: filepath.Join(t.TempDir(), "out"), Tags: &Tags{}}
		if _, err := Run(context.Background(), config); err == nil || !strings.Contains(err.Error(), "name of a tag") {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := os.Stat(config.Output); err == nil {
			t.Errorf("%s: there is an output", name)
		}
		config.Tags.Prefix = "alike_"
		if _, err := Run(context.Background(), config); err != nil {
			t.Errorf("%s with a prefix: %v", name, err)
		}
	}
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
