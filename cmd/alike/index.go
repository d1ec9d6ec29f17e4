package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/feed"
	"github.com/alike-dev/alike/index/grow"
)

const indexHelp = `Keep documents in a folder to be searched.

  alike index build DIR INPUT...   make an index of documents
  alike index add DIR INPUT...     add documents to one
  alike index delete DIR ID...     remove documents
  alike index info DIR             print its settings and what it holds
  alike index check DIR            read and compare everything, and name what is damaged
  alike index compact DIR          make the folder as small as it can be
  alike index hold DIR             keep it open for commands that come one a line

The flags of build set what counts as similar, and the index keeps these settings. A
document replaces one with the same id, and a file that is one document the one of the
same path. A record without an id is named file:line, and replaces nothing but itself:
where another document has that name, it becomes file:line#hash. When a command has
ended, what it has added survives a power failure; a command that was killed can be
repeated. One process at a time writes to an index, which may be the state of alike
stream; meanwhile search, info and check read it as it was when they began, and nobody
waits.`

const buildHelp = `Make an index of documents, in a folder that does not exist or is empty.

The folder becomes an index when it is complete. A build that fails, or is interrupted,
leaves nothing; one that was killed leaves a folder that the same command begins anew. It
takes little more time than alike pairs, and at most the memory of --memory.`

// buildNotes are what the help says about topics.
var buildNotes = map[string]string{
	"index": `alike search finds documents that are at least as similar to a text as --threshold says,
with the --recall asked for; at higher thresholds with a higher one. With --containment N
alike search --measure containment also finds a paragraph of a document: about one of N
shingles becomes a key, which takes some 12 bytes of memory. 4 is for paragraphs
from 30 words on (60 with one word in 20 changed), at 1 KB for a document of 2 KB; 16
for those of 100 words and more, at a quarter of that. Without it, and for shorter ones,
search compares with every document.

With --keys disk the keys of documents, some 360 bytes each at the defaults, are also on
disk, so that an index of 100 million documents and more opens at once and needs no more
memory than a small one. The answers are the same; looking up a document costs more.
--memory then bounds how much of the keys stays in memory: see alike index info.
Without --keys a sample of the inputs decides: memory, if --memory has room for the keys
(always for a stream), otherwise disk; --verbose says which.

--keep says what is stored of a document: its text, which exact similarities and
passages need (the default); its features, if texts must not be stored; or
nothing, with --verify sketch or --distance.

  alike index build essays.index essays/ --containment 4`,
}

func newIndex() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index COMMAND",
		Short: "Keep documents in a folder to be searched",
		Long:  indexHelp,
		Example: `  alike index build news.index news.jsonl.zst --columns title,date
  alike index add news.index today.jsonl
  alike search news.index draft.txt --top 10`,
		Args: knownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newIndexBuild(), newIndexAdd(), newIndexDelete(), newIndexInfo(), newIndexCheck(), newIndexCompact(), newIndexHold())
	return cmd
}

func newIndexBuild() *cobra.Command {
	var f livingFlags
	var keep choice
	var columns, timeField string
	var containment int
	var verbose bool
	cmd := &cobra.Command{
		Use:         "build DIR INPUT...",
		Short:       "Make an index of documents",
		Long:        buildHelp,
		Example:     "  alike index build news.index news.jsonl.zst --columns title,date",
		Annotations: buildNotes,
		Args:        arguments(2, 0, "name the folder of the index, then inputs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, c, err := f.options(cmd, args[1:])
			if err != nil {
				return err
			}
			o.Keep, o.Containment, o.ByID = index.Keep(keep.value), containment, true
			var asked []string
			if columns != "" {
				asked = strings.Split(columns, ",")
				o.Columns = append(asked, slices.DeleteFunc(o.Columns, func(within string) bool { return slices.Contains(asked, within) })...)
			}
			if err := checkIndex(o); err != nil {
				return err
			}
			if c.Corpus.Visit, err = keepApartFromIndex(args[0], named(f.input.skipped), append(c.Reads, args[1:]...)); err != nil {
				return err
			}
			sources, problems, err := corpus.Find(cmd.Context(), c.Inputs, c.Corpus)
			if err != nil {
				return err
			}
			if f.keys.value == "" {
				if o.Keys, err = chooseKeys(cmd, o, c, sources, verbose); err != nil {
					return err
				}
			}
			b, err := index.NewBuilder(args[0], index.BuildOptions{Options: o, Memory: buildMemory(c.Memory), Threads: c.Threads})
			if err != nil {
				return err
			}
			all := feed.Config{Index: b, Sources: sources, Corpus: c.Corpus, TimeField: timeField, Threads: c.Threads}
			err = f.input.feed(cmd, all, problems, func(done *fed) (err error) {
				done.Index, err = b.Finish(cmd.Context())
				done.Replaced, done.Apart = b.Replaced(), b.Apart()
				return err
			}, asked...)
			if needed := b.Ceiling(); needed > c.Memory && c.Memory > 0 && (err == nil || errors.Is(err, errSkipped)) {
				fmt.Fprintf(cmd.ErrOrStderr(), "alike: to be opened this index needs some --memory %s; made with --keys disk it needs no more than a small one\n", humanize.IBytes(uint64(needed)))
			}
			return errors.Join(err, b.Close())
		},
	}
	keep = choose(index.KeepText, index.KeepFeatures, index.KeepNothing)
	keep.value = ""
	cmd.Flags().Var(&keep, "keep", "what is stored of a document: text, features or nothing (default: text if sets decide, else nothing)")
	cmd.Flags().IntVar(&containment, "containment", 0, "make about one of so many shingles a key, to find paragraphs in long texts at once, such as 4; 0: none")
	cmd.Flags().StringVar(&columns, "columns", "", "`fields` or columns to store with the documents, separated by commas")
	cmd.Flags().StringVar(&timeField, "time-field", "", "`field` or column with the time of a document")
	f.auto.add(cmd.Flags())
	f.add(cmd.Flags(), true)
	f.input.pre.add(cmd.Flags())
	f.input.addJSON(cmd.Flags())
	cmd.Flags().BoolVar(&verbose, "verbose", false, "say where the keys of documents are stored, and why")
	completeChoices(cmd)
	return cmd
}

