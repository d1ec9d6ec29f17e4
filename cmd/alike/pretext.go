package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/pretext"
)

// preFlags say which files are turned into text, and how.
type preFlags struct {
	command string
	globs   []string
	timeout time.Duration
}

func (f *preFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.command, "pre", "", "`command` that turns files which are a document each, such as PDF, into text: it gets the path as its last argument or as $1, the file on standard input, and prints the text; html: the text of HTML, without a command")
	flags.StringSliceVar(&f.globs, "pre-glob", nil, "with --pre: only files of these `names`, such as *.pdf (default: all that are a document each; of html those that end so)")
	flags.DurationVar(&f.timeout, "pre-timeout", pretext.DefaultTimeout, "with --pre: how long the command may take for a file, which is skipped then")
}

// apply has corpus.Find make texts.
func (f *preFlags) apply(o *corpus.Options, threads int) error {
	switch {
	case f.command == "" && (len(f.globs) > 0 || f.timeout != 0 && f.timeout != pretext.DefaultTimeout):
		return usagef("--pre-glob and --pre-timeout are about --pre: add it")
	case f.command == "":
		return nil
	case strings.TrimSpace(f.command) == "":
		return usagef("--pre is no command: name one that prints the text of a file, or html")
	case f.timeout <= 0:
		return usagef("--pre-timeout is %s: take a time such as 30s", f.timeout)
	}
	c := &pretext.Converter{
		Command: f.command, Globs: f.globs, Timeout: f.timeout, Most: o.MaxRecord, Threads: threads,
		Cache: cacheOfTexts(),
	}
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	o.Texts = c.Convert
	return nil
}

// cacheOfTexts returns a folder for texts: that of the user's caches or, where there can be none, one for temporary files.
func cacheOfTexts() string {
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "alike", "pre")
		if os.MkdirAll(dir, 0o700) == nil {
			return dir
		}
	}
	return filepath.Join(os.TempDir(), "alike-pre-"+strconv.Itoa(os.Getuid()))
}
