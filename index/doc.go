// Package index keeps a collection of documents, in memory or durably in a folder. It finds
// near-duplicates while documents are added and removed.
//
//	Document → Batch.Add (recipe: signature, keys; candidates)    any number of goroutines
//	         → Index.Check, Index.Add (decision, slot)            one at a time, in the caller's order
//	         → store                                              memory, or Pebble
//	text     → Searcher.Search → matches with their exact similarity
//
// Use it where documents arrive one after the other: a stream from which reprints are dropped
// (package index/stream), a corpus that grows, a search for the source of a text. For all pairs of a
// complete corpus use package dedup.
//
// # What is found
//
// A recipe.Recipe says which texts are similar; its line is the header of the index. Candidates are the
// documents that share a key with the text; each is then decided exactly as the recipe says. So a
// reported similarity is never an estimate where the recipe verifies exactly, and a document at the
// threshold is found with the recall for which bands were tuned. A document with an equal digest is
// always found.
//
// A bucket, the documents with one key, takes Options.BucketCap documents; further documents are not
// found by this key. In a full bucket only the first lsh.Hubs documents are candidates: see
// Stats.Full.
//
// # Slots
//
// A document has a slot, a number of 64 bits in the order of arrival, and keeps it. Documents expire
// in this order. If a text is similar to several documents, Check names the one with the smallest slot.
//
// # Concurrency
//
// Any number of goroutines search; searches do not wait for writers, nor writers for searches. A
// search sees the collection as it was after some complete batch. Writers take turns.
package index
