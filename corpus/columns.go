package corpus

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/alike-dev/alike/corpus/internal/lines"
)

// Columns returns the names of the columns of a table, in its order, without repeats: those
// of the header of csv and tsv, for Parquet the columns with one value a row, and for jsonl
// the fields of the records in the first block, in order of appearance. In place of an object
// are the fields in it, as meta.lang, unless they are more than 100: then it is no record, but
// a map whose names are data. Other formats have none. It opens the source; of a stream the beginning is lost. The errors are those of Open
// and File.Next.
func Columns(ctx context.Context, s Source, o Options) (names []string, err error) {
	o.NoText, o.IDField, o.Fields = true, NoID, nil
	f, err := Open(ctx, s, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	seen := map[string]bool{}
	add := func(all []string) {
		for _, name := range all {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	if f.kind.names != nil {
		err = f.kind.names(f, add)
	}
	return names, err
}

func namesOfHeader(f *File, add func([]string)) error {
	add(f.Columns())
	return nil
}

// fieldsOfFirst adds the fields of the objects in the first block.
func fieldsOfFirst(f *File, add func([]string)) error {
	var b Block
	defer b.Release()
	if err := f.Next(&b); err != nil && err != io.EOF {
		return err
	}
	p := NewParser(f.o)
	p.Start(f, &b)
	all := fieldNames{json: &p.json}
	for r := (Record{}); p.Next(&r); {
		if r.Err == nil {
			all.see(bytes.TrimPrefix(lines.WithoutEnd(p.inUTF8(r.Raw)), lines.ByteOrderMark))
		}
	}
	add(all.names())
	return nil
}
