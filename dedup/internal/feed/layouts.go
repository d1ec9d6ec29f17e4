package feed

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/alike-dev/alike/corpus"
)

// Layouts keeps the layouts of files whose records are parsed again apart from their file, so that
// a file need not be opened again for its header or its byte order mark.
type Layouts struct {
	mu   sync.Mutex
	of   map[int]corpus.Layout // by source
	last corpus.Layout         // stored once for consecutive tables with the same layout
}

// keep keeps the layout of an open file that cannot be read in place, of which a block was read.
func (l *Layouts) keep(index int, file *corpus.File) {
	source := file.Source()
	if _, known := source.Layout(); known || source.InPlace() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if layout := file.Layout(); !layout.Equal(l.last) {
		l.last = layout
	}
	if l.of == nil {
		l.of = map[int]corpus.Layout{}
	}
	l.of[index] = l.last
}

// Find returns the layout of a source. It opens the source if another process has read it.
func (l *Layouts) Find(ctx context.Context, index int, source corpus.Source, o corpus.Options) (corpus.Layout, error) {
	if layout, ok := source.Layout(); ok {
		return layout, nil
	}
	l.mu.Lock()
	layout, ok := l.of[index]
	l.mu.Unlock()
	if ok {
		return layout, nil
	}
	file, err := corpus.Open(ctx, source, o)
	if err != nil {
		return layout, err
	}
	var b corpus.Block
	defer b.Release()
	if err := file.Next(&b); err != nil && err != io.EOF {
		return layout, errors.Join(err, file.Close())
	}
	l.keep(index, file)
	return file.Layout(), file.Close()
}
