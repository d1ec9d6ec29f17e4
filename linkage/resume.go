package linkage

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
)

// With Config.Work a join that was killed goes on. Its tables are read again; what is not done
// again is noted, each when its files are safe on disk:
//
//	sample-K   the model, and the candidates that it was learned from
//	pairs-K    the candidates
//	likely-K   those of them, up to some one, that may be matches; again and again
//	own-S      what chance finds in table S
//
// K is how many partners of each record are looked for, 0: all that share a key. A note of a kind
// stands for that kind only, so that a join goes on behind the last one of each.

// joinVersion changes with what a work folder holds: a join of another version is refused by it.
const joinVersion = "1"

// Tests ask for a note of every batch, and end a join after some note.
var (
	noteDue   func() bool // nil: now and then
	afterNote = func(kind string) error { return nil }
)

// settings are all that the notes of a join depend on.
// TestEverySettingOfAJoinIsInItsFingerprint holds that none is forgotten.
func (c *Config) settings(tables ...*source) iter.Seq[journal.Setting] {
	model, _ := json.Marshal(c.Model) // it was made of JSON
	known := uint64(len(c.Known))
	for _, k := range c.Known {
		known = hashing.Mix(hashing.Mix(known^hashing.Bytes([]byte(k.A))) ^ hashing.Bytes([]byte(k.B)))
	}
	set := []journal.Setting{
		{Name: "command", Value: "join"},
		{Name: "engine", Value: joinVersion},
		{Name: string(setting.Format), Value: string(c.Corpus.Format)},
		{Name: string(setting.MaxRecord), Value: fmt.Sprint(c.Corpus.MaxRecord)},
		{Name: "columns of ids", Value: fmt.Sprintf("%q %q", c.LeftID, c.RightID)},
		{Name: string(setting.Field), Value: fmt.Sprintf("%+v", c.Fields)},
		{Name: string(setting.Threshold), Value: fmt.Sprint(c.Threshold)},
		{Name: string(setting.Precision), Value: fmt.Sprint(c.Precision)},
		{Name: string(setting.Match), Value: string(c.Match)},
		{Name: string(setting.Top), Value: fmt.Sprint(c.Top)},
		{Name: string(setting.Model), Value: fmt.Sprintf("%016x", hashing.Bytes(model))},
		{Name: string(setting.With), Value: fmt.Sprintf("%q %v", c.With, c.WithAll)},
		{Name: "known links", Value: fmt.Sprintf("%016x", known)},
		{Name: string(setting.IDF), Value: fmt.Sprint(c.IDF, c.Epsilon, c.Delta, c.Repetitions)},
		{Name: string(setting.Measure), Value: c.Measure.String()},
		{Name: string(setting.Candidates), Value: fmt.Sprint(c.Candidates, c.Unfiltered)},
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

// keeper keeps what a join has done for another process. That of a join without a work folder,
// whose log is nil, keeps nothing.
type keeper struct {
	log   *resume.Log
	space *scratch.Space
}

// keep opens the work folder of a join of two tables, or of one, which is both.
func (t *tables) keep(ctx context.Context, c *Config, left, right *source) (err error) {
	tables := []*source{left, right}
	if left == right {
		tables = tables[:1]
	}
	t.keeper.space = t.memory.Space
	if c.Work != "" {
		t.keeper.log, err = resume.Open(ctx, t.memory.Space, resume.Options{Folder: c.Work, Fresh: c.Fresh, Settings: c.settings(tables...), Due: noteDue})
		t.result.Resumed = t.keeper.log.Resumed()
	}
	return err
}

// names returns what names the files of pairs that are kept; nil where none are.
func (k *keeper) names() func(prefix string) string {
	if k.log == nil {
		return nil
	}
	return func(prefix string) string { return k.space.Unique(prefix, "") }
}

// note adds a note.
func (k *keeper) note(kind string, v any) error {
	if k.log == nil {
		return nil
	}
	if err := k.log.Note(kind, v); err != nil {
		return err
	}
	return afterNote(kind)
}

// foundPairs is the note of candidates.
type foundPairs struct {
	Runs   []extsort.Run
	Search candidates.Summary
}

// pairs returns the candidates that an earlier process has found, or finds and keeps them.
func (t *tables) pairs(ctx context.Context, c candidates.Config, kind string, find func() (*candidates.Pairs, error)) (*candidates.Pairs, error) {
	var s foundPairs
	switch found, err := t.keeper.log.Last(kind, &s); {
	case err != nil:
		return nil, err
	case found:
		t.result.Search = s.Search
		return candidates.OpenPairs(ctx, c, s.Search.Method, s.Runs)
	}
	pairs, err := find()
	if err != nil || t.keeper.log == nil {
		return pairs, err
	}
	if s.Runs, err = pairs.Save(ctx); err == nil {
		s.Search = t.result.Search
		err = t.keeper.note(kind, s)
	}
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return pairs, nil
}

// comparedFile names a file with candidates that were compared.
type comparedFile struct {
	Name  string
	Count int
	Sum   uint32 // CRC-32C of the file
}

// Of each candidate the file has, little endian: 4 bytes for either record, 4 for the similarity
// of the records as a float, 8 for the probability as a float, 1 for each level.
const comparedBytes = 20

// write writes candidates, from one on, of which probability has none or each one's.
func (k *keeper) write(prefix string, c *comparison, from int, probability []float64) (f comparedFile, err error) {
	var b []byte
	for i := from; i < len(c.pairs); i++ {
		p := 0.0
		if probability != nil {
			p = probability[i]
		}
		b = binary.LittleEndian.AppendUint32(b, c.pairs[i].a)
		b = binary.LittleEndian.AppendUint32(b, c.pairs[i].b)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.wholes[i]))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p))
		b = append(b, c.of(i)...)
	}
	f = comparedFile{k.space.Unique(prefix, ".part"), len(c.pairs) - from, durable.Checksum(0, b)}
	file, err := k.space.Create(f.Name)
	if err != nil {
		return f, err
	}
	_, err = file.Write(b)
	if err == nil {
		err = file.Sync()
	}
	return f, scratch.Error(errors.Join(err, file.Close()))
}

