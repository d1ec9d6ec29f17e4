package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
)

const evalHelp = `Compare a result with the truth.

PAIRS and TRUTH are what alike writes, or other lists: CSV, or by their names TSV, JSON Lines or
Parquet, also compressed. The first two columns are the ids of two documents (where columns
have names, left_id and right_id, or a and b, go first); further ones do not matter. The order
within a pair does not matter, repeated pairs count once, and pairs of an id
with itself, which are reported, do not count; but where one of the two has links of join
(left_id,right_id), the first column is of the left table in both, and its ids are its own.

A first line is taken for a header if its names are usual ones (a,b; id1,id2;
left_id,right_id; …), or if neither of its ids is anywhere else in the two files
and it does not look like the lines below: no number over numbers in the third
column, words over ids that all have digits, or letters over ids without any. A message
says which line was taken for one; --header decides it.

With --spans both are lists of places with a header of document, start and end, in
bytes, such as found.csv of decontaminate. A found place is right if it overlaps a
true one in the same document and, if both files have a column item, of the same
item.

With --clusters both are read as clusterings: a file with the header id,cluster
names the cluster of each document; in a file of pairs, documents linked directly or
through others are one cluster.`

const evalExamples = `  alike eval pairs.csv truth.csv --json
  alike eval clean/clusters.csv truth.csv --clusters
  alike eval clean/found.csv truth.csv --spans`

func newEval() *cobra.Command {
	var asClusters, asSpans, asJSON bool
	var minSimilarity float64
	header := choose(alike.HeaderAuto, alike.HeaderYes, alike.HeaderNo)
	cmd := &cobra.Command{
		Use:     "eval PAIRS TRUTH",
		Short:   "Precision, recall and F1 of pairs or places; adjusted Rand index of clusters",
		Long:    evalHelp,
		Example: evalExamples,
		Args:    arguments(2, 2, "name the found pairs and the true ones"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := keepApart([]string{"-"}, args); err != nil {
				return err
			}
			if asSpans {
				return evalSpans(cmd, args, asJSON)
			}
			options := []alike.ScoreOption{
				alike.Header(alike.HeaderMode(header.value)),
				alike.Notices(func(n alike.Notice) { fmt.Fprintf(cmd.ErrOrStderr(), "alike: %s\n", n.Explain(flagOf)) }),
			}
			if asClusters {
				if cmd.Flags().Changed("min-similarity") {
					return usagef("--min-similarity is for pairs, not for --clusters")
				}
				scores, err := unless(cmd.Context(), func() (*alike.ClusterScores, error) { return alike.ScoreClusters(args[0], args[1], options...) })
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd, scores)
				}
				printClusterScores(printed(cmd), scores)
				return nil
			}
			scores, err := unless(cmd.Context(), func() (*alike.PairScores, error) {
				return alike.ScorePairs(args[0], args[1], minSimilarity, options...)
			})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, scores)
			}
			printPairScores(printed(cmd), scores)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asClusters, "clusters", false, "compare clusterings: adjusted Rand index and pairwise scores")
	cmd.Flags().BoolVar(&asSpans, "spans", false, "compare places in documents: scores of documents, places and bytes")
	cmd.Flags().Float64Var(&minSimilarity, "min-similarity", 0, "leave out pairs of TRUTH whose third column is below this")
	cmd.Flags().Var(&header, "header", "whether first lines of CSV are headers: yes, no, or auto, which judges each")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON on standard output")
	completeChoices(cmd)
	return cmd
}

func evalSpans(cmd *cobra.Command, args []string, asJSON bool) error {
	for _, other := range []string{"clusters", "min-similarity", "header"} {
		if cmd.Flags().Changed(other) {
			return usagef("--%s says nothing about --spans: leave one of the two out", other)
		}
	}
	s, err := unless(cmd.Context(), func() (*alike.SpanScores, error) { return alike.ScoreSpans(args[0], args[1]) })
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd, s)
	}
	w, p := printed(cmd), &s.Places
	fmt.Fprintf(w, "           precision    recall        f1\n")
	fmt.Fprintf(w, "documents  %9.6f %9.6f %9.6f\n", s.Documents.Precision, s.Documents.Recall, s.Documents.F1)
	fmt.Fprintf(w, "places     %9.6f %9.6f %9.6f  %d of %d right, %d of %d met\n", p.Precision, p.Recall, p.F1, p.Right, p.Found, p.Met, p.True)
	fmt.Fprintf(w, "bytes      %9.6f %9.6f %9.6f\n", s.Bytes.Precision, s.Bytes.Recall, s.Bytes.F1)
	return nil
}

func printPairScores(w io.Writer, s *alike.PairScores) {
	fmt.Fprintf(w, "precision        %.6f\nrecall           %.6f\nf1               %.6f\n", s.Precision, s.Recall, s.F1)
	fmt.Fprintf(w, "true positives   %d\nfalse positives  %d\nfalse negatives  %d\n",
		s.TruePositives, s.FalsePositives, s.FalseNegatives)
}

func printClusterScores(w io.Writer, s *alike.ClusterScores) {
	fmt.Fprintf(w, "adjusted Rand index  %.6f over %d documents\npairs in one cluster\n", s.AdjustedRand, s.Documents)
	printPairScores(w, &s.Pairs)
}
