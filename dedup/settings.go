package dedup

import (
	"runtime"

	"github.com/alike-dev/alike/vfs"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
)

// settings are a configuration, complete and checked, and what follows from it alone.
type settings struct {
	Config
	modes
	recipe       recipe.Recipe
	threshold    measure.Threshold // of the recipe; when parts are removed, of containment
	valueAt      int               // in Corpus.Fields: the field of Within, or of By
	removesParts bool              // removes documents that are inside others; see graph.Edges
	screen       *Screening        // documents are judged one by one; nil: they are compared
}

// complete returns the settings of a configuration, with every zero field replaced by its default.
// They are not checked, and have no recipe yet.
func complete(config Config) *settings {
	c := &settings{Config: config, modes: *config.modes()}
	if c.Measure.IsWeighted() {
		c.Features.Multiset = true
	}
	if c.Rarity != nil {
		c.Features.Weights = &shingle.Weights{Name: c.Rarity.String()}
	}
	if c.Sketch == nil {
		c.Sketch = minhash.Default()
	}
	if c.Link != nil {
		c.Corpus.NoText = true
	}
	if c.Distance == nil {
		c.setSearchDefaults()
	}
	setDefault(&c.BucketCap, DefaultBucketCap)
	setDefault(&c.OnError, OnErrorSkip)
	setDefault(&c.Threads, runtime.GOMAXPROCS(0))
	setDefault(&c.Corpus.Lookups, c.Threads)
	setDefault(&c.limits.segment, segmentBytes)
	setDefault(&c.limits.exact, exactMost)
	setDefault(&c.limits.expect, expectLeast)
	setDefault(&c.limits.together, group.TogetherKeys)
	setDefault(&c.limits.text, recipe.LongText)
	if c.fs == nil {
		c.fs = vfs.OS
	}
	if c.NoSync {
		c.fs = durable.Unsynced(c.fs)
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.OnNotice == nil {
		c.OnNotice = func(Notice) {}
	}
	if c.Begin == nil {
		c.Begin = func() error { return nil }
	}
	if c.Commit == nil {
		c.Commit = func() error { return nil }
	}
	if c.Progress == nil {
		c.Progress = noProgress{}
	}
	return c
}

// setSearchDefaults is complete for the settings of a search by threshold.
func (c *settings) setSearchDefaults() {
	if !c.Measure.IsCount() {
		setDefault(&c.Threshold, DefaultThreshold)
	}
	setDefault(&c.Recall, DefaultRecall)
	if c.Fingerprints {
		setDefault(&c.Verify, recipe.Sketch)
	}
	setDefault(&c.Verify, recipe.Exact)
	switch {
	case c.Method != "":
	case c.Known != nil:
		c.Method = MethodLSH
	case !hasBands(c.Sketch) && !c.Fingerprints:
		c.Method = MethodExact
	default:
		c.Method = methodAuto
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func hasBands(s recipe.Scheme) bool {
	banded, ok := s.(recipe.Banded)
	return ok && banded.HasBands()
}

// modes returns what c asks for.
func (c *Config) modes() *modes {
	m := &modes{}
	if c.Beside != nil {
		c.Beside.beside(m)
	}
	if c.Signatures != nil {
		c.Signatures.signatures(m)
	}
	if c.Decide != nil {
		c.Decide.decide(m)
	}
	if c.Survivors != nil {
		c.Survivors.survivors(m)
	}
	if c.Work != nil {
		c.Work.work(m)
	}
	return m
}
