// Package compare compares the records of two tables, or of one: how similar their values and the records as a whole
// are, in levels. It knows nothing of files, of settings, or of what follows from the levels.
package compare
