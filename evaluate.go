package alike

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/eval"
	"github.com/alike-dev/alike/internal/setting"
)

// PairScores says how well found pairs agree with true ones.
type PairScores = eval.PairScores

// ClusterScores says how well two clusterings of the same documents agree.
type ClusterScores = eval.ClusterScores

// ScorePairs compares the pairs in one file with those in another. Both are CSV, or TSV, JSON Lines or Parquet by their
// names, perhaps compressed, with the ids in the first two columns (where columns have names: left_id and right_id, or a and
// b, if there are such). Pairs of the truth with a similarity, the third column, below minSimilarity are
// left out; 0 keeps all.
//
// Where one of the files has links of two tables, left_id and right_id, ids of the first columns are others than those of the
// second ones. The first line of a CSV file may be a header. ScorePairs judges by its names, and by
// whether its ids occur anywhere else; see Header and Notices.
func ScorePairs(found, truth string, minSimilarity float64, options ...ScoreOption) (*PairScores, error) {
	s := newScoring(options)
	f, t, err := s.readTwo(found, truth)
	if err != nil {
		return nil, err
	}
	truePairs, err := t.pairs(minSimilarity)
	if err != nil {
		return nil, err
	}
	foundPairs, err := f.pairs(0)
	if err != nil {
		return nil, err
	}
	scores := eval.Pairs(foundPairs, truePairs)
	s.tellSelfPairs(f, scores.FoundSelfPairs)
	s.tellSelfPairs(t, scores.TrueSelfPairs)
	return &scores, nil
}

// ScoreClusters compares the clustering in one file with that in another. A file with the
// header id,cluster (others may follow) names the cluster of each document; in a file of pairs, connected
// documents are one cluster. Headers are as for ScorePairs.
func ScoreClusters(found, truth string, options ...ScoreOption) (*ClusterScores, error) {
	f, t, err := newScoring(options).readTwo(found, truth)
	if err != nil {
		return nil, err
	}
	foundClusters, err := f.clusters()
	if err != nil {
		return nil, err
	}
	trueClusters, err := t.clusters()
	if err != nil {
		return nil, err
	}
	scores := eval.Clusters(foundClusters, trueClusters)
	return &scores, nil
}

func newScoring(options []ScoreOption) *scoring {
	s := &scoring{notice: func(Notice) {}}
	for _, o := range options {
		o(s)
	}
	return s
}

// tellSelfPairs says how many pairs of a file are of an id with itself.
func (s *scoring) tellSelfPairs(r *rows, n uint64) {
	if n > 0 {
		s.notice(setting.Textf("%s: pairs of an id with itself, which count for nothing: %d", r.path, n))
	}
}

// rows is the content of a file of pairs or clusters.
type rows struct {
	path   string
	named  bool     // the first row, if any, has the names of columns
	header []string // nil: no header
	rows   [][]string
}

// readRows reads a list as it is written: in any of the formats and compressions of links and pairs.
func readRows(path string) (*rows, error) {
	all, named, err := corpus.Rows(context.Background(), path, [2]string{"left_id", "right_id"}, [2]string{"a", "b"})
	r := &rows{path: path, named: named, rows: all}
	if err == nil && named {
		err = r.exactIDs()
	}
	return r, err
}

// exactIDs puts ids that are not UTF-8, whose bytes stand beside them in JSON, into their places.
func (r *rows) exactIDs() error {
	for id := range 2 {
		if len(r.rows) == 0 || len(r.rows[0]) < 2 {
			break
		}
		at := slices.Index(r.rows[0], r.rows[0][id]+"_bytes")
		for i, row := range r.rows[1:] {
			if at < 0 || row[at] == "" {
				continue
			}
			exact, err := base64.StdEncoding.DecodeString(row[at])
			if err != nil {
				return fmt.Errorf("%s: object %d: %s: %w", r.path, i+1, r.rows[0][at], err)
			}
			row[id] = string(exact)
		}
	}
	return nil
}

// check returns an error for rows without two ids.
func (r *rows) check() error {
	for i, row := range r.rows {
		switch {
		case len(row) > 1:
		case r.named:
			return fmt.Errorf("%s has no two columns of ids, such as a and b", r.path)
		default:
			return fmt.Errorf("%s: row %d has one column: two ids are needed, separated by a comma", r.path, i+1)
		}
	}
	return nil
}

// pairs returns the rows as pairs, without those below minSimilarity.
func (r *rows) pairs(minSimilarity float64) ([]eval.Pair, error) {
	pairs := make([]eval.Pair, 0, len(r.rows))
	for i, row := range r.rows {
		if minSimilarity > 0 {
			if len(row) < 3 {
				return nil, fmt.Errorf("%s: row %d has no third column with a similarity", r.path, i+1)
			}
			similarity, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: row %d: similarity %q is not a number", r.path, i+1, row[2])
			}
			if similarity < minSimilarity {
				continue
			}
		}
		pairs = append(pairs, eval.Pair{A: row[0], B: row[1]})
	}
	return pairs, nil
}

// clusters returns the cluster of every id.
func (r *rows) clusters() (map[string]string, error) {
	clusters := make(map[string]string, len(r.rows))
	if r.namesClusters() {
		for _, row := range r.rows {
			if other, ok := clusters[row[0]]; ok && other != row[1] {
				return nil, fmt.Errorf("%s: id %q is in two clusters, %q and %q", r.path, row[0], other, row[1])
			}
			clusters[row[0]] = row[1]
		}
		return clusters, nil
	}
	numbers := map[string]uint32{}
	var ids []string
	number := func(id string) uint32 {
		n, ok := numbers[id]
		if !ok {
			n = uint32(len(ids))
			numbers[id] = n
			ids = append(ids, id)
		}
		return n
	}
	edges := make([]cluster.Edge, len(r.rows))
	for i, row := range r.rows {
		edges[i] = cluster.Edge{A: number(row[0]), B: number(row[1])}
	}
	for i, label := range cluster.Components(len(ids), edges) {
		clusters[ids[i]] = ids[label]
	}
	return clusters, nil
}
