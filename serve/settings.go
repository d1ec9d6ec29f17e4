package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/text"
)

// Settings define a collection, as JSON. The recipe's settings have the names of the command's flags, with _ for -.
type settings struct {
	Window      *windowSettings `json:"window,omitempty"`
	Fields      fields          `json:"fields,omitempty"`
	Keep        index.Keep      `json:"keep,omitempty"`
	Keys        string          `json:"keys,omitempty"`
	Containment int             `json:"containment,omitempty"`

	recipe map[string]json.RawMessage // the other fields
	rule   decidingRule               // nil: the first
}

type windowSettings struct {
	Docs    int    `json:"docs,omitempty"`
	Age     string `json:"age,omitempty"`
	Late    string `json:"late,omitempty"`
	Refresh bool   `json:"refresh,omitempty"`
}

// ownSettings are the fields of settings that are not the recipe's.
var ownSettings = []string{"window", "fields", "keep", "keys", "containment"}

// The values of the setting keys.
const (
	keysInMemory = "memory"
	keysOnDisk   = string(index.KeysOnDisk)
)

func parseSettings(body []byte) (s settings, err error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return s, badJSON(err)
	}
	if fields == nil { // null
		return s, errNoObject
	}
	own := map[string]json.RawMessage{}
	for _, name := range ownSettings {
		if value, ok := fields[name]; ok {
			own[name] = value
			delete(fields, name)
		}
	}
	known, err := json.Marshal(own)
	if err != nil {
		return s, err
	}
	d := json.NewDecoder(bytes.NewReader(known))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, badJSON(err)
	}
	s.recipe = fields
	return s, nil
}

// MarshalJSON returns all settings in one object, in the order of their names.
func (s settings) MarshalJSON() ([]byte, error) {
	type own settings
	known, err := json.Marshal(own(s))
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(known, &all); err != nil {
		return nil, err
	}
	for name, value := range s.recipe {
		all[name] = value
	}
	return json.Marshal(all)
}

// badJSON is the problem of a body that cannot be decoded. The error of package json is not shown: it may have pieces
// of the body.
func badJSON(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return unprocessable(kind.Field, "%s", fault.Mistyped(kind))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if unquoted, err := strconv.Unquote(name); err == nil {
			return unprocessable(unquoted, "is no setting")
		}
	}
	return errNoObject
}

var errNoObject = &Problem{Status: http.StatusBadRequest, Detail: "the body is not the JSON object that this path takes"}

// flagSet are settings of the command line, set by name.
type flagSet struct {
	*pflag.FlagSet
	text   *recipeflags.Text
	words  []string // of the setting stop_words, if it lists them
	listed bool
}

func newFlagSet(text *recipeflags.Text, add func(*pflag.FlagSet)) *flagSet {
	f := &flagSet{FlagSet: pflag.NewFlagSet("", pflag.ContinueOnError), text: text}
	add(f.FlagSet)
	text.WordsOf = func(name string) ([]string, error) {
		if f.listed {
			return f.words, nil
		}
		return languageWords(name)
	}
	return f
}

// languageWords returns the stop words of a language. A name from afar never becomes that of a file.
func languageWords(language string) ([]string, error) {
	words, err := text.BuiltinStopWords(language)
	if err != nil {
		return nil, unprocessable("stop_words", "is no language with a list; list the words themselves")
	}
	return words, nil
}

// fileFlags are flags that name files of the machine, which no request may.
var fileFlags = []string{"permutations"}

const stopWords = "stop_words"

