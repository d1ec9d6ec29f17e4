package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/record"
)

const joinHelp = `Find the records of two tables that belong together, though nothing in them is
equal: products, publications, people, firms.

Two files are enough. Columns correspond by name, or by content where the names
differ. Values are cut into words and the 3-grams within words, numbers, dates
and codes into what they stand for; rare tokens count for more. For each record
the most similar ones of the other table are looked at, and how much each column
tells is learned from them: in those that belong together values agree, in the
next best ones by chance only. A pair becomes a link if it is more likely right
than not. What was chosen, and how much of it is likely right, is said on standard
error; --explain prints it column by column, --save-config writes it as JSON to be
edited and given as --config.

The output is CSV: left_id,right_id,similarity, then the similarity of each
column, empty where a value is missing; sorted by left, then right record, in input
order. The similarity is the cosine of the records' tokens, weighted by inverse
document frequency. With --with, columns of both tables follow; with --probability,
how likely the link is right. --json, or a FILE named .jsonl, has an object a line.

--match says which pairs may be links: mutual (each other's best, the default),
one-to-one (each record once at most, so that most links are likely right; where more
than 1,000 records hang together, the best pair, then the best of what is left, and so
on), best (the best partner of each left record) and all. The first two hold that a
table has each thing once: then a pair is less likely the more a rival is.

--truth FILE, pairs of ids, prints precision, recall and F1 of the links, and what
another cut would have reached.`

const joinExamples = `  alike join products.csv catalogue.csv > links.csv
  alike join a.csv b.csv --field title --field maker=brand:2 --field price:1:number
  alike join a.csv b.csv --precision 0.95 --with title,price -o links.csv
  alike join new.parquet old.parquet --match all --threshold 0.6
  alike join a.csv b.csv --truth pairs.csv --explain`

// joinFlags say how tables are joined.
type joinFlags struct {
	config      string
	save        string
	fields      []string
	leftID      string
	rightID     string
	threshold   string
	precision   float64
	match       choice
	top         int
	with        []string
	format      choice
	maxRecord   string
	onError     choice
	threads     int
	truth       string
	explain     bool
	probability bool
	json        bool
	quiet       bool
	output      string
}

func (f *joinFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", "", "`file` for the links (default: standard output)")
	flags.StringArrayVar(&f.fields, "field", nil, "`column` to compare, NAME or LEFT=RIGHT, with its weight and tokens if wanted: NAME:2:words; repeatable (default: all that correspond)")
	flags.StringVar(&f.leftID, "left-id", "", "`column` with the ids of LEFT; - numbers the rows (default: id, else the first column)")
	flags.StringVar(&f.rightID, "right-id", "", "`column` with the ids of RIGHT")
	flags.StringVar(&f.threshold, "threshold", "auto", "least similarity of a link, or auto: by the data")
	flags.Float64Var(&f.precision, "precision", 0, "in place of a threshold: the `share` of the links that shall be right, as far as the data tell")
	f.match = choose(linkage.Mutual, linkage.OneToOne, linkage.Best, linkage.All)
	flags.Var(&f.match, "match", "which pairs may be links: mutual, one-to-one, best or all")
	flags.IntVar(&f.top, "top", 0, "most links of a left record, the best ones, with --match all")
	flags.StringSliceVar(&f.with, "with", nil, "`columns` of both tables to add, separated by commas")
	flags.BoolVar(&f.probability, "probability", false, "add a column: how likely the link is right, as far as the data tell")
	flags.StringVar(&f.config, "config", "", "read choices from this JSON `file`; flags that are given count more")
	flags.StringVar(&f.save, "save-config", "", "write what was chosen to this JSON `file`")
	flags.BoolVar(&f.explain, "explain", false, "print what each column tells to standard error")
	flags.StringVar(&f.truth, "truth", "", "hold the links against this `file` of true pairs of ids, CSV")
	f.format = choose(corpus.JSONL, corpus.CSV, corpus.TSV, corpus.Parquet)
	f.format.value = ""
	flags.Var(&f.format, "format", "jsonl, csv, tsv or parquet; default: by file name")
	flags.StringVar(&f.maxRecord, "max-record", "64MiB", "skip records longer than this")
	f.onError = choose(dedup.OnErrorSkip, dedup.OnErrorFail)
	flags.Var(&f.onError, "on-error", "bad input: skip it, name it and go on (exit status 3), or fail")
	flags.IntVar(&f.threads, "threads", 0, "workers (default: all processors)")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on standard error but errors")
	flags.BoolVar(&f.json, "json", false, "JSON on standard output")
}

