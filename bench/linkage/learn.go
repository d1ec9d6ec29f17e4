package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/alike-dev/alike/linkage"
)

// half tells for each id of the left, or only, table whether it is in the training half.
// Records that belong together are in the same half.
func (v variant) half() (taught func(id string) bool) {
	of := v.clusters()
	if v.b != nil { // ids of the tables may be the same
		of = variant{truth: sided(v.truth)}.clusters()
		return func(id string) bool { return chance("half "+cmp.Or(of["a"+id], "a"+id)) < 50 }
	}
	return func(id string) bool { return chance("half "+cmp.Or(of[id], id)) < 50 }
}

func sided(truth [][2]string) (s [][2]string) {
	for _, t := range truth {
		s = append(s, [2]string{"a" + t[0], "b" + t[1]})
	}
	return s
}

// learn prints F1 on the test half: without labels, with all matches of the training half, and
// with 50 labels of it.
func (v variant) learn(work string) {
	c := v.config(work)
	taught := v.half()
	truth := v.isTrue()
	var half linkage.Labels
	half.Complete = true
	for _, t := range v.truth {
		if taught(t[0]) {
			half.Pairs = append(half.Pairs, linkage.Label{A: t[0], B: t[1], Match: true})
		}
	}
	score := func(m *linkage.Model) float64 {
		c := c
		c.Model = m
		r, err := linkage.Join(context.Background(), c)
		check(err)
		links := slices.DeleteFunc(slices.Collect(r.Links.All()), func(l linkage.Link) bool { return taught(string(l.A)) })
		matches := 0
		for t := range truth {
			if !taught(t[0]) {
				matches++
			}
		}
		return 2 * float64(v.count(links, truth)) / float64(len(links)+matches)
	}
	l, err := linkage.NewLearner(context.Background(), c)
	check(err)
	from := time.Now()
	byHalf, err := l.Fit(half)
	check(err)
	took := time.Since(from)
	byMatches, err := l.Fit(v.fifty(half))
	check(err)
	asked := v.ask(l, taught, truth)
	byAsked, err := l.Fit(linkage.Labels{Pairs: asked})
	check(err)
	if *columns {
		for _, w := range byHalf.Weights {
			fmt.Printf("    %-40s %6.2f\n", w.Feature, w.Weight)
		}
		fmt.Printf("%+v\n%+v\n%v\n", byHalf.Learned, byAsked.Learned, byHalf.Threshold)
	}
	fmt.Printf("%-20s F1 without %.4f, half (%d) %.4f cv %.4f/%.4f, 50 matches %.4f, 50 asked %.4f  %.1fs\n", v.name, score(nil),
		len(half.Pairs), score(byHalf), byHalf.Learned.Without.F1, byHalf.Learned.Cross.F1, score(byMatches), score(byAsked), took.Seconds())
}

// fifty returns 50 matches or a few more: all matches of some random clusters.
func (v variant) fifty(all linkage.Labels) linkage.Labels {
	of := v.clusters()
	if v.b != nil {
		of = variant{truth: sided(v.truth)}.clusters()
	}
	cluster := func(l linkage.Label) uint64 {
		if v.b != nil {
			return mixed(of["a"+l.A])
		}
		return mixed(of[l.A])
	}
	some := linkage.Labels{Complete: true, Pairs: slices.Clone(all.Pairs)}
	slices.SortStableFunc(some.Pairs, func(x, y linkage.Label) int { return cmp.Compare(cluster(x), cluster(y)) })
	n := min(50, len(some.Pairs))
	for n < len(some.Pairs) && cluster(some.Pairs[n]) == cluster(some.Pairs[n-1]) {
		n++
	}
	some.Pairs = some.Pairs[:n]
	return some
}

// ask answers 50 questions by the truth, and skips questions about the test half.
func (v variant) ask(l *linkage.Learner, taught func(id string) bool, truth map[[2]string]bool) (answers []linkage.Label) {
	for len(answers) < 50 {
		q, ok := l.Ask(answers, func(a, b string) bool { return taught(a) })
		if !ok {
			break
		}
		k := [2]string{q.A, q.B}
		if v.b == nil && k[0] > k[1] {
			k[0], k[1] = k[1], k[0]
		}
		answers = append(answers, linkage.Label{A: q.A, B: q.B, Match: truth[k]})
	}
	return answers
}

// config writes the tables and returns the configuration of their join.
func (v variant) config(work string) linkage.Config {
	c := linkage.Config{Left: filepath.Join(work, "a.csv")}
	v.a.write(c.Left)
	if v.b != nil {
		c.Right = filepath.Join(work, "b.csv")
		v.b.write(c.Right)
	}
	return c
}

// isTrue returns the true pairs; in one table the smaller id comes first.
func (v variant) isTrue() map[[2]string]bool {
	truth := map[[2]string]bool{}
	for _, t := range v.truth {
		if v.b == nil && t[0] > t[1] {
			t[0], t[1] = t[1], t[0]
		}
		truth[t] = true
	}
	return truth
}
