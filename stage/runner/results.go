package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
)

// openResults opens the place of the results. name is that of the file of Pairs and Join; "" if they are a folder.
func (p *Plan) openResults(ctx context.Context, buckets Buckets) (at place, name string, err error) {
	where := p.Output
	if !fillsFolder(p) {
		where, name = splitName(where)
	}
	at, err = openPlace(ctx, where, buckets, false)
	return at, name, err
}

// create begins a file of the results: one with this name in a folder, else the only one. The header of the task's object
// lists it when it is committed.
func (in *input) create(ctx context.Context, name string) (corpus.Destination, error) {
	at, only, err := in.plan.openResults(ctx, in.o.Buckets)
	if err != nil {
		return nil, err
	}
	if only != "" {
		name = only
	}
	to, err := at.create(ctx, name)
	if err != nil {
		return nil, &corpus.Problem{Path: in.plan.Output, Err: err}
	}
	return &recorded{Destination: to, to: in.header, is: written{Name: name}}, nil
}

// recorded adds a file to a header when it is committed.
type recorded struct {
	corpus.Destination
	to *header
	is written
}

// Write implements corpus.Destination.
func (r *recorded) Write(p []byte) (int, error) {
	n, err := r.Destination.Write(p)
	r.is.Size += int64(n)
	r.is.Sum = durable.Checksum(r.is.Sum, p[:n])
	return n, err
}

// Commit implements corpus.Destination.
func (r *recorded) Commit() error {
	err := r.Destination.Commit()
	if err == nil {
		r.to.Files = append(r.to.Files, r.is)
	}
	return err
}

// errNotWritten says that a file of the results is not there, or not as its task has written it.
var errNotWritten = errors.New("not what was written")

// checkFiles reads files of the results.
func (p *Plan) checkFiles(ctx context.Context, files []written, buckets Buckets) error {
	at, _, err := p.openResults(ctx, buckets)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := at.checkFile(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (p place) checkFile(ctx context.Context, f written) error {
	o, err := p.stat(ctx, f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrForeign) || err == nil && o.Size != f.Size:
		return fmt.Errorf("%s: %w", f.Name, errNotWritten)
	case err != nil:
		return &corpus.Problem{Path: f.Name, Err: err}
	}
	r, err := p.openRange(ctx, o, 0, o.Size)
	if err != nil {
		return err
	}
	var sum checksum
	_, err = bufio.NewReaderSize(r, 1<<20).WriteTo(&sum)
	if err = errors.Join(err, r.Close()); err != nil {
		return &corpus.Problem{Path: f.Name, Err: err}
	}
	if uint32(sum) != f.Sum {
		return fmt.Errorf("%s: %w", f.Name, errNotWritten)
	}
	return ctx.Err()
}

// checksum is the CRC-32C of what is written to it.
type checksum uint32

var _ io.Writer = new(checksum)

func (c *checksum) Write(p []byte) (int, error) {
	*c = checksum(durable.Checksum(uint32(*c), p))
	return len(p), nil
}