// joinFile is what --save-config writes and --config reads.
type joinFile struct {
	LeftID    string          `json:"left_id,omitempty"`
	RightID   string          `json:"right_id,omitempty"`
	Fields    []linkage.Field `json:"fields,omitempty"`
	Match     linkage.Match   `json:"match,omitempty"`
	Threshold float64         `json:"threshold,omitempty"`
	Precision float64         `json:"precision,omitempty"`
	Top       int             `json:"top,omitempty"`
	With      []string        `json:"with,omitempty"`
}

// settings returns what the file and the flags say, the flags before the file.
func (f *joinFlags) settings(flags *pflag.FlagSet) (s joinFile, err error) {
	if f.config != "" {
		data, err := os.ReadFile(f.config)
		if err != nil {
			return s, err
		}
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return s, fmt.Errorf("--config %s: %w", f.config, err)
		}
	}
	s.LeftID, s.RightID = cmp.Or(f.leftID, s.LeftID), cmp.Or(f.rightID, s.RightID)
	if flags.Changed("match") || s.Match == "" {
		s.Match = linkage.Match(f.match.value)
	}
	if flags.Changed("threshold") {
		if s.Threshold, s.Precision = 0, 0; f.threshold != "auto" {
			if s.Threshold, err = strconv.ParseFloat(f.threshold, 64); err != nil || s.Threshold <= 0 {
				return s, usagef("--threshold is %q: take a similarity above 0 and up to 1, or auto", f.threshold)
			}
		}
	}
	if flags.Changed("precision") {
		if s.Precision = f.precision; s.Precision <= 0 {
			return s, usagef("--precision is %v: take a share above 0 and below 1", f.precision)
		}
		if !flags.Changed("threshold") {
			s.Threshold = 0
		}
	}
	if flags.Changed("top") {
		s.Top = f.top
	}
	if flags.Changed("with") {
		s.With = f.with
	}
	if len(f.fields) > 0 {
		s.Fields = nil
		for _, spec := range f.fields {
			field, err := parseField(spec)
			if err != nil {
				return s, err
			}
			s.Fields = append(s.Fields, field)
		}
	}
	return s, nil
}

// parseField reads NAME[:WEIGHT[:TOKENS]] or LEFT=RIGHT[:WEIGHT[:TOKENS]]. What follows a
// colon and is no number belongs to the name.
func parseField(spec string) (f linkage.Field, err error) {
	name := spec
	parts := strings.Split(spec, ":")
	for i := len(parts) - 1; i > 0 && i > len(parts)-3; i-- {
		weight, err := strconv.ParseFloat(parts[i], 64)
		if err != nil {
			continue
		}
		if weight <= 0 {
			return f, usagef("--field %s: weight %s must be above 0; leave the column out by not naming it", spec, parts[i])
		}
		f.Weight, name = weight, strings.Join(parts[:i], ":")
		if i+1 < len(parts) {
			if f.Tokens, err = record.ParseKind(parts[i+1]); err != nil {
				return f, usagef("--field %s: %w", spec, err)
			}
		}
		break
	}
	f.Left, f.Right, _ = strings.Cut(name, "=")
	if f.Left == "" {
		return f, usagef("--field is %q: take NAME, NAME:WEIGHT:TOKENS or LEFT=RIGHT", spec)
	}
	return f, nil
}

