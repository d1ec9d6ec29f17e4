package examples_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// texts returns the texts of the corpus by their ids.
func texts(t *testing.T) map[string]string {
	all := map[string]string{}
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // git may have given it other line ends
	}
	lines := func(r io.Reader) {
		for s := bufio.NewScanner(r); s.Scan(); {
			var d struct{ ID, Text string }
			if err := json.Unmarshal(s.Bytes(), &d); err != nil {
				t.Fatal(err)
			}
			all[d.ID] = d.Text
		}
	}
	lines(bytes.NewReader(read("corpus/news.jsonl")))
	packed, err := os.Open("corpus/archive.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	lines(unpacked)
	rows, err := csv.NewReader(bytes.NewReader(read("corpus/table.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		all[row[0]] = row[2]
	}
	notes, err := filepath.Glob("corpus/notes/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range notes {
		all["examples/"+filepath.ToSlash(note)] = strings.TrimSuffix(string(read(note)), "\n")
	}
	return all
}

func TestTheTruthIsThatOfTheCorpus(t *testing.T) {
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var sets [][]uint64
	at := map[string]int{}
	for id, text := range texts(t) {
		at[id] = len(ids)
		ids, sets = append(ids, id), append(sets, shingle.Set(s.AppendFeatures(nil, []byte(text))))
	}
	if len(ids) != 226 {
		t.Errorf("%d texts, and the README says 226", len(ids))
	}
	f, err := os.Open("truth.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	known := map[[2]string]bool{}
	for _, row := range rows[1:] {
		known[[2]string{row[0], row[1]}], known[[2]string{row[1], row[0]}] = true, true
		a, b := sets[at[row[0]]], sets[at[row[1]]]
		inter := simjoin.Intersection(a, b)
		if is := fmt.Sprintf("%.6f", float64(inter)/float64(len(a)+len(b)-inter)); is != row[2] {
			t.Errorf("%s,%s: similarity %s, not %s", row[0], row[1], is, row[2])
		}
	}
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	for p := range simjoin.SelfJoin(sets, threshold) {
		if !known[[2]string{ids[p.A], ids[p.B]}] {
			t.Errorf("%s and %s are alike, %v, and no copies", ids[p.A], ids[p.B], p.Similarity(measure.Jaccard))
		}
	}
}
