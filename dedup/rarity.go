package dedup

import (
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/shingle"
)

// Rarity makes each shingle count by how few documents have it: see shingle.Rarities. What a template shares with
// all its pages then counts a sixteenth of what a page alone has. Similarities are those of the weighted sets, and
// exact as without weights.
type Rarity struct {
	// Rare makes rare shingles count alike, and common ones next to nothing: see shingle.RareWeight. So counts what pages
	// of one of many templates have of their own, and sets are no larger than without weights.
	Rare bool
	// Most is how many documents have a rare shingle at most, such as shingle.RarestMost. 0: by shingle.RareMost.
	Most uint64
	// Sketch estimates the numbers of documents, by a plain count-min sketch of these options. nil: they are exact.
	// Then the shingles of several documents must fit in a quarter of Config.Memory.
	Sketch *countmin.Options
}

// String returns the name in lines.
func (r Rarity) String() string {
	switch {
	case r.Rare && r.Most > 0:
		return fmt.Sprintf("rare:%d", r.Most)
	case r.Rare:
		return "rare"
	case r.Sketch == nil:
		return "exact"
	}
	return fmt.Sprintf("sketch:%g:%g:%d", r.Sketch.Epsilon, r.Sketch.Delta, r.Sketch.Seed)
}

// validateRarity checks what Rarity requires of the other settings.
func (c *settings) validateRarity() error {
	switch {
	case c.Rarity == nil:
		return nil
	case c.Distance != nil || c.Texts != nil || c.Fingerprints:
		return setting.Errorf("%s weighs sets of shingles, and fingerprints decide here: leave one of them out", setting.IDF)
	case c.Known != nil:
		return setting.Errorf("%s weighs by what one run reads, and an index grows by many: leave one of them out", setting.IDF)
	case c.Measure.IsCount():
		return setting.Errorf("%s %s counts shingles, and %s weighs them: leave one of them out", setting.Measure, c.Measure, setting.IDF)
	case c.Rarity.Most > 0 && !c.Rarity.Rare:
		return errors.New("only where rare shingles count alike may so many documents have one: ask for these, too")
	case c.Rarity.Sketch == nil:
		return nil
	case c.Rarity.Rare:
		return errors.New("which shingles are rare is counted, not estimated: leave the sketch out")
	case c.Rarity.Sketch.Conservative:
		return fmt.Errorf("a conservative sketch depends on the order of the documents: take a plain one")
	}
	return c.Rarity.Sketch.Validate()
}

// weigh counts in how many documents each shingle is, and returns the job with features of these weights; after an
// error it is the job without them.
func weigh(ctx context.Context, j *job, in *inputs) (*job, error) {
	if j.Rarity == nil {
		return j, nil
	}
	var rarity read.Rarity
	err := j.account.stage("weigh", in.bytes(), func() (items, bytes int64, err error) {
		var n read.Counts
		rarity, n, err = read.Count(ctx, read.CountOptions{
			Recipe: j.recipe, Corpus: j.Corpus, Sources: in.sources, Layouts: &feed.Layouts{}, Space: j.space,
			Rare: j.Rarity.Rare, Most: j.Rarity.Most, Sketch: j.Rarity.Sketch, Progress: j.Progress,
		})
		return n.Documents, n.Bytes, err
	})
	if err != nil {
		return j, err
	}
	j.space.Leave(rarity.Bytes)
	weighed, s := *j, *j.settings
	s.Features.Weights = &shingle.Weights{Name: j.Rarity.String(), Of: rarity.Weight}
	if !j.Rarity.Rare {
		s.limits.text /= shingle.MostWeight
	}
	if s.recipe, err = s.newRecipe(); err != nil {
		return j, err
	}
	weighed.settings = &s
	return &weighed, nil
}
