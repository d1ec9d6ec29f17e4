package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/feed"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/measure"
)

const searchHelp = `Search an index for documents like a text.

Each document of QUERY, an input as of other commands, is a query. The output
is CSV: query,id,similarity, for each query the most similar first, and among equal ones
the one that was added to the index first. The similarity is exact. With --json it is an
object a line for each query: query, and matches with id, similarity, the columns that
the index stores and, with --passages, the passages of at least a shingle's length that
both share: tokens, and the places in bytes in the query (a) and the document (b). These are
bytes of the file if it is one document, where a byte order mark counts; of a record of JSONL,
CSV, TSV or Parquet, or a line, they are bytes of the decoded text.

With --measure containment the similarity is how much of the query is in the document:
that finds the source of a paragraph in a long text.

An index answers at once the queries that it was made for: at its own threshold or a higher
one and, if it was made with --containment, paragraphs of the promised length. If the keys
do not promise the --recall of a query, it is compared with every document, which takes
seconds for a million and misses nothing; the number of these queries is printed at the
end. With --candidates lsh such a query is an error that says why and what would help;
with exact every query is compared with every document.`

const searchExamples = `  alike search news.index draft.txt
  alike search essays.index paragraph.txt --measure containment --threshold 0.6 --passages --json
  alike search news.index today.jsonl --top 1 > closest.csv`

// searching are the flags of the command.
type searching struct {
	input      inputFlags
	measure    string
	candidates choice
	threshold  float64
	recall     float64
	top        int
	passages   bool
	json       bool
}

func newSearch() *cobra.Command {
	var f searching
	cmd := &cobra.Command{
		Use:     "search DIR QUERY...",
		Short:   "Search an index for documents like a text",
		Long:    searchHelp,
		Example: searchExamples,
		Args:    arguments(2, 0, "name the folder of the index, then queries"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1:]) },
	}
	flags := cmd.Flags()
	recipeflags.AddMeasure(flags, &f.measure)
	ofMeasure := flags.Lookup("measure")
	ofMeasure.Usage, ofMeasure.DefValue = ofMeasure.Usage+" (default: that of the index)", ""
	flags.Float64Var(&f.threshold, "threshold", 0, "least similarity (default: that of the index, 0.8 for another measure)")
	f.candidates = choose(recipeflags.Auto, recipeflags.LSH, recipeflags.Exact)
	flags.Var(&f.candidates, "candidates", "which documents a query is compared with: lsh, those that share keys with it, if that promises the recall; exact, all; auto, all where lsh does not promise it")
	flags.Float64Var(&f.recall, "recall", dedup.DefaultRecall, "share of the documents at the threshold to be found")
	flags.IntVar(&f.top, "top", 0, "only this many of the most similar ones for each query (default: all)")
	flags.BoolVar(&f.passages, "passages", false, "show what a query and a document share, with --json")
	f.input.addReading(flags)
	f.input.pre.add(flags)
	flags.BoolVar(&f.json, "json", false, "JSON on standard output")
	completeChoices(cmd)
	return cmd
}

func (f *searching) run(cmd *cobra.Command, dir string, queries []string) error {
	o := index.SearchOptions{Top: f.top, Recall: f.recall, Passages: f.passages, Exact: f.candidates.value == recipeflags.Exact}
	switch {
	case f.top < 0:
		return usagef("--top is %d: take 1 or more, or leave it out for all", f.top)
	case f.passages && !f.json:
		return usagef("--passages are for --json: add it")
	case !(f.recall > 0 && f.recall < 1):
		return usagef("--recall is %v: take a number between 0 and 1, such as 0.99", f.recall)
	}
	c, err := f.input.reading(queries)
	if err != nil {
		return err
	}
	if c.Visit, err = keepApart([]string{"-", f.input.skipped}, append(filesBelow(dir), queries...)); err != nil {
		return err
	}
	sources, problems, err := corpus.Find(cmd.Context(), queries, c)
	if err != nil {
		return err
	}
	memory, err := f.input.budget()
	if err != nil {
		return err
	}
	return withIndex(cmd.Context(), dir, index.OpenOptions{ReadOnly: true, Few: areFew(sources), Memory: memory}, func(x *index.Index) error {
		if o.Threshold, err = f.least(cmd.Flags(), x.Options().Recipe.Threshold()); err != nil {
			return err
		}
		q := feed.Queries{Index: x, Sources: sources, Corpus: c, Options: o, OrExact: f.candidates.value == recipeflags.Auto, Threads: f.input.threads}
		return f.search(cmd, q, problems)
	})
}

// fewBytes is up to how many bytes queries are taken for few.
const fewBytes = 64 << 10

// areFew tells whether there are few queries, for all that is known before they are read.
func areFew(sources []corpus.Source) bool {
	bytes := int64(0)
	for _, s := range sources {
		if s.Stream {
			return false
		}
		bytes += s.Size
	}
	return bytes <= fewBytes || len(sources) == 1 && sources[0].Format == corpus.Text
}

