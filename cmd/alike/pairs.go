package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/measure"
)

const pairsHelp = `List every pair of documents at or above the threshold.

The output is CSV: a,b,similarity, where a comes before b in the input, sorted by a, then b,
in input order; with --json, or in a FILE named .jsonl, an object a line. With --measure
containment the similarity is how much of a is in b: the rows are ordered pairs, and both
orders are listed if both reach the threshold. With --shared, or a preset, there is one more
column, shared: in how many components the signatures agree. A document without an id is named
by its file, or file:line. An id that is not UTF-8 is unchanged in CSV; in JSON its bytes are
base64 in a_bytes or b_bytes, which no other id has. A FILE gets its name when it is complete,
and is compressed when the name ends in .gz, .zst, .bz2 or .xz. It may be a URL,
s3://bucket/name or gs://bucket/name.

With --report FILE there is a page besides: what other thresholds leave, and clusters that
open. It takes about 50 bytes of memory a pair, beyond --memory, and reads the documents
once more.

With --baseline FILE only new pairs are listed, and the exit status is 4 if there are any;
--write-baseline FILE accepts those of today. See docs/gate.md.

With --with, the inputs are two collections, and only pairs across them are listed:
a is a document of an INPUT, b one of a --with. Both sides may use the same ids.

INPUT may be the output of alike sketch, so that texts are not read twice: the pairs
are those that --verify sketch, or --distance, finds among the texts. The fingerprints
themselves say how they were made.`

// pairsNotes are what the help says about topics.
var pairsNotes = map[string]string{
	"similarity": `The defaults are for near-duplicates. Programs that were copied and disguised
share far less: with single words at 0.4 (--ngram 1 --threshold 0.4), 90 % of
the plagiarised programs of a data set are found, with the defaults 2 %, but
also most programs that solve the same task independently: read the list from the
top. A passage counts only for its share of the texts: two texts of 1,000 words
with a passage of 100 in common have a similarity of about 0.05. Containment measures
how much of one text is in the other, whatever else the other has: for copied
passages use --measure containment --ngram 3 --threshold 0.1, sort by
similarity, read from the top, and use alike compare, which shows the passages.

Measures: jaccard (common shingles over all of both), containment (over those of
a), max-containment (over those of the smaller), cosine (over the root of the
product), dice (over the mean), overlap (their number: --threshold 10), and
weighted-jaccard (a shingle counts as often as it occurs). For overlap, and for
containment with --candidates exact, sets beyond --memory go to disk, which costs a pass
over them for each part that fits.

With --idf exact a shingle counts by its rarity, from 16 in one document to 1 in all: a
template that all pages have makes none of them alike. --idf sketch estimates the counts.
With --idf rare shingles of up to 32 documents, or one in a hundred, count alike, and of
all others one in 32 does: so count pages of many templates by what is their own. With
--idf rarest those of up to 8 documents do: for templates of a few texts each, where
copies are few, too.

` + thirdTextsHelp + `
Fingerprints that are compared bit by bit, --scheme simhash or fastsimhash and the
presets hash4j-… and exlsh-… (see alike help presets), take --distance instead of a
threshold: it lists the pairs that differ in at most that many bits, and misses none. The
similarity is the share of equal bits. For 64 bits take 3.

  alike pairs essays/ --measure containment --ngram 3 --threshold 0.1
  alike pairs news.jsonl --scheme 'fastsimhash bits=64' --distance 3
  alike pairs pages/ --idf exact
  alike pairs scans/ --tokens chars --ngram 8 --measure max-containment --threshold 0.3 --third-texts`,
	"text": `Sets that are made elsewhere, a line each, with their elements as words:

  alike pairs sets.txt --format lines --tokens space --ngram 1 --candidates exact`,
	"records": `With --records, INPUT is one table, and pairs are records that belong together, even if
no value in them is equal: columns, weights and decision come from the data, as in
alike join; --field names the columns to compare. A column for each follows the
similarity.

  alike pairs customers.csv --records > same.csv`,
}

