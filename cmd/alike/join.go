package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
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
error; --explain prints it column by column, --verbose what finding candidates took,
--save-config writes it as JSON to be edited and given as --config.

A table may be several files: name their folder, a prefix of a bucket or a glob.

The output is CSV: left_id,right_id,similarity, then the similarity of each
column, empty where a value is missing; sorted by left, then right record, in input
order. The similarity is the cosine of the records' tokens, weighted by inverse
document frequency, or what --measure and --idf say. With --with, columns of both tables follow; with --probability,
how likely the link is right. --json, or a FILE named .jsonl, has an object a line;
a FILE named .parquet is one, with nulls where a value is missing.

--match says which pairs may be links: mutual (each other's best, the default),
one-to-one (each record once at most, so that most links are likely right; where more
than 1,000 records hang together, the best pair, then the best of what is left, and so
on), best (the best partner of each left record) and all. The first two hold that a
table has each thing once: then a pair is less likely the more a rival is.

--against-links FILE, links of an earlier run, finds only what is new; ids mean the same
records as in FILE. Its links are not written again. A record that is in one has its
partner: by mutual and one-to-one it gets no other, whichever table it is of, by best no
left record does; by all it may, as far as --top has room beside its known links. What
matches look like is learned from all records, so give both tables whole, or --config,
where only a few records are new.

Candidates are the most similar ones of each record, --candidates topk, whatever the
threshold. From a --threshold on, lsh finds what shares a band of weighted MinHash,
with a --recall; exact misses none; auto estimates what topk and lsh cost.

--truth FILE, pairs of ids, prints precision, recall and F1 of the links, and what
another cut would have reached. A third column may say 1, 0 or u, as for alike learn.

--explain-pairs FILE writes a page that needs nothing but a browser: of the pairs of
which the decision is least sure, and some clear ones, both records side by side and what each
column and word adds to the score. Its keys y, n and u make labels for alike learn.`

const joinExamples = `  alike join products.csv catalogue.csv > links.csv
  alike join a.csv b.csv --field title --field maker=brand:2 --field price:1:number
  alike join small.csv large.csv --threshold 0.8 --candidates lsh --verbose
  alike join a.csv b.csv --precision 0.95 --with title,price -o links.csv
  alike join new.parquet old.parquet --match all --threshold 0.6
  alike join new.csv old.csv --against-links links.csv > new-links.csv
  alike join a.csv b.csv --truth pairs.csv --explain
  alike join a.csv b.csv --explain-pairs why.html > links.csv`

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
	format, err := f.linkFormat()
	if err != nil {
		return err
	}
	if err := dedup.Apart(append(f.writes(), cmp.Or(f.output, "-")), append(f.reads(), c.Left, c.Right)); err != nil {
		return err
	}
	if f.truth != "" { // what cannot be read is told before the work
		if _, err := alike.ReadLabels(f.truth); err != nil {
			return err
		}
	}
	names := []string{"left_id", "right_id"}
	if c.Right == "" {
		names = []string{"a", "b"}
	}
	stderr := f.stderr(cmd)
	skipped := newSkips(stderr)
	c.OnSkip = skipped.add
	r, err := alike.Join(cmd.Context(), c)
	if err != nil {
		return err
	}
	skipped.flush()
	err = writeOutput(cmd, f.output, func(w io.Writer) error { return writeLinks(w, r, names, c.With, format, f.probability) })
	if err != nil {
		return err
	}
	if err := r.Finish(); err != nil {
		return err
	}
	tellJoin(stderr, r)
	if f.known != "" {
		tellKnown(stderr, r, len(c.Known))
	}
	if err := f.tellChoices(cmd, stderr, c, r); err != nil {
		return err
	}
	if f.truth != "" {
		scores, err := alike.ScoreJoin(r, f.truth)
		if err != nil {
			return err
		}
		printJoinScores(stderr, scores)
		if f.plot != "" {
			if err := plotJoinScores(cmd, f.plot, scores); err != nil {
				return err
			}
		}
	}
	if r.Skipped > 0 {
		return errSkipped
	}
	return nil
}
