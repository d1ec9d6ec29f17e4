// Command make writes the example corpus that ships with the repository: short
// made-up news and encyclopaedia texts in several kinds of files, with planted
// near-duplicates, and the truth about them. It always writes the same; a test
// compares.
//
//	go run ./examples/make
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/plant"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// The files, in the order in which alike reads the folder.
const (
	archive = iota
	news
	notes
	table
)

// share of every file in a dozen documents.
var shares = [12]int{news, archive, news, notes, news, table, archive, news, archive, notes, news, table}

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// write writes all files below root.
func write(root string) error {
	files, err := build()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(root, filepath.FromSlash(name))
		content := files[name]
		if strings.HasSuffix(name, ".gz") {
			if content, err = compress(content); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(full, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func compress(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// build returns the content of every file, before compression, by its path in
// the repository.
func build() (map[string][]byte, error) {
	const folder = "examples/corpus"
	files := make(map[string][]byte)
	documents := documents()
	count := make(map[int]int)
	var rows [][]string
	for i := range documents {
		d := &documents[i]
		d.file = shares[i%len(shares)]
		count[d.file]++
		d.id = fmt.Sprintf("%c%03d", "anxt"[d.file], count[d.file])
		switch d.file {
		case archive, news:
			line, err := json.Marshal(struct {
				ID    string `json:"id"`
				Title string `json:"title"`
				Text  string `json:"text"`
			}{d.id, d.title, d.text})
			if err != nil {
				return nil, err
			}
			name := path.Join(folder, []string{archive: "archive.jsonl.gz", news: "news.jsonl"}[d.file])
			files[name] = append(append(files[name], line...), '\n')
		case notes:
			d.id = path.Join(folder, "notes", fmt.Sprintf("note-%02d.txt", count[notes]))
			files[d.id] = []byte(d.text + "\n")
		case table:
			rows = append(rows, []string{d.id, d.title, d.text})
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{{"id", "title", "text"}}, rows...)); err != nil {
		return nil, err
	}
	files[path.Join(folder, "table.csv")] = b.Bytes()
	var err error
	files["examples/truth.csv"], err = truth(documents)
	return files, err
}

// truth returns the planted pairs with their similarity, in the order of the
// documents.
func truth(documents []document) ([]byte, error) {
	slices.SortStableFunc(documents, func(a, b document) int { return a.file - b.file })
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		return nil, err
	}
	sets := make([][]uint64, len(documents))
	for i, d := range documents {
		sets[i] = shingle.Set(s.AppendFeatures(nil, []byte(d.text)))
	}
	b := []byte(plant.TruthHeader)
	for i, a := range documents {
		for j, other := range documents[i+1:] {
			if a.family != other.family {
				continue
			}
			inter := simjoin.Intersection(sets[i], sets[i+1+j])
			p := plant.Pair{Inter: inter, Union: len(sets[i]) + len(sets[i+1+j]) - inter}
			b = fmt.Appendf(b, "%s,%s,%.6f\n", a.id, other.id, p.Similarity())
		}
	}
	return b, nil
}
