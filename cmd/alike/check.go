package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/among"
	"github.com/alike-dev/alike/index/grow"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/recipeflags"
)

const checkHelp = `Is this text new?

TEXT is a file, - for standard input, or the text itself, if it has several words. The
answer is JSON on standard output: new, the nearest documents, and why. A document
is alike if its similarity, or how much of one is in the other, reaches --threshold. Each of
nearest has id, similarity, a_in_b (how much of the text is in the document), b_in_a, and
passages that both have, with their places in bytes. No document is missed.

--among is a folder, or another input, such as notes of JSON Lines. An index of it is kept in
your folder for caches, and what has changed since is read again. A file that lies in the
folder is not compared with itself. --index is an index of alike index build; made with
--containment 1 it answers at once, otherwise every document is compared.

Nothing is changed, unless --add is given: then a new text is added to the index.

Exit status: 0 it is new, 4 something is alike, 3 it is new but some documents could not be
read.`

const checkExamples = `  alike check draft.md --among notes/
  alike check - --index wiki.index --add --id page-7 < page.txt
  alike check "the river rose in the night and by morning" --among notes/`

// checking are the flags of the command.
type checking struct {
	input     inputFlags
	text      recipeflags.Text
	index     string
	among     string
	threshold float64
	top       int
	passages  int
	add       bool
	id        string
}

