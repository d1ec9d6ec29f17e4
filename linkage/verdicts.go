package linkage

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/judge"
)

// What a person has said about pairs holds, see Config.Verdicts:
//
//	said to be one thing   a link, whatever the model, the rule and the threshold say
//	said to be different   no link, and no chain of links connects the two
//
// Records are numbered through both tables here: right ones come after all left ones.

// surely is the probability of what a person has said. It is below 1, so that log odds are finite.
const surely = 1 - 1e-12

// mostRefused is how many verdicts that contradict others a report names.
const mostRefused = 20

// Refused is two records that a person has called one thing, which other verdicts contradict.
type Refused struct {
	A string `json:"a"`
	B string `json:"b"`
}

// verdicts are Config.Verdicts by records.
type verdicts struct {
	left            int                   // number of left records of two tables; 0: there is one
	records         int                   // of both tables
	same, different []compare.Pair        // sorted; those of same do not contradict different
	isSame          map[compare.Pair]bool // the pairs of same
	taken           [2]map[uint32]bool    // left and right records of same; one map for one table
}

// findVerdicts finds the records that verdicts name. Of several about one pair the last one counts. It is nil if there are none.
func findVerdicts(c *Config, t *held.Tables, r *Result) (*verdicts, error) {
	if len(c.Verdicts) == 0 {
		return nil, nil
	}
	r.Verdicts, r.UnknownVerdicts, r.Refused = 0, 0, nil // a second fit finds them again
	v := &verdicts{records: t.Left.Rows(), isSame: map[compare.Pair]bool{}}
	if t.Right != nil {
		v.left, v.records = t.Left.Rows(), t.Left.Rows()+t.Right.Rows()
	}
	said, err := said(t, r, c.Verdicts)
	if err != nil {
		return nil, err
	}
	var same []compare.Pair
	for p, match := range said {
		if match {
			same = append(same, p)
		} else {
			v.different = append(v.different, p)
		}
	}
	slices.SortFunc(same, compare.Order)
	slices.SortFunc(v.different, compare.Order)
	v.taken = [2]map[uint32]bool{{}, {}}
	if t.Right == nil {
		v.taken[1] = v.taken[0]
	}
	apart := v.apart()
	for _, p := range same {
		if !apart.join(v.node(p)) {
			a, b := t.IDs(p)
			r.Refused = append(r.Refused, Refused{a, b})
			continue
		}
		v.same = append(v.same, p)
		v.isSame[p], v.taken[0][p.A], v.taken[1][p.B] = true, true, true
	}
	return v, nil
}

// said returns the last verdict about each pair of records. An id that several records of a table have is an error.
func said(t *held.Tables, r *Result, list []Label) (map[compare.Pair]bool, error) {
	links := make([]Known, len(list))
	for i, l := range list {
		links[i] = Known{l.A, l.B}
	}
	left := byID(t.Left, links, func(l Known) []string { return sides(t, l.A, l.B) })
	right := left
	if t.Right != nil {
		right = byID(t.Right, links, func(l Known) []string { return []string{l.B} })
	}
	said := make(map[compare.Pair]bool, len(list))
	for _, l := range list {
		a, b := left[l.A], right[l.B]
		switch {
		case len(a) > 1:
			return nil, setting.Errorf("a verdict is about the record %q, and several records have this id: name another column for the ids", l.A)
		case len(b) > 1:
			return nil, setting.Errorf("a verdict is about the record %q, and several records have this id: name another column for the ids", l.B)
		case len(a) == 0 || len(b) == 0 || t.Right == nil && a[0] == b[0]:
			r.UnknownVerdicts++
			continue
		}
		p := compare.Pair{A: a[0], B: b[0]}
		if t.Right == nil && p.A > p.B {
			p.A, p.B = p.B, p.A
		}
		said[p] = l.Match
	}
	r.Verdicts = len(said)
	return said, nil
}

// node returns the numbers of a pair's records.
func (v *verdicts) node(p compare.Pair) (a, b uint32) { return p.A, uint32(v.left) + p.B }

