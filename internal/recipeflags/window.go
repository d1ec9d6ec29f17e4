package recipeflags

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/setting"
)

// Window are the settings that bound a collection.
type Window struct {
	age     string
	late    string
	docs    int
	refresh bool
}

func (f *Window) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.age, "window", "", "records are compared only if at most this far apart in time, such as 90m, 24h or 7d; older ones are forgotten")
	flags.StringVar(&f.late, "late", "0s", "by how much a record may be older than the newest one and still be treated as if it had come in time")
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
