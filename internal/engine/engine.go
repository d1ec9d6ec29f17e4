// Package engine has the rules by which documents become clusters, each once for all drivers:
//
//	names → classes → group → hot, contain → verify → clusters → keep
//
// Package dedup applies them to a table on one machine, package stage to blocks that many machines
// exchange. How rows are held, sorted and moved differs between the two and stays with them; what follows
// from two rows, or from the rows of one key, is decided here. So a rule is a function of a few values, or
// a small type that sees sorted rows one after the other.
//
// Documents are identified by numbers of 32 bits or by positions of 64, whichever a driver has. Both ascend
// in the order of the input.
package engine
