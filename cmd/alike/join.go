package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/stdio"
)

const joinHelp = `Find the records of two tables that belong together, even if no value in them is
equal: products, publications, people, firms.

Two files are enough. Columns correspond by name, or by content where the names
differ. Values are cut into words and the 3-grams within words; numbers, dates
and codes become the values they stand for; rare tokens count for more. Each record
is compared with the most similar ones of the other table, and these pairs show how
much each column says: in records that belong together values agree, in the next
best ones only by chance. Links are the pairs with the best balance of precision and
recall (F1) that is to be expected: those more likely right than wrong where the tables tell
clearly, and less likely ones where most matches are unclear; --precision 0.9 takes
fewer and surer ones. Standard error says what was chosen, and how many links are likely
right; --explain prints this column by column, --verbose the cost of finding candidates,
and --save-config writes the choices as JSON, to be edited and given as --config.

A table may be several files: name their folder, a prefix of a bucket or a glob.

The output is CSV: left_id,right_id,similarity, then the similarity of each
column, empty where a value is missing; sorted by left, then right record, in input
order. The similarity is the cosine of the records' tokens, weighted by inverse
document frequency, or as --measure and --idf say. With --with, columns of both tables
follow; with --probability, the probability that the link is right. --json, or a FILE
named .jsonl, has an object a line; a FILE named .parquet is Parquet, with nulls where a
value is missing.

--match says which pairs may be links: mutual (each other's best), one-to-one (each
record at most once, so that most links are likely right; where more than 1,000 records
are linked with each other, the best pair, then the best of the rest, and so on), best
(the best partner of each left record), best-right (of each right one) and all. The first
two assume that a table has each thing once: then a likely rival makes a pair less likely.
The default, auto, is mutual or, where the tables show that records of one have several
partners, such as the orders of a customer, best or best-right.`

// joinNotes are what the help says about topics.
var joinNotes = map[string]string{
	"input": `--against-links FILE, links of an earlier run, finds only new links; ids mean the same
records as in FILE. Its links are not written again. A record in one of them has its
partner: with auto, mutual and one-to-one no record of either table gets another partner, with
best no left record does, with best-right no right one; with all it may, up to --top including its known links. The
model is learned from all records, so give both tables whole, or --config, if only a few
records are new.

  alike join new.csv old.csv --against-links links.csv > new-links.csv`,
	"similarity": `Candidates are the most similar ones of each record and those that share rare values with it;
above 30,000 records in both tables only the latter. --candidates topk and keys choose one of the
two for any number of records. With a --threshold, lsh finds pairs that share a band of weighted MinHash,
with a --recall; exact misses none; auto estimates the cost of topk and lsh.

  alike join small.csv large.csv --threshold 0.8 --candidates lsh --verbose
  alike join new.parquet old.parquet --match all --threshold 0.6`,
	"records": `--truth FILE, pairs of ids, prints precision, recall and F1 of the links, and what
another cut would have reached. A third column may be 1, 0 or u, as for alike learn.

--explain-pairs FILE writes a page for a browser, which needs no other file: for the pairs
whose decision is least certain, and some clear ones, it shows both records side by side and
what each column and word adds to the score. Its keys y, n and u make labels for alike learn.

  alike join a.csv b.csv --truth pairs.csv --explain
  alike join a.csv b.csv --explain-pairs why.html > links.csv

--report FILE writes a page about the links: how many another probability leaves, and clusters
that open, the least certain first; --by FIELD counts links by the values of a field.

--audit 40 asks about a random sample of the links and of the candidates that are none, and prints
precision and recall with intervals of 95 %, whatever the model believes. Answers are saved in
--audit-labels after each key (y n u b q, as of alike label).

  alike join a.csv b.csv --audit 40 --audit-labels said.csv -o links.csv`,
}

const joinExamples = `  alike join products.csv catalogue.csv > links.csv
  alike join a.csv b.csv --precision 0.95 --with title,price -o links.csv
  alike join a.csv b.csv --field title --field maker=brand:2 --field price:1:number`

func newJoin() *cobra.Command {
	var flags joinFlags
	cmd := &cobra.Command{
		Use:         "join LEFT RIGHT [-o FILE]",
		Short:       "Find the records of two tables that belong together",
		Long:        joinHelp,
		Example:     joinExamples,
		Annotations: joinNotes,
		Args:        arguments(2, 2, "name two tables"),
		RunE:        func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	flags.add(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

func (f *joinFlags) run(cmd *cobra.Command, args []string) (err error) {
	c, err := f.joinConfig(cmd, args)
	if err != nil {
		return err
	}
	if err := f.keepApart(&c); err != nil {
		return err
	}
	format, err := listFormat("-o", f.output, f.json)
	if err != nil {
		return err
	}
	if _, err := listFormat("--clusters", f.clusters, false); err != nil { // before the work, too
		return err
	}
	c.Clusters = f.clusters != ""
	var truth *alike.Truth
	if f.truth != "" { // before the work, so that an unreadable file is reported at once
		if truth, err = unless(cmd.Context(), func() (*alike.Truth, error) { return alike.ReadTruth(f.truth) }); err != nil {
			return err
		}
	}
	names := []string{"left_id", "right_id"}
	if c.Right == "" {
		names = []string{"a", "b"}
	}
	stderr := f.stderr(cmd)
	skipped := f.skipping(cmd, &c)
	defer func() { err = skipped.end(err) }()
	r, err := alike.Join(cmd.Context(), c)
	if err != nil {
		return err
	}
	err = writeOutput(cmd, f.output, func(w io.Writer) error {
		return writeLinks(cmd.Context(), w, r.Links.All(), r.Columns, names, c.With, format, f.probability)
	})
	if err != nil {
		return err
	}
	if err := f.writeClusters(cmd, stderr, r); err != nil {
		return err
	}
	if err := r.Finish(); err != nil {
		return err
	}
	fmt.Fprint(stderr, &r.Report)
	if err := f.runAudit(cmd, stderr, r); err != nil {
		return err
	}
	if err := writeSummary(cmd, f.summary, &r.Report); err != nil {
		return err
	}
	if f.known != "" {
		tellKnown(stderr, r, len(c.Known))
	}
	if err := f.tellChoices(cmd, stderr, c, r); err != nil {
		return err
	}
	if truth != nil {
		if err := f.tellScores(cmd, stderr, alike.ScoreJoin(r, truth)); err != nil {
			return err
		}
	}
	if r.Skipped > 0 {
		return errSkipped
	}
	return nil
}

// keepApart checks that what a join writes is nothing else that it writes or reads, and has a name that says what it is.
func (f *joinFlags) keepApart(c *alike.JoinConfig) (err error) {
	reads := append(f.reads(), c.Left, c.Right)
	if f.audit > 0 && !stdio.Closed(os.Stdin) { // without answers an audit says so
		reads = append(reads, "-")
	}
	c.Corpus.Visit, err = keepApartFromWork(f.work, append(f.writes(), cmp.Or(f.output, "-")), reads)
	return errors.Join(err, f.checkNames())
}

// tellScores prints how good links are by the truth, and draws it if that was asked for.
func (f *joinFlags) tellScores(cmd *cobra.Command, stderr io.Writer, scores *alike.JoinScores) error {
	printJoinScores(stderr, scores)
	if f.plot == "" {
		return nil
	}
	return plotJoinScores(cmd, f.plot, scores)
}
