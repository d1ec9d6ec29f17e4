package linkage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// ReadKnown reads the links that a join wrote, or any other table of pairs of ids: from the columns left_id and
// right_id, else a and b, else the first two.
func ReadKnown(ctx context.Context, path string, o corpus.Options) (links []Known, err error) {
	s, err := findSource(ctx, path, corpus.NoID, o)
	if errors.As(err, new(noRecords)) {
		return nil, nil // of a join without a link
	} else if err != nil {
		return nil, err
	}
	if len(s.columns) < 2 {
		return nil, fmt.Errorf("%s has one column, %s: links are pairs of ids, such as left_id,right_id", fault.Shown(path), fault.List(s.columns))
	}
	names := s.columns[:2]
	for _, pair := range [][]string{{"left_id", "right_id"}, {"a", "b"}} {
		if slices.Contains(s.columns, pair[0]) && slices.Contains(s.columns, pair[1]) {
			names = pair
			break
		}
	}
	err = s.each(ctx, names, func(r *corpus.Record) (more bool, err error) {
		if r.Err != nil {
			return false, &corpus.Problem{Path: path, Line: r.Line, Err: r.Err}
		}
		links = append(links, Known{string(r.Fields[0]), string(r.Fields[1])})
		return true, nil
	})
	return links, err
}