// joinConfig returns the library's configuration.
func (f *joinFlags) joinConfig(cmd *cobra.Command, args []string) (c alike.JoinConfig, err error) {
	s, err := f.settings(cmd.Flags())
	if err != nil {
		return c, err
	}
	size, err := parseSize("max-record", f.maxRecord)
	if err != nil {
		return c, err
	}
	if f.threads < 0 {
		return c, usagef("--threads is %d: take 1 or more, or leave it out for all processors", f.threads)
	}
	c = alike.JoinConfig{
		Left: args[0], LeftID: s.LeftID, RightID: s.RightID, Fields: s.Fields,
		Corpus:    corpus.Options{Format: corpus.Format(f.format.value), MaxRecord: size},
		Threshold: s.Threshold, Precision: s.Precision, Match: s.Match, Top: s.Top, With: s.With, Threads: f.threads,
		Considered: f.truth != "", Fail: dedup.OnError(f.onError.value) == dedup.OnErrorFail,
	}
	if len(args) > 1 {
		c.Right = args[1]
	} else if !cmd.Flags().Changed("match") && f.config == "" {
		c.Match = "" // what one table has
	}
	useObjects(cmd, &c.Corpus)
	if err := c.Validate(); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

func newJoin() *cobra.Command {
	var flags joinFlags
	cmd := &cobra.Command{
		Use:     "join LEFT RIGHT [-o FILE]",
		Short:   "Find the records of two tables that belong together",
		Long:    joinHelp,
		Example: joinExamples,
		Args:    exactly(2, "name two tables"),
		RunE:    func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	flags.add(cmd.Flags())
	cmd.Flags().SortFlags = false // in the order of the work
	completeChoices(cmd)
	return cmd
}

func (f *joinFlags) run(cmd *cobra.Command, args []string) error {
	c, err := f.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	asJSON := f.json || strings.Contains(f.output, ".jsonl") || strings.Contains(f.output, ".ndjson")
	names := []string{"left_id", "right_id"}
	if c.Right == "" {
		names = []string{"a", "b"}
	}
	stderr := cmd.ErrOrStderr()
	if f.quiet {
		stderr = io.Discard
	}
	r, err := joinInto(cmd, c, f.output, stderr, func(w io.Writer, r *alike.JoinResult) error {
		return writeLinks(w, r, names, c.With, asJSON, f.probability)
	})
	if err != nil {
		return err
	}
	tellJoin(stderr, r)
	if f.explain {
		explainColumns(stderr, r)
	}
	if f.save != "" {
		if err := f.saveConfig(c, r); err != nil {
			return err
		}
	}
	if f.truth != "" {
		scores, err := alike.ScoreJoin(r, f.truth)
		if err != nil {
			return err
		}
		printJoinScores(stderr, scores)
	}
	if r.Skipped > 0 {
		return errSkipped
	}
	return nil
}

// joinInto joins, and writes the links to an output that appears when it is whole.
func joinInto(cmd *cobra.Command, c alike.JoinConfig, output string, stderr io.Writer, write func(io.Writer, *alike.JoinResult) error) (*alike.JoinResult, error) {
	skipped := &skips{say: func(message string) { fmt.Fprintf(stderr, "alike: skipped %s\n", visible(message)) }}
	c.OnSkip = skipped.add
	r, err := alike.Join(cmd.Context(), c)
	if err != nil {
		return nil, err
	}
	skipped.flush()
	var out outputFile
	if err := out.open(cmd, output); err != nil {
		return nil, err
	}
	defer out.discard()
	if err := write(&out, r); err != nil {
		return nil, err
	}
	return r, out.commit()
}

// saveConfig writes what was chosen.
func (f *joinFlags) saveConfig(c alike.JoinConfig, r *alike.JoinResult) error {
	s := joinFile{LeftID: c.LeftID, RightID: c.RightID, Match: c.Match, Threshold: c.Threshold, Precision: c.Precision, Top: c.Top, With: c.With}
	for _, column := range r.Columns {
		s.Fields = append(s.Fields, column.Field)
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(f.save, append(data, '\n'), 0o644)
}

// tellJoin says in a few lines what was done, and how good it is as far as the data tell.
func tellJoin(w io.Writer, r *alike.JoinResult) {
	var used, unused []string
	for _, c := range r.Columns {
		name := c.Left
		if c.Right != c.Left {
			name += "=" + c.Right
		}
		used = append(used, name)
	}
	for _, u := range r.Unused {
		unused = append(unused, fmt.Sprintf("%s (%s)", u.Name, u.Reason))
	}
	among := humanize.Comma(int64(r.Left)) + " × " + count(int64(r.Right), "record")
	if r.OneTable {
		among = count(int64(r.Left), "record")
	}
	fmt.Fprintf(w, "%s among %s, %s; %s considered\n", count(int64(len(r.Links)), "link"), among, r.Match, count(int64(r.Candidates), "candidate"))
	if r.Match == linkage.OneToOne {
		tellAssignment(w, r.Assignment)
	}
	fmt.Fprintf(w, "likely right: %.1f %% of the links; likely found: %.1f %% of the matches\n", 100*r.Precision, 100*r.Recall)
	fmt.Fprintf(w, "compared: %s\n", strings.Join(used, ", "))
	if len(unused) > 0 {
		fmt.Fprintf(w, "not compared: %s\n", strings.Join(unused, ", "))
	}
	for _, id := range r.Repeated {
		fmt.Fprintf(w, "alike: %s is there more than once: links do not tell which record is meant\n", id)
	}
}

// tellAssignment says how far one-to-one links are the best choice there is.
func tellAssignment(w io.Writer, a linkage.Assignment) {
	fmt.Fprintf(w, "one-to-one: the best choice in %s of records that hang together", count(int64(a.Components-a.Greedy), "group"))
	if a.Greedy > 0 {
		fmt.Fprintf(w, "; the best pair first in %s of more than %s records or with an odd circle",
			count(int64(a.Greedy), "group"), humanize.Comma(linkage.Assigned))
	}
	fmt.Fprintln(w)
}

// explainColumns prints what each column tells.
func explainColumns(w io.Writer, r *alike.JoinResult) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\ttokens\tweight\tfilled\tsimilarity of matches\tof others\ttells (nats)\tof its own")
	for _, c := range r.Columns {
		name := c.Left
		if c.Right != c.Left {
			name += "=" + c.Right
		}
		fmt.Fprintf(t, "%s\t%s\t%g\t%.0f %% / %.0f %%\t%.2f\t%.2f\t%.2f\t%.0f %%\n", name, c.Tokens, c.Weight,
			100*c.Filled[0], 100*c.Filled[1], c.Agreement, c.Chance, c.Information, 100*c.Share)
	}
	_ = t.Flush()
}

// curvePoints is how many points of the curve are printed.
const curvePoints = 10

func printJoinScores(w io.Writer, s *alike.JoinScores) {
	printPairScores(w, &s.Decision)
	fmt.Fprintf(w, "best cut         f1 %.6f, precision %.6f, recall %.6f at probability %.6f\n", s.Best.F1, s.Best.Precision, s.Best.Recall, s.Best.Score)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "probability\tpairs\tprecision\trecall\tf1\t")
	points := min(curvePoints, len(s.Curve))
	for i := range points {
		p := s.Curve[(i+1)*len(s.Curve)/points-1]
		fmt.Fprintf(t, "%.6f\t%d\t%.4f\t%.4f\t%.4f\t\n", p.Score, p.Pairs, p.Precision, p.Recall, p.F1)
	}
	_ = t.Flush()
}

// writeLinks writes the links as CSV or JSON lines. ids are the names of the first two columns.
func writeLinks(out io.Writer, r *alike.JoinResult, ids, with []string, asJSON, probability bool) error {
	buffer := bufio.NewWriterSize(out, 1<<16)
	names := append(slices.Clone(ids), "similarity")
	for _, c := range r.Columns {
		names = append(names, c.Left)
	}
	if probability {
		names = append(names, "probability")
	}
	for _, name := range with {
		names = append(names, "left_"+name, "right_"+name)
	}
	rows := csv.NewWriter(buffer)
	if !asJSON {
		_ = rows.Write(names) // Flush tells of errors
	}
	for _, l := range r.Links {
		row := []string{string(l.A), string(l.B), string(dedup.AppendSimilarity(nil, l.Similarity))}
		numbers := 3 + len(r.Columns)
		for _, s := range l.Fields {
			if s < 0 {
				row = append(row, "")
			} else {
				row = append(row, string(dedup.AppendSimilarity(nil, s)))
			}
		}
		if probability {
			row = append(row, string(dedup.AppendSimilarity(nil, l.Probability)))
			numbers++
		}
		for i := range with {
			row = append(row, string(l.WithA[i]), string(l.WithB[i]))
		}
		if !asJSON {
			_ = rows.Write(row)
		} else if err := writeObject(buffer, names, row, 2, numbers); err != nil {
			return err
		}
	}
	rows.Flush()
	return errors.Join(rows.Error(), buffer.Flush())
}

// writeObject writes a row as a JSON object; from…to−1 are numbers, empty for null.
func writeObject(w *bufio.Writer, names, row []string, from, to int) error {
	for i, value := range row {
		lead := ","
		if i == 0 {
			lead = "{"
		}
		key, err := json.Marshal(names[i])
		if err != nil {
			return err
		}
		text := []byte(value)
		switch isNumber := i >= from && i < to; {
		case isNumber && value == "":
			text = []byte("null")
		case !isNumber:
			if text, err = json.Marshal(value); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%s%s:%s", lead, key, text)
	}
	_, err := w.WriteString("}\n")
	return err
}
