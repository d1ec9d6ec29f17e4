package recipeflags

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/setting"
)

func TestSeedReplacesThatOfTheScheme(t *testing.T) {
	cases := []struct{ name, args, want string }{
		{"neither given", "", "minhash/oph/v1 k=128 bits=32 seed=1"},
		{"a seed in the scheme", "--scheme=oph,k=64,seed=5", "minhash/oph/v1 k=64 bits=32 seed=5"},
		{"a seed of its own", "--seed=7", "minhash/oph/v1 k=128 bits=32 seed=7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var f Sketch
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			f.Add(flags)
			if err := flags.Parse(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			got, err := f.MinHash(flags)
			if err != nil || got.String() != c.want {
				t.Errorf("scheme is %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestStopWordsAreAFileOrALanguage(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	if err := os.WriteFile(list, []byte("der\ndie das\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if words, err := readStopWords(list); err != nil || len(words) != 3 {
		t.Errorf("words of a file: %q (%v)", words, err)
	}
	if words, err := readStopWords("de"); err != nil || len(words) < 10 {
		t.Errorf("words of a language: %q (%v)", words, err)
	}
	if _, err := readStopWords(dir); err == nil {
		t.Error("a folder is no list of words")
	}
}

// set makes settings as a command or a processor does, from "flag=value".
func set(t *testing.T, values ...string) (dedup.Config, error) {
	t.Helper()
	var s Settings
	var c dedup.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.Add(flags, 64)
	for _, value := range values {
		name, value, _ := strings.Cut(value, "=")
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return c, s.Apply(&c, flags)
}

func TestEverySettingHasAName(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Settings).Add(flags, 64)
	new(Window).Add(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		name, ok := names[f.Name]
		if flag, _ := Flag(name); !ok || flag != f.Name {
			t.Errorf("--%s has the name %q, which stands for %q", f.Name, name, flag)
		}
	})
}

func TestErrorsNameSettingsAsTheirProgramDoes(t *testing.T) {
	for values, want := range map[string]string{
		"preset=exlsh-word": "such as <distance> 3",
		"distance=3":        "<distance> is for",
		"preset=exlsh-word distance=3 threshold=0.8":  "leave <threshold> out",
		"preset=exlsh-word distance=3 seed=1":         "<preset> exlsh-word says what <seed> would",
		"preset=broder scheme=fastsimhash distance=3": "<preset> broder and <distance>",
		"scheme=fastsimhash distance=-1":              "<distance> is -1",
		"ngram=0":                                     "<ngram> is 0",
		"stop-words=xx":                               `<stop-words> is "xx"`,
		"threshold=0":                                 "<threshold> is 0",
		"recall=1":                                    "<recall> is 1",
		"bands=3":                                     "<bands> and <rows>",
		"bucket-cap=1":                                "<bucket-cap> is 1",
		"measure=overlap":                             "<measure> overlap",
		"bits=3":                                      "<bits> is for presets: add <preset> NAME",
		"scheme=nonsense":                             "nonsense",
	} {
		_, err := set(t, strings.Fields(values)...)
		if !errors.Is(err, dedup.ErrUsage) {
			t.Errorf("%s: error %v, want wrong usage", values, err)
			continue
		}
		got := setting.Explain(err, func(field string) string {
			flag, _ := Flag(setting.Name(field))
			return "<" + flag + ">"
		})
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", values, got, want)
		}
	}
}

func TestPresetsSetWhatIsNotGiven(t *testing.T) {
	for values, want := range map[string]string{
		"":                                  "jaccard>=0.8 exact",
		"preset=exlsh-word distance=3":      "hamming<=3",
		"scheme=fastsimhash distance=3":     "hamming<=3",
		"preset=features threshold=0.9":     "jaccard>=0.9 none",
		"measure=containment threshold=0.5": "containment>=0.5 exact",
		"preset=broder verify=exact":        "jaccard>=0.03 exact",
	} {
		c, err := set(t, strings.Fields(values)...)
		if err != nil {
			t.Errorf("%s: %v", values, err)
			continue
		}
		if r, err := c.Recipe(); err != nil || r.Decision() != want {
			t.Errorf("%s: %s (%v), want %s", values, r.Decision(), err, want)
		}
	}
}

func TestWindowsOfAStreamAreBounded(t *testing.T) {
	day := 24 * time.Hour
	for values, want := range map[string]index.Window{
		"":                           {Docs: 1_000_000},
		"window=24h":                 {Age: day},
		"window=2d window-docs=5":    {Age: 2 * day, Docs: 5},
		"window=1w late=90m":         {Age: 7 * day, Late: 90 * time.Minute},
		"window-docs=7 refresh=true": {Docs: 7, Refresh: true},
		"late=1s":                    {},
		"window=0s":                  {},
		"window=soon":                {},
		"window-docs=0":              {},
	} {
		var w Window
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		w.Add(flags)
		for _, value := range strings.Fields(values) {
			name, value, _ := strings.Cut(value, "=")
			if err := flags.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.Window(flags)
		if refused := reflect.DeepEqual(want, index.Window{}); refused != errors.Is(err, dedup.ErrUsage) {
			t.Errorf("%s: error %v", values, err)
		} else if got.Now = nil; !refused && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", values, got, want)
		}
	}
}
