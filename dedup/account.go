package dedup

import (
	"slices"
	"time"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
)

// account is the summary of a run in the making. Each step tells it what it has done.
type account struct {
	*Summary
	settings *settings
	begun    time.Time
	meter    *meter.Meter // nil: nothing is measured
}

func newAccount(s *settings) *account {
	a := &account{settings: s, begun: time.Now(), meter: meter.New(s.Timings)}
	a.Summary = &Summary{Threshold: s.Threshold, Verify: string(s.Verify), LargestClusters: []int{}}
	a.TextScheme, a.SketchScheme = s.recipe.Lines()
	if _, hamming := s.recipe.Distance(); hamming {
		a.Verify, a.Decision = "hamming", s.recipe.Decision()
	}
	if s.Measure != measure.Jaccard {
		a.Measure = s.Measure.String()
	}
	return a
}

// stage runs f as a stage, or as one more part of it; f returns how many items and bytes it has
// processed.
func (a *account) stage(name string, total int64, f func() (items, bytes int64, err error)) error {
	a.settings.Progress.Stage(name, total)
	start := time.Now()
	items, bytes, err := f()
	i := slices.IndexFunc(a.Stages, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		i = len(a.Stages)
		a.Stages = append(a.Stages, Stage{Name: name})
	}
	s := &a.Stages[i]
	s.Seconds += time.Since(start).Seconds()
	s.Items += items
	s.Bytes += bytes
	s.Steps = s.Steps[:0]
	for _, step := range a.meter.Steps(name) {
		s.Steps = append(s.Steps, Step(step))
	}
	return err
}

// finish fills in the cost of the whole run, and returns its summary.
func (a *account) finish(space *scratch.Space) *Summary {
	a.SpilledBytes = space.SpilledBytes()
	a.Seconds = time.Since(a.begun).Seconds()
	a.PeakMemoryBytes = peakMemory()
	return a.Summary
}

// skip reports a record or file that cannot be used, and counts it. With OnErrorFail it is an error.
func (a *account) skip(p *corpus.Problem, reference bool) error {
	if a.settings.OnError == OnErrorFail {
		return p
	}
	a.settings.OnSkip(p)
	if reference {
		a.ReferencesSkipped++
	} else {
		a.Skipped++
	}
	if a.SkippedKinds == nil {
		a.SkippedKinds = map[string]int64{}
	}
	a.SkippedKinds[p.Kind()]++
	return nil
}

// documents counts the documents that were read, and the kinds of values in the keep rule's field.
func (a *account) documents(docs *documents) (fields fieldCount, err error) {
	t, c := docs.table, docs.table.Scanner()
	usable, left := int64(0), int64(0)
	a.Empty = 0
	for i := t.References; i < t.Docs; i++ {
		doc := uint32(i)
		if t.Skipped.Has(doc) {
			continue
		}
		usable++
		if i < t.Left {
			left++
		}
		if docs.links == nil && c.Doc(doc).Features == 0 {
			a.Empty++
		}
		if a.settings.Keep.Field() != "" {
			fields.add(c.Meta(doc))
		}
	}
	a.Read = usable + a.Skipped
	a.References = int64(t.References)
	if len(a.settings.With) > 0 {
		a.Left, a.Right = left, usable-left
	}
	return fields, c.Err
}

// fieldCount counts the documents by their value of the keep rule's field.
type fieldCount struct{ numbers, texts int64 }

func (f *fieldCount) add(m cluster.Meta) {
	switch {
	case m.IsNumber():
		f.numbers++
	case m.HasValue:
		f.texts++
	}
}

// tell reports if the rule has less to decide by than its user may think. If all values are texts,
// nothing is reported: dates are texts.
func (f fieldCount) tell(keep cluster.Keep, documents int64, notice func(Notice)) {
	missing := documents - f.numbers - f.texts
	switch field := keep.Field(); {
	case field == "" || documents == 0:
	case missing == documents:
		notice(setting.Textf("no document has a field %q: %s %s does the same as first", field, setting.Keep, keep))
	case f.numbers > 0 && f.texts > 0:
		notice(setting.Textf("%s %s: of %d documents %d have no field %q and %d have no number there; numbers are kept first, then other values",
			setting.Keep, keep, documents, missing, field, f.texts))
	case missing > 0:
		notice(setting.Textf("%s %s: of %d documents %d have no field %q; they are kept last", setting.Keep, keep, documents, missing, field))
	}
}

