package linkage

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/steps"
)

// With Config.Work, a join that was killed can continue. It reads its tables again. Steps that need not be repeated
// are noted, each when its files are safe on disk:
//
//	sample-K   the model, and the candidates that it was learned from
//	pairs-K    the candidates
//	likely-K   the candidates so far that may be matches; noted repeatedly
//	own-S      the best scores within table S (see chance)
//
// K is the number of candidates of each record, 0: all that share a key. Each kind has notes of its own, and a join
// continues after the last note of each kind.

// joinVersion changes with the form of the notes. A work folder refuses a join of another version.
const joinVersion = "13"

// settings returns all settings that the notes of a join depend on. TestEverySettingOfAJoinIsInItsFingerprint checks
// that none is missing.
func (c *Config) settings(tables ...*source) iter.Seq[journal.Setting] {
	model, _ := json.Marshal(c.Model) // it was made of JSON
	known := uint64(len(c.Known))
	for _, k := range c.Known {
		known = hashing.Mix(hashing.Mix(known^hashing.Bytes([]byte(k.A))) ^ hashing.Bytes([]byte(k.B)))
	}
	said := uint64(len(c.Verdicts))
	for _, v := range c.Verdicts {
		said = hashing.Mix(said ^ hashing.Bytes(fmt.Appendf(nil, "%q %q %v", v.A, v.B, v.Match)))
	}
	sources := fmt.Sprintf("%q", c.Sources)
	if c.SourcesFound || c.Doubled != nil {
		sources += fmt.Sprintf(" found %v, but %q", c.SourcesFound, c.Doubled)
	}
	set := []journal.Setting{
		{Name: "command", Value: "join"},
		{Name: "engine", Value: joinVersion},
		{Name: "table", Value: c.Table},
		{Name: string(setting.Format), Value: string(c.Corpus.Format)},
		{Name: string(setting.MaxRecord), Value: fmt.Sprint(c.Corpus.MaxRecord)},
		{Name: "columns of ids", Value: fmt.Sprintf("%q %q", c.LeftID, c.RightID)},
		{Name: string(setting.Field), Value: fmt.Sprintf("%+v", c.Fields)},
		{Name: "table of a record", Value: c.Table},
		{Name: string(setting.Source), Value: sources},
		{Name: string(setting.Same), Value: fmt.Sprintf("%q", c.Same)},
		{Name: string(setting.Threshold), Value: fmt.Sprint(c.Threshold)},
		{Name: string(setting.Precision), Value: fmt.Sprint(c.Precision)},
		{Name: string(setting.Match), Value: string(c.Match)},
		{Name: string(setting.Top), Value: fmt.Sprint(c.Top)},
		{Name: string(setting.Model), Value: fmt.Sprintf("%016x", hashing.Bytes(model))},
		{Name: string(setting.With), Value: fmt.Sprintf("%q %v", c.With, c.WithAll)},
		{Name: "verdicts", Value: fmt.Sprintf("%016x", said)},
		{Name: "known links", Value: fmt.Sprintf("%016x", known)},
		{Name: string(setting.IDF), Value: fmt.Sprint(c.IDF, c.Epsilon, c.Delta, c.Repetitions)},
		{Name: string(setting.Measure), Value: c.Measure.String()},
		{Name: string(setting.Candidates), Value: fmt.Sprint(c.Candidates, c.limits.unfiltered)},
		{Name: string(setting.Recall), Value: fmt.Sprint(c.Recall)},
		{Name: string(setting.OnError), Value: fmt.Sprint(c.Fail)},
	}
	return func(yield func(journal.Setting) bool) {
		for _, s := range set {
			if !yield(s) {
				return
			}
		}
		for side, table := range tables {
			for _, f := range table.files {
				if !yield(journal.Setting{Name: fmt.Sprintf("%s%d %s", resume.InputSetting, side+1, f.Path), Value: f.State()}) {
					return
				}
			}
		}
	}
}

// openKeeper opens the work folder, if there is one, of a join of two tables, or of one, which is
// both.
func openKeeper(ctx context.Context, c *Config, space *scratch.Space, left, right *source) (*steps.Keeper, error) {
	if c.Work == "" {
		return &steps.Keeper{}, nil
	}
	tables := []*source{left, right}
	if left == right {
		tables = tables[:1]
	}
	log, err := resume.Open(ctx, space, resume.Options{Folder: c.Work, Fresh: c.Fresh, Settings: c.settings(tables...), Due: c.limits.noteDue})
	return &steps.Keeper{Log: log, Space: space, After: c.limits.afterNote}, err
}
