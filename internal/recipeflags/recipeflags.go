// Package recipeflags has the settings that say what is alike, as flags: for the commands, whose flags they are, and
// for other programs that take settings by name, such as the processor of package connect, whose fields have the same
// names and values.
//
//	var s recipeflags.Settings
//	s.Add(flags, index.DefaultBucketCap)      // flags.Parse, or flags.Set(name, value)
//	err := s.Apply(&config, flags)            // then config.Recipe()
//
// Errors are wrong usage, see dedup.ErrUsage. They name settings by package setting, so that each program can show
// names of its own: see [Flag].
package recipeflags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/text"
)

// names are the settings by their flags.
var names = map[string]setting.Name{
	"bands":            setting.Banding,
	"bits":             setting.Bits,
	"bucket-cap":       setting.BucketCap,
	"candidates":       setting.Candidates,
	"distance":         setting.Distance,
	"fold":             setting.Fold,
	"hash":             setting.Hash,
	"late":             setting.Late,
	"measure":          setting.Measure,
	"min-bands":        setting.MinBands,
	"min-token-length": setting.MinLength,
	"ngram":            setting.NGram,
	"normalize":        setting.Normalize,
	"permutations":     setting.Permutations,
	"preset":           setting.Preset,
	"recall":           setting.Recall,
	"unique":           setting.Unique,
	"refresh":          setting.Refresh,
	"repetitions":      setting.Repetitions,
	"rows":             setting.Rows,
	"scheme":           setting.Scheme,
	"seed":             setting.Seed,
	"shared":           setting.Shared,
	"shingle-hash":     setting.ShingleHash,
	"stop-words":       setting.StopWords,
	"strip-diacritics": setting.StripDiacritics,
	"third-texts":      setting.ThirdTexts,
	"threshold":        setting.Threshold,
	"tokens":           setting.Tokens,
	"verify":           setting.Verify,
	"window":           setting.Window,
	"window-docs":      setting.WindowDocs,
}

// Flag returns the flag of a setting that a message names, without dashes, or false if it is not one of this package.
func Flag(name setting.Name) (flag string, ok bool) {
	for flag, of := range names {
		if of == name {
			return flag, true
		}
	}
	return "", false
}

type usage struct{ err error }

func (e *usage) Error() string        { return e.err.Error() }
func (e *usage) Unwrap() error        { return e.err }
func (e *usage) Is(target error) bool { return target == dedup.ErrUsage }

func usagef(format string, args ...any) error { return &usage{setting.Errorf(format, args...)} }

// A Word is the value of a flag that takes one of a few words.
type Word struct {
	To      *string
	Allowed []string
}

// Words returns a Word that begins as the first of those that are allowed.
func Words[T ~string](to *string, allowed ...T) *Word {
	w := &Word{To: to}
	for _, a := range allowed {
		w.Allowed = append(w.Allowed, string(a))
	}
	*to = w.Allowed[0]
	return w
}

// String implements pflag.Value.
func (w *Word) String() string {
	if w.To == nil {
		return ""
	}
	return *w.To
}

// Type implements pflag.Value.
func (w *Word) Type() string { return "word" }

// Words returns the words that the flag takes.
func (w *Word) Words() []string { return w.Allowed }

// Set takes a word of the list.
func (w *Word) Set(s string) error {
	if !slices.Contains(w.Allowed, s) {
		return fmt.Errorf("choose one of %s", strings.Join(w.Allowed, ", "))
	}
	*w.To = s
	return nil
}

// Settings say what is alike. Only the methods of a Settings set up by Add work.
type Settings struct {
	Preset   string // settings of a published system, or a fingerprint; flags override them
	Decision Decision
	Text     Text
	Sketch   Sketch
	// Fingerprint has the parameters of a preset that is a fingerprint.
	Fingerprint Fingerprint
	// Made is how the inputs were made if they are fingerprints; it replaces what the flags say.
	Made recipe.Options
}

// Add adds the flags of all settings, with the default of --bucket-cap.
func (s *Settings) Add(flags *pflag.FlagSet, bucketCap int) {
	s.AddPreset(flags)
	s.Decision.Add(flags, bucketCap)
	s.Text.Add(flags)
	s.Sketch.Add(flags)
	s.Fingerprint.AddParameters(flags)
}

// The presets that are settings of published systems.
const (
	presetBroder   = "broder"
	presetFeatures = "features"
)

