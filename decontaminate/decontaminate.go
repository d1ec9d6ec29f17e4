// Package decontaminate finds items of evaluation sets in training documents, and writes the documents without them.
//
// Use it before a model is trained, so that what it is tested with is not among what it has read. For documents that are
// near-duplicates of whole reference documents, dedup.Against is enough; here an item is a few lines of a long document.
//
// The way of the data, in one pass over the training documents and one over those that are kept:
//
//	sets       rows → items (question, perhaps with passage or answer) → grams of 4 words → index
//	documents  words → grams that the index has → places → alignment with the item → note: grams, candidates
//	notes      in how many documents each gram stands → weights → score of each candidate → found.csv
//	documents  those without findings → kept/
//
// The score is the weight of the item's words that stand at the place, in order or in runs of three, as a share of the
// weight of all. A word weighs what the most frequent of its grams does: 1 if at most one document has it, 0 from a
// hundredth of the documents on; and the same among the items. So what many documents or items have weighs nothing,
// without a list of it. Only grams of the items are counted, exactly: there are no more of them than the sets have words.
//
// An item counts if its score reaches the threshold, if enough of its words stand there whatever they weigh, and if the
// sentences that ask do, or an answer stands beside it: a text that an item only quotes is not the item. Short items must
// stand there whole.
//
// The items are in memory, some 100 bytes a word. Everything else is bounded by Config.Memory. The result is the same for
// any number of threads.
package decontaminate

import (
	"context"
	"fmt"
	"io"

	"github.com/alike-dev/alike/decontaminate/internal/contam"
	"github.com/alike-dev/alike/dedup"
)

// DefaultThreshold is the least score of an item that was found.
const DefaultThreshold = 0.75

// Config says what to look for, where, and what to do with it.
type Config struct {
	// Config says what to read and where to write: Inputs, Output, Corpus, Threads, Memory, Work, OnError and the
	// functions that are told. Beside must be dedup.Against, with the evaluation sets. What is about similarity is ignored.
	dedup.Config
	Columns   Columns
	Threshold float64 // in (0,1]; 0: DefaultThreshold
	Cut       bool    // items are cut out of the documents, instead of removing these
	FoundOnly bool    // documents are only listed
	// Page, if set, writes a page about the result.
	Page func(io.Writer, *Page) error
}

// Columns name the columns of evaluation sets. An empty name means question, answer or passage, where a set has it;
// a set without a question has its items in the text field.
type Columns struct{ Question, Answer, Passage string }

// Summary is the report of a run.
type Summary = dedup.ScreenSummary

// Details are the Summary's Details.
type Details struct {
	Threshold float64 `json:"threshold"`
	Items     int     `json:"items"`     // different ones that are looked for
	Short     int     `json:"too_short"` // rows of fewer than 4 words, or without a word of letters: not looked for
	Sets      []Set   `json:"sets"`
}

// Set is what was found of an evaluation set.
type Set struct {
	Set   string `json:"set"`
	Items int    `json:"items"`
	Found int    `json:"found"` // items that some document has
}

// PageOfRun is the kind of page that a Page is stored as.
const PageOfRun = "decontaminate"

// Page is the result for people to look at. It is the same for any number of threads.
type Page struct {
	Summary  Summary
	Details  Details
	Examples []Example // of the first documents
}

// Example is an item and the place where it was found.
type Example struct {
	Document, Item, Set, Part string
	Score                     float64
	ItemText, Excerpt         []byte
	Lead                      int // bytes of Excerpt before the place
}

// Validate returns an error for the first unusable setting.
func (c *Config) Validate() error {
	against, _ := c.Beside.(dedup.Against)
	switch {
	case len(against) == 0:
		return fmt.Errorf("%w: no evaluation sets: name them as references", dedup.ErrUsage)
	case c.Cut && c.FoundOnly:
		return fmt.Errorf("%w: nothing is cut where documents are only listed: leave one of the two out", dedup.ErrUsage)
	case !(c.Threshold >= 0 && c.Threshold <= 1):
		return fmt.Errorf("%w: threshold %v is not in (0,1]: take %v", dedup.ErrUsage, c.Threshold, DefaultThreshold)
	}
	return nil
}

// Run finds the items and writes the documents without them to c.Output: kept/ or kept.txt as dedup.Run does, found.csv, and
// summary.json last. After an error the folder is as before, unless c.Work is a folder: then the same call continues.
func Run(ctx context.Context, c Config) (*Summary, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Threshold == 0 {
		c.Threshold = DefaultThreshold
	}
	s := &screener{c: &c}
	o := dedup.Screening{Screener: s, FoundOnly: c.FoundOnly, Cut: c.Cut, OnFound: s.onFound, Details: func() any { return s.details() }}
	if c.Page != nil {
		o.Page = func(of *Summary) (*dedup.Page, error) {
			page := Page{Summary: *of, Details: s.details(), Examples: s.examples}
			page.Summary.Details, page.Summary.Stages, page.Summary.Seconds, page.Summary.PeakMemoryBytes, page.Summary.SpilledBytes = nil, nil, 0, 0, 0
			return dedup.NewPage(PageOfRun, &page, c.Page)
		}
	}
	return dedup.Screen(ctx, c.Config, o)
}

// screener looks for the items of a run.
type screener struct {
	c        *Config
	index    *contam.Index
	judge    func() *contam.Judge
	found    map[string]map[string]bool // of each set, the items that were found
	examples []Example
}

func (s *screener) details() Details {
	d := Details{Threshold: s.c.Threshold, Items: len(s.index.Items), Short: s.index.Short}
	items := map[string]int{}
	for i := range s.index.Items {
		set := s.index.Items[i].Set
		if items[set]++; items[set] == 1 {
			d.Sets = append(d.Sets, Set{Set: set})
		}
	}
	for i := range d.Sets {
		of := &d.Sets[i]
		of.Items, of.Found = items[of.Set], len(s.found[of.Set])
	}
	return d
}
