// Package journal records what a resumable run has finished: an append-only file of checksummed
// records in a work folder that is locked for one process.
//
// Use it where work is done in parts and each part's result is safe on disk before it is recorded:
// Append the part's record when its files are synced, and read the records after Open to continue
// behind the last one. It is not a store: records are never changed, and every reading of them
// reads the file.
//
// A journal belongs to its fingerprint: the settings that the results depend on. Open refuses a
// journal of other settings and names the first one that differs.
//
// The caller must keep these rules, so that a run can be killed at any instant:
//
//   - A file is synced before the record that names it is appended, and removed
//     only after the record that makes it needless.
//   - After Open, files of the run that no record names are leftovers of
//     unfinished parts, or of an earlier run (Resumed is false): remove them.
//   - At the end the run's files are removed first, then the journal.
//
// The file is text, a line a record, and is described in docs/how/formats.md. Its
// first line stays readable by every later version of this program.
package journal
