// Package journal keeps what a run that can be resumed has finished: an
// append-only file of checksummed records in a work folder that is locked for one
// process.
//
// Use it where work is done in parts and each part's result is safe on disk
// before it is told: Append the part's record when its files are synced, and read
// the records after Open to go on behind the last one. It is not a store: records
// are never changed, and every look at them reads the file.
//
// A journal belongs to the settings that the results depend on, its fingerprint.
// Open refuses a journal of other settings and names the first one that differs.
//
// The caller's own rules, which make a run safe to kill at any instant:
//
//   - A file is synced before the record that speaks of it is appended, and removed
//     only after the record that makes it needless.
//   - After Open, files of the run that no record speaks of are leftovers of
//     unfinished parts, or of an earlier run (Resumed is false): remove them.
//   - At the end the run's files are removed first, then the journal.
//
// The file is text, a line a record, and is described in docs/formats.md. Its
// first line stays readable by every later version of this program.
package journal
