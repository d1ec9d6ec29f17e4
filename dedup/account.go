package dedup

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
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
	if s.Config.Within != "" {
		a.Within = NewWithin(s.Config.Within)
	}
	if s.Config.By != "" {
		a.By = NewWithin(s.Config.By)
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
	if w := a.Counted(); w != nil {
		w.Order()
	}
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

// method records how candidates are found: by an exact join, or as the recipe says.
func (a *account) method(r *recipe.Recipe, exact bool) {
	a.ExpectedRecall = Promised(recipe.Recall(*r, a.settings.threshold, 0))
	switch _, hamming := r.Distance(); {
	case exact:
		a.CandidateMethod, a.ExpectedRecall = MethodExact, Promised(1)
	case hamming:
		a.CandidateMethod, a.Bands = MethodBlocks, r.Keys()
	case r.Sample().Size > 0:
		a.CandidateMethod, a.Sample = MethodLSH, r.Sample().Size
	default:
		banding := r.Banding()
		a.CandidateMethod, a.Bands, a.Rows = MethodLSH, banding.Bands, banding.Rows
	}
}

// pairs fills in the numbers of pairs. A copy is a candidate that is verified by its digest.
func (a *account) pairs(copies, edges int64) {
	a.Candidates += copies
	a.Verified = edges + copies
	a.Rejected = a.Candidates - a.Verified
}

// clusters counts what is kept. known are the documents like one of NewTo.Known.
func (a *account) clusters(c *clusters.Result, known bitset.Set[uint32]) {
	a.Removed = c.Removed.Len()
	if a.settings.Known != nil {
		a.Known = int64(known.Len())
		a.Removed += a.Known
	}
	if a.settings.Tags != nil {
		a.Tagged, a.Removed = new(a.Removed), 0
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

// lost makes the expected recall a range: its low end is what is found if nothing is by hot buckets. Of all documents, each of
// a class of equal ones once, lost[k] have k keys of hot buckets, whose documents were not all compared.
func (a *account) lost(lost []int64, all int64, r *recipe.Recipe) {
	promise := a.ExpectedRecall.High
	low := promise * float64(all)
	for k, n := range lost {
		low -= (promise - recipe.Recall(*r, a.settings.threshold, k)) * float64(n)
	}
	if len(lost) > 0 {
		a.ExpectedRecall = Expected{Low: max(low/float64(all), 0), High: promise, Range: true}
	}
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

// Expected is a share that is expected: one number that is known, or a range in which it likely is. As JSON it is the
// number, or [low, high].
type Expected struct {
	Low, High float64 // 0 to 1
	Range     bool
}

// Promised returns a share that is known.
func Promised(share float64) Expected { return Expected{Low: share, High: share} }

// Between returns a share that is likely from low to high.
func Between(low, high float64) Expected { return Expected{Low: low, High: high, Range: true} }

// WithoutAll returns the range down to what is left if some of all documents find nothing.
func (e Expected) WithoutAll(some, all int64) Expected {
	if some > 0 {
		e.Low, e.Range = e.Low*float64(max(all-some, 0))/float64(max(all, 1)), true
	}
	return e
}

// String returns a number with four decimals, or two, such as 0.7512–0.9910.
func (e Expected) String() string {
	if e.Range {
		return fmt.Sprintf("%.4f–%.4f", e.Low, e.High)
	}
	return fmt.Sprintf("%.4f", e.Low)
}

// MarshalJSON returns a number or two.
func (e Expected) MarshalJSON() ([]byte, error) {
	if e.Range {
		return json.Marshal([2]float64{e.Low, e.High})
	}
	return json.Marshal(e.Low)
}

// UnmarshalJSON takes what MarshalJSON returns.
func (e *Expected) UnmarshalJSON(text []byte) error {
	var share float64
	if json.Unmarshal(text, &share) == nil {
		*e = Promised(share)
		return nil
	}
	var of []float64
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	if len(of) != 2 {
		return errors.New("an expected share is a number, or the least and the largest")
	}
	*e = Expected{of[0], of[1], true}
	return nil
}
