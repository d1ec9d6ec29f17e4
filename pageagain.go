package alike

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/report"
	"github.com/alike-dev/alike/vfs"
)

// ErrNoPage says that a folder has no data of a page that this program makes.
var ErrNoPage = errors.New("no page of a run")

// WriteReport makes the page of a finished run again, from what its output folder holds besides: the same bytes, unless
// the program shows more now. A page that is there is replaced when the new one is whole.
func WriteReport(dir string) (err error) {
	raw, err := os.ReadFile(filepath.Join(dir, dedup.ReportData))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s has no %s: name the output folder of a run", ErrNoPage, dir, dedup.ReportData)
	}
	if err != nil {
		return err
	}
	write, err := pageOf(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, dedup.ReportData), err)
	}
	page, err := durable.Create(vfs.OS, filepath.Join(dir, dedup.ReportFile))
	if err != nil {
		return err
	}
	defer page.Abort() // after Commit it does nothing
	if err := write(page); err != nil {
		return err
	}
	return page.Commit()
}

// pageOf returns the function that writes the page of stored data.
func pageOf(raw []byte) (func(io.Writer) error, error) {
	var stored dedup.StoredPage
	if err := fault.Decode(bytes.NewReader(raw), &stored, false); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	switch {
	case stored.Known(dedup.PageOfRun):
		return pageFrom(stored.Data, report.Dedup)
	case stored.Known(decontaminate.PageOfRun):
		return pageFrom(stored.Data, report.Contamination)
	}
	return nil, fmt.Errorf("%w: it is of a page %q, version %d, which this program does not know", ErrNoPage, stored.Page, stored.Version)
}

func pageFrom[T any](raw json.RawMessage, write func(io.Writer, *T) error) (func(io.Writer) error, error) {
	data := new(T)
	if err := fault.Decode(bytes.NewReader(raw), data, false); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	return func(w io.Writer) error { return write(w, data) }, nil
}
