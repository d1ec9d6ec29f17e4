// Package simjoin finds, exactly, the pairs of sets that reach a threshold of any
// measure of package measure: Jaccard, containment, cosine and others.
//
// Use Verify to decide single candidates, such as those of package lsh, and Intersection
// to get the similarity of any pair. Use SelfJoin for all pairs of a collection in
// memory, Join for the pairs of two, and NewIndex with Pairs for a self-join on several
// goroutines or with equal sets collapsed. Use NewSearchIndex to search with sets that
// are not in the index. A join needs no parameters but the threshold and misses nothing.
// At low thresholds on large collections of long sets it is slower than lsh with
// verification. Containment is slower than other measures, because the larger set of a
// pair has no short prefix.
//
// Weighted sets are Vectors, compared by Overlap. A set without
// weights has weights of 1: its weighted Jaccard similarity equals the plain one.
//
// A set is a []uint64 sorted ascending without repeats; the numbers may be any,
// hashes or small integers. Sets that break this give wrong counts, not panics.
// The empty set is similar to nothing. All decisions are taken in integers
// (see measure.Threshold), so every way of joining agrees on every pair.
//
// The join follows R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity
// search" (WWW 2007) for the prefix and length filters, C. Xiao, W. Wang, X. Lin, J. X.
// Yu, "Efficient similarity joins for near duplicate detection" (WWW 2008) for the
// positional filter, W. Mann, N. Augsten, P. Bouros, "An empirical evaluation of set
// similarity join techniques" (VLDB 2016) for using no other filters (cheap filters and a
// fast verification win), and E. Sandes, G. Teodoro, A. Melo, "Bitmap filter: speeding up
// exact set similarity joins with bitwise operations" (Information Systems 88, 2020) for
// the cheapest one.
package simjoin