// candidates returns the candidates that verdicts leave, with those that are one thing among them. A pair is no
// candidate if a chain of verdicts keeps it apart, nor if the rule allows a partner that is another one.
func (v *verdicts) candidates(ctx context.Context, e *judge.Examiner, rule Match) (*compare.Comparison, error) {
	apart := v.apart()
	for _, p := range v.same {
		apart.join(v.node(p))
	}
	found := map[compare.Pair]bool{}
	for _, p := range e.Found.Pairs {
		if v.isSame[p] {
			found[p] = true
		}
	}
	missing := slices.DeleteFunc(slices.Clone(v.same), func(p compare.Pair) bool { return found[p] })
	more, err := e.Compare(ctx, e.Matchers, missing)
	if err != nil {
		return nil, err
	}
	rest, next := e.Found.Without(), 0
	for i, p := range e.Found.Pairs {
		for ; next < len(missing) && compare.Order(missing[next], p) < 0; next++ {
			rest.Take(more, next)
		}
		if v.isSame[p] || !v.hasOther(p, rule) && !apart.keeps(v.node(p)) {
			rest.Take(e.Found, i)
		}
	}
	for ; next < len(missing); next++ {
		rest.Take(more, next)
	}
	return rest, nil
}

// hasOther tells whether the rule allows a record of a pair one partner, and a verdict has given it one.
func (v *verdicts) hasOther(p compare.Pair, rule Match) bool {
	switch rule {
	case Mutual, OneToOne:
		return v.taken[0][p.A] || v.taken[1][p.B]
	case Best:
		return v.taken[0][p.A]
	case BestRight:
		return v.taken[1][p.B]
	}
	return false
}

// believe makes the pairs that are one thing certain.
func (v *verdicts) believe(pairs []compare.Pair, probability []float64) {
	for i, p := range pairs {
		if v.isSame[p] {
			probability[i] = surely
		}
	}
}

// hold returns, ascending, the links among candidates: all that are one thing, and of edges those that connect no two
// records which are different, the most probable ones first. parted is the number of the others.
func (v *verdicts) hold(edges []int, pairs []compare.Pair, probability []float64) (kept []int, parted int) {
	apart := v.apart()
	for i, p := range pairs {
		if v.isSame[p] {
			apart.join(v.node(p))
			kept = append(kept, i)
		}
	}
	order := slices.DeleteFunc(slices.Clone(edges), func(i int) bool { return v.isSame[pairs[i]] })
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(probability[j], probability[i]), cmp.Compare(i, j)) })
	for _, i := range order {
		if apart.join(v.node(pairs[i])) {
			kept = append(kept, i)
		} else {
			parted++
		}
	}
	slices.Sort(kept)
	return kept, parted
}

// apart are sets of records that are connected, and which of them must not be.
type apart struct {
	sets   *cluster.UnionFind
	others map[uint32][]uint32 // of the first record of a set: records from which it must stay apart
}

// apart returns sets of one record each.
func (v *verdicts) apart() *apart {
	a := &apart{cluster.New(v.records), map[uint32][]uint32{}}
	for _, p := range v.different {
		x, y := v.node(p)
		a.others[x], a.others[y] = append(a.others[x], y), append(a.others[y], x)
	}
	return a
}

// keeps tells whether two records must not be connected. O(the smaller number of verdicts about either set).
func (a *apart) keeps(x, y uint32) bool {
	x, y = a.sets.Find(x), a.sets.Find(y)
	if len(a.others[x]) > len(a.others[y]) {
		x, y = y, x
	}
	return slices.ContainsFunc(a.others[x], func(other uint32) bool { return a.sets.Find(other) == y })
}

// join connects two records, unless they must not be.
func (a *apart) join(x, y uint32) bool {
	if a.keeps(x, y) {
		return false
	}
	x, y = a.sets.Find(x), a.sets.Find(y)
	if x == y {
		return true
	}
	a.sets.Union(x, y)
	root := a.sets.Find(x)
	list := append(a.others[x], a.others[y]...)
	delete(a.others, x)
	delete(a.others, y)
	if len(list) > 0 {
		a.others[root] = list
	}
	return true
}
