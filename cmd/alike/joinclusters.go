package main

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/measure"
)

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
