// Package serve answers over HTTP what the other packages decide: named collections of documents that are checked,
// searched and changed, fingerprints, and comparisons of two texts.
//
//	connection → front → plain request of a hot route, or net/http
//	request → door (token, gate, budget) → body → turn → parse → index.Batch → index.Check → Sync → answer
//	NDJSON  → blocks of lines, prepared by several goroutines, decided and answered in the order of the lines
//
// A collection is an index.Index with a recipe, a window and fields to filter by; this package decides nothing itself.
// Use it to offer a collection to other programs; a Go program that keeps one for itself uses package index, and one
// that reads a stream of lines index/stream.
//
// # What is promised
//
// Decisions are those of index.Check in the order in which requests, and lines of one body, take their turn. An answer
// of Durability Sync is sent when what it says survives a power failure. A line that was not answered was not added, or
// its repetition gets the answer that was lost: see [Server].
//
// The paths, bodies and answers are in openapi.json, which the server sends too, and stay compatible.
package serve
