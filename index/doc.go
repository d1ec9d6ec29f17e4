// Package index keeps a collection of documents in which near-duplicates are found as
// documents come and go: in memory, or in a folder where it survives.
//
//	Document → Batch.Add (recipe: signature, keys; candidates)    any number of goroutines
//	         → Index.Check, Index.Add (decision, slot)            one at a time, in the caller's order
//	         → store                                              memory, or Pebble
//	text     → Searcher.Search → matches with their exact similarity
//
// Use it where documents arrive one after the other: a stream of which reprints are
// dropped (package index/stream), a corpus that grows, a search for the source of a text.
// For all pairs of a corpus that is there as a whole use package dedup.
//
// # What is found
//
// What "alike" means is a recipe.Recipe, whose line heads the index. Candidates are the
// documents that share a key with the text; each is then decided exactly as the recipe
// says. So a reported similarity is never an estimate where the recipe verifies exactly,
// and a document at the threshold is found with the recall for which bands were tuned. A
// document with an equal digest is found always.
//
// A bucket, the documents with one key, takes Options.BucketCap of them; a document beyond
// that is not found by this key. Of a full bucket only the first lsh.Hubs documents are
// candidates: see Stats.Full.
//
// # Slots
//
// A document has a slot, a number of 64 bits in the order of arrival, and keeps it. What
// expires does so in this order. Of several documents that a text is like, Check names the
// one with the smallest slot.
//
// # Concurrency
//
// Any number of goroutines search; none waits for a writer, nor a writer for them. They see
// the collection as it was after some whole batch. Writers take turns.
package index
