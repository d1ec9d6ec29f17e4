package main

import (
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
)

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
