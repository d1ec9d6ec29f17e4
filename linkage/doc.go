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
//	decision    pairs that are more likely right than not, of those that the rule allows
//
// The additions. The record as a whole counts like a column, for what stands in another
// column than it should; what all say together counts for 1/1.5 (redundancy), since it is
// partly the same. Columns that always agree together, such as a town and its postcode, share what they
// say (comparer.shares). Equal values count by their rarity. And where a record has one partner at most
// a candidate is the less likely the more its rivals are: belief propagation over matchings
// (exclusive) gives the probabilities, in every step.
//
// The fit begins at pairs that are most similar to each other; where matches are few it begins
// again at the clearest of them, and what tells matches from others best is taken.
//
// Everything is the same for any number of threads: tokens have numbers in input order, sums
// of weights are exact, and floats are added in the order of the candidates.
//
// What it cannot do: tables that have nothing in common still give a few links, since the
// fit looks for the kind of pairs that agree most; and a probability is what the data say,
// which is too high where records that agree in everything are not the same.
package linkage
