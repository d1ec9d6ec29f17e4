package linkage

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/entities"
	"github.com/alike-dev/alike/record"
)

// A Cluster is records of one table that are one thing, see Config.Clusters. Members and the ends of pairs are
// numbers of records as in Link.RowA; Evidence of pairs is in nats.
type Cluster = entities.Cluster

// Entities are the clusters of one table. Right, RightAlone, Pairs and Matches are expected numbers of pairs.
type Entities = entities.Result

// cluster groups the records of the only table. Without a rule of the configuration the cut has the best expected F1
// of the closed clusters.
func (t *tables) cluster(ctx context.Context, e *examiner, edges []int) (*Entities, error) {
	c := e.config
	g := &entities.Graph{Records: t.left.Rows(), Pairs: make([]entities.Pair, len(e.found.pairs)), Sources: t.sources(c, t.left, map[string]uint32{})}
	for i, p := range e.found.pairs {
		g.Pairs[i] = entities.Pair{A: p.a, B: p.b, Evidence: logOdds(e.probability[i])}
		if c.Threshold > 0 { // it decides about each pair: no link is evidence against, and nothing else is for
			g.Pairs[i].Evidence = min(g.Pairs[i].Evidence, -1)
		}
	}
	if c.Threshold > 0 {
		for _, i := range edges {
			g.Pairs[i].Evidence = max(1, logOdds(e.probability[i]))
		}
	}
	o := entities.Options{Precision: c.Precision, Even: c.Even, Threads: c.Threads}
	if c.Model != nil && c.Threshold == 0 && c.Precision == 0 {
		least := max(entities.Least, logOdds(c.Model.Threshold))
		o.Cut = &least
	}
	return entities.Find(ctx, g, o)
}

// sources returns the number of each record's source, from 1 on, or 0 if the columns of Config.Sources are empty; nil
// if there are no such columns. seen has the numbers so far, by values.
func (t *tables) sources(c *Config, table *record.Table, seen map[string]uint32) []uint32 {
	if len(c.Sources) == 0 {
		return nil
	}
	of := make([]uint32, table.Rows())
	var name []byte
	for i := range of {
		name = name[:0]
		filled := false
		for _, column := range c.Sources {
			value := t.keptOf(table, uint32(i), column)
			filled = filled || len(value) > 0
			name = append(append(name, value...), 0)
		}
		if !filled {
			continue
		}
		if of[i] = seen[string(name)]; of[i] == 0 {
			of[i] = uint32(len(seen) + 1)
			seen[string(name)] = of[i]
		}
	}
	return of
}

// acrossSources drops the candidates between records of one source: it has a thing once.
func (t *tables) acrossSources(e *examiner) {
	seen := map[string]uint32{}
	left := t.sources(e.config, t.left, seen)
	if left == nil {
		return
	}
	right := left
	if t.right != nil {
		right = t.sources(e.config, t.right, seen)
	}
	across := e.found.without()
	for i, p := range e.found.pairs {
		if s := left[p.a]; s == 0 || s != right[p.b] {
			across.take(e.found, i)
		}
	}
	e.found = across
}
