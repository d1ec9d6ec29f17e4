// Package record turns the fields of records into weighted features: it cuts values into
// tokens, numbers them, counts them, and holds a table of records in little memory.
//
//	cutter := record.NewCutter()             // one a goroutine
//	chunk := record.NewChunk(kinds)          // some rows of the table, one a goroutine
//	chunk.Append(cutter, id, values)
//	table.Add(chunk)                         // in the order of the rows
//
// A value is cut by its Kind. Text, which suits nearly all values, takes words together with the 3-grams
// within words. A typing error changes a few grams of a word, a word that is left out or moved changes no
// other word's tokens, and a common word counts more than its letters in any order. Words joined by a
// hyphen or a slash also count as one word, since codes are written either way: TS-MR1640 and TSMR1640.
//
// Tokens are numbers of a Dictionary that all columns of both tables share, so that a word is the same
// feature in any column. Weights are inverse document frequencies in fixed point (Weights): their sums are
// exact in any order.
//
// A value is missing if it is empty, has neither letter nor number, or is one of null, nan, n/a, none and
// \N. Invalid UTF-8 bytes separate words, as in package text.
//
// Sources: K. Spärck Jones, "A statistical interpretation of term specificity and its
// application in retrieval", Journal of Documentation 28, 1972; W. W. Cohen, P. Ravikumar,
// S. E. Fienberg, "A comparison of string distance metrics for name-matching tasks", IIWeb
// 2003, for weights by rarity within fields.
package record
