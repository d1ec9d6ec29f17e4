package write

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/corpus"
)

// CreateKept begins the file of kept/ for a source, with its compression.
func (o *Folder) CreateKept(s *corpus.Source, threads int, memory int64) (*corpus.Writer, error) {
	path := o.kept(s)
	if err := o.fs.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, outputError(err)
	}
	w, err := createOn(o.fs, path, s.Compression, threads)
	if err != nil {
		return nil, outputError(err)
	}
	if memory > 0 {
		w.Limit(memory)
	}
	return w, nil
}

// CommitKept completes the file of kept/ for a source.
func (o *Folder) CommitKept(ctx context.Context, s *corpus.Source, w *corpus.Writer) error {
	if err := w.Commit(); err != nil {
		return outputError(err)
	}
	if o.remote == nil {
		return nil // all names are made durable together at the end
	}
	return o.whole(ctx, KeptFolder+"/"+s.Name, o.kept(s))
}

// AllWritten returns sources as those of a run that writes every one of them, also those that are documents of their own.
func AllWritten(sources []corpus.Source) []corpus.Source {
	sources = slices.Clone(sources)
	for i := range sources {
		if sources[i].Format == corpus.Text {
			sources[i].Format = corpus.Lines
		}
	}
	return sources
}
