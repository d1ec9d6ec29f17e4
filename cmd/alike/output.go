package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/noclobber"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/vfs"
)

// standardOutput is standard output, which knows whether a write has failed: a report that nobody reads is not printed
// with success. It is safe for concurrent use.
type standardOutput struct {
	to    io.Writer
	mu    sync.Mutex
	err   error
	wrote atomic.Bool // anything
}

func (s *standardOutput) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if n > 0 && !s.wrote.Load() {
		s.wrote.Store(true)
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

// failed returns why the first write that has failed did so.
func (s *standardOutput) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// outputFile is the destination of a command's results: standard output, a device or pipe, or a
// file or object that gets its name when it is complete.
type outputFile struct {
	io.Writer
	ctx    context.Context // of the command: when it has ended, nothing more is written
	file   *corpus.Writer  // nil: not a file
	device *os.File
}

// open opens the output. alike.Config.Outputs has checked that it is not an input. A file or object
// is compressed when its name says so.
func (o *outputFile) open(cmd *cobra.Command, path string) error {
	o.ctx = cmd.Context()
	if path == "" || path == "-" {
		o.Writer = cmd.OutOrStdout()
		return nil
	}
	if bucketurl.Is(path) {
		return o.openObject(cmd, path)
	}
	path, at := resolve(bucketurl.LocalPath(path))
	if at != nil && at.IsDir() {
		return fmt.Errorf("output %s is a folder: name a file", fault.Shown(path))
	}
	if at != nil && !at.Mode().IsRegular() { // renaming a file to its name would replace it
		device, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return cannotMake(path, err)
		}
		o.Writer, o.device = device, device
		return nil
	}
	_, compression, _ := corpus.NameFormat(path)
	file, err := corpus.Create(path, compression, 0)
	if err != nil {
		return cannotMake(path, err)
	}
	o.Writer, o.file = file, file
	return nil
}

// cannotMake names the output that could not be made, not the temporary file beside it, and what to do.
func cannotMake(path string, err error) error {
	if why := (*fs.PathError)(nil); errors.As(err, &why) && !vfs.IsNoSpace(err) {
		return fmt.Errorf("output %s cannot be made: %w; name another file", fault.Shown(path), why.Err)
	}
	return fmt.Errorf("output: %w", err)
}

// keepApart checks that what a command writes ("-": standard output), messages on standard error
// included, is nothing else that it writes or reads. The inputs that visit sees are checked too.
func keepApart(written, read []string) (visit func(string, fs.FileInfo) error, err error) {
	return keepApartFrom(noclobber.Files{}, written, read)
}

// keepApartFromIndex is keepApart for a command that also writes to the folder of an index; "" is none.
func keepApartFromIndex(dir string, written, read []string) (visit func(string, fs.FileInfo) error, err error) {
	return keepApartFrom(noclobber.Files{Index: noclobber.Folder{Path: dir, Names: index.FileNames()}}, written, read)
}

// keepApartFromWork is keepApart for a command with a work folder; "" is none.
func keepApartFromWork(dir string, written, read []string) (visit func(string, fs.FileInfo) error, err error) {
	return keepApartFrom(noclobber.Files{Work: noclobber.Folder{Path: dir, Names: resume.Names()}}, written, read)
}

// keepApartFrom is keepApart for a command that also writes to folders.
func keepApartFrom(folders noclobber.Files, written, read []string) (visit func(string, fs.FileInfo) error, err error) {
	folders.Written, folders.Inputs, folders.Read = append(written, noclobber.StandardError), read, read
	return folders.Check()
}

// filesBelow returns the files in a folder, which opening it reads.
func filesBelow(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return nil // opening the folder reports what is wrong with it
	})
	return files
}

// Write writes unless the command was interrupted.
func (o *outputFile) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.Writer.Write(p)
}

// writeOutput calls write to fill an output, which appears when it is complete.
func writeOutput(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	var out outputFile
	if err := out.open(cmd, path); err != nil {
		return err
	}
	defer out.discard()
	if err := write(&out); err != nil {
		return err
	}
	return out.commit()
}

// writeJSON writes a value in a form that people can read, too.
func writeJSON(cmd *cobra.Command, path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return writeOutput(cmd, path, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// resolve follows symbolic links, so that a link stays one when its target is replaced. at is nil
// if nothing exists there.
func resolve(path string) (real string, at os.FileInfo) {
	at, err := os.Stat(path)
	if err != nil {
		return path, nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, at
}

func (o *outputFile) commit() error {
	var err error
	switch {
	case o.file != nil:
		err = o.file.Commit()
	case o.device != nil:
		err = o.device.Close()
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// discard leaves nothing behind; after commit it does nothing.
func (o *outputFile) discard() {
	switch {
	case o.file != nil:
		o.file.Abort()
	case o.device != nil:
		_ = o.device.Close() // written data cannot be taken back
	}
}

// openObject opens an output in an object store.
func (o *outputFile) openObject(cmd *cobra.Command, url string) error {
	file, err := remote.Create(cmd.Context(), url, new(objects.Store).Bucket, 0)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	o.Writer, o.file = file, file
	return nil
}
