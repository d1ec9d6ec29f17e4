package connect

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// lints returns what the linter of Benthos says about a pipeline with a processor, and the error of making it.
func lints(t *testing.T, config string) (lints []service.Lint, err error) {
	t.Helper()
	yaml := "pipeline: { processors: [ { alike_dedupe: {" + config + "} } ] }"
	lints, err = service.GlobalEnvironment().FullConfigSchema("", "").NewStreamConfigLinter().LintYAML([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	p, err := tryMade(service.MockResources(), "{"+config+"}")
	if err == nil {
		err = p.Close(t.Context())
	}
	return lints, err
}

func TestSettingsThatGoTogetherAreTaken(t *testing.T) {
	for _, config := range []string{
		"", "distance: 3", "threshold: 0.7", "ngram: 3", "threshold: 0.7, ngram: 3", "preset: exlsh-word, distance: 3",
		"preset: exlsh-char, distance: 3, ngram: 2, hash: xxh3", "preset: hash4j-fastsimhash, bits: 128, distance: 5", "preset: broder", "preset: features",
		"scheme: simhash, distance: 2", "scheme: fastsimhash bits=128, distance: 4", "scheme: kmins k=256, threshold: 0.6", "seed: 7", "scheme: oph k=64, seed: 7",
		"tokens: alnum, normalize: nfc, fold: false, strip_diacritics: true", "tokens: chars, ngram: 8", "stop_words: en, min_token_length: 2, repetitions: true",
		"tokens: ascii, shingle_hash: fnv1", "measure: cosine, threshold: 0.7",
		"measure: weighted-jaccard, scheme: weighted", "measure: dice", "verify: sketch", "recall: 0.9", "bands: 16, rows: 6", "bands: 32, rows: 4, min_bands: 2", "bucket_cap: 100",
		"window: { docs: 5 }", "window: { docs: 0 }", "window: { age: 24h }", "window: { docs: 0, age: 7d, late: 1h }", "window: { docs: 9, age: 1h, refresh: true }",
		"text: root = this.body, id: root = this.id, delivery: root = this.id, time: root = this.at", "tag: true", "keys: memory",
	} {
		if lints, err := lints(t, config); len(lints) > 0 || err != nil {
			t.Errorf("{%s}: %v, %v", config, lints, err)
		}
	}
}

func TestSettingsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for config, want := range map[string]string{
		"distance: 3, threshold: 0.8":                        "leave threshold out",
		"distance: 3, measure: dice":                         "leave measure out",
		"distance: 3, bands: 2, rows: 2":                     "leave bands out",
		"preset: exlsh-word":                                 "such as distance 3",
		"preset: broder, scheme: simhash, distance: 3":       "preset broder and distance",
		"measure: containment":                               "take a measure with bands",
		"measure: overlap":                                   "measure overlap has no threshold",
		"preset: hash4j-simhash, distance: 3, tokens: chars": "preset hash4j-simhash says what tokens would",
		"scheme: kmins, distance: 3":                         "distance is for fingerprints",
		"scheme: simhash":                                    "such as distance 3",
		"threshold: 0":                                       "threshold is 0",
		"ngram: 0":                                           "ngram is 0",
		"stop_words: xx":                                     `stop_words is "xx"`,
		"seed: -1":                                           `seed is "-1"`,
		"window: { late: 1h }":                               "window.late is about a window.age",
		"window: { age: soon }":                              `window.age is "soon"`,
		"window: { age: 0s }":                                "take a time above 0",
		"window: { docs: -1 }":                               "window.docs is -1",
		"tokens: letters":                                    "tokens",
	} {
		if _, err := lints(t, config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("{%s}: error %v, want one with %q", config, err, want)
		}
	}
	for _, config := range []string{"distance: 3, threshold: 0.8", "distance: 3, measure: dice", "tokens: letters", "preset: exlsh", "threshhold: 1"} {
		if lints, _ := lints(t, config); len(lints) == 0 {
			t.Errorf("{%s}: the linter says nothing", config)
		}
	}
}

func TestPresetsOfFingerprintsDecideByDistance(t *testing.T) {
	p := made(t, service.MockResources(), "preset: exlsh-word\ndistance: 3")
	if got := passed(t, p, delivered(1, story), delivered(2, story), delivered(3, other)); !slices.Equal(got, []string{story, other}) {
		t.Errorf("%q", got)
	}
}

// logged collects the lines of a log.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Level.String()+" "+r.Message)
	return nil
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logged) WithGroup(string) slog.Handler      { return l }

