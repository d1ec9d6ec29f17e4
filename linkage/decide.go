package linkage

import (
	"context"
	"slices"

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
			p := found.pairs[i]
			r.Considered = append(r.Considered, Considered{t.left.ID(int(p.a)), tableB.ID(int(p.b)), probability[i]})
		}
	}
	matcher := e.matchers[0]
	edges, least, err := cut(c, edges, probability, func(i int, t measure.Threshold) bool { return matcher.reaches(found.pairs[i], t) })
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	edges = keepTop(func(a uint32) int { return e.known.room(a, c.Top) }, edges, found.pairs, rank)
	r.Matches = sumOf(probability) + e.shed
	right := 0.0
	for _, i := range edges {
		right += probability[i]
	}
	r.Precision = right / max(1, float64(len(edges)))
	r.Recall = right / max(r.Matches, 1e-300)
	likely := 0.0
	for _, p := range probability {
		if p > 0.5 {
			likely += p
		}
	}
	r.RecallMost = right / max(likely, right, 1e-300)
	r.PrecisionLeast = r.Precision
	if e.config.exclusive() && t.right != nil && r.RecallMost-r.Recall >= largeDifference {
		// The model does not know how many records without a link have a partner; possibly all have one.
		all := t.counts()
		r.Recall = min(r.Recall, right/float64(min(all[0], all[1])))
	}
	if t.right == nil {
		agree := transitivityOf(t.left.Rows(), found.pairs, edges)
		r.Recall = min(r.Recall, float64(len(edges))/max(1, agree.connected))
		kept := 0.0
		for _, i := range agree.kept {
			kept += probability[i]
		}
		r.PrecisionLeast = kept / max(1, float64(len(edges)))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Links, r.Linked = t.links(e, edges), len(edges)
	if c.Clusters && t.right == nil {
		if r.Entities, err = t.cluster(ctx, e, edges); err != nil {
			return err
		}
	}
	if c.Evidence > 0 {
		r.Evidence = t.evidence(e, edges, least)
	}
	return nil
}

// allowed returns, ascending, the candidates that the match rule allows to be links.
func (t *tables) allowed(e *examiner, probability, rank []float64) (edges []int) {
	g := graph{e.found.pairs, e.found.left, e.found.right}
	switch e.config.Match {
	case Mutual:
		return g.mutual(rank, e.found.wholes)
	case OneToOne:
		edges, t.result.Assignment = g.oneToOne(probability, rank, e.found.wholes)
		return edges
	case Best:
		return g.best(rank, e.found.wholes)
	}
	edges = make([]int, len(g.pairs))
	for i := range edges {
		edges[i] = i
	}
	return edges
}

// keepTop keeps the best edges of each left record. room is the number of edges that a record may have.
func keepTop(room func(a uint32) int, edges []int, pairs []pair, rank []float64) []int {
	kept := edges[:0]
	for len(edges) > 0 {
		end := 1
		for end < len(edges) && pairs[edges[end]].a == pairs[edges[0]].a {
			end++
		}
		group := slices.Clone(edges[:end])
		slices.SortStableFunc(group, func(i, j int) int { return sign(rank[j] - rank[i]) })
		group = group[:min(room(pairs[edges[0]].a), end)]
		slices.Sort(group)
		kept = append(kept, group...)
		edges = edges[end:]
	}
	return kept
}

// cut keeps the edges that the configuration accepts. It also returns the least probability of a link or, if the
// configuration has a threshold, the least similarity. reaches tells whether an edge reaches a similarity.
func cut(c *Config, edges []int, probability []float64, reaches func(e int, t measure.Threshold) bool) ([]int, float64, error) {
	switch {
	case c.Threshold > 0:
		t, err := measure.NewThreshold(c.scale().Measure, c.Threshold)
		return slices.DeleteFunc(edges, func(e int) bool { return !reaches(e, t) }), c.Threshold, err
	case c.Precision > 0:
		edges, least := precise(edges, probability, c.Precision)
		return edges, least, nil
	case c.Model != nil:
		return probable(edges, probability, c.Model.Threshold), c.Model.Threshold, nil
	}
	least := balance(edges, probability)
	return probable(edges, probability, least), least, nil
}

// probable keeps the edges that are more probable than least.
func probable(edges []int, probability []float64, least float64) []int {
	return slices.DeleteFunc(edges, func(e int) bool { return probability[e] <= least })
}