// least returns the least similarity of an answer, which is the zero value for that of the index. What
// no flag says is as in the index, but for the threshold of another measure.
func (f *searching) least(flags *pflag.FlagSet, of measure.Threshold) (measure.Threshold, error) {
	if !flags.Changed("threshold") && !flags.Changed("measure") {
		return measure.Threshold{}, nil
	}
	m, least := of.Measure(), f.threshold
	if flags.Changed("measure") {
		var err error
		if m, err = measure.Parse(f.measure); err != nil {
			return measure.Threshold{}, usageError{err}
		}
	}
	if !flags.Changed("threshold") {
		least = dedup.DefaultThreshold
	}
	t, err := measure.NewThreshold(m, least)
	if err != nil {
		return measure.Threshold{}, usageError{err}
	}
	return t, nil
}

func (f *searching) search(cmd *cobra.Command, q feed.Queries, problems []corpus.Problem) (err error) {
	skipped := f.input.skipping(cmd)
	defer func() { err = skipped.end(err) }()
	if err := skipped.takeAll(problems); err != nil {
		return err
	}
	q.OnSkip = skipped.take
	seen := q.Corpus.Watch()
	rows := newMatchWriter(cmd.OutOrStdout(), f.json, q.Index.Options().Columns)
	refused, exact := int64(0), int64(0)
	s, err := feed.Search(cmd.Context(), q, func(found feed.Found) error {
		if found.Err != nil {
			refused++
			fmt.Fprintf(cmd.ErrOrStderr(), "alike: %s: %s\n", fault.Shown(string(found.ID)), alike.Explain(found.Err, flagOf))
			return nil
		}
		if found.Exact {
			exact++
		}
		return rows.write(found)
	})
	if err := errors.Join(err, rows.flush()); err != nil {
		return err
	}
	f.input.tellLacking(cmd.ErrOrStderr(), seen, q.Corpus, q.Index.Options().Recipe.Within())
	if !f.input.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s found for %s among %s", count(rows.n, "document"), count(s.Read-s.Skipped, "text"), count(q.Index.Stats().Documents, "document"))
		if exact > 0 && q.OrExact {
			fmt.Fprintf(cmd.ErrOrStderr(), "; %s compared with every document (--candidates lsh says why)", count(exact, "text"))
		}
		fmt.Fprintln(cmd.ErrOrStderr())
	}
	if refused > 0 {
		return fmt.Errorf("%s could not be answered with the recall that was asked for", humanize.Comma(refused))
	}
	if s.Skipped+int64(len(problems)) > 0 {
		return errSkipped
	}
	return nil
}

// matchWriter writes matches as CSV or JSON lines.
type matchWriter struct {
	listWriter
	columns []string
	n       int64
}

func newMatchWriter(w io.Writer, asJSON bool, columns []string) *matchWriter {
	return &matchWriter{listWriter: newListWriter(w, asJSON, []string{"query", "id", "similarity"}), columns: columns}
}

// queryObject is a query with its matches as JSON.
type queryObject struct {
	Query      string        `json:"query"`
	Matches    []matchObject `json:"matches"`
	QueryBytes []byte        `json:"query_bytes,omitempty"`
}

// matchObject is a match as JSON.
type matchObject struct {
	ID         string             `json:"id"`
	Similarity json.Number        `json:"similarity"`
	Columns    map[string]*string `json:"columns,omitempty"`
	Passages   []passageObject    `json:"passages,omitempty"`
	IDBytes    []byte             `json:"id_bytes,omitempty"`
}

type passageObject struct {
	Tokens int         `json:"tokens"`
	A      placeObject `json:"a"`
	B      placeObject `json:"b"`
}

type placeObject struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func (m *matchWriter) write(found feed.Found) error {
	m.n += int64(len(found.Matches))
	if m.rows != nil {
		for _, match := range found.Matches {
			if err := m.rows.Write([]string{string(found.ID), string(match.ID), string(measure.AppendSimilarity(nil, match.Similarity))}); err != nil {
				return err
			}
		}
		return nil
	}
	object := queryObject{string(found.ID), []matchObject{}, rawID(found.ID)}
	for _, match := range found.Matches {
		object.Matches = append(object.Matches, m.object(match))
	}
	return m.json.Encode(object)
}

func (m *matchWriter) object(match index.Match) matchObject {
	o := matchObject{ID: string(match.ID), Similarity: json.Number(measure.AppendSimilarity(nil, match.Similarity)), IDBytes: rawID(match.ID)}
	for i, value := range match.Columns {
		if o.Columns == nil {
			o.Columns = map[string]*string{}
		}
		if value != nil {
			o.Columns[m.columns[i]] = new(string(value))
		} else {
			o.Columns[m.columns[i]] = nil
		}
	}
	for _, p := range match.Passages {
		o.Passages = append(o.Passages, passageObject{p.Tokens, placeObject{p.StartA, p.EndA}, placeObject{p.StartB, p.EndB}})
	}
	return o
}
