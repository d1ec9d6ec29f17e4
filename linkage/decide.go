package linkage

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// decide chooses the links among the candidates.
func (t *tables) decide(ctx context.Context, e *examiner) error {
	c, found, probability, rank := e.config, e.found, e.probability, e.rank
	edges := t.allowed(e, probability, rank)
	if err := ctx.Err(); err != nil {
		return err
	}
	t.noteSeveral(e, edges)
	r := t.result
	tableB := t.other()
	if c.Considered {
		for _, i := range edges {
			p := found.Pairs[i]
			r.Considered = append(r.Considered, Considered{t.left.ID(int(p.A)), tableB.ID(int(p.B)), probability[i]})
		}
	}
	matcher := e.matchers[0]
	edges, least, err := cut(c, edges, probability, func(i int, t measure.Threshold) bool { return matcher.Reaches(found.Pairs[i], t) })
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	edges = decide.KeepTop(func(a uint32) int { return e.known.room(a, c.Top) }, edges, found.Pairs, rank)
	if e.verdicts != nil {
		edges, r.Parted = e.verdicts.hold(edges, found.Pairs, probability)
	}
	all, fewer := t.counts(), 0
	if e.onePartner && t.right != nil {
		fewer = min(all[0], all[1])
	}
	var held decide.Held
	if t.right == nil {
		clusters, err := t.cluster(ctx, e, edges)
		if err != nil {
			return err
		}
		if held = heldBy(clusters, e, edges); c.Clusters {
			r.Entities = clusters
		}
	}
	r.estimate(decide.Estimate(edges, probability, e.shed, fewer, held))
	r.Links, r.Linked = t.links(e, edges), len(edges)
	if c.Evidence > 0 {
		r.Evidence = t.evidence(e, edges, least)
	}
	return nil
}

// graph returns the candidates as edges.
func (e *examiner) graph() model.Graph {
	return model.Graph{Pairs: e.found.Pairs, Left: e.found.Left, Right: e.found.Right}
}

// allowed returns, ascending, the candidates that the match rule allows to be links.
func (t *tables) allowed(e *examiner, probability, rank []float64) (edges []int) {
	g := e.graph()
	switch e.config.Match {
	case Mutual:
		return g.Mutual(rank, e.found.Wholes)
	case OneToOne:
		edges, t.result.Assignment = decide.OneToOne(g, probability, rank, e.found.Wholes)
		return edges
	case Best:
		return decide.Best(g, rank, e.found.Wholes)
	}
	edges = make([]int, len(g.Pairs))
	for i := range edges {
		edges[i] = i
	}
	return edges
}

// cut keeps the edges that the configuration accepts. It also returns the least probability of a link or, if the
// configuration has a threshold, the least similarity. reaches tells whether an edge reaches a similarity.
func cut(c *Config, edges []int, probability []float64, reaches func(e int, t measure.Threshold) bool) ([]int, float64, error) {
	switch {
	case c.Threshold > 0:
		t, err := measure.NewThreshold(c.scale().Measure, c.Threshold)
		return slices.DeleteFunc(edges, func(e int) bool { return !reaches(e, t) }), c.Threshold, err
	case c.Precision > 0:
		edges, least := decide.Precise(edges, probability, c.Precision)
		return edges, least, nil
	case c.Model != nil:
		return decide.Probable(edges, probability, c.Model.Threshold), c.Model.Threshold, nil
	}
	least := decide.Balance(edges, probability)
	return decide.Probable(edges, probability, least), least, nil
}

// links returns some candidates as links.
func (t *tables) links(e *examiner, edges []int) Links {
	pairs, probability := make([]compare.Pair, len(edges)), make([]float64, len(edges))
	for i, edge := range edges {
		pairs[i], probability[i] = e.found.Pairs[edge], e.probability[edge]
	}
	comparer, matchers, with := e.Comparer, e.matchers, len(e.config.With)
	return Links{len(edges), func(from, to int) []Link {
		some := make([]Link, to-from)
		// There is no error, because the context never ends.
		_ = comparer.EachSimilarities(context.Background(), matchers, pairs[from:to], func(i int, of []float64, similarity float64) {
			some[i] = t.linkOf(pairs[from+i], of, similarity, with)
			some[i].Probability = probability[from+i]
		})
		return some
	}}
}

// linkOf returns a pair as a link. with is the number of values to copy from either record.
func (t *tables) linkOf(p compare.Pair, of []float64, similarity float64, with int) Link {
	other := t.other()
	link := Link{
		A: t.left.ID(int(p.A)), B: other.ID(int(p.B)), RowA: t.left.Number(int(p.A)), RowB: other.Number(int(p.B)),
		Similarity: similarity, Fields: of,
	}
	for w := range with {
		link.WithA = append(link.WithA, t.left.Kept(int(p.A), w, len(t.kept)))
		link.WithB = append(link.WithB, other.Kept(int(p.B), w, len(t.kept)))
	}
	return link
}

// report fills in how the columns were used.
func (t *tables) report(c *compare.Comparison, probability []float64, m *model.Model) {
	for f := range t.result.Columns {
		col := &t.result.Columns[f]
		col.Share = m.Share[f]
		for side, table := range []*record.Table{t.left, t.right} {
			if table == nil {
				col.Filled[side] = col.Filled[0]
				continue
			}
			filled, all := 0, t.counts()[side]
			if t.sieved != nil && side == t.sieved.side {
				filled = t.sieved.rest.Filled[f]
			}
			for i := range table.Rows() {
				if table.Cells(i)[f] > 0 {
					filled++
				}
			}
			col.Filled[side] = float64(filled) / float64(max(1, all))
		}
		var match, other, matches, others, told float64
		for i, p := range probability {
			l := c.Levels[i*c.Width+f]
			if l == compare.Missing {
				continue
			}
			s := compare.Alike(l)
			match, matches = match+p*s, matches+p
			other, others = other+(1-p)*s, others+1-p
			told += p * m.Evidence[f*compare.Levels+int(l)]
		}
		if matches > 0 {
			col.Agreement, col.Information = match/matches, told/matches
		}
		if others > 0 {
			col.Chance = other / others
		}
	}
}