// AddPreset adds the flag --preset of what looks for pairs.
func (s *Settings) AddPreset(flags *pflag.FlagSet) {
	w := Words(&s.Preset, append([]string{presetBroder, presetFeatures}, presetNames()...)...)
	s.Preset = ""
	flags.Var(w, "preset", "settings of a published system (see alike help presets) in place of the defaults, which flags override; or fingerprints to compare by a distance: "+
		strings.Join(w.Allowed, ", "))
}

// Reads returns the files that the flags name.
func (s *Settings) Reads() []string { return append(s.Text.Reads(), s.Sketch.Reads()...) }

// Apply sets what is alike in a configuration. The flags are those that Add has added to.
func (s *Settings) Apply(c *dedup.Config, flags *pflag.FlagSet) (err error) {
	s.settle(flags)
	var shingles dedup.OfShingles
	if shingles.Options, err = s.Text.Options(); err != nil {
		return err
	}
	texts, byDistance, err := s.settleDistance(flags)
	if err != nil {
		return err
	}
	if shingles.Scheme, err = s.Sketch.Scheme(flags); err != nil {
		return err
	}
	if s.Made.Sketch != nil || s.Made.Texts != nil {
		shingles, texts = dedup.OfShingles{Options: s.Made.Features, Scheme: s.Made.Sketch}, s.Made.Texts
	}
	c.Signatures = shingles
	if texts != nil {
		c.Signatures = dedup.OfTexts{Scheme: texts}
	}
	s.settleBands(flags, shingles.Scheme)
	if c.BucketCap, err = s.Decision.bucketCap(); err != nil {
		return err
	}
	if byDistance {
		c.Decide = dedup.Distance(s.Decision.Distance)
		return nil
	}
	c.Decide, err = s.Decision.similarity(flags)
	return err
}

// presetIf sets a flag's value unless it was given.
func presetIf[T any](flags *pflag.FlagSet, name string, field *T, value T) {
	if !flags.Changed(name) {
		*field = value
	}
}

// settle sets the settings of the preset before the scheme is known.
func (s *Settings) settle(flags *pflag.FlagSet) {
	switch s.Preset {
	case presetBroder:
		presetIf(flags, "tokens", &s.Text.Tokens, string(text.ASCII))
		presetIf(flags, "ngram", &s.Text.NGram, 54)
		presetIf(flags, "scheme", &s.Sketch.Line, "kmins family=plainxor k=200")
		presetIf(flags, "threshold", &s.Decision.Threshold, 0.03)
		presetIf(flags, "verify", &s.Decision.Verify, string(recipe.Sketch))
	case presetFeatures:
		presetIf(flags, "ngram", &s.Text.NGram, 10)
		presetIf(flags, "scheme", &s.Sketch.Line, "kmins k=84")
		presetIf(flags, "threshold", &s.Decision.Threshold, 0.95)
		presetIf(flags, "verify", &s.Decision.Verify, string(recipe.None))
	default:
		return
	}
	presetIf(flags, "shared", &s.Decision.Shared, true)
}

// settleBands sets the bands of the preset.
func (s *Settings) settleBands(flags *pflag.FlagSet, sketch recipe.Scheme) {
	var p lsh.Params
	scheme, ok := sketch.(minhash.Scheme)
	switch {
	case !ok || flags.Changed("candidates"):
		return
	case s.Preset == presetBroder:
		p = lsh.Params{Bands: scheme.K(), Rows: 1, MinBands: min(max(scheme.MinEqual(s.Decision.Threshold), 1), scheme.K())}
	case s.Preset == presetFeatures:
		p = lsh.Params{Bands: 6, Rows: 14, MinBands: 2}
	default:
		return
	}
	presetIf(flags, "bands", &s.Decision.Bands, p.Bands)
	presetIf(flags, "rows", &s.Decision.Rows, p.Rows)
	presetIf(flags, "min-bands", &s.Decision.MinBands, p.MinBands)
}

// BySimilarity are the flags about finding and deciding pairs by similarity, which do not go with --distance.
var BySimilarity = []string{"measure", "threshold", "recall", "candidates", "verify", "bands", "rows", "min-bands", "shared", "third-texts"}

