package dedup

import (
	"context"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/streams"
)

// spooled is the note of a stream that was copied.
type spooled struct {
	Source  int // its number
	Name    string
	Version string // of its bytes
}

// spool copies the streams among the inputs to the work folder, since they are read more than once,
// and returns the inputs with these files in their place. A resumed run reads the streams again that
// an earlier process has copied: it continues only if they are the same, which it cannot know before
// it has read them.
func spool(ctx context.Context, j *job, in *inputs) (*inputs, error) {
	before := map[int]spooled{}
	for s, err := range resume.All[spooled](j.log, resume.Spooled) {
		if err != nil {
			return nil, err
		}
		before[s.Source] = s
	}
	files := *in
	files.sources = slices.Clone(in.sources)
	for i, s := range in.sources {
		if !s.Stream {
			continue
		}
		note := spooled{Source: i, Name: fmt.Sprintf("input-%d", i)}
		path, err := j.space.PathOf(note.Name)
		if err != nil {
			return nil, err
		}
		j.Progress.Stage("spool", 0)
		was, again := before[i]
		files.sources[i], err = uninterrupted(ctx, func() (corpus.Source, error) {
			if again {
				return streams.Again(ctx, j.space.FS, s, j.Corpus, path, was.Version)
			}
			return streams.Copy(ctx, j.space.FS, s, j.Corpus, path, j.log != nil)
		})
		if err == nil && !again {
			note.Version = files.sources[i].Version
			err = j.log.Note(resume.Spooled, note)
		}
		if err != nil {
			return nil, err
		}
	}
	return &files, nil
}

// uninterrupted reads a stream. The other end of the stream may neither write nor close it, so an
// interrupted run does not wait for it.
func uninterrupted(ctx context.Context, read func() (corpus.Source, error)) (corpus.Source, error) {
	type result struct {
		source corpus.Source
		err    error
	}
	copied := make(chan result, 1)
	go func() {
		source, err := read()
		copied <- result{source, err}
	}()
	select {
	case <-ctx.Done():
		return corpus.Source{}, ctx.Err()
	case c := <-copied:
		return c.source, c.err
	}
}
