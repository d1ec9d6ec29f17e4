package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/measure"
)

// listFormat is the format in which a list is written to the file that a flag names.
func listFormat(flag, name string, asJSON bool) (corpus.Format, error) {
	if err := checkEnding(flag, name, withJSON(linkEndings, asJSON)); err != nil {
		return "", err
	}
	base, _ := endingOf(name)
	switch format, _, named := corpus.NameFormat(base); {
	case named && format != corpus.JSONL && asJSON:
		return "", errTwoFormats(name)
	case named:
		return format, nil
	case asJSON:
		return corpus.JSONL, nil
	}
	return corpus.CSV, nil
}

// beginRows begins a table. For Parquet it calls note with a row of whether each column has values that are not UTF-8, to fill in.
func beginRows(out io.Writer, columns []linklist.Column, format corpus.Format, note func(bytes []bool) error) (linklist.Writer, error) {
	if format == corpus.Parquet {
		bytes := make([]bool, len(columns))
		err := note(bytes)
		return linklist.NewParquet(out, columns, bytes), err
	}
	return linklist.New(out, linklist.Format(format), columns), linklist.WriteHeader(out, linklist.Format(format), columns)
}

// writeRows writes n rows of a table.
func writeRows(out io.Writer, columns []linklist.Column, format corpus.Format, n int, row func(i int) []string) error {
	w, err := beginRows(out, columns, format, func(bytes []bool) error {
		for i := range n {
			for j, value := range row(i) {
				bytes[j] = bytes[j] || !utf8.ValidString(value)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range n {
		if err := w.Write(row(i)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeLinks writes links. ids are the names of the first two columns, compared those whose similarities follow.
func writeLinks(ctx context.Context, out io.Writer, links iter.Seq[linkage.Link], compared []linkage.Column, ids, with []string,
	format corpus.Format, probability bool,
) error {
	var names []string
	for _, c := range compared {
		name, _ := c.Names()
		names = append(names, name)
	}
	columns := linklist.Columns(ids, names, probability, with)
	rows, err := beginRows(out, columns, format, func(bytes []bool) error { return noteBytes(ctx, links, bytes) })
	if err != nil {
		return err
	}
	var row []string
	for l := range links {
		if err := ctx.Err(); err != nil { // a writer may hold what it is given
			return err
		}
		row = l.AppendRow(row[:0], probability)
		if err := rows.Write(row); err != nil {
			return err
		}
	}
	return rows.Flush()
}

// noteBytes notes which columns have values that are not UTF-8.
func noteBytes(ctx context.Context, links iter.Seq[linkage.Link], bytes []bool) error {
	note := func(column int, value []byte) { bytes[column] = bytes[column] || !utf8.Valid(value) }
	for l := range links {
		if err := ctx.Err(); err != nil {
			return err
		}
		note(0, l.A)
		note(1, l.B)
		with := len(bytes) - 2*len(l.WithA)
		for j := range l.WithA {
			note(with+2*j, l.WithA[j])
			note(with+2*j+1, l.WithB[j])
		}
	}
	return nil
}

// writeClusters writes the clusters of a join within one table to the file of --clusters, if there is one.
func (f *joinFlags) writeClusters(cmd *cobra.Command, stderr io.Writer, r *alike.JoinResult) error {
	if f.clusters == "" {
		return nil
	}
	format, err := listFormat("--clusters", f.clusters, false)
	if err != nil {
		return err
	}
	rows := clusterRows(r)
	if err := writeOutput(cmd, f.clusters, func(w io.Writer) error { return writeClusterRows(w, rows, format) }); err != nil {
		return fmt.Errorf("--clusters: %w", err)
	}
	if r.Entities == nil {
		return nil
	}
	doubtful := 0
	for i := range r.Entities.Clusters {
		if c := &r.Entities.Clusters[i]; 2*c.Believed < c.Pairs() {
			doubtful++
		}
	}
	fmt.Fprintf(stderr, "%s of %s records\n", count(int64(len(r.Entities.Clusters)), "cluster"), humanize.Comma(int64(len(rows))))
	tellDoubtful(stderr, doubtful, f.clusters)
	return nil
}

// clusterRows lists the records of clusters in input order: their id, the id of the cluster's first record, and the
// probability that the records of the cluster are one thing.
func clusterRows(r *alike.JoinResult) (rows [][]string) {
	if r.Entities == nil { // there are no records
		return nil
	}
	for row, cluster := range r.Entities.Of(r.Left) {
		if cluster < 0 {
			continue
		}
		c := &r.Entities.Clusters[cluster]
		first := string(r.ID(int(c.Members[0])))
		rows = append(rows, []string{string(r.ID(row)), first, string(measure.AppendSimilarity(nil, c.Probability))})
	}
	return rows
}

var clusterColumns = []linklist.Column{{Name: "id"}, {Name: "cluster"}, {Name: "probability", Number: true}}

func writeClusterRows(w io.Writer, rows [][]string, format corpus.Format) error {
	return writeRows(w, clusterColumns, format, len(rows), func(i int) []string { return rows[i] })
}

// tellDoubtful warns of clusters that look like strangers, and says in which file they are.
func tellDoubtful(w io.Writer, doubtful int, file string) {
	if doubtful > 0 {
		fmt.Fprintf(w, "alike: in %s most pairs of records are, by themselves, more likely wrong than right: look at them in %s before you use the result\n",
			count(int64(doubtful), "cluster"), file)
	}
}
