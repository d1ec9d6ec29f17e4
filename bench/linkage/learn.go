package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/linkage"
)

// half tells for each id of the left, or only, table whether it is in the training half of a seed.
// Records that belong together are in the same half.
func (v variant) half(seed int) (taught func(id string) bool) {
	of := v.clusters()
	if v.b != nil { // ids of the tables may be the same
		of = variant{truth: sided(v.truth)}.clusters()
		return func(id string) bool { return chance(fmt.Sprint("half ", seed, cmp.Or(of["a"+id], "a"+id))) < 50 }
	}
	return func(id string) bool { return chance(fmt.Sprint("half ", seed, cmp.Or(of[id], id))) < 50 }
}

func sided(truth [][2]string) (s [][2]string) {
	for _, t := range truth {
		s = append(s, [2]string{"a" + t[0], "b" + t[1]})
	}
	return s
}

// learnSeeds is how many halves of the truth are learned from.
const learnSeeds = 5

// learn prints F1 on the test half, for several halves: without labels, with all matches of the training half, and with
// 50 labels of it, chosen in three ways: all matches of some clusters, half matches and half others, and answers to
// questions.
func (v variant) learn(work string) {
	c := v.config(work)
	l, err := linkage.NewLearner(context.Background(), c)
	check(err)
	truth := v.isTrue()
	links := func(m *linkage.Model) []linkage.Link {
		c := c
		c.Model = m
		r, err := linkage.Join(context.Background(), c)
		check(err)
		return slices.Collect(r.Links.All())
	}
	without := links(nil)
	for seed := range learnSeeds {
		taught := v.half(seed)
		var half linkage.Labels
		half.Complete = true
		for _, t := range v.truth {
			if taught(t[0]) {
				half.Pairs = append(half.Pairs, linkage.Label{A: t[0], B: t[1], Match: true})
			}
		}
		score := func(links []linkage.Link) float64 {
			links = slices.DeleteFunc(slices.Clone(links), func(l linkage.Link) bool { return taught(string(l.A)) })
			matches := 0
			for t := range truth {
				if !taught(t[0]) {
					matches++
				}
			}
			return 2 * float64(v.count(links, truth)) / float64(len(links)+matches)
		}
		fmt.Printf("%-20s seed %d F1 without %.4f", v.name, seed, score(without))
		for _, of := range []struct {
			name   string
			labels linkage.Labels
		}{
			{"half", half}, {"50 matches", v.fifty(half, seed)}, {"50 mixed", v.mixed(half, without, truth, taught, seed)},
			{"50 asked", linkage.Labels{Pairs: v.ask(l, taught, truth)}},
		} {
			m, err := l.Fit(of.labels)
			if err != nil {
				fmt.Printf(", %s: %v", of.name, err)
				continue
			}
			fmt.Printf(", %s %.4f (%g)", of.name, score(links(m)), m.Learned.Strength)
		}
		fmt.Println()
	}
}

// mixed returns 25 matches, and 25 links and other pairs that are none.
func (v variant) mixed(all linkage.Labels, links []linkage.Link, truth map[[2]string]bool, taught func(id string) bool, seed int) (some linkage.Labels) {
	drawn := func(l linkage.Label) uint64 { return mixed(fmt.Sprint(seed, " ", l.A, " ", l.B)) }
	some.Pairs = slices.Clone(all.Pairs)
	byChance := func(x, y linkage.Label) int { return cmp.Compare(drawn(x), drawn(y)) }
	slices.SortFunc(some.Pairs, byChance)
	some.Pairs = some.Pairs[:min(25, len(some.Pairs))]
	var others []linkage.Label
	for i, l := range links {
		for _, b := range []linkage.Link{l, links[(i*7+1)%len(links)]} { // of the second one, a record that was likely for another
			k := [2]string{string(l.A), string(b.B)}
			if v.b == nil && k[0] > k[1] {
				k[0], k[1] = k[1], k[0]
			}
			if k[0] != k[1] && !truth[k] && taught(k[0]) {
				others = append(others, linkage.Label{A: k[0], B: k[1]})
			}
		}
	}
	slices.SortFunc(others, byChance)
	some.Pairs = append(some.Pairs, others[:min(25, len(others))]...)
	return some
}

// fifty returns 50 matches or a few more: all matches of some random clusters.
func (v variant) fifty(all linkage.Labels, seed int) linkage.Labels {
	of := v.clusters()
	if v.b != nil {
		of = variant{truth: sided(v.truth)}.clusters()
	}
	cluster := func(l linkage.Label) uint64 {
		if v.b != nil {
			return mixed(fmt.Sprint(seed, of["a"+l.A]))
		}
		return mixed(fmt.Sprint(seed, of[l.A]))
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
