package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/corpus"
)

// outputFile is where a command's results go: standard output, a device or
// pipe, or a file or object that gets its name when it is whole.
type outputFile struct {
	io.Writer
	file   *corpus.Writer // nil: not a file
	device *os.File
	path   string
}

// createOutput opens the output of a command that reads inputs. A file or object
// is compressed when its name says so.
func createOutput(cmd *cobra.Command, path string, inputs []string) (*outputFile, error) {
	if path == "" || path == "-" {
		return &outputFile{Writer: cmd.OutOrStdout()}, nil
	}
	if corpus.IsURL(path) {
		return createObject(cmd, path, inputs)
	}
	path, at := resolve(corpus.LocalPath(path))
	if at != nil && at.IsDir() {
		return nil, fmt.Errorf("output %s is a folder: name a file", corpus.Shown(path))
	}
	if at != nil && !at.Mode().IsRegular() { // renaming a file to its name would replace it
		device, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		return &outputFile{Writer: device, device: device}, nil
	}
	for _, input := range inputs {
		if err := apart(path, at, input); err != nil {
			return nil, err
		}
	}
	_, compression, _ := corpus.NameFormat(path)
	file, err := corpus.Create(path, compression, 0)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return &outputFile{Writer: file, file: file, path: path}, nil
}

// resolve follows symbolic links, so that a link stays one when its target is
// replaced. at is nil when there is nothing yet.
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

// apart refuses an output that is an input, or lies inside one and would be
// read as a part of it.
func apart(path string, at os.FileInfo, input string) error {
	input = corpus.LocalPath(input)
	matches := []string{input}
	if _, err := os.Lstat(input); err != nil {
		if matches, err = filepath.Glob(input); err != nil {
			return nil // told when the input is looked for
		}
	}
	for _, match := range matches {
		in, err := os.Stat(match)
		switch {
		case err != nil:
		case at != nil && os.SameFile(at, in):
			return fmt.Errorf("output %s is also an input: name another file", corpus.Shown(path))
		case in.IsDir() && inside(path, match):
			return fmt.Errorf("output %s lies inside the input %s: name a file outside of it", corpus.Shown(path), corpus.Shown(match))
		}
	}
	return nil
}

// inside tells whether a file lies below a folder.
func inside(path, folder string) bool {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			p = r
		}
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		return p
	}
	rel, err := filepath.Rel(real(folder), real(filepath.Dir(path)))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// commit makes the output whole.
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
		_ = o.device.Close() // what was written cannot be taken back
	}
}