// tell reports what is not an error but may surprise.
func (a *account) tell(fields fieldCount) {
	c := a.settings
	fields.tell(c.Keep, a.Read-a.Skipped, c.OnNotice)
	switch {
	case a.Read == 0:
		c.OnNotice(setting.Textf("the input holds no records"))
	case len(c.With) > 0 && a.Left == 0:
		c.OnNotice(setting.Textf("the input before %s holds no records: there are no pairs", setting.With))
	case len(c.With) > 0 && a.Right == 0:
		c.OnNotice(setting.Textf("the input of %s holds no records: there are no pairs", setting.With))
	}
	switch {
	case a.Empty == 1:
		c.OnNotice(setting.Textf("1 document has no text to compare: it matches nothing"))
	case a.Empty > 1:
		c.OnNotice(setting.Textf("%d documents have no text to compare: they match nothing", a.Empty))
	}
}

// method records how candidates are found: by an exact join, or as the recipe says.
func (a *account) method(how choice, exact bool) {
	if exact {
		a.CandidateMethod, a.ExpectedRecall = MethodExact, 1
		return
	}
	if _, hamming := how.recipe.Distance(); hamming {
		a.CandidateMethod, a.Bands, a.ExpectedRecall = MethodBlocks, how.recipe.Keys(), 1
		return
	}
	a.CandidateMethod = MethodLSH
	threshold := a.settings.threshold
	if sample := how.recipe.Sample(); sample.Size > 0 {
		a.Sample, a.ExpectedRecall = sample.Size, sample.Probability(threshold.Float())
		return
	}
	banding := how.recipe.Banding()
	a.Bands, a.Rows = banding.Bands, banding.Rows
	least, _ := threshold.LeastJaccard()
	a.ExpectedRecall = banding.Probability(how.recipe.Agreement(least))
}

// pairs fills in the numbers of pairs. A copy is a candidate that is verified by its digest.
func (a *account) pairs(f *found) {
	a.Candidates += f.classes.Copies
	a.Verified = f.edges.Len() + f.classes.Copies
	a.Rejected = a.Candidates - a.Verified
}

// linked fills in how records were linked.
func (a *account) linked(l *Links, edges int64) {
	a.CandidateMethod, a.Decision, a.ExpectedRecall, a.Threshold = MethodRecords, l.By, l.ExpectedRecall, l.Threshold
	a.TextScheme, a.SketchScheme = "", ""
	a.Candidates, a.Verified = l.Candidates, edges
	a.Rejected = a.Candidates - a.Verified
}

// clusters counts what is kept. known are the documents like one of Config.Known.
func (a *account) clusters(c *clusters.Result, known bitset.Set) {
	a.Removed = c.Removed.Len()
	if a.settings.Known != nil {
		a.Known = int64(known.Len())
		a.Removed += a.Known
	}
	a.Kept = a.Read - a.Skipped - a.Removed
	a.Clusters = c.Clusters
	for _, c := range c.Largest {
		a.LargestClusters = append(a.LargestClusters, c.Size)
	}
}

// again prepares the account for another round: see anotherRound.
func (a *account) again() {
	a.Candidates, a.BucketsCapped, a.LargestClusters = 0, 0, a.LargestClusters[:0]
}

// missed reports that documents of buckets over the cap were not compared with all others there.
func (a *account) missed(n int64, byDistance bool) {
	switch most := a.settings.BucketCap; {
	case n == 0:
	case byDistance:
		a.settings.OnNotice(setting.Textf("documents in buckets of more than %d: %d were not compared with all of their buckets, only with the first %d and some others, "+
			"so pairs of them may be missing; raise %s, or take a smaller %s", most, n, lsh.Hubs, setting.BucketCap, setting.Distance))
	default:
		a.settings.OnNotice(setting.Textf("documents in buckets of more than %d: %d were compared with the first %d of their buckets only, "+
			"so pairs of them may be missing; raise %s, or find them with %s exact", most, n, lsh.Hubs, setting.BucketCap, setting.Candidates))
	}
}
