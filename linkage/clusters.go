package linkage

import (
	"context"

	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/entities"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// A Cluster is records of one table that are one thing, see Config.Clusters. Members and the ends of pairs are
// numbers of records as in Link.RowA; Evidence of pairs is in nats.
type Cluster = entities.Cluster

// Entities are the clusters of one table. Right, RightAlone, Pairs and Matches are expected numbers of pairs.
type Entities = entities.Result

// clustersOf groups the records of the only table. Without a rule of the configuration the cut has the best expected F1
// of the closed clusters.
func clustersOf(ctx context.Context, c *Config, e *judge.Examiner, records int, edges []int) (*Entities, error) {
	g := &entities.Graph{Records: records, Pairs: make([]entities.Pair, len(e.Found.Pairs)), Sources: e.Sources.OfLeft()}
	for i, p := range e.Found.Pairs {
		g.Pairs[i] = entities.Pair{A: p.A, B: p.B, Evidence: model.LogOdds(e.Probability[i])}
		if c.Threshold > 0 { // it decides about each pair: no link is evidence against, and nothing else is for
			g.Pairs[i].Evidence = min(g.Pairs[i].Evidence, -1)
		}
	}
	if c.Threshold > 0 {
		for _, i := range edges {
			g.Pairs[i].Evidence = max(1, model.LogOdds(e.Probability[i]))
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
func heldBy(clusters *Entities, e *judge.Examiner, links []int) decide.Held {
	of := clusters.Of(e.Found.Left)
	held := decide.Held{Pairs: clusters.Pairs}
	within := func(i int) bool { p := e.Found.Pairs[i]; return of[p.A] >= 0 && of[p.A] == of[p.B] }
	for _, i := range links {
		if within(i) {
			held.Links += e.Probability[i]
		}
	}
	for i, p := range e.Probability {
		if p < 0.5 && within(i) {
			held.Rejected += 1 - p
		}
	}
	return held
}