func newCheck() *cobra.Command {
	var f checking
	cmd := &cobra.Command{
		Use:     "check TEXT|FILE|- --among FOLDER | --index DIR",
		Short:   "Is this text new? The nearest documents, and why",
		Long:    checkHelp,
		Example: checkExamples,
		Args:    arguments(1, 1, "give one text"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	own := cmd.Flags()
	f.addPlaces(own)
	own.IntVar(&f.top, "top", alike.DefaultCheckTop, "nearest documents to tell")
	own.IntVar(&f.passages, "passages", 5, "shared passages of each to tell")
	own.BoolVar(&f.add, "add", false, "with --index: add the text if it is new")
	own.StringVar(&f.id, "id", "", "with --add: `id` of the text (default: the path of the file)")
	f.text.Add(own)
	f.input.addReading(own)
	f.input.pre.add(own)
	completeChoices(cmd)
	return cmd
}

// addPlaces adds the flags that say what a text is compared with.
func (f *checking) addPlaces(own *pflag.FlagSet) {
	own.StringVar(&f.among, "among", "", "compare with the documents of this `input`, such as a folder")
	own.StringVar(&f.index, "index", "", "compare with the documents of the index in this `folder`")
	own.Float64Var(&f.threshold, "threshold", alike.DefaultCheckThreshold, "similarity, or share of one text in the other, from which on they are alike")
}

// validate checks flags that contradict each other.
func (f *checking) validate(cmd *cobra.Command) error {
	switch {
	case (f.index == "") == (f.among == ""):
		return usagef("name what to compare with: --among FOLDER or --index DIR")
	case f.among == "-":
		return usagef("--among -: documents are read again when they change; put them into a file")
	case !(f.threshold > 0 && f.threshold <= 1):
		return usagef("--threshold is %v: take a number above 0, up to 1", f.threshold)
	case f.top < 1 || f.passages < 0:
		return usagef("--top is %d, --passages %d: take 1 or more, and 0 or more", f.top, f.passages)
	case f.add && f.index == "":
		return usagef("--add is for --index: what is in a folder is added by writing a file")
	case f.id != "" && !f.add:
		return usagef("--id is for --add: add it, or leave --id out")
	}
	if f.index != "" {
		text := cmd.LocalNonPersistentFlags()
		for _, name := range strings.Fields("ngram tokens normalize fold strip-diacritics stop-words min-token-length shingle-hash repetitions") {
			if text.Changed(name) {
				return usagef("--%s is for --among: an index keeps how its texts are compared", name)
			}
		}
	}
	return nil
}

func (f *checking) run(cmd *cobra.Command, arg string) error {
	if err := f.validate(cmd); err != nil {
		return err
	}
	text, path, err := textOf(cmd, arg)
	if err != nil {
		return err
	}
	if f.add && f.id == "" {
		if f.id = path; path == "" {
			return usagef("--add needs a name for the text: give it by --id")
		}
	}
	if f.index != "" {
		return f.runIndex(cmd, text, path)
	}
	return f.runAmong(cmd, text, path)
}

// textOf returns the text of an argument, and its path if it is a file.
func textOf(cmd *cobra.Command, arg string) (text []byte, path string, err error) {
	if arg == "-" {
		text, err = readText(cmd, arg)
		return text, "", err
	}
	local := bucketurl.LocalPath(arg)
	if _, err := os.Stat(local); err != nil && !strings.Contains(arg, "://") {
		if len(strings.Fields(arg)) > 1 {
			return []byte(arg), "", nil
		}
		return nil, "", usagef("%s: no such file, and a text of one word is not compared; give a longer one, or - for standard input", fault.Shown(arg))
	}
	text, err = readText(cmd, arg)
	return text, local, err
}

func (f *checking) runIndex(cmd *cobra.Command, text []byte, path string) error {
	written := []string{"-"}
	if f.add {
		if _, err := keepApartFromIndex(f.index, written, named(path)); err != nil {
			return err
		}
	} else if _, err := keepApart(written, append(filesBelow(f.index), named(path)...)); err != nil {
		return err
	}
	memory, err := f.input.budget()
	if err != nil {
		return err
	}
	return withIndex(cmd.Context(), f.index, index.OpenOptions{ReadOnly: !f.add, Memory: memory}, func(x *index.Index) error {
		c, err := f.ask(x.NewSearcher(), text, nil)
		if err != nil {
			return err
		}
		if c.New && f.add {
			if err := addText(x, f.id, text); err != nil {
				return err
			}
		}
		return f.print(cmd, c, 0)
	})
}

// addText adds a text, which may be the bytes of a file with a byte order mark, so that it survives a power failure. It is
// an error if a document has the id.
func addText(x *index.Index, id string, text []byte) error {
	if err := grow.Unfinished(x); err != nil {
		return err
	}
	if _, taken, err := x.Get([]byte(id)); err != nil || taken {
		return cmp.Or(err, fmt.Errorf("there is a document %q: take another id, or replace it by alike index add", id))
	}
	plain, encoding := bom.Text(text)
	b := x.NewBatch()
	b.Add(index.Document{ID: []byte(id), Text: plain, Encoding: encoding})
	return errors.Join(x.Add(b), x.Sync())
}

func (f *checking) runAmong(cmd *cobra.Command, text []byte, path string) (err error) {
	o, err := f.amongOptions(cmd)
	if err != nil {
		return err
	}
	skipped := f.input.skipping(cmd)
	defer func() { err = skipped.end(err) }()
	o.OnSkip = skipped.take
	opened, err := among.Open(cmd.Context(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Index.Close()) }()
	searcher := opened.Index.NewSearcher()
	searcher.UseSizes(opened.Sizes)
	answer, err := f.ask(searcher, text, isItself(path))
	if err != nil {
		return err
	}
	return f.print(cmd, answer, opened.Skipped)
}

// amongOptions says how the documents of --among are indexed.
func (f *checking) amongOptions(cmd *cobra.Command) (o among.Options, err error) {
	options, err := f.text.Options()
	if err != nil {
		return o, err
	}
	c := dedup.Config{Signatures: dedup.OfShingles{Options: options}}
	r, err := c.Recipe()
	if err != nil {
		return o, err
	}
	how, err := f.input.reading([]string{f.among})
	if err != nil {
		return o, err
	}
	if how.Visit, err = keepApart([]string{"-", f.input.skipped}, append(f.text.Reads(), f.among)); err != nil {
		return o, err
	}
	memory, err := f.input.budget()
	return among.Options{
		Inputs: []string{f.among}, Corpus: how, Threads: f.input.threads, Memory: memory,
		Index:    index.Options{Recipe: r, Keep: index.KeepText, Containment: 1, ByID: true},
		OnNotice: func(of error) { fmt.Fprintf(cmd.ErrOrStderr(), "alike: %s\n", visible(alike.Explain(of, flagOf))) },
	}, err
}

// itself returns a function that tells whether an id is the path of the text; nil: it is no file.
func isItself(path string) func(id []byte) bool {
	mine, err := os.Stat(path)
	if path == "" || err != nil {
		return nil
	}
	return func(id []byte) bool {
		other, err := os.Stat(filepath.FromSlash(string(id)))
		return err == nil && os.SameFile(mine, other)
	}
}

func (f *checking) ask(s *index.Searcher, text []byte, except func(id []byte) bool) (*alike.Checked, error) {
	plain, encoding := bom.Text(text)
	return alike.Check(s, plain, alike.CheckOptions{
		Threshold: f.threshold, Top: f.top, Passages: f.passages, Encoding: encoding, Except: except,
	})
}

// print prints the answer; the error says what the exit status is.
func (f *checking) print(cmd *cobra.Command, c *alike.Checked, skipped int64) error {
	if err := printJSON(cmd, c); err != nil {
		return err
	}
	switch {
	case !c.New:
		return errAlike
	case skipped > 0:
		return errSkipped
	}
	return nil
}
