package main

import (
	"strings"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/grow"
	"github.com/alike-dev/alike/internal/fault"
)

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
