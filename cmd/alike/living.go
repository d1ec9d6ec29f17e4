package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/grow"
	"github.com/alike-dev/alike/internal/fault"
)

// livingFlags are the flags of the commands that make a living collection: what counts as similar
// in it, and how to read records.
type livingFlags struct {
	corpusFlags
	auto autoRecipe // of commands that have inputs to look at
	keys choice
}

// keysInMemory is the value of --keys for index.KeysInMemory.
const keysInMemory = "memory"

// add adds the flags; with chosen the command chooses where keys are if --keys is not given.
func (f *livingFlags) add(flags *pflag.FlagSet, chosen bool) {
	f.recipe.Add(flags, index.DefaultBucketCap)
	f.keys = choose(keysInMemory, string(index.KeysOnDisk))
	usage := "where the keys of documents are: memory, some 360 bytes of it for each document; or disk, for more documents than memory has room for"
	if chosen {
		f.keys.value = ""
		usage += " (default: memory if --memory has room for it, else disk)"
	}
	flags.Var(&f.keys, "keys", usage)
	f.addWithin(flags)
	f.input.addReading(flags)
}

// options builds the options of an index, and the configuration of reading.
func (f *livingFlags) options(cmd *cobra.Command, inputs []string) (index.Options, alike.Config, error) {
	if err := f.auto.check(cmd); err != nil {
		return index.Options{}, alike.Config{}, err
	}
	c, err := f.config(cmd, inputs)
	if err != nil {
		return index.Options{}, c, err
	}
	f.auto.banded = true
	if err := f.auto.apply(cmd, &c, f.input.threads); err != nil {
		return index.Options{}, c, err
	}
	if f.auto.told != "" && f.input.talks() {
		fmt.Fprintf(cmd.ErrOrStderr(), "alike: %s\n", f.auto.told)
	}
	o := index.Options{BucketCap: c.BucketCap}
	if f.keys.value != keysInMemory {
		o.Keys = index.Keys(f.keys.value)
	}
	if f.within != "" {
		o.Columns = []string{f.within}
	}
	if o.Recipe, err = c.Recipe(); err != nil {
		return o, c, err
	}
	return o, c, nil
}

// checkIndex checks the options of an index that will be opened without them.
func checkIndex(o index.Options) error {
	err := o.Validate()
	if err == nil {
		_, err = index.ParseRecipe(o.Recipe)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// buildMemory returns how much of a memory budget, 0 if it is not known, ids and keys may take while
// an index is built. The rest is for the program, documents in progress and Pebble.
func buildMemory(memory int64) int64 {
	if memory == 0 {
		return 0
	}
	return max(memory/2-24<<20, 8<<20)
}

// growing returns the index that a run of dedup grows.
func growing(dir string, c alike.Config, inputs []string, fresh, dryRun bool) (*grow.Collection, error) {
	asked := c
	asked.Survivors = dedup.NewTo{Known: grow.New(dir, grow.Options{})}
	if err := asked.Validate(); err != nil {
		return nil, err
	}
	recipe, err := c.Recipe()
	if err != nil {
		return nil, err
	}
	o := index.Options{Recipe: recipe, ByID: true}
	if c.Within != "" {
		o.Columns = []string{c.Within}
	}
	if err := checkIndex(o); err != nil {
		return nil, err
	}
	shown := []string{"alike dedup"}
	for _, input := range inputs {
		shown = append(shown, fault.Shown(input))
	}
	shown = append(shown, "-o", fault.Shown(c.Output))
	return grow.New(dir, grow.Options{
		Index: index.OpenOptions{Options: o, Threads: c.Threads, Memory: c.Memory}, What: strings.Join(shown, " "), Fresh: fresh, DryRun: dryRun,
	}), nil
}
