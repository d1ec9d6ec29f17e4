package linkage

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/linkage/internal/columns"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/decide"
	"github.com/alike-dev/alike/linkage/internal/entities"
	"github.com/alike-dev/alike/linkage/internal/explain"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/record"
)

// Join finds the links between two tables, or within one. The links are the same for any number of threads.
func Join(ctx context.Context, c Config) (*Result, error) {
	f, r, err := prepare(ctx, &c, true)
	if err != nil {
		return nil, err
	}
	err = link(ctx, &c, f, r)
	if err = errors.Join(err, f.Memory.Close()); err != nil {
		return nil, errors.Join(err, f.Steps.Log.Close(false))
	}
	r.log = f.Steps.Log
	return r, nil
}

// prepare completes a configuration, reads its tables, and begins the result. With keep, finished steps are noted in the
// work folder, if there is one.
func prepare(ctx context.Context, c *Config, keep bool) (*find.Finder, *Result, error) {
	if err := c.complete(); err != nil {
		return nil, nil, err
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Match == "" {
		c.Match = ByData
	}
	c.limits.complete()
	return openTables(ctx, c, keep)
}

// link finds candidates in the tables of a finder, compares them, and decides.
func link(ctx context.Context, c *Config, f *find.Finder, r *Result) error {
	if f.Empty() {
		return nil
	}
	e, fixed, err := examineAs(ctx, c, f, r)
	if err != nil {
		return err
	}
	return choose(ctx, c, e, fixed, f.Tables, r)
}

// choose chooses the links among the candidates of an examiner, and describes them in the result.
func choose(ctx context.Context, c *Config, e *judge.Examiner, fixed settled, t *held.Tables, r *Result) error {
	alone := e.Probability
	if t.Right == nil && e.Told && !e.ByKinds {
		expectRivals(ctx, e)
	}
	var edges []int
	edges, r.Assignment = allowed(e, c.Match, e.Probability, e.Rank)
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.exclusive() && t.Right != nil {
		r.Notes = append(r.Notes, severalPartners(e, edges)...)
	}
	if c.Considered {
		r.Considered = considered(e, t, edges)
	}
	edges, least, err := cut(c, e, edges)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	edges = decide.KeepTop(func(a uint32) int { return fixed.known.room(a, c.Top) }, edges, e.Found.Pairs, e.Rank)
	if fixed.verdicts != nil {
		edges, r.Parted = fixed.verdicts.hold(edges, e.Found.Pairs, e.Probability)
	}
	r.Notes = append(r.Notes, tiedLinks(e, edges, c.once())...)
	var fewer int
	var within decide.Held
	if e.Once.Any() && t.Right != nil {
		fewer = e.Once.Most(t.Records[0], t.Records[1])
	}
	if t.Right == nil {
		clusters, err := clustersOf(ctx, c, e, alone, fixed.verdicts, t.Left.Rows(), edges)
		if err != nil {
			return err
		}
		within = heldBy(clusters, e, edges)
		if within.Apart = e.Apart; c.Clusters {
			r.Entities = clusters
		}
	}
	r.Links, r.Linked = linksOf(e, t, edges, len(c.With)), len(edges)
	r.estimate(decide.Estimate(edges, e.Probability, otherViews(ctx, e, fixed.assumed), confirmed(e), e.Shed, fewer, within))
	r.LargestClusters = largest(sizes(r.Entities, e.Found.Pairs, edges, t))
	r.Model = found(c, r, e, least)
	if c.Audit > 0 {
		r.Audit = newAudit(e, t, r.Columns, edges, c.Audit)
	}
	if c.Evidence > 0 {
		r.Evidence = evidence(c, e, t, r.Columns, edges, least)
	}
	return nil
}

// otherViews returns other probabilities of the candidates: those of the examiner, those by a model that assumed that
// records have one partner, if that was given up though the data do not show several, and what chance leaves of them.
func otherViews(ctx context.Context, e *judge.Examiner, assumed *judge.Examiner) (views [][]float64) {
	views = slices.Clone(e.Views)
	if assumed != nil {
		of, _ := model.Apply(ctx, assumed.Model, e.Found, assumed.Once, nil)
		views = append(views, of)
	}
	if e.AtMost != nil && e.Base == nil {
		views = append(views, e.AtMost.Of(e.Found, e.Probability))
	}
	return views
}

// confirmed returns how likely each candidate is a match by decoys; nil: there are none, or the model was not learned from the tables.
func confirmed(e *judge.Examiner) []float64 {
	if e.Decoys == nil || e.Base != nil {
		return nil
	}
	return e.Decoys.Of(e.Model, e.Found)
}

// allowed returns, ascending, the candidates that a match rule allows to be links, given their probabilities and ranks.
func allowed(e *judge.Examiner, rule Match, probability, rank []float64) (edges []int, of Assignment) {
	g := e.Graph()
	switch rule {
	case Mutual:
		return g.Mutual(rank, e.Found.Wholes), of
	case OneToOne:
		return decide.OneToOne(g, probability, rank, e.Found.Wholes)
	case Best:
		return decide.Best(g, rank, e.Found.Wholes), of
	case BestRight:
		return decide.BestRight(g, rank, e.Found.Wholes), of
	}
	if g.Sources != nil {
		return g.Mutual(rank, e.Found.Wholes), of
	}
	edges = make([]int, len(g.Pairs))
	for i := range edges {
		edges[i] = i
	}
	return edges, of
}

// considered returns some candidates as Result.Considered has them.
func considered(e *judge.Examiner, t *held.Tables, edges []int) (list []Considered) {
	for _, i := range edges {
		p := e.Found.Pairs[i]
		list = append(list, Considered{t.Left.ID(int(p.A)), t.Other().ID(int(p.B)), e.Probability[i]})
	}
	return list
}

// cut keeps the edges that the configuration accepts. It also returns the least probability of a link or, if the
// configuration has a threshold, the least similarity.
func cut(c *Config, e *judge.Examiner, edges []int) ([]int, float64, error) {
	probability := e.Probability
	switch {
	case c.Threshold > 0:
		t, err := measure.NewThreshold(c.scale().Measure, c.Threshold)
		return slices.DeleteFunc(edges, func(i int) bool { return !e.Matchers[0].Reaches(e.Found.Pairs[i], t) }), c.Threshold, err
	case c.Precision > 0:
		edges, least := decide.Precise(edges, probability, c.Precision)
		return edges, least, nil
	case c.Model != nil:
		return decide.Probable(edges, probability, c.Model.Threshold), c.Model.Threshold, nil
	}
	least := decide.Balance(edges, probability)
	return decide.Probable(edges, probability, least), least, nil
}

// linksOf returns some candidates as links, with the first values that were kept.
func linksOf(e *judge.Examiner, t *held.Tables, edges []int, with int) Links {
	pairs, probability := make([]compare.Pair, len(edges)), make([]float64, len(edges))
	for i, edge := range edges {
		pairs[i], probability[i] = e.Found.Pairs[edge], e.Probability[edge]
	}
	comparer, matchers := e.Comparer, e.Matchers
	return Links{len(edges), func(from, to int) []Link {
		some := make([]Link, to-from)
		// There is no error, because the context never ends.
		_ = comparer.EachSimilarities(context.Background(), matchers, pairs[from:to], func(i int, of []float64, similarity float64) {
			some[i] = linkOf(t, pairs[from+i], of, similarity, with)
			some[i].Probability = probability[from+i]
		})
		return some
	}}
}

// linkOf returns a pair as a link. with is the number of values to copy from either record.
func linkOf(t *held.Tables, p compare.Pair, of []float64, similarity float64, with int) Link {
	other := t.Other()
	link := Link{
		A: t.Left.ID(int(p.A)), B: other.ID(int(p.B)), RowA: t.Left.Number(int(p.A)), RowB: other.Number(int(p.B)),
		Similarity: similarity, Fields: of,
	}
	for w := range with {
		link.WithA = append(link.WithA, t.Left.Kept(int(p.A), w, len(t.Kept)))
		link.WithB = append(link.WithB, other.Kept(int(p.B), w, len(t.Kept)))
	}
	return link
}

// describeColumns fills in how the columns were used.
func describeColumns(list []Column, t *find.Finder, e *judge.Examiner) {
	c, probability, m := e.Sample, e.Sampled, e.Model
	for f := range list {
		col := &list[f]
		col.Share = m.Share[f]
		for side, table := range []*record.Table{t.Left, t.Right} {
			if table == nil {
				col.Filled[side] = col.Filled[0]
				continue
			}
			filled, all := 0, t.Records[side]
			if t.Sieved.Is(side) {
				filled = t.Sieved.Rest.Filled[f]
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

// evidence explains some candidates. links are the candidates that are links, ascending; least is the probability or
// similarity from which candidates are links.
func evidence(c *Config, e *judge.Examiner, t *held.Tables, compared []Column, links []int, least float64) Evidence {
	o := explain.Options{Pairs: c.Evidence, Columns: namesOf(compared), ByWhole: c.Threshold > 0, Repetitions: c.Repetitions}
	if c.Model != nil {
		o.Weights = c.Model.Weights
	}
	return explain.Find(e, t, links, least, o)
}

// namesOf returns compared columns without how they were used.
func namesOf(compared []Column) (list []columns.Column) {
	for _, c := range compared {
		list = append(list, columns.Column{Left: c.Left, Right: c.Right, Kind: c.Tokens})
	}
	return list
}

// expectRivals makes candidates less probable that rule each other out, as the user has named the sources of records: links
// are chosen by it. Clusters are not: they hold one of two equal records of a source, with a probability of about a half.
func expectRivals(ctx context.Context, e *judge.Examiner) {
	e.Rivals = true
	probability, rank := model.Apply(ctx, e.Model, e.Found, e.Once, e.Sources.OfLeft())
	for i, p := range e.Probability {
		probability[i] = min(p, probability[i])
	}
	e.Probability, e.Rank = probability, rank
}

// clustersOf groups the records of the only table, by the probability of each candidate. Without a rule of the configuration
// the cut has the best expected F1 of the closed clusters.
func clustersOf(ctx context.Context, c *Config, e *judge.Examiner, probability []float64, v *verdicts, records int, edges []int) (*Entities, error) {
	g := &entities.Graph{Records: records, Pairs: make([]entities.Pair, len(e.Found.Pairs)), Sources: e.Sources.OfLeft(), Told: e.Told}
	for i, p := range e.Found.Pairs {
		g.Pairs[i] = entities.Pair{A: p.A, B: p.B, Evidence: model.LogOdds(probability[i])}
		if c.Threshold > 0 { // it decides about each pair: no link is evidence against, and nothing else is for
			g.Pairs[i].Evidence = min(g.Pairs[i].Evidence, -1)
		}
	}
	if c.Threshold > 0 {
		for _, i := range edges {
			g.Pairs[i].Evidence = max(1, model.LogOdds(probability[i]))
		}
	}
	if v != nil {
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
func heldBy(clusters *Entities, e *judge.Examiner, links []int) decide.Held {
	of := clusters.Of(e.Found.Left)
	held := decide.Held{Pairs: clusters.Pairs, Sure: clusters.Sure()}
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
