// Package linkage finds the records of two tables, or of one, that belong together, with no
// labels and nothing to tune.
//
//	r, err := linkage.Join(ctx, linkage.Config{Left: "a.csv", Right: "b.csv"})
//	for link := range r.Links.All() { … link.A, link.B, link.Similarity, link.Probability … }
//
// The way of the data:
//
//	columns     correspond by name, else by the words they hold; what cannot tell records apart is left out
//	record      cuts values into tokens, weighted by inverse document frequency
//	candidates  for each record the most similar ones of the other table (package topk), or of
//	            many records what shares rare values with it (candidates.Keys)
//	comparison  of each candidate how similar each column is, and the record as a whole, in levels
//	model       how much each level speaks for a match: Fellegi and Sunter, fitted by expectation
//	            and maximisation among the candidates, with four additions
//	decision    of the pairs that the rule allows those with the largest F1 that is to be expected
//
// Additions to the model. The record as a whole counts like a column, because values may stand in
// the wrong column; the sum of all evidence is divided by 1.5 (redundancy), because columns partly
// say the same. Columns that always agree together, such as a town and its postcode, share their
// evidence (comparer.shares). Equal values count by their rarity. If a record has at most one
// partner, stronger rivals make a candidate less likely: belief propagation over matchings
// (exclusive) gives the probabilities in every step.
//
// The fit starts from the pairs most similar to each other. If matches are few it starts again from
// the clearest of them, and the model that separates matches best is kept.
//
// Results are the same for any number of threads: tokens are numbered in input order, sums of
// weights are exact, and floats are added in the order of the candidates.
//
// Limits: tables that have nothing in common still give a few links, since the fit looks for the
// kind of pairs that agree most. A probability reflects only the data: it is too high if records
// that agree in everything are different.
package linkage
