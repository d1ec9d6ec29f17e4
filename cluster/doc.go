// Package cluster turns similar pairs into clusters and says which document of each to
// keep.
//
// Components is the usual way: all documents that pairs connect are one cluster, so
// chains (a~b and b~c, though not a~c) stay together. Star is stricter: it removes a
// document only if that is similar to the kept document itself. Keep names the rule by
// which one document is preferred to another. References are documents to compare with
// that are never removed; they come first in the numbering.
//
// Documents are numbered 0 … n−1 in input order. Every result is a function of the set of
// edges and never depends on their order: clusters are labelled by their smallest member,
// and ties go to the lower number. Labels and keep rules are part of the outputs'
// contract and do not change.
//
// The package does not check edges, so verify pairs first: one false edge joins two
// clusters.
//
// The union-find structure is that of B. A. Galler and M. J. Fischer, "An improved
// equivalence algorithm", Communications of the ACM 7(5), 1964, with path halving
// (R. E. Tarjan and J. van Leeuwen, "Worst-case analysis of set union algorithms",
// Journal of the ACM 31(2), 1984).
package cluster
