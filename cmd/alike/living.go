package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
)

// livingFlags are the flags of the commands that make a living collection: what counts as similar
// in it, and how to read records.
type livingFlags struct {
	corpusFlags
	keys choice
}

// keysInMemory is the value of --keys for index.KeysInMemory.
const keysInMemory = "memory"

// add adds the flags; with chosen the command chooses where keys are if --keys is not given.
func (f *livingFlags) add(flags *pflag.FlagSet, chosen bool) {
	f.preset.add(flags)
	f.search.addDecision(flags, index.DefaultBucketCap)
	f.search.candidates.value = string(dedup.CandidatesLSH) // the only way to look up one document
	f.text.add(flags)
	f.scheme.add(flags)
	f.fingerprint.addParameters(flags)
	f.keys = choose(keysInMemory, string(index.KeysOnDisk))
	usage := "where the keys of documents are: memory, some 360 bytes of it for each document; or disk, for more documents than memory has room for"
	if chosen {
		f.keys.value = ""
		usage += " (default: memory if --memory has room for it, else disk)"
	}
	flags.Var(&f.keys, "keys", usage)
	f.input.addReading(flags)
}

// options builds the options of an index, and the configuration of reading.
func (f *livingFlags) options(cmd *cobra.Command, inputs []string) (index.Options, alike.Config, error) {
	c, err := f.config(cmd, inputs)
	if err != nil {
		return index.Options{}, c, err
	}
	o := index.Options{BucketCap: c.BucketCap}
	if f.keys.value != keysInMemory {
		o.Keys = index.Keys(f.keys.value)
	}
	if o.Recipe, err = c.Recipe(); err != nil {
		return o, c, err
	}
	return o, c, nil
}

// checkIndex checks the options of an index that will be opened without them.
func checkIndex(o index.Options) error {
	err := o.Validate()
	if err == nil {
		_, err = index.ParseRecipe(o.Recipe)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// buildMemory returns how much of a memory budget, 0 if it is not known, ids and keys may take while
// an index is built. The rest is for the program, documents in progress and Pebble.
func buildMemory(memory int64) int64 {
	if memory == 0 {
		return 0
	}
	return max(memory/2-24<<20, 8<<20)
}

// windowFlags bound a collection.
type windowFlags struct {
	age     string
	late    string
	docs    int
	refresh bool
}

func (f *windowFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.age, "window", "", "records are compared only if at most this far apart in time, such as 90m, 24h or 7d; older ones are forgotten")
	flags.StringVar(&f.late, "late", "0s", "by how much a record may be older than the newest one and still be treated as if it had come in time")
	flags.IntVar(&f.docs, "window-docs", 0, "remember at most this many kept records (default: 1000000 without --window, else all)")
	flags.BoolVar(&f.refresh, "refresh", false, "a duplicate makes the record that it is like stay as long as if it had just come")
}

// defaultWindowDocs bounds the memory of a stream without a window.
const defaultWindowDocs = 1_000_000

// mostWindowDocs is the largest window that an index takes.
const mostWindowDocs = 1 << 31

func (f *windowFlags) window(flags *pflag.FlagSet) (w index.Window, err error) {
	if w.Age, err = parseDuration("window", f.age); err != nil {
		return w, err
	}
	if w.Late, err = parseDuration("late", f.late); err != nil {
		return w, err
	}
	switch {
	case flags.Changed("window") && w.Age == 0:
		return w, usagef("--window is %q: take a time above 0, such as 24h", f.age)
	case w.Late > 0 && w.Age == 0:
		return w, usagef("--late is about a --window in time: add one, or leave --late out")
	case flags.Changed("window-docs") && (f.docs < 1 || f.docs > mostWindowDocs):
		return w, usagef("--window-docs is %d: take 1 to %d, such as %d", f.docs, mostWindowDocs, defaultWindowDocs)
	}
	w.Docs, w.Refresh = f.docs, f.refresh
	if w.Docs == 0 && w.Age == 0 {
		w.Docs = defaultWindowDocs
	}
	w.Now = time.Now
	return w, nil
}

// parseDuration reads a time span as people write it: in Go's form, or in days and weeks.
func parseDuration(flag, s string) (time.Duration, error) {
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
		return 0, usagef("--%s is %q: take a time span up to 146 years, such as 30s, 90m, 24h or 7d", flag, s)
	}
	return d, nil
}

// withIndex opens an index for the time of use, in at most memory bytes; 0: as much as it needs.
func withIndex(dir string, readOnly bool, memory int64, use func(x *index.Index) error) (err error) {
	x, err := index.Open(dir, index.OpenOptions{ReadOnly: readOnly, Memory: memory})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return use(x)
}
