package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/parquetfile"
)

// RowCopy says how [CopyRows] works. The zero value means the defaults.
type RowCopy struct {
	Threads    int   // 0 = GOMAXPROCS
	PageMemory int64 // about how many bytes of pages are in memory at once, unless one page is larger; 0 = 48 MiB a thread
	// Extra, if set, gives columns to add, as a Parquet file of flat columns with a row for each of the rows, which are
	// kept ones. It is called once for each row group in order, and once without rows if there is none.
	Extra func(rows []int64) ([]byte, error)
	// Text, if set, returns the text of a row that is kept, in place of its own, and is called in ascending order. All rows
	// that are kept have a text. The texts of a row group are in memory at once, compressed. It excludes Extra.
	Text func(row int64) ([]byte, error)
}

// CopyRows writes a Parquet file without some of its rows. It calls keep once for each
// row, in ascending order; row is 0-based and counts over the file.
//
// Schema, key/value metadata, codecs and encodings do not change, row groups stay row
// groups (empty ones are left out), and a file of which all rows are kept is copied byte
// for byte. Statistics are computed again for parts that lose rows, and dictionaries lose
// the values that only dropped rows had. The bytes do not depend on threads.
//
// It reads page by page, with RowCopy.PageMemory of them in memory unless a page is
// larger, and in a row group nothing after the last kept row. Damage in a column of kept
// rows is a *Problem, even if Next does not read the column; WholeRows tells how many
// rows can be copied. An error of writing is that of to.
func CopyRows(ctx context.Context, to io.Writer, s Source, o Options, c RowCopy, keep func(row int64) bool) error {
	f, err := openRows(ctx, s, o)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	pf := f.parquet.f
	var known []int // columns that Next has read
	for _, name := range append([]string{f.o.TextField, f.o.IDField}, f.o.Fields...) {
		if at := pf.Column(name); at >= 0 && !pf.Leaves[at].IsList() {
			known = append(known, at)
		}
	}
	pf.Room = c.PageMemory
	if c.Text != nil {
		pf.Instead = pf.Column(f.o.TextField) + 1
		if c.Extra, err = pf.Texts(c.Text); err != nil {
			return parquetProblem(f, err, -1)
		}
	}
	err = pf.Copy(ctx, to, c.Threads, f.o.MaxRecord, known, keep, c.Extra)
	if err != nil && isParquetProblem(err) {
		return parquetProblem(f, fmt.Errorf("rows cannot be copied: %w", err), -1)
	}
	return err
}

// WholeRows returns how many rows from the start of a Parquet file CopyRows can copy,
// whichever of them are kept, and the damage after them, nil if there is none. One
// goroutine reads and decodes every page of every column up to there.
func WholeRows(ctx context.Context, s Source, o Options) (rows int64, damage *Problem, err error) {
	f, err := openRows(ctx, s, o)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	rows, err = f.parquet.f.WholeRows(ctx, f.o.MaxRecord)
	switch {
	case err == nil:
		return rows, nil, nil
	case !isParquetProblem(err) || errors.Is(err, ErrUnavailable):
		return 0, nil, err
	}
	return rows, parquetProblem(f, err, rows), nil
}

// openRows opens a Parquet file for all of its columns.
func openRows(ctx context.Context, s Source, o Options) (*File, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if s.Format != Parquet {
		return nil, &Problem{Path: s.Label(), Err: fault.Because(ErrUnsupported, "cannot be copied by rows: its format is %s", s.Format)}
	}
	f := &File{ctx: ctx, src: s, o: o.withDefaults(), kind: s.Format.kind()}
	if _, err := parquetBytes(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// isParquetProblem reports whether an error is about the content or the reading of a
// Parquet file, and not about writing.
func isParquetProblem(err error) bool {
	var unread *fault.Unread
	return parquetfile.IsDamage(err) || errors.As(err, &unread)
}