// settleDistance tells whether fingerprints are compared by Hamming distance, and refuses flags that
// contradict each other. texts are fingerprints of texts, nil if there are none.
func (s *Settings) settleDistance(flags *pflag.FlagSet) (texts recipe.TextScheme, asked bool, err error) {
	given := flags.Changed("distance")
	fingerprints := slices.Contains(presetNames(), s.Preset)
	if fingerprints {
		s.Fingerprint.Name = s.Preset
	}
	if texts, err = s.Fingerprint.Scheme(&s.Text, flags); err != nil {
		return nil, false, err
	}
	switch hamming := fingerprints || s.Sketch.IsSimHash() || s.Made.Texts != nil; {
	case !given && !hamming:
		return texts, false, nil
	case !given:
		return nil, false, usagef("these fingerprints are compared by Hamming distance: say how far they may be apart, such as %s 3 for 64 bits", setting.Distance)
	case !hamming:
		return nil, false, usagef("%s is for fingerprints that are compared bit by bit: add %s fastsimhash, or a %s such as exlsh-word, or take %s instead",
			setting.Distance, setting.Scheme, setting.Preset, setting.Threshold)
	case s.Decision.Distance < 0:
		return nil, false, usagef("%s is %d: take 0 or more, such as 3 for fingerprints of 64 bits", setting.Distance, s.Decision.Distance)
	case s.Preset == presetBroder || s.Preset == presetFeatures:
		return nil, false, usagef("%s %s and %s both say which pairs are wanted: leave one of them out", setting.Preset, s.Preset, setting.Distance)
	}
	for _, name := range BySimilarity {
		if flags.Changed(name) {
			return nil, false, usagef("%s says which pairs are wanted and misses none of them: leave %s out", setting.Distance, names[name])
		}
	}
	return texts, true, nil
}

// Window are the settings that bound a collection.
type Window struct {
	age     string
	late    string
	docs    int
	refresh bool
}

func (f *Window) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.age, "window", "", "`span` of time: records are compared only if they are not further apart, such as 90m, 24h or 7d; older ones are forgotten")
	flags.StringVar(&f.late, "late", "0s", "`span` of time by which a record may be older than the newest one and still be treated as if it had come in time")
	flags.IntVar(&f.docs, "window-docs", 0, "remember at most this many kept records (default: 1000000 without a span of time, else all)")
	flags.BoolVar(&f.refresh, "refresh", false, "a duplicate makes the record that it is like stay as long as if it had just come")
}

// defaultWindowDocs bounds the memory of a stream without a window.
const defaultWindowDocs = 1_000_000

// MostWindowDocs is the largest window that an index takes.
const MostWindowDocs = 1 << 31

// Window returns the window. The flags are those that Add has added to.
func (f *Window) Window(flags *pflag.FlagSet) (w index.Window, err error) {
	if w.Age, err = parseDuration(setting.Window, f.age); err != nil {
		return w, err
	}
	if w.Late, err = parseDuration(setting.Late, f.late); err != nil {
		return w, err
	}
	switch {
	case flags.Changed("window") && w.Age == 0:
		return w, usagef("%s is %q: take a time above 0, such as 24h", setting.Window, f.age)
	case w.Late > 0 && w.Age == 0:
		return w, usagef("%s is about a %s in time: add one, or leave %s out", setting.Late, setting.Window, setting.Late)
	case flags.Changed("window-docs") && (f.docs < 1 || f.docs > MostWindowDocs):
		return w, usagef("%s is %d: take 1 to %d, such as %d", setting.WindowDocs, f.docs, MostWindowDocs, defaultWindowDocs)
	}
	w.Docs, w.Refresh = f.docs, f.refresh
	if w.Docs == 0 && w.Age == 0 {
		w.Docs = defaultWindowDocs
	}
	w.Now = time.Now
	return w, nil
}

// parseDuration reads a time span as people write it: in Go's form, or in days and weeks.
func parseDuration(name setting.Name, s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			if n, err := strconv.ParseFloat(number, 64); err == nil && n >= 0 && n*float64(unit) < 1<<62 {
				return time.Duration(n * float64(unit)), nil
			}
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > 1<<62 {
		return 0, usagef("%s is %q: take a time span up to 146 years, such as 30s, 90m, 24h or 7d", name, s)
	}
	return d, nil
}

// Decision are the settings that say which pairs are wanted.
type Decision struct {
	Measure    string
	Threshold  float64
	Distance   int
	Recall     float64
	Candidates string // has no flag here
	Verify     string
	Bands      int
	Rows       int
	MinBands   int
	BucketCap  int
	Shared     bool // has no flag here
	ThirdTexts bool // nor has this
}

// AddMeasure adds the flag --measure.
func AddMeasure(flags *pflag.FlagSet, to *string) {
	var names []string
	for _, m := range measure.All() {
		names = append(names, m.String())
	}
	flags.Var(Words(to, names...), "measure",
		"what similarity is: jaccard, containment (share of A that is in B), max-containment (of the smaller), cosine, dice, overlap (shingles in common) or weighted-jaccard (repeated shingles count)")
}

