package connect

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/simhash"
)

// keysInMemory is the value of the field keys for index.KeysInMemory.
const keysInMemory = "memory"

type settings struct {
	path    string // clean and absolute; "": in memory
	options index.Options
}

// equal reports whether two processors may share a collection.
func (s settings) equal(other settings) bool { return s.String() == other.String() }

// String returns all settings. Equal recipes have equal lines.
func (s settings) String() string {
	o := s.options
	return fmt.Sprintf("%q %s %d %s %d %s %s %t", s.path, o.Recipe, o.BucketCap, o.Keys, o.Window.Docs, o.Window.Age, o.Window.Late, o.Window.Refresh)
}

// flagSet are the settings of alike stream that a processor has too.
type flagSet struct {
	*pflag.FlagSet
	recipe recipeflags.Settings
	window recipeflags.Window
}

func newFlagSet() *flagSet {
	f := &flagSet{FlagSet: pflag.NewFlagSet("alike_dedupe", pflag.ContinueOnError)}
	f.SortFlags = false
	f.recipe.Add(f.FlagSet, index.DefaultBucketCap)
	f.Lookup("distance").Usage = "in place of a threshold: most bits in which the fingerprints of duplicates differ; of the scheme fastsimhash, or of the scheme or preset given"
	return f
}

// recipeFlags are the flags that say what is alike.
func recipeFlags() (flags []*pflag.Flag) {
	newFlagSet().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	return flags
}

func isRecipeField(name string) bool {
	return slices.ContainsFunc(recipeFlags(), func(f *pflag.Flag) bool { return fieldOf(f.Name) == name })
}

// windowFields are the flags of the fields of a window.
var windowFields = map[string]string{"window-docs": fieldDocs, "window": fieldAge, "late": fieldLate, "refresh": fieldRefresh}

// fieldOf returns the name of the field for a flag.
func fieldOf(flag string) string {
	if name, ok := windowFields[flag]; ok {
		return fieldWindow + "." + name
	}
	return strings.ReplaceAll(flag, "-", "_")
}

// description returns what a flag does, for the documentation of its field.
func description(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	if f.DefValue == "" || f.DefValue == "0" || strings.Contains(usage, "(default") {
		return usage + "."
	}
	return usage + ". Default: " + f.DefValue + "."
}

func parseSettings(c *service.ParsedConfig) (s settings, err error) {
	flags := newFlagSet()
	for _, f := range recipeFlags() {
		if err := flags.take(c, f.Name, fieldOf(f.Name)); err != nil {
			return s, err
		}
	}
	if flags.Changed("distance") && !flags.Changed("scheme") && !flags.Changed("preset") {
		if err := flags.Set("scheme", simhash.Default().String()); err != nil {
			return s, err
		}
	}
	flags.window.Add(flags.FlagSet)
	all := false // documents, whatever their number
	if c.Contains(fieldWindow, fieldDocs) {
		docs, err := c.FieldInt(fieldWindow, fieldDocs)
		if err != nil {
			return s, err
		}
		all = docs == 0
	}
	for flag, name := range windowFields {
		if all && name == fieldDocs {
			continue
		}
		if err := flags.take(c, flag, fieldWindow, name); err != nil {
			return s, err
		}
	}
	if s.options, err = flags.options(); err != nil {
		return s, errors.New(setting.Explain(err, nameOf))
	}
	if all {
		s.options.Window.Docs = 0
	}
	keys, err := c.FieldString(fieldKeys)
	if err != nil {
		return s, err
	}
	if keys != keysInMemory {
		s.options.Keys = index.Keys(keys)
	}
	if s.path, err = c.FieldString(fieldPath); err == nil && s.path != "" {
		s.path, err = filepath.Abs(s.path)
	}
	if err != nil {
		return s, err
	}
	return s, s.options.Validate()
}

// take sets a flag to the value of a field, if it has one.
func (f *flagSet) take(c *service.ParsedConfig, flag string, field ...string) (err error) {
	if !c.Contains(field...) {
		return nil
	}
	var value string
	switch f.Lookup(flag).Value.Type() {
	case "float64":
		var v float64
		v, err = c.FieldFloat(field...)
		value = strconv.FormatFloat(v, 'g', -1, 64)
	case "bool":
		var v bool
		v, err = c.FieldBool(field...)
		value = strconv.FormatBool(v)
	case "int", "uint64":
		var v int
		v, err = c.FieldInt(field...)
		value = strconv.Itoa(v)
	default:
		value, err = c.FieldString(field...)
	}
	if err != nil {
		return err
	}
	if err = f.Set(flag, value); err == nil {
		return nil
	}
	return fmt.Errorf("%s is %q: %s", fieldOf(flag), value, recipeflags.Wanted(f.Lookup(flag), err, 0))
}

func (f *flagSet) options() (o index.Options, err error) {
	var c dedup.Config
	if err := f.recipe.Apply(&c, f.FlagSet); err != nil {
		return o, err
	}
	if o.Recipe, err = c.Recipe(); err != nil {
		return o, err
	}
	o.BucketCap, o.Columns = c.BucketCap, []string{stream.DeliveryColumn}
	o.Window, err = f.window.Window(f.FlagSet)
	return o, err
}

// nameOf names a setting in messages.
func nameOf(field string) string {
	if flag, ok := recipeflags.Flag(setting.Name(field)); ok {
		return fieldOf(flag)
	}
	return field
}
