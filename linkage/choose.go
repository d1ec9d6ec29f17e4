package linkage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/record"
)

// choose decides which columns are compared, and how they are cut.
func (t *tables) choose(ctx context.Context, c *Config, left, right *source) error {
	rowsL, err := left.sample(ctx, sampleRows)
	if err != nil {
		return err
	}
	rowsR := rowsL
	if right != left {
		if rowsR, err = right.sample(ctx, sampleRows); err != nil {
			return err
		}
	}
	if err := left.note(ctx, rowsL, t.result); err != nil {
		return err
	}
	if right != left {
		if err := right.note(ctx, rowsR, t.result); err != nil {
			return err
		}
	}
	l, r := profiles(left.columns, rowsL), profiles(right.columns, rowsR)
	if len(c.Fields) > 0 {
		return t.byHand(c.Fields, l, r, left, right)
	}
	var pairs [][2]int
	if right == left {
		for i := range l {
			pairs = append(pairs, [2]int{i, i})
		}
	} else {
		pairs = correspond(l, r)
	}
	candidates := make([]columnPair, 0, len(pairs))
	for _, p := range pairs {
		if a, b := &l[p[0]], &r[p[1]]; a.name != left.id && b.name != right.id {
			why := useless(a, b)
			switch {
			case slices.Contains(c.Sources, a.name):
				why = namesSource
			case len(c.Sources) > 0 && a.name == c.Table:
				why = namesTable
			}
			candidates = append(candidates, columnPair{p, min(telling(a), telling(b)), why})
		}
	}
	leaveOutDerived(candidates, left.columns, right.columns, rowsL, rowsR)
	if right == left && len(c.Sources) == 0 {
		c.Sources = chooseSource(candidates, &sampledColumns{left: rowsL, right: rowsR, one: true}, l)
	}
	leaveOutTable(candidates, l, c.Table)
	mostTelling(candidates, &sampledColumns{left: rowsL, right: rowsR, one: right == left})
	for _, p := range candidates {
		a, b := &l[p.at[0]], &r[p.at[1]]
		if p.useless == "" && len(t.result.Columns) == maxColumns {
			p.useless = fmt.Sprintf("tells less than %d others", maxColumns)
		}
		if p.useless != "" {
			t.result.Unused = append(t.result.Unused, Unused{a.name, p.useless})
			continue
		}
		t.result.Columns = append(t.result.Columns, Column{Field: Field{a.name, b.name, 1, commonKind(a, b)}})
	}
	order := map[string]int{}
	for i, name := range left.columns {
		order[name] = i
	}
	slices.SortFunc(t.result.Columns, func(x, y Column) int { return order[x.Left] - order[y.Left] })
	return t.checkColumns(left, right)
}

// checkColumns returns an error if no column is compared. It says why.
func (t *tables) checkColumns(left, right *source) error {
	var reasons []string
	for _, u := range t.result.Unused {
		reasons = append(reasons, u.Name+" "+u.Reason)
	}
	switch {
	case len(t.result.Columns) > 0:
	case len(reasons) > 0:
		return setting.Errorf("no column of %s and %s tells records apart: %s; say which to compare (%s)",
			fault.Shown(left.name), fault.Shown(right.name), strings.Join(reasons, ", "), setting.Field)
	default:
		separators := ""
		if len(left.columns) == 1 || len(right.columns) == 1 {
			separators = "columns of CSV are separated by commas, semicolons, tabs or vertical bars, those of TSV by tabs: convert a table with others, or "
		}
		return setting.Errorf("%s and %s have no column in common: the first has %s, the second %s; %ssay which belong together (%s left=right)",
			fault.Shown(left.name), fault.Shown(right.name), fault.List(left.columns), fault.List(right.columns), separators, setting.Field)
	}
	return nil
}

// commonKind returns the kind by which both columns are cut.
func commonKind(a, b *profile) record.Kind {
	if a.kind == b.kind {
		return a.kind
	}
	return record.Text
}

// byHand takes the columns that the user named.
func (t *tables) byHand(fields []Field, l, r []profile, left, right *source) error {
	at := func(list []profile, name string) *profile {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
		return nil
	}
	for _, f := range fields {
		if f.Right == "" {
			f.Right = f.Left
		}
		if f.Weight == 0 {
			f.Weight = 1
		}
		a, b := at(l, f.Left), at(r, f.Right)
		if a == nil {
			return setting.Errorf("%s has no column %q, there are: %s (%s)", fault.Shown(left.name), f.Left, fault.List(left.columns), setting.Field)
		}
		if b == nil {
			return setting.Errorf("%s has no column %q, there are: %s (%s left=right)", fault.Shown(right.name), f.Right, fault.List(right.columns), setting.Field)
		}
		if f.Tokens == "" {
			f.Tokens = commonKind(a, b)
		}
		t.result.Columns = append(t.result.Columns, Column{Field: f})
	}
	return nil
}

// leaveOutDerived marks the pairs of columns that other columns make up, in both tables.
func leaveOutDerived(columns []columnPair, left, right []string, rowsL, rowsR [][][]byte) {
	usable := usableOf(columns)
	var atL, atR []int
	for _, c := range usable {
		atL, atR = append(atL, c.at[0]), append(atR, c.at[1])
	}
	inLeft, inRight := derivedColumns(rowsL, left, atL), derivedColumns(rowsR, right, atR)
	for i, c := range usable {
		if inLeft[i] != "" && inRight[i] != "" {
			c.useless = inLeft[i]
		}
	}
}

// leaveOutTable marks the column that names the table of a record, if it was not found to name sources.
func leaveOutTable(columns []columnPair, profiles []profile, table string) {
	for _, c := range usableOf(columns) {
		if profiles[c.at[0]].name == table {
			c.useless = namesTable
		}
	}
}

// chooseSource returns the column that names the source of a record, if there is one, and marks it.
func chooseSource(columns []columnPair, s *sampledColumns, profiles []profile) []string {
	usable := usableOf(columns)
	for _, c := range usable {
		s.pairs = append(s.pairs, c.at)
	}
	found := findSourceColumn(s, profiles)
	if found < 0 {
		return nil
	}
	usable[found].useless = sourceReason
	return []string{profiles[usable[found].at[0]].name}
}