// about returns the lines of a level with a text.
func (l *logged) about(level, text string) (lines []string) {
	for _, line := range l.lines {
		if strings.HasPrefix(line, level) && strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// run runs a stream and returns the messages that come out, and its log.
func run(t *testing.T, input, processor string, threads int) (out []*service.Message, log *logged) {
	t.Helper()
	log = &logged{}
	b := service.NewStreamBuilder()
	b.SetThreads(threads)
	b.SetLogger(slog.New(log))
	var mu sync.Mutex
	for _, err := range []error{
		b.AddInputYAML(input), b.AddProcessorYAML(processor),
		b.AddConsumerFunc(func(_ context.Context, m *service.Message) error {
			mu.Lock()
			defer mu.Unlock()
			out = append(out, m)
			return nil
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out, log
}

const (
	fourEqual = "generate: { count: 4, interval: '', mapping: 'root = \"" + story + "\"' }"
	nothing   = "mapping: root = this"
)

func TestMessagesOfInputsWithoutPositionsAreDeduplicatedInMemory(t *testing.T) {
	for _, threads := range []int{1, 4} {
		out, log := run(t, fourEqual, "alike_dedupe: {}", threads)
		if len(out) != 1 || out[0].GetError() != nil {
			t.Errorf("%d threads: %d of four equal messages pass", threads, len(out))
		}
		if warned := log.about("WARN", "set delivery"); len(warned) != 1 {
			t.Errorf("%d threads: the log warns %d times: %q", threads, len(warned), log.lines)
		}
	}
	if _, log := run(t, fourEqual, "alike_dedupe: { delivery: 'root = count(\"delivery\")' }", 1); len(log.about("WARN", "")) > 0 {
		t.Errorf("with a delivery: %q", log.lines)
	}
}

func TestMessagesWithoutPositionsAndAStateAreAnErrorThatTheLogNamesOnce(t *testing.T) {
	out, log := run(t, fourEqual, "alike_dedupe: { path: '"+t.TempDir()+"' }", 1)
	for _, m := range out {
		if m.GetError() == nil {
			t.Error("a message passes undecided, without an error")
		}
	}
	said := log.about("ERROR", "set delivery")
	if len(out) != 4 || len(said) != 1 || !strings.Contains(said[0], "leave path out") {
		t.Errorf("%d messages pass, and the log says %q", len(out), log.lines)
	}
}

func TestMessagesWithoutATextAreAnErrorThatTheLogNamesOnce(t *testing.T) {
	_, log := run(t, fourEqual, "alike_dedupe: { text: root = this.body.string(), tag: true }", 2)
	if said := log.about("ERROR", "alike_dedupe: text: "); len(said) != 1 {
		t.Errorf("the log says %q", log.lines)
	}
}

func TestProcessorsInSeparateBranchesAreSeparate(t *testing.T) {
	branch := "{ " + fourEqual[:len(fourEqual)-1] + "}, processors: [ { alike_dedupe: {} } ] }"
	out, _ := run(t, "broker: { inputs: [ "+branch+", "+branch+" ] }", nothing, 1)
	if len(out) != 2 {
		t.Errorf("%d messages of two branches pass, want one of each", len(out))
	}
}

func TestCopiesOfALabelledProcessorAreOne(t *testing.T) {
	branch := "{ " + fourEqual[:len(fourEqual)-1] + "}, processors: [ { label: once, alike_dedupe: {} } ] }"
	out, _ := run(t, "broker: { copies: 3, inputs: [ "+branch+" ] }", nothing, 1)
	if len(out) != 1 {
		t.Errorf("%d messages of three copies pass, want one", len(out))
	}
}