const pairsExamples = `  alike pairs news.jsonl > pairs.csv
  alike pairs docs/ --baseline known.json --sarif new.sarif
  alike pairs articles.jsonl --with press-releases.jsonl > copied.csv`

// oneDocument says what to do if a whole file was taken for one document.
const oneDocument = `alike: nothing to compare one document with: a file that is no .jsonl, .csv, .tsv or .parquet is one; read its lines with --format lines, or JSON objects with --format jsonl, one a line (jq -c '.[]' makes them of an array)`

type pairsFlags struct {
	corpusFlags
	output  string
	with    []string
	records recordFlags
	auto    autoRecipe
	known   gateFlags
	page    *foundFlags // that of the records, too
}

func newPairs() *cobra.Command {
	var f pairsFlags
	cmd := &cobra.Command{
		Use:         "pairs INPUT... [--with INPUT] [-o FILE]",
		Short:       "List every pair of similar documents",
		Long:        pairsHelp,
		Example:     pairsExamples,
		Annotations: pairsNotes,
		Args:        inputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.auto.check(cmd); err != nil {
				return err
			}
			if f.records.wanted() {
				return f.records.pairs(cmd, &f.corpusFlags, args, f.output)
			}
			return f.run(cmd, args)
		},
	}
	own := cmd.Flags()
	own.StringVarP(&f.output, "output", "o", "", "`file` for the pairs (default: standard output)")
	f.known.add(own)
	f.page = &f.records.join.found
	f.page.add(own)
	own.StringArrayVar(&f.with, "with", nil, "second collection: an `input` whose documents are compared with those of INPUT only; repeatable")
	own.BoolVar(&f.recipe.Decision.Shared, "shared", false, "add a column: how many components of the two signatures are the same")
	f.auto.add(own)
	f.records.add(own)
	f.records.addPairs(own)
	f.corpusFlags.add(own)
	sayDefaults(own)
	completeChoices(cmd)
	return cmd
}

// run lists the pairs of texts.
func (f *pairsFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.records.checkTexts(cmd.Flags()); err != nil {
		return err
	}
	c, err := f.config(cmd, args)
	if err != nil {
		return err
	}
	asJSON, err := pairsAsJSON(f.output, f.input.json)
	if err := errors.Join(err, f.page.check(), f.records.weigh(cmd.Flags(), &c)); err != nil {
		return err
	}
	f.auto.lists = true
	if err := f.auto.apply(cmd, &c, f.input.threads); err != nil {
		return err
	}
	if len(f.with) > 0 {
		c.Beside = dedup.With(f.with)
	}
	var out outputFile
	c.Outputs = append(append(c.Outputs, cmp.Or(f.output, "-")), named(f.page.page)...)
	if err := f.known.prepare(&c); err != nil {
		return err
	}
	c.Begin = func() error { return errors.Join(out.open(cmd, f.output), f.known.open(cmd), f.page.open(cmd)) }
	defer out.discard()
	defer f.page.file.discard()
	defer f.known.discard()
	done := f.input.follow(cmd, &c)
	f.auto.tell(&c)
	rows := newPairWriter(&out, asJSON, f.recipe.Decision.Shared)
	emit, end := rows.write, func() error { return nil }
	if f.known.wanted() {
		emit, end = f.known.take, func() error { return f.known.end(rows.write) }
	}
	m, err := measure.Parse(f.recipe.Decision.Measure)
	if err != nil {
		return err
	}
	f.page.begin(&c, m, len(f.with) > 0)
	emit = f.page.emit(emit)
	c.Commit = func() error {
		if err := errors.Join(end(), rows.flush(), f.page.end(cmd, &c)); err != nil {
			return err
		}
		return out.commit()
	}
	summary, err := alike.Pairs(cmd.Context(), c, emit)
	if err := done(err); err != nil {
		return err
	}
	if f.input.talks() {
		tellPairs(cmd.ErrOrStderr(), max(rows.n, int64(len(f.known.all))), summary, len(f.with) > 0)
		tellOne(cmd.ErrOrStderr(), summary, &c)
		f.known.tell(cmd.ErrOrStderr())
	}
	return cmp.Or(f.known.verdict(), f.input.finish(cmd, summary))
}