// Add adds the flags, with the default of --bucket-cap. Candidates are those of lsh, the only way to look up one
// document.
func (f *Decision) Add(flags *pflag.FlagSet, bucketCap int) {
	f.Candidates = LSH
	AddMeasure(flags, &f.Measure)
	flags.Float64Var(&f.Threshold, "threshold", dedup.DefaultThreshold,
		"least similarity of a pair, above 0 and up to 1; of overlap, a number of shingles, without a default")
	flags.IntVar(&f.Distance, "distance", 0, "with SimHash and presets of fingerprints: most bits in which a pair differs, instead of a threshold")
	flags.Float64Var(&f.Recall, "recall", dedup.DefaultRecall,
		"share of the pairs at the threshold to be found: an average over seeds; with one seed a family of near-copies may have less")
	flags.Var(Words(&f.Verify, recipe.Exact, recipe.Sketch, recipe.None), "verify", "similarity of a pair: exact, sketch (estimated) or none")
	flags.IntVar(&f.Bands, "bands", 0, "bands of the signature (default: tuned, see alike tune)")
	flags.IntVar(&f.Rows, "rows", 0, "components a band (default: tuned)")
	flags.IntVar(&f.MinBands, "min-bands", 1, "bands in which a pair must agree")
	flags.IntVar(&f.BucketCap, "bucket-cap", bucketCap, "documents in a bucket up to which all its pairs are compared")
}

func (f *Decision) bucketCap() (int, error) {
	if f.BucketCap < 2 || f.BucketCap > dedup.MaxBucketCap {
		return 0, usagef("%s is %d: take 2 to %d, such as %d", setting.BucketCap, f.BucketCap, dedup.MaxBucketCap, dedup.DefaultBucketCap)
	}
	return f.BucketCap, nil
}

func (f *Decision) similarity(flags *pflag.FlagSet) (s dedup.Similarity, err error) {
	s.Threshold, s.Verify, s.Shared, s.ThirdTexts = f.Threshold, recipe.Verify(f.Verify), f.Shared, f.ThirdTexts
	if s.Measure, err = measure.Parse(f.Measure); err != nil {
		return s, &usage{err}
	}
	if s.Measure.IsCount() && !flags.Changed("threshold") {
		return s, usagef("%s overlap has no threshold that suits all data: say how many shingles must be common, such as %s 10", setting.Measure, setting.Threshold)
	}
	if err := CheckThreshold(s.Measure, f.Threshold, f.Recall); err != nil {
		return s, err
	}
	s.Candidates, err = f.candidates()
	return s, err
}

// The ways of finding candidates.
const (
	Auto  = "auto"
	LSH   = dedup.MethodLSH
	Exact = dedup.MethodExact
)

func (f *Decision) candidates() (dedup.Candidates, error) {
	banded := f.Bands != 0 && f.Rows != 0
	if !banded && (f.Bands != 0 || f.Rows != 0 || f.MinBands != 1) {
		return nil, usagef("%s and %s go together, and %s needs both", setting.Banding, setting.Rows, setting.MinBands)
	}
	switch {
	case f.Candidates == Exact:
		return dedup.Exact{}, nil
	case f.Candidates != Auto && f.Candidates != LSH:
		return nil, usagef("%s is %q: choose one of %s, %s, %s", setting.Candidates, f.Candidates, Auto, LSH, Exact)
	case banded:
		return dedup.Bands{Bands: f.Bands, Rows: f.Rows, MinBands: f.MinBands}, nil
	case f.Candidates == LSH:
		return dedup.LSH{Recall: f.Recall}, nil
	}
	return dedup.Auto{Recall: f.Recall}, nil
}

// CheckThreshold checks a threshold and a recall that the user has given. A configuration takes 0
// for its default, so it would not refuse a 0 of the user's.
func CheckThreshold(m measure.Measure, threshold, recall float64) error {
	switch {
	case m.IsCount():
		if _, err := measure.NewThreshold(m, threshold); err != nil {
			return usagef("%s is %v: by %s overlap take a whole number from 1 on, such as 10", setting.Threshold, threshold, setting.Measure)
		}
	case !(threshold > 0 && threshold <= 1):
		return usagef("%s is %v: take a number above 0 and up to 1, such as 0.8", setting.Threshold, threshold)
	}
	return CheckRecall(recall)
}

// CheckRecall checks a recall that the user has given.
func CheckRecall(recall float64) error {
	if !(recall > 0 && recall < 1) {
		return usagef("%s is %v: take a number between 0 and 1, such as 0.99 (%s exact misses nothing)", setting.Recall, recall, setting.Candidates)
	}
	return nil
}
