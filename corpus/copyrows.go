package corpus

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/parquetfile"
)

// CopyRows writes a Parquet file without some of its rows to path on a file
// system, as a Writer does: under another name until it is whole and on disk.
// keep is asked once for each row, in ascending order; row is 0-based and counts
// over the file.
//
// Schema, key/value metadata, codecs and encodings stay as they are, row groups
// stay row groups (those without rows are left out), and a file of which all
// rows are kept is copied byte for byte. Statistics are made anew for what has
// lost rows, and values that only lost rows had are no longer in dictionaries.
// The bytes do not depend on threads (0 = GOMAXPROCS).
//
// It reads page by page, with Options.PageMemory of them in memory unless a page
// is larger, and in a row group nothing behind the last row that is kept: the rows
// that Next has delivered before it told of damage can be copied, unless other
// columns are damaged too. Such damage is a *Problem; an error of writing is
// that of the file system.
func CopyRows(ctx context.Context, s Source, o Options, fs vfs.FS, path string, threads int, keep func(row int64) bool) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if s.Format != Parquet {
		return &Problem{Path: s.Label(), Err: because(ErrUnsupported, "cannot be copied by rows: its format is %s", s.Format)}
	}
	f := &File{src: s, o: o.withDefaults()}
	defer f.Close()
	p, err := f.parquetBytes()
	if err != nil {
		return err
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	w, err := CreateOn(fs, path, Plain, threads)
	if err != nil {
		return err
	}
	defer w.Abort()
	p.f.Room = o.PageMemory
	if err := p.f.Copy(ctx, w, threads, f.o.MaxRecord, keep); err != nil {
		var unread *objectError
		if parquetfile.IsDamage(err) || errors.As(err, &unread) {
			return f.parquetProblem(fmt.Errorf("rows cannot be copied: %w", err), -1)
		}
		return err
	}
	return w.Commit()
}
