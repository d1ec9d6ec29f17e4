// Package stage has the work of dedup, pairs and join as functions over packed blocks, so that many
// machines can do it: under a scheduler (package runner beside it), or in an engine that has a
// shuffle of its own.
//
//	documents → sketch → names, classes → group → texts → verify → forests → members → clusters → write
//	            rows, keys, names        buckets   sets    edges    labels
//
// Joins of tables, and Dedup of the records of one, have stages of their own, see join.go and match.go.
//
// A stage is some tasks, each a function of the plan and of the blocks for its number:
//
//	(plan, task, blocks) → (stream, partition, block)*
//
// It knows no clock, no network and no other task, and what it makes does not depend on memory
// or on when it runs: a task can be repeated, or run twice at once. A document is a position of
// 64 bits, file and record; the last stages put all in the order of positions, so that the
// results are those of package dedup with candidates by lsh, byte for byte. What is compared and
// how is the recipe's, as there.
//
// Use package dedup on one machine: it takes less than two thirds of the processor time, and
// does more (see Supports). Blocks are of one version of this package: all tasks of a plan
// must be run by one version of the program. docs/cluster.md describes blocks and stages.
package stage
