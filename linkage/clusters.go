package linkage

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/entities"
	"github.com/alike-dev/alike/linkage/internal/model"
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
	g := &entities.Graph{Records: t.left.Rows(), Pairs: make([]entities.Pair, len(e.found.Pairs)), Sources: e.sources.ofLeft()}
	for i, p := range e.found.Pairs {
		g.Pairs[i] = entities.Pair{A: p.A, B: p.B, Evidence: model.LogOdds(e.probability[i])}
		if c.Threshold > 0 { // it decides about each pair: no link is evidence against, and nothing else is for
			g.Pairs[i].Evidence = min(g.Pairs[i].Evidence, -1)
		}
	}
	if c.Threshold > 0 {
		for _, i := range edges {
			g.Pairs[i].Evidence = max(1, model.LogOdds(e.probability[i]))
		}
	}
	if v := e.verdicts; v != nil {
		for _, p := range v.same {
			g.Same = append(g.Same, [2]uint32{p.A, p.B})
		}
		for _, p := range v.different {
			g.Different = append(g.Different, [2]uint32{p.A, p.B})
			g.Pairs = append(g.Pairs, entities.Pair{A: p.A, B: p.B, Evidence: -entities.Most})
		}
	}
	o := entities.Options{Precision: c.Precision, Even: c.Even, Threads: c.Threads}
	if c.Model != nil && c.Threshold == 0 && c.Precision == 0 {
		least := max(entities.Least, model.LogOdds(c.Model.Threshold))
		o.Cut = &least
	}
	return entities.Find(ctx, g, o)
}

// heldBy returns what clusters hold, and how many of the links among that are expected to be right.
func heldBy(clusters *Entities, e *examiner, links []int) decide.Held {
	of := clusters.Of(e.found.Left)
	held := decide.Held{Pairs: clusters.Pairs}
	within := func(i int) bool { p := e.found.Pairs[i]; return of[p.A] >= 0 && of[p.A] == of[p.B] }
	for _, i := range links {
		if within(i) {
			held.Links += e.probability[i]
		}
	}
	for i, p := range e.probability {
		if p < 0.5 && within(i) {
			held.Rejected += 1 - p
		}
	}
	return held
}