// tellOne tells that a whole file was taken for the only document, as its name is not that of records.
func tellOne(w io.Writer, s *alike.Summary, c *alike.Config) {
	if s.Read != 1 || s.Skipped > 0 || c.Beside != nil || len(c.Inputs) != 1 || c.Inputs[0] == "-" || c.Corpus.Format != corpus.ByName {
		return
	}
	if _, _, records := corpus.NameFormat(c.Inputs[0]); !records {
		fmt.Fprintln(w, oneDocument)
	}
}

// tellPairs says how many pairs were found among what.
func tellPairs(w io.Writer, pairs int64, s *alike.Summary, across bool) {
	among, skipped := count(s.Read-s.Skipped, "document"), ""
	if across {
		among = humanize.Comma(s.Left) + " × " + count(s.Right, "document")
	}
	if s.Skipped > 0 {
		skipped = fmt.Sprintf(", %s skipped", humanize.Comma(s.Skipped))
	}
	tellWithin(w, s.Within, s.By, func(v *dedup.ValueCounts) string { return count(v.Pairs, "pair") })
	fmt.Fprintf(w, "%s among %s%s; %s, %s\n", count(pairs, "pair"), among, skipped, describeSearch(s), describeCost(s))
}

// pairWriter writes pairs as CSV or JSON lines.
type pairWriter struct {
	listWriter
	shared bool
	n      int64
}

func newPairWriter(w io.Writer, asJSON, shared bool) *pairWriter {
	header := []string{"a", "b", "similarity"}
	if shared {
		header = append(header, "shared")
	}
	return &pairWriter{listWriter: newListWriter(w, asJSON, header), shared: shared}
}

// pairObject is a pair as JSON.
type pairObject struct {
	A          string      `json:"a"`
	B          string      `json:"b"`
	Similarity json.Number `json:"similarity"`
	Shared     *int        `json:"shared,omitempty"`
	ABytes     []byte      `json:"a_bytes,omitempty"`
	BBytes     []byte      `json:"b_bytes,omitempty"`
}

func (p *pairWriter) write(pair alike.Pair) error {
	p.n++
	similarity := string(measure.AppendSimilarity(nil, pair.Similarity))
	if p.rows != nil {
		row := []string{string(pair.A), string(pair.B), similarity}
		if p.shared {
			row = append(row, strconv.Itoa(pair.Shared))
		}
		return p.rows.Write(row)
	}
	var shared *int
	if p.shared {
		shared = &pair.Shared
	}
	return p.json.Encode(pairObject{string(pair.A), string(pair.B), json.Number(similarity), shared, rawID(pair.A), rawID(pair.B)})
}

// listWriter writes a list as CSV with a header, or as lines of JSON.
type listWriter struct {
	buffer *bufio.Writer
	rows   *csv.Writer // nil: JSON
	json   *json.Encoder
}

func newListWriter(w io.Writer, asJSON bool, header []string) listWriter {
	l := listWriter{buffer: bufio.NewWriterSize(w, 1<<16)}
	if asJSON {
		l.json = json.NewEncoder(l.buffer)
		l.json.SetEscapeHTML(false)
		return l
	}
	l.rows = csv.NewWriter(l.buffer)
	_ = l.rows.Write(header) // flush returns its error
	return l
}

func (l *listWriter) flush() error {
	if l.rows != nil {
		l.rows.Flush()
		if err := l.rows.Error(); err != nil {
			return err
		}
	}
	return l.buffer.Flush()
}
