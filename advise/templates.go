package advise

import (
	"cmp"
	"context"
	"slices"
)

// templates lowers the cover of pairs that fill a template, or may. It returns how many pairs that looked like copies do.
func (w *witness) templates(ctx context.Context, s *Sample, pairs []pair, threads int) (filled int, err error) {
	if err := w.related(ctx, pairs, threads); err != nil {
		return 0, err
	}
	var likely []int
	for i, p := range pairs {
		if p.cover >= perhaps && !p.own {
			likely = append(likely, i)
		}
	}
	t := newThirds(w, pairs, likely)
	if likely, err = w.slots(ctx, t, likely, threads); err != nil {
		return 0, err
	}
	if len(likely) > 2*firstLook {
		first := slices.Clone(likely)
		slices.SortFunc(first, func(x, y int) int { return cmp.Compare(s.drawn(pairs[x]), s.drawn(pairs[y])) })
		n, _, err := t.look(ctx, s.texts(), first[:firstLook], threads)
		if err != nil || n.byChance() == 1 && n[isCopy] >= copiesLeast {
			return 0, err
		}
		t.most = max(thirdsMost*2*firstLook/len(likely), 1)
	}
	n, kinds, err := t.look(ctx, s.texts(), likely, threads)
	if err != nil {
		return 0, err
	}
	for i, at := range likely {
		p := &pairs[at]
		cover := n.cover(*p, kinds[i])
		p.cover, p.template = cover, cover < p.cover
	}
	if n.byChance() < 1 {
		filled = n[isFilled]
	}
	return filled, nil
}
