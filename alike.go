// Package alike finds texts that are nearly, but not exactly, the same.
//
// It is the front door to the packages below it, for what most users need:
//
//   - Dedup removes near-duplicates from files and folders, Pairs lists them.
//   - Compare compares two texts: similarity, estimates, shared passages.
//   - Sketch gives the fingerprint of every document of a corpus.
//   - ScorePairs and ScoreClusters compare a result with the truth.
//
// A threshold is the only number that you must choose: similarities are exact Jaccard
// similarities of sets of n-word shingles, verified by default, and results are the same
// for any number of threads. Similarity.Measure chooses containment, cosine and others
// instead of Jaccard.
//
// Everything else is in its own package: text and shingle turn a text into features,
// minhash and simhash turn features into a signature, lsh turns signatures into candidate
// pairs, simjoin verifies or joins exactly, cluster decides what to keep, corpus reads
// and writes files, and dedup runs it all over a corpus.
package alike

import (
	"context"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/report"
)

// Config says what to read, how to compare and what to keep. Its zero value,
// with Inputs set, means the defaults: 5-word shingles, threshold 0.8, recall
// 0.99, exact verification.
type Config = dedup.Config

// Similarity says which pairs are alike, as Config.Decide. Package dedup has the other ways to
// decide, and the types of the other fields of a Config.
type Similarity = dedup.Similarity

// Summary is the report of a run.
type Summary = dedup.Summary

// Plan is an estimate of what a run will take.
type Plan = dedup.Plan

// Pair is two similar documents.
type Pair = dedup.Pair

// ErrUsage marks errors of a Config, as opposed to errors of the data.
var ErrUsage = dedup.ErrUsage

// Dedup copies the documents of config.Inputs to config.Output, but only one of
// every cluster of near-duplicates. See dedup.Run.
func Dedup(ctx context.Context, config Config) (*Summary, error) {
	return dedup.Run(ctx, withReport(config))
}

// withReport makes a run write the page of package report unless another one is set.
func withReport(config Config) Config {
	if config.Report == nil {
		config.Report = report.Dedup
	}
	return config
}

// MakePlan estimates what Dedup would take, without making anything. See
// dedup.MakePlan.
func MakePlan(ctx context.Context, config Config) (*Plan, error) {
	return dedup.MakePlan(ctx, config)
}

// Pairs calls emit for every pair of documents at or above the threshold, in
// input order. See dedup.Pairs.
func Pairs(ctx context.Context, config Config, emit func(Pair) error) (*Summary, error) {
	return dedup.Pairs(ctx, config, emit)
}

// Passages say what CutPassages cuts.
type Passages = dedup.Passages

// CutPassages cuts lines, sentences, paragraphs or runs of words that stand in an earlier document out of the documents of
// config.Inputs. See dedup.CutPassages.
func CutPassages(ctx context.Context, config Config, passages Passages) (*Summary, error) {
	return dedup.CutPassages(ctx, config, passages)
}

// Fingerprint is a document's signature. Its fields are valid during the call only.
type Fingerprint = dedup.Fingerprint

// Sketch calls emit for every document of config.Inputs in input order, with its
// signature under config.Signatures. It uses only those fields of config that concern
// reading, text and sketching.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (*Summary, error) {
	return dedup.Sketch(ctx, config, emit)
}

// DefaultScheme is the scheme of signatures when none is chosen.
func DefaultScheme() minhash.Scheme { return minhash.Default() }

// Fingerprinted reads the first record of the inputs. If that is a fingerprint of Sketch,
// it returns its scheme; see dedup.Fingerprinted and Config.Fingerprints.
func Fingerprinted(ctx context.Context, config *Config) (line string, ok bool, err error) {
	return dedup.Fingerprinted(ctx, config)
}

// A Notice is a message to the user of a program. String gives its settings their Go
// names, Explain the program's names.
type Notice = dedup.Notice

// A SettingError is an error whose text may name settings, for errors.As. Explain
// returns its text alone.
type SettingError = setting.Explainer

// Explain returns the text of an error of this module, with settings named as name says.
// err.Error() names the fields of Config and corpus.Options (MaxRecord), which a program
// may call by flags (--max-record) or by keys of a file. name maps a field to the
// program's name, or returns the field.
func Explain(err error, name func(field string) string) string { return setting.Explain(err, name) }
