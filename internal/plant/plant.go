// Package plant makes test corpora in which the near-duplicates are known: it turns base texts into originals, plants
// edited copies among them and reports the true similarity of every planted pair. This measures a program that finds
// near-duplicates: its recall is the share of the truth pairs at or above the threshold that it reports. Do not use it to
// judge a tokeniser or a threshold for real texts: real near-duplicates differ in other ways than artificial ones, and a
// recombined original is nonsense.
//
// # How it works
//
// Every document is a pure function of the seed and its number, so only the base texts are held in memory: memory does not
// grow with the corpus, and goroutines make different documents at once without coordination.
//   - Documents are planned in groups of 64. The last ones of a group are copies of earlier ones of the same group: of an
//     original, or (Chains) of a copy. All documents that derive from one original are a family.
//   - A keyed permutation scatters the documents of all groups over the whole corpus, so a copy may be anywhere, even
//     before its original.
//   - The truth lists every pair of every family with the Jaccard similarity of their feature sets under the default text
//     pipeline. Edits may make it low; the user's threshold decides which pairs ought to be found.
//
// # Originals that are no copies of each other
//
// 100 MB of base texts must give 1 GB of originals, so originals are recombined: each is a sequence of pieces drawn at
// random from all sentences of one base, no piece longer than a twelfth of the document (or four words, fewer than a
// shingle, in short documents). Two originals that share one piece have a Jaccard similarity below 1/23; to reach 0.2 they
// would have to share four pieces or more. With p pieces a document and S sentences in the base, two documents share about
// p²/S pieces, so for p = 30, S = 500 000 four shared pieces have a probability near 10⁻¹²: among the 10¹⁰ pairs of a
// gigabyte none is expected. A test measures it on a small base, where it happens more often. With Options.Cut originals
// are the base texts themselves, cut at sentence borders, with whatever near-duplicates they contain by nature.
package plant

import (
	"errors"
	"fmt"
)

// Options says what to make. The zero value is invalid: Bytes or Documents must be set (with Cut,
// neither means the whole base).
type Options struct {
	Bytes     int64  // total size of the lines of JSONL, at least; up to a few per cent more is made
	Documents int    // instead of Bytes: exactly this many documents
	Seed      uint64 // another seed is another corpus

	Duplicates float64 // share of the documents that are copies, 0 to 0.9
	Chains     float64 // share of the copies that are copies of copies, 0 to 1

	MinWords int // shortest and longest original in words; default 100 and 1600.
	MaxWords int // Short ones are more frequent: the mean is MinWords + (MaxWords-MinWords)/3.

	Cut   bool // originals are stretches of the base texts as they are
	Edits Edits
}

// Edits says how a copy differs from what it copies. Rates and shares are
// between 0 and 1. A word is a token of the default text pipeline: one character
// in scripts written without spaces.
type Edits struct {
	// Every copy draws its edit rate between MinRate and MaxRate; every one of
	// its words is then edited with that probability.
	MinRate, MaxRate float64

	// Replace, Delete and Insert are the relative frequencies of the three
	// edits. All zero means equal.
	Replace, Delete, Insert float64

	// Shares of the copies in which also a block of words is moved, up to half of the text is cut
	// off at one end, or case and punctuation are changed; and the share of the copies that are
	// exact, whatever the other settings.
	Move, Truncate, Restyle, Exact float64
}

// Validate reports the first option that is out of its range.
func (o Options) Validate() error {
	switch {
	case o.Bytes < 0 || o.Documents < 0:
		return errors.New("plant: a size cannot be negative")
	case o.Bytes > 0 && o.Documents > 0:
		return errors.New("plant: give a size in bytes or in documents, not both")
	case o.Bytes == 0 && o.Documents == 0 && !o.Cut:
		return errors.New("plant: no size given")
	case !(o.Duplicates >= 0 && o.Duplicates <= 0.9):
		return fmt.Errorf("plant: share of copies %v is not between 0 and 0.9", o.Duplicates)
	case !isShare(o.Chains):
		return fmt.Errorf("plant: share of chains %v is not between 0 and 1", o.Chains)
	case o.MinWords < 0 || o.MaxWords < 0 || o.words().min > o.words().max:
		return fmt.Errorf("plant: document length %d-%d words is no range", o.MinWords, o.MaxWords)
	}
	return o.Edits.Validate()
}

// Validate reports the first rate or share that is out of its range.
func (e Edits) Validate() error {
	for _, s := range []struct {
		name  string
		value float64
	}{
		{"lowest edit rate", e.MinRate}, {"highest edit rate", e.MaxRate}, {"replace", e.Replace},
		{"delete", e.Delete}, {"insert", e.Insert}, {"move", e.Move}, {"truncate", e.Truncate},
		{"restyle", e.Restyle}, {"exact", e.Exact},
	} {
		if !isShare(s.value) {
			return fmt.Errorf("plant: %s %v is not between 0 and 1", s.name, s.value)
		}
	}
	if e.MinRate > e.MaxRate {
		return fmt.Errorf("plant: edit rate %v-%v is no range", e.MinRate, e.MaxRate)
	}
	return nil
}

func isShare(x float64) bool { return x >= 0 && x <= 1 }

// span is an inclusive range of lengths in words.
type span struct{ min, max int }

// words returns the document length with the defaults filled in.
func (o Options) words() span {
	s := span{o.MinWords, o.MaxWords}
	if s.max == 0 {
		s.max = max(1600, s.min)
	}
	if s.min == 0 {
		s.min = min(100, s.max)
	}
	return s
}
