package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
)

// The choices of --cluster.
const (
	clusterComponents = "components" // the default for texts
	clusterStar       = "star"
	clusterWhole      = "whole"
	clusterHeld       = "held" // the default for records
)

// clusterFlags are the flags that say what belongs to a cluster.
type clusterFlags struct {
	mode    choice
	against []string
}

func (f *clusterFlags) add(own *pflag.FlagSet) {
	f.mode = choose(clusterComponents, clusterStar, clusterWhole, clusterHeld)
	own.StringArrayVar(&f.against, "against", nil, "reference `input`: remove what is like a document of it; repeatable")
	own.Var(&f.mode, "cluster", "components (all documents linked directly or through others), star (only those similar to the kept document itself), whole (only those of which three quarters stand in it) or held (records: split where their own pairs contradict)")
	sayDefault(own, "cluster", clusterComponents+"; of records "+clusterHeld)
}

func addAccept(own *pflag.FlagSet, accept *bool) {
	own.BoolVar(accept, "accept", false, "with --records: remove records even if the data do not tell which are the same")
}

// components tells whether clusters of components were asked for.
func (f *clusterFlags) components(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("cluster") && f.mode.value == clusterComponents
}

// holds tells whether the clusters of records are those that hold.
func (f *clusterFlags) holds(cmd *cobra.Command) bool {
	return f.mode.value == clusterHeld || !cmd.Flags().Changed("cluster")
}

// apply sets what belongs to a cluster, and which document of it is kept.
func (f *clusterFlags) apply(cmd *cobra.Command, keep string, c *alike.Config) error {
	rule, err := cluster.ParseKeep(keep)
	if err != nil {
		return usageError{err}
	}
	decision, _ := c.Decide.(dedup.Similarity)
	if decision.Measure.ByParts() && f.components(cmd) {
		return usagef("--cluster components is not for --measure %s: texts that are parts of one long text are not alike; leave --cluster out", decision.Measure)
	}
	if len(f.against) > 0 {
		c.Beside = dedup.Against(f.against)
	}
	c.Survivors = dedup.OnePerCluster{Keep: rule, Star: f.mode.value == clusterStar, Whole: f.mode.value == clusterWhole}
	return nil
}

// tagFlags say whether records are tagged in place of being removed.
type tagFlags struct {
	tag    bool
	prefix string
}

func (f *tagFlags) add(own *pflag.FlagSet) {
	own.BoolVar(&f.tag, "tag", false, "remove nothing: add the fields cluster, cluster_size, duplicate_of and similarity to every record")
	own.StringVar(&f.prefix, "tag-prefix", "", "with --tag: `text` that stands before these names, where records have fields of these names")
}

func (f *tagFlags) apply(c *alike.Config) error {
	if !f.tag {
		if f.prefix != "" {
			return usagef("--tag-prefix is for --tag: add it, or leave --tag-prefix out")
		}
		return nil
	}
	c.Tags = &dedup.Tags{Prefix: f.prefix}
	return nil
}