// read appends the candidates of a file to c, and their probabilities to those it returns.
func (k *keeper) read(f comparedFile, c *comparison, probability []float64) ([]float64, error) {
	file, err := k.space.Open(f.Name)
	if err != nil {
		return nil, scratch.Error(err)
	}
	one := comparedBytes + c.width
	b := make([]byte, f.Count*one+1)
	n, err := file.ReadAt(b, 0)
	if err = errors.Join(ignoreEOF(err), file.Close()); err != nil {
		return nil, scratch.Error(err)
	}
	if b = b[:n]; n != f.Count*one || durable.Checksum(0, b) != f.Sum {
		return nil, scratch.ErrDamaged
	}
	for ; len(b) > 0; b = b[one:] {
		c.pairs = append(c.pairs, pair{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])})
		c.wholes = append(c.wholes, math.Float32frombits(binary.LittleEndian.Uint32(b[8:])))
		probability = append(probability, math.Float64frombits(binary.LittleEndian.Uint64(b[12:])))
		c.levels = append(c.levels, bytes.Clone(b[comparedBytes:one])...)
	}
	return probability, nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// learnedModel is the note of a model.
type learnedModel struct {
	Sample     comparedFile // with the probabilities
	Prior      float64
	Evidence   []float64
	Calibrated bool
}

// learned takes the model that an earlier process has learned, or has learn learn it.
func (e *examiner) learned(kind string, learn func() error) error {
	if e.config.Model != nil { // there is little to do
		return learn()
	}
	var m learnedModel
	found, err := e.keeper.log.Last(kind, &m)
	if err != nil {
		return err
	}
	if found {
		e.sample = e.none()
		e.sampled, err = e.keeper.read(m.Sample, e.sample, nil)
		e.model = newModel(e.sample, e.shares)
		e.model.prior, e.model.evidence, e.calibrated = m.Prior, m.Evidence, m.Calibrated
		return err
	}
	if err := learn(); err != nil || e.keeper.log == nil {
		return err
	}
	m = learnedModel{Prior: e.model.prior, Evidence: e.model.evidence, Calibrated: e.calibrated}
	if m.Sample, err = e.keeper.write("sample", e.sample, 0, e.sampled); err != nil {
		return err
	}
	return e.keeper.note(kind, m)
}

// likelySoFar is the note of candidates that may be matches.
type likelySoFar struct {
	File         comparedFile
	Examined     int // of all candidates
	All, Dropped scoreCounts
}

// own returns the best scores that an earlier process has found within a table, or has find find
// them. Their bits are noted, since JSON has no infinity.
func (k *keeper) own(kind string, find func() (bests, error)) (bests, error) {
	var noted []uint64
	switch found, err := k.log.Last(kind, &noted); {
	case err != nil:
		return nil, err
	case found:
		b := make(bests, len(noted))
		for i, x := range noted {
			b[i] = math.Float64frombits(x)
		}
		return b, nil
	}
	b, err := find()
	if err != nil {
		return nil, err
	}
	for _, z := range b {
		noted = append(noted, math.Float64bits(z))
	}
	return b, k.note(kind, noted)
}
