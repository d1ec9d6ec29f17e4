// Package stage divides the work of dedup, pairs, join and passages into functions over packed blocks, so that
// many machines can share it: under a scheduler (see package runner below it), or in an engine that
// has a shuffle of its own, such as Spark.
//
//	documents → sketch → names, classes → group → texts → verify → forests → members → clusters → write
//	            rows, keys, names        buckets   sets    edges    labels
//
// By containment, samples find the pairs in place of buckets: see contain.go. A recipe without keys joins all sets: see
// exact.go. Pairs of buckets over the cap are found in one more stage: see hot.go and near.go. What follows from two rows
// is decided by package internal/engine, as in package dedup.
//
// Joins of tables, and Dedup of the records of one table, have stages of their own: see join.go and match.go. So have cuts of
// passages: see passages.go and similarunits.go.
//
// A stage consists of tasks. A task is a function of the plan and of the blocks for its number:
//
//	(plan, task, blocks) → (stream, partition, block)*
//
// A task uses no clock and no network and knows no other task. Its blocks do not depend on memory or
// time, so a task can be repeated, or run twice at once. A document is identified by its position: 64
// bits, for the file and the record in it. The last stages sort by position, so the results are the
// same bytes as those of package dedup by the same recipe, which says what is compared and how.
//
// On one machine use package dedup: it takes less than two thirds of the processor time, and
// also compares two collections and stored fingerprints. All tasks of a plan must be run by one
// version of the program, because the format of blocks belongs to a version of this package. docs/how
// describes blocks and stages.
package stage