// chooseKeys returns where the keys of an index of sources are: in memory, if --memory has room for the number
// that a sample predicts, plus a tenth.
func chooseKeys(cmd *cobra.Command, o index.Options, c alike.Config, sources []corpus.Source, verbose bool) (index.Keys, error) {
	if c.Memory == 0 {
		return index.KeysInMemory, nil
	}
	e, known, err := feed.Expect(cmd.Context(), o, sources, c.Corpus)
	if err != nil {
		return index.KeysInMemory, err
	}
	keys, needed := e.Where(index.OpenOptions{Options: o, Memory: c.Memory})
	if !verbose {
		return keys, nil
	}
	where := cmp.Or(string(keys), keysInMemory)
	if !known {
		fmt.Fprintf(cmd.ErrOrStderr(), "alike: --keys %s: how much a stream holds is not known before it is read\n", where)
		return keys, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "alike: --keys %s: an index of some %s with keys in memory needs about %s to be opened, and --memory is %s\n",
		where, count(e.Documents, "document"), humanize.IBytes(uint64(needed)), humanize.IBytes(uint64(c.Memory)))
	return keys, nil
}

func newIndexAdd() *cobra.Command {
	var input inputFlags
	var timeField string
	cmd := &cobra.Command{
		Use:   "add DIR INPUT...",
		Short: "Add documents to an index",
		Long: `Add documents to an index. A document replaces one with the same id; a record without an
id replaces none: where its name file:line is taken, it becomes file:line#hash.`,
		Example: "  alike index add news.index today.jsonl",
		Args:    arguments(2, 0, "name the folder of the index, then inputs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := input.reading(args[1:])
			if err != nil {
				return err
			}
			if c.Visit, err = keepApartFromIndex(args[0], named(input.skipped), args[1:]); err != nil {
				return err
			}
			sources, problems, err := corpus.Find(cmd.Context(), args[1:], c)
			if err != nil {
				return err
			}
			memory, err := input.budget()
			if err != nil {
				return err
			}
			return withIndex(cmd.Context(), args[0], index.OpenOptions{Threads: input.threads, Memory: memory}, func(x *index.Index) error {
				if err := grow.Unfinished(x); err != nil {
					return err
				}
				more := feed.Config{Index: x, Sources: sources, Corpus: c, TimeField: timeField, Threads: input.threads}
				return input.feed(cmd, more, problems, func(done *fed) error {
					done.Index = x.Stats().Documents
					return nil
				})
			})
		},
	}
	cmd.Flags().StringVar(&timeField, "time-field", "", "`field` or column with the time of a document")
	input.addReading(cmd.Flags())
	input.pre.add(cmd.Flags())
	input.addJSON(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// fed is what a command has done to an index. Replaced documents were in the index, or earlier in the inputs.
type fed struct {
	Added    int64 `json:"added"`
	Replaced int64 `json:"replaced"`
	Apart    int64 `json:"named_apart"` // of those added
	Skipped  int64 `json:"skipped"`
	Index    int64 `json:"documents"` // in the index
}

// feed adds records to an index, and reports the result. end completes the index, and adds what only the complete
// index tells. columns are those of --columns.
func (f *inputFlags) feed(cmd *cobra.Command, c feed.Config, problems []corpus.Problem, end func(*fed) error, columns ...string) (err error) {
	skipped := f.skipping(cmd)
	defer func() { err = skipped.end(err) }()
	if err := skipped.takeAll(problems); err != nil {
		return err
	}
	c.OnSkip = skipped.take
	seen := c.Corpus.Watch()
	s, err := feed.Run(cmd.Context(), c)
	if err != nil {
		return err
	}
	f.tellLacking(cmd.ErrOrStderr(), seen, c.Corpus, c.Index.Options().Recipe.Within(), columns...)
	done := fed{Added: s.Added, Replaced: s.Replaced, Apart: s.Apart, Skipped: s.Skipped + int64(len(problems))}
	if err := end(&done); err != nil {
		return err
	}
	if f.json {
		if err := printJSON(cmd, done); err != nil {
			return err
		}
	} else if !f.quiet {
		done.tell(cmd.ErrOrStderr())
	}
	if done.Skipped > 0 {
		return errSkipped
	}
	return nil
}

// tell says it in words.
func (d *fed) tell(w io.Writer) {
	fmt.Fprintf(w, "%s added", count(d.Added, "document"))
	for _, more := range []struct {
		n    int64
		what string
	}{{d.Replaced, "replaced"}, {d.Apart, "named apart"}, {d.Skipped, "skipped"}} {
		if more.n > 0 {
			fmt.Fprintf(w, ", %s %s", humanize.Comma(more.n), more.what)
		}
	}
	fmt.Fprintf(w, "; %s in the index\n", humanize.Comma(d.Index))
	tellApart(w, d.Apart)
}

func newIndexDelete() *cobra.Command {
	return &cobra.Command{
		Use:     "delete DIR ID...",
		Short:   "Remove documents from an index",
		Long:    "Remove the documents with these ids from an index. alike index compact frees the disk space\nthat they take.",
		Example: "  alike index delete news.index 4711 4712",
		Args:    arguments(2, 0, "name the folder of the index, then ids"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndex(cmd.Context(), args[0], index.OpenOptions{}, func(x *index.Index) error {
				if err := grow.Unfinished(x); err != nil {
					return err
				}
				ids := make([][]byte, len(args)-1)
				for i := range ids {
					ids[i] = []byte(args[i+1])
				}
				n, err := x.Delete(ids...)
				if err != nil {
					return err
				}
				if err := x.Sync(); err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s removed; %s in the index\n", humanize.Comma(int64(n)), count(int64(len(ids)), "id"), humanize.Comma(x.Stats().Documents))
				if n == 0 {
					return errors.New("there is no document with such an id")
				}
				return nil
			})
		},
	}
}

func newIndexInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info DIR",
		Short: "Print the settings of an index and what it holds",
		Args:  arguments(1, 1, "name the folder of the index"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := keepApart([]string{"-"}, filesBelow(args[0])); err != nil {
				return err
			}
			return withIndex(cmd.Context(), args[0], index.OpenOptions{ReadOnly: true}, func(x *index.Index) error {
				printInfo(printed(cmd), x)
				return nil
			})
		},
	}
}

