// Package pretext turns files that are not text, such as PDF, into text by a command of the user's, before they are read.
// HTML needs no command.
//
// Texts are kept in a folder for caches, under a name that is made of the command, the path and the state of the file. So
// a command runs once for a file, however often the file is read, and again when the file has changed.
package pretext

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// HTML as Converter.Command takes the text out of HTML without a command.
const HTML = "html"

// DefaultTimeout is how long a command may take for one file unless Converter.Timeout says otherwise.
const DefaultTimeout = time.Minute

// unused is how long a text is kept that nobody asks for.
const unused = 30 * 24 * time.Hour

// A Converter makes texts of files.
type Converter struct {
	Command string   // run by the shell with the path as its last argument or, where it names that, as $1; or HTML
	Globs   []string // of the names of files; none: all documents that are a file, or of HTML those with its endings
	Timeout time.Duration
	Most    int64 // bytes of a text; what is longer is a problem
	Threads int   // 0: all processors
	Cache   string
}

// Validate returns an error for a pattern that is none.
func (c *Converter) Validate() error {
	for _, glob := range c.Globs {
		if _, err := filepath.Match(glob, ""); err != nil {
			return fmt.Errorf("%q is no pattern of file names: %w", glob, err)
		}
	}
	return nil
}

// Convert returns sources with those that are converted in place of what they were, and what could not be converted. Only
// plain local files that are one document each are.
func (c *Converter) Convert(ctx context.Context, sources []corpus.Source) ([]corpus.Source, []corpus.Problem, error) {
	if err := os.MkdirAll(c.Cache, 0o700); err != nil {
		return nil, nil, err
	}
	if info, err := os.Lstat(c.Cache); err != nil || !info.IsDir() || !mine(info) { // somebody else could have put texts there
		return nil, nil, errors.Join(fmt.Errorf("%s is no folder of yours, and the texts of files are kept there: remove it", c.Cache), err)
	}
	if err := c.clean(); err != nil {
		return nil, nil, err
	}
	made := make([]corpus.Source, len(sources))
	failed := make([]error, len(sources))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(threads(c.Threads))
	for i, s := range sources {
		if made[i] = s; !c.wants(s) {
			continue
		}
		group.Go(func() error {
			made[i], failed[i] = c.convert(ctx, s)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	var kept []corpus.Source
	var problems []corpus.Problem
	for i, err := range failed {
		if err == nil {
			kept = append(kept, made[i])
			continue
		}
		problems = append(problems, corpus.Problem{Path: sources[i].Label(), Err: err})
	}
	return kept, problems, nil
}

func threads(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

func (c *Converter) wants(s corpus.Source) bool {
	if s.Format != corpus.Text || s.Compression != corpus.Plain || s.Stream || s.Remote() {
		return false
	}
	globs := c.Globs
	if len(globs) == 0 {
		if c.Command != HTML {
			return true
		}
		globs = []string{"*.html", "*.htm", "*.xhtml"}
	}
	name := filepath.Base(s.Path)
	for _, glob := range globs {
		if ok, _ := filepath.Match(glob, name); ok { // Validate has seen the pattern
			return true
		}
	}
	return false
}

// convert returns a source with the bytes of its text, which it makes unless they are there.
func (c *Converter) convert(ctx context.Context, s corpus.Source) (corpus.Source, error) {
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return s, err
	}
	sum := xxh3.HashString128(fmt.Sprintf("1 %q %q %s", c.Command, path, s.State())).Bytes()
	version := hex.EncodeToString(sum[:])
	text := filepath.Join(c.Cache, version)
	info, err := os.Stat(text)
	if errors.Is(err, fs.ErrNotExist) {
		if err = c.make(ctx, s.Path, text); err == nil {
			info, err = os.Stat(text)
		}
	} else if err == nil {
		now := time.Now()
		err = os.Chtimes(text, now, now)
	}
	if err != nil {
		return s, err
	}
	return s.WithText(info.Size(), version, func() (corpus.RandomAccess, error) { return openText(text) }), nil
}

// make writes the text of a file, which is there when it is whole.
func (c *Converter) make(ctx context.Context, path, text string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := durable.Create(vfs.OS, text)
	if err != nil {
		return err
	}
	out.Volatile = true // what a crash takes is made again
	defer out.Abort()   // does nothing after Commit
	limited := &limit{to: out, left: c.Most}
	if c.Command == HTML {
		err = textOfHTML(limited, in, c.Most)
	} else {
		err = c.run(ctx, path, in, limited)
	}
	if err != nil {
		return err
	}
	return out.Commit()
}

// errLong says that a text is longer than a record may be.
var errLong = errors.New("its text is longer than a record may be")

// limit fails beyond a number of bytes.
type limit struct {
	to   io.Writer
	left int64
}

func (l *limit) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errLong
	}
	return l.to.Write(p)
}

// firstLines keeps the beginning of what a command says.
type firstLines struct{ bytes.Buffer }

func (f *firstLines) Write(p []byte) (int, error) {
	if room := 1<<10 - f.Len(); room > 0 {
		f.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// run runs the command for a file.
func (c *Converter) run(ctx context.Context, path string, in io.Reader, out *limit) error {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if strings.HasPrefix(path, "-") {
		path = "./" + path // else the command takes it for a flag
	}
	cmd := shell(limited, c.Command, path)
	var said firstLines
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &said
	cmd.WaitDelay = time.Second // for what the command has started, and left with its output open
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.left < 0:
		return errLong
	case limited.Err() != nil:
		return fmt.Errorf("the command that makes text of it has not ended after %s", timeout)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("the command that makes text of it has failed: %w%s", err, after(": ", first))
	}
	return nil
}

// after returns text with what stands before it, or nothing.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// clean removes texts that nobody has asked for in a long time, and those that were not finished.
func (c *Converter) clean() error {
	entries, err := os.ReadDir(c.Cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < unused {
			continue // gone, or in use
		}
		if err := os.Remove(filepath.Join(c.Cache, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// textFile is a text of the cache.
type textFile struct {
	*os.File
	size int64
}

func (t *textFile) Size() int64 { return t.size }

func openText(path string) (corpus.RandomAccess, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &textFile{f, info.Size()}, nil
}
