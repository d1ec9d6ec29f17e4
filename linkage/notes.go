package linkage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage/internal/held"
)

// note notes what is unusual in the sample of a table.
func (s *source) note(ctx context.Context, sample [][][]byte, r *Result) error {
	if s.of != (Original{}) { // Choose has reported it
		return nil
	}
	repeated, err := s.repeatedColumns(ctx)
	if err != nil {
		return err
	}
	if at := slices.Index(repeated, ""); at >= 0 {
		repeated = slices.Delete(repeated, at, at+1)
		r.Notes = append(r.Notes, fmt.Sprintf("the first line of %s has no name for several columns, of which only the first is used: it must be the header, without a title above it", fault.Shown(s.name)))
	}
	if len(repeated) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s has columns of one name, %s: only the first of each is used; name them apart to compare the others", fault.Shown(s.name), fault.List(repeated)))
	}
	foreign := 0
	for _, row := range sample {
		if slices.ContainsFunc(row, func(value []byte) bool { return !utf8.Valid(value) }) {
			foreign++
		}
	}
	if foreign > 0 {
		remedy := "; convert it first, as by iconv -f LATIN1 -t UTF-8"
		if s.files[0].Format == corpus.Parquet {
			remedy = "" // of such a file a column may hold bytes
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s is not UTF-8 in %d of the first %d records: words end at such bytes%s", fault.Shown(s.name), foreign, len(sample), remedy))
	}
	return nil
}

// repeatedColumns returns the names that the header of the first file has more than once.
func (s *source) repeatedColumns(ctx context.Context) (names []string, err error) {
	if len(s.files) == 0 || s.files[0].Format != corpus.CSV && s.files[0].Format != corpus.TSV {
		return nil, nil
	}
	f, err := corpus.Open(ctx, s.files[0], s.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	seen := map[string]int{}
	for _, name := range f.Columns() {
		if seen[name]++; seen[name] == 2 {
			names = append(names, name)
		}
	}
	return names, nil
}

// noteEmpty notes sides without records.
func (r *Report) noteEmpty(t *held.Tables, left, right *source) {
	empty := func(s *source) {
		r.Notes = append(r.Notes, fmt.Sprintf("%s holds no records: there are no links", fault.Shown(s.name)))
	}
	if t.Left.Rows() == 0 {
		empty(left)
	}
	if t.Right != nil && t.Right.Rows() == 0 {
		empty(right)
	}
}
