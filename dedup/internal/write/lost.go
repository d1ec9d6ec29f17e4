package write

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// LostRows are the last rows of a file, which cannot be copied.
type LostRows struct {
	File int
	Rows int64 // whole rows before them
	Line int64 // line of the problem
	Kind byte
	Text string // by setting.Mark
}

// cannotCopy decides what happens to a Parquet file whose rows could not be copied, for a reason
// that lies in the file.
func (k *keptWriter) cannotCopy(ctx context.Context, file int, path string, reason *corpus.Problem) error {
	if err := k.out.drop(ctx, KeptFolder+"/"+k.Table.Sources[file].Name, path); err != nil {
		return err
	}
	most, err := k.rowBehind(file)
	if err != nil || most == 0 {
		return err // all problems of the file are known already
	}
	rows, damage, err := corpus.WholeRows(ctx, k.Table.Sources[file], k.Corpus)
	if err != nil {
		return err
	}
	if damage == nil || rows >= most { // leaving out other rows would not help
		rows, damage = 0, reason
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = append(k.lost, LostRows{File: file, Rows: rows, Line: damage.Line, Kind: fault.KindNumber(damage.Err), Text: setting.Mark(damage.Err)})
	return nil
}

// rowBehind returns the row behind the last document of a file that is not skipped,
// 0 if there is none.
func (k *keptWriter) rowBehind(file int) (int64, error) {
	t := k.Table
	c := t.Cursor()
	first, end := t.DocsOfFile(file)
	for doc := end; doc > first; doc-- {
		if !t.Skipped.Has(doc - 1) {
			return c.Line(doc - 1), c.Err
		}
	}
	return 0, nil
}

// isLost tells whether an error of copying rows is permanent and lies in the file: it is neither an
// outage nor a change.
func isLost(err error) bool {
	return !errors.Is(err, corpus.ErrUnavailable) &&
		(errors.Is(err, corpus.ErrCorrupt) || errors.Is(err, corpus.ErrTruncated) || errors.Is(err, corpus.ErrUnsupported))
}

// drop removes an output file that an earlier round may have written.
func (o *Folder) drop(ctx context.Context, name, path string) error {
	err := o.fs.Remove(path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	o.mu.Lock()
	uploaded := slices.Contains(o.uploaded, name)
	o.mu.Unlock()
	if uploaded {
		err = errors.Join(err, o.remote.Remove(ctx, name))
	}
	if err != nil {
		return outputError(err)
	}
	return nil
}