// precise keeps as many of the most probable edges as possible so that the expected share of right ones is at least
// share. It also returns the smallest probability of these, a half if there are none.
func precise(edges []int, probability []float64, share float64) ([]int, float64) {
	order := slices.Clone(edges)
	slices.SortStableFunc(order, func(i, j int) int { return sign(probability[j] - probability[i]) })
	total, n, least := 0.0, 0, 0.5
	for i, e := range order {
		if total += probability[e]; total >= share*float64(i+1) {
			n, least = i+1, probability[e]
		}
	}
	kept := order[:n]
	slices.Sort(kept)
	return kept, least
}

// balance returns the probability above which edges have the largest expected F1: half of that F1 (Z. Lipton,
// C. Elkan, B. Naryanaswamy, "Optimal thresholding of classifiers to maximize F1 measure", ECML PKDD 2014). It is
// nearly a half if the tables separate matches from others, and less if most matches are hardly more probable than
// others. If the F1 is less than a half, or if no edge is more likely right than wrong, the data are too weak to
// accept improbable edges, and it is a half.
func balance(edges []int, probability []float64) float64 {
	matches := 0.0
	for _, e := range edges {
		matches += probability[e]
	}
	// Each step increases F1 until it is largest (W. Dinkelbach, "On nonlinear fractional programming", 1967).
	least, f1 := 0.5, -1.0
	for {
		right, n := 0.0, 0
		for _, e := range edges {
			if p := probability[e]; p > least {
				right, n = right+p, n+1
			}
		}
		next := 2 * right / (float64(n) + matches)
		switch {
		case n == 0, next <= f1 && f1 < 0.5:
			return 0.5
		case next <= f1:
			return least
		}
		least, f1 = next/2, next
	}
}

// links returns some candidates as links.
func (t *tables) links(e *examiner, edges []int) Links {
	pairs, probability := make([]pair, len(edges)), make([]float64, len(edges))
	for i, edge := range edges {
		pairs[i], probability[i] = e.found.pairs[edge], e.probability[edge]
	}
	compare, matchers, with := e.comparer, e.matchers, len(e.config.With)
	return Links{len(edges), func(from, to int) []Link {
		some := make([]Link, to-from)
		// There is no error, because the context never ends.
		_ = parallel(context.Background(), len(matchers), len(some), 256, func(worker int) func(start, end int) {
			common, near := make([]uint64, len(compare.columns)), nearer{of: compare.numbering}
			return func(start, end int) {
				for i := start; i < end; i++ {
					if (i-start)%nearRows == 0 {
						near.fetch(min(nearRows, end-i), func(k int) []uint32 { return compare.right.Cells(int(pairs[from+i+k].b)) })
					}
					some[i] = t.linkOf(compare, matchers[worker], pairs[from+i], probability[from+i], with, common)
				}
			}
		})
		return some
	}}
}

// linkOf returns a pair as a link. with is the number of values to copy from either record; common is scratch.
func (t *tables) linkOf(compare *comparer, matcher *matcher, p pair, probability float64, with int, common []uint64) Link {
	other := t.other()
	link := Link{
		A: t.left.ID(int(p.a)), B: other.ID(int(p.b)), RowA: t.left.Number(int(p.a)), RowB: other.Number(int(p.b)),
		Probability: probability,
	}
	link.Fields, link.Similarity = compare.similarities(p, matcher, common)
	for w := range with {
		link.WithA = append(link.WithA, t.left.Kept(int(p.a), w, len(t.kept)))
		link.WithB = append(link.WithB, other.Kept(int(p.b), w, len(t.kept)))
	}
	return link
}

// report fills in how the columns were used.
func (t *tables) report(c *comparison, probability []float64, m *model) {
	for f := range t.result.Columns {
		col := &t.result.Columns[f]
		col.Share = m.share[f]
		for side, table := range []*record.Table{t.left, t.right} {
			if table == nil {
				col.Filled[side] = col.Filled[0]
				continue
			}
			filled, all := t.sieved.filledOf(side, f), t.counts()[side]
			for i := range table.Rows() {
				if table.Cells(i)[f] > 0 {
					filled++
				}
			}
			col.Filled[side] = float64(filled) / float64(max(1, all))
		}
		var match, other, matches, others, told float64
		for i, p := range probability {
			l := c.levels[i*c.width+f]
			if l == missing {
				continue
			}
			s := float64(min(l, equal)-1) / 10
			match, matches = match+p*s, matches+p
			other, others = other+(1-p)*s, others+1-p
			told += p * m.evidence[f*levels+int(l)]
		}
		if matches > 0 {
			col.Agreement, col.Information = match/matches, told/matches
		}
		if others > 0 {
			col.Chance = other / others
		}
	}
}
