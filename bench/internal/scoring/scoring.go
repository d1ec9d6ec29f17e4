// Package scoring reads results, and the truth about a corpus of corpusgen, for programs that compare the two.
package scoring

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/shingle"
)

// IDs are the ids of a pair, the smaller one first.
type IDs [2]string

// PairOf returns the ids of a pair.
func PairOf(a, b string) IDs { return IDs{min(a, b), max(a, b)} }

// Ratio returns part/whole, and 1 for a whole of 0.
func Ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// EachRow visits the rows of a CSV file after its header. Each must have at least this number of columns. A row is
// valid during the visit only.
func EachRow(name string, columns int, visit func(row []string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return fmt.Errorf("%s: header: %w", name, err)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(row) < columns {
			err = fmt.Errorf("a row has %d columns, not %d", len(row), columns)
		}
		if err == nil {
			err = visit(row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// EachPair visits the pairs of a CSV file with a header and the columns id, id, similarity.
func EachPair(name string, visit func(p IDs, similarity float64)) error {
	return EachRow(name, 3, func(row []string) error {
		similarity, err := strconv.ParseFloat(row[2], 64)
		if err == nil {
			visit(PairOf(row[0], row[1]), similarity)
		}
		return err
	})
}

// ReadSets reads a corpus, JSONL with id and text, and fills in the feature sets of the documents that are keys of
// sets: their shingles of 5 words.
func ReadSets(corpus string, sets map[string][]uint64) error {
	if len(sets) == 0 {
		return nil
	}
	f, err := os.Open(corpus)
	if err != nil {
		return err
	}
	defer f.Close()
	shingler, err := shingle.New(shingle.Options{})
	if err != nil {
		return err
	}
	var parser fastjson.Parser
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		v, err := parser.ParseBytes(lines.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", corpus, err)
		}
		id := string(v.GetStringBytes("id"))
		if _, wanted := sets[id]; wanted {
			sets[id] = shingle.Set(shingler.AppendFeatures(nil, v.GetStringBytes("text")))
		}
	}
	return lines.Err()
}