func printInfo(w io.Writer, x *index.Index) {
	o, s := x.Options(), x.Stats()
	each := func(bytes int64) string {
		return fmt.Sprintf("%s, %.0f bytes a document", humanize.IBytes(uint64(bytes)), float64(bytes)/float64(max(s.Documents, 1)))
	}
	containment := "none"
	if o.Containment > 0 {
		containment = fmt.Sprintf("one of %d shingles", o.Containment)
	}
	keys, held := each(s.TableBytes), s.TableBytes+s.SlotBytes
	if o.Keys == index.KeysOnDisk {
		keys = each(s.KeyBytes) + ", on disk"
	}
	printRows(w, [][2]string{
		{"recipe", o.Recipe.String()},
		{"keeps", string(o.Keep)},
		{"passages", containment},
		{"columns", strings.Join(o.Columns, ",")},
		{"documents", humanize.Comma(s.Documents)},
		{"slots", fmt.Sprintf("%d to %d", s.First, s.Next)},
		{"keys", keys},
		{"memory", each(held)},
		{"disk", each(s.StoreBytes)},
		{"full", count(s.Full, "key") + " beyond full buckets"},
	})
}

func newIndexCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Read and compare everything in an index, and name what is damaged",
		Args:  arguments(1, 1, "name the folder of the index"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := keepApart([]string{"-"}, filesBelow(args[0])); err != nil {
				return err
			}
			out := printed(cmd)
			return withIndex(cmd.Context(), args[0], index.OpenOptions{ReadOnly: true}, func(x *index.Index) error {
				damages := int64(0)
				documents, err := x.Verify(cmd.Context(), func(d index.Damage) {
					damages++
					fmt.Fprintln(out, d.Error())
				})
				if err != nil {
					return err
				}
				if damages > 0 {
					return fmt.Errorf("%s in %s: build the index anew, or from a copy", count(damages, "damage"), args[0])
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s, nothing is damaged\n", count(documents, "document"))
				return nil
			})
		},
	}
}

func newIndexCompact() *cobra.Command {
	return &cobra.Command{
		Use:   "compact DIR",
		Short: "Make the folder of an index as small as it can be",
		Args:  arguments(1, 1, "name the folder of the index"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndex(cmd.Context(), args[0], index.OpenOptions{}, func(x *index.Index) error {
				before := x.Stats().StoreBytes
				if err := x.Compact(cmd.Context()); err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s before\n", humanize.IBytes(uint64(x.Stats().StoreBytes)), humanize.IBytes(uint64(before)))
				return nil
			})
		},
	}
}