func (f *flagSet) setJSON(name string, value json.RawMessage) error {
	if name == stopWords && value[0] == '[' {
		f.listed = true
		if err := json.Unmarshal(value, &f.words); err != nil {
			return unprocessable(name, "takes the name of a language or a list of words")
		}
		return f.set(name, "listed")
	}
	flag := f.flag(name)
	if flag == nil {
		return unprocessable(name, "is no setting")
	}
	var word string
	switch kind := flag.Value.Type(); {
	case value[0] == '"':
		if kind == "int" || kind == "uint64" || kind == "float64" || kind == "bool" {
			return unprocessable(name, "is a string; %s", recipeflags.Wanted(flag, nil, 0))
		}
		if err := json.Unmarshal(value, &word); err != nil {
			return badJSON(err)
		}
	case value[0] == '{' || value[0] == '[' || string(value) == "null":
		return unprocessable(name, "takes a single value")
	default:
		word = string(value)
	}
	return f.set(name, word)
}

// setObject sets the settings of an object of JSON, leaving out other fields of it.
func (f *flagSet) setObject(body []byte, others ...string) error {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &all); err != nil {
		return badJSON(err)
	}
	for name, value := range all {
		if slices.Contains(others, name) {
			continue
		}
		if err := f.setJSON(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (f *flagSet) flag(name string) *pflag.Flag {
	if strings.Contains(name, "-") || slices.Contains(fileFlags, name) {
		return nil
	}
	return f.Lookup(strings.ReplaceAll(name, "_", "-"))
}

// set sets a setting to a value as the command line has it.
func (f *flagSet) set(name, value string) error {
	flag := f.flag(name)
	if flag == nil {
		return unprocessable(name, "is no setting")
	}
	err := f.Set(flag.Name, value)
	if err == nil {
		return nil
	}
	return unprocessable(name, "%s", recipeflags.Wanted(flag, err, 0))
}

func (f *flagSet) setQuery(query map[string][]string) error {
	for name, values := range query {
		switch {
		case f.flag(name) == nil:
			return unknownParameter(name)
		case len(values) != 1:
			return unprocessable(name, "is given %d times", len(values))
		case name == stopWords && strings.Contains(values[0], ","):
			f.listed, f.words = true, strings.Split(values[0], ",")
		}
		if err := f.set(name, values[0]); err != nil {
			return err
		}
	}
	return nil
}

// nameOf names a setting in messages.
func nameOf(field string) string {
	if flag, ok := recipeflags.Flag(setting.Name(field)); ok {
		return strings.ReplaceAll(flag, "-", "_")
	}
	return field
}

// explained is the problem of settings that contradict each other.
func explained(err error) error {
	var p *Problem
	if err == nil || errors.As(err, &p) {
		return err
	}
	p = &Problem{Status: http.StatusUnprocessableEntity}
	p.Detail = strings.ReplaceAll(setting.Explain(err, func(field string) string {
		name := nameOf(field)
		p.Field = cmp.Or(p.Field, name) // the first that the message names
		return name
	}), "\n", "; ")
	return p
}

func (s *settings) options(now func() time.Time) (o index.Options, err error) {
	var made recipeflags.Settings
	flags := newFlagSet(&made.Text, func(to *pflag.FlagSet) { made.Add(to, index.DefaultBucketCap) })
	for name, value := range s.recipe {
		if err := flags.setJSON(name, value); err != nil {
			return o, err
		}
	}
	if flags.Changed("distance") && !flags.Changed("scheme") && !flags.Changed("preset") {
		if err := flags.Set("scheme", simhash.Default().String()); err != nil {
			return o, err
		}
	}
	var c dedup.Config
	if err := made.Apply(&c, flags.FlagSet); err != nil {
		return o, explained(err)
	}
	if o.Recipe, err = c.Recipe(); err != nil {
		return o, explained(err)
	}
	o.BucketCap, o.ByID, o.Containment = c.BucketCap, true, s.Containment
	if o.Keep = s.Keep; o.Keep == index.KeepNeeded {
		o.Keep = index.KeepText
	}
	switch s.Keys {
	case "", keysInMemory:
	case keysOnDisk:
		o.Keys = index.KeysOnDisk
	default:
		return o, unprocessable("keys", "takes %s or %s", keysInMemory, keysOnDisk)
	}
	if o.Window, err = s.Window.window(now); err != nil {
		return o, err
	}
	if o.Columns, err = s.Fields.columns(); err != nil {
		return o, err
	}
	if s.rule != nil {
		o = s.rule(o)
	}
	return o, explained(o.Validate())
}

// window returns the window of an index; w may be nil.
func (w *windowSettings) window(now func() time.Time) (window index.Window, err error) {
	if w == nil {
		return index.Window{Now: now}, nil
	}
	var made recipeflags.Window
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	made.Add(flags)
	for name, value := range map[string]string{"window": w.Age, "late": w.Late} {
		if value != "" {
			if err := flags.Set(name, value); err != nil {
				return window, unprocessable("window", "has a value that is no span of time")
			}
		}
	}
	if w.Docs == 0 && w.Age == "" {
		return window, unprocessable("window", "needs docs or age")
	}
	if w.Docs != 0 {
		if err := flags.Set("window-docs", strconv.Itoa(w.Docs)); err != nil {
			return window, unprocessable("window.docs", "is no number")
		}
	}
	if window, err = made.Window(flags); err != nil {
		return window, unprocessable("window", "takes spans of time such as 90m, 24h or 7d for age and late, and 1 to %d for docs", recipeflags.MostWindowDocs)
	}
	window.Refresh, window.Now = w.Refresh, now
	return window, nil
}

// signatures returns the recipe of fingerprints that settings ask for.
func signatures(set func(f *flagSet) error) (r recipe.Recipe, err error) {
	var made recipeflags.Signatures
	flags := newFlagSet(&made.Text, made.Add)
	if err := set(flags); err != nil {
		return r, err
	}
	var c dedup.Config
	if err := made.Apply(&c, flags.FlagSet); err != nil {
		return r, explained(err)
	}
	r, err = c.SketchRecipe()
	return r, explained(err)
}

// fieldKind is the type of a declared field.
type fieldKind string

const (
	kindString  fieldKind = "string"
	kindNumber  fieldKind = "number"
	kindBoolean fieldKind = "boolean"
	kindTime    fieldKind = "time"
)

// fields are the declared fields of a collection with their types.
type fields map[string]fieldKind

// The columns before those of the declared fields.
const (
	digestColumn   = iota // of the text's bytes
	metadataColumn        // an object of JSON: all fields of the document but id and text
	firstField
)

// names returns the names of the fields in the order of their columns.
func (f fields) names() []string {
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (f fields) columns() ([]string, error) {
	columns := []string{"alike.digest", "alike.metadata"}
	for _, name := range f.names() {
		switch f[name] {
		case kindString, kindNumber, kindBoolean, kindTime:
		default:
			return nil, unprocessable("fields", "has a type other than %s, %s, %s, %s", kindString, kindNumber, kindBoolean, kindTime)
		}
		if name == "" || strings.ContainsRune(name, 0) || slices.Contains(reserved, name) && name != timeField {
			return nil, unprocessable("fields", "has a name that no field of a document can have")
		}
		columns = append(columns, name)
	}
	if len(f) > mostFields {
		return nil, unprocessable("fields", "has more than %d names", mostFields)
	}
	return columns, nil
}

// mostFields is the largest number of declared fields of a collection.
const mostFields = 64

// A decidingRule turns the options of a collection into those by which it decides. Its version is its place in the list of
// rules, from 1 on. What decides about documents may change only by a rule that is added: replicas decide by the rule
// that the log names, and the log names a new one when all of them know it.
type decidingRule func(o index.Options) index.Options

// rules are all rules that this program knows.
var rules = []decidingRule{func(o index.Options) index.Options { return o }}

// The fields of a document that are not its metadata, but for time, which is also that.
const (
	idField       = "id"
	textField     = "text"
	timeField     = "time"
	filterField   = "filter"
	evidenceField = "evidence"
)

var reserved = []string{idField, textField, timeField, filterField, evidenceField}
