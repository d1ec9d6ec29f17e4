package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/gate"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/stage/runner"
)

// jsonKind is a kind of JSON that the program writes.
type jsonKind struct {
	name, what string
	of         reflect.Type      // nil: a line is a row of a list
	columns    []linklist.Column // of the list
	more       bool              // and those of tables
}

// jsonKinds are all kinds, in the order in which they are listed. A file of lines has one object a line.
var jsonKinds = []jsonKind{
	{name: "summary", what: "summary.json and --json of dedup and passages", of: reflect.TypeFor[alike.Summary]()},
	{name: "estimate", what: "dedup --dry-run --json", of: reflect.TypeFor[dedup.Plan]()},
	{name: "pairs", what: "lines of pairs --json, and of -o FILE.jsonl", of: reflect.TypeFor[pairObject]()},
	{name: "fingerprints", what: "lines of sketch", of: reflect.TypeFor[fingerprintObject]()},
	{name: "matches", what: "lines of search --json", of: reflect.TypeFor[queryObject]()},
	{name: "skipped", what: "lines of --skipped FILE", of: reflect.TypeFor[skippedObject]()},
	{name: "check", what: "check", of: reflect.TypeFor[alike.Checked]()},
	{name: "compare", what: "compare --json", of: reflect.TypeFor[alike.Comparison]()},
	{name: "compare-measure", what: "compare --measure --json", of: reflect.TypeFor[measuredComparison]()},
	{name: "curve", what: "tune --threshold --json", of: reflect.TypeFor[alike.Tuning]()},
	{name: "curves", what: "tune --bands of several numbers --json", of: reflect.TypeFor[[]alike.Tuning]()},
	{name: "recipe", what: "tune INPUT --json", of: reflect.TypeFor[tuned]()},
	{name: "scores", what: "eval --json", of: reflect.TypeFor[alike.PairScores]()},
	{name: "cluster-scores", what: "eval --clusters --json", of: reflect.TypeFor[alike.ClusterScores]()},
	{name: "span-scores", what: "eval --spans --json", of: reflect.TypeFor[alike.SpanScores]()},
	{name: "index", what: "index build, add and delete --json", of: reflect.TypeFor[fed]()},
	{name: "decontaminate", what: "summary.json and --json of decontaminate", of: reflect.TypeFor[decontaminate.Summary]()},
	{name: "links", what: "--summary FILE of join and pairs --records", of: reflect.TypeFor[linkage.Report]()},
	{name: "entities", what: "--summary FILE of entities", of: reflect.TypeFor[alike.Entities]()},
	{name: "config", what: "--save-config FILE of join, pairs --records and entities", of: reflect.TypeFor[joinFile]()},
	{name: "model", what: "learn -o FILE", of: reflect.TypeFor[linkage.Model]()},
	{name: "answers", what: "lines of match", of: reflect.TypeFor[alike.MatchAnswer]()},
	{name: "baseline", what: "pairs --write-baseline FILE", of: reflect.TypeFor[gate.Baseline]()},
	{name: "plan", what: "plan -o FILE", of: reflect.TypeFor[runner.Plan]()},
	{name: "stages", what: "stage list --json", of: reflect.TypeFor[stagesObject]()},
	{name: "link", what: "lines of join --json", columns: linklist.Columns([]string{"left_id", "right_id"}, nil, false, nil), more: true},
	{name: "same", what: "lines of pairs --records --json", columns: linklist.Columns([]string{"a", "b"}, nil, false, nil), more: true},
	{name: "clusters", what: "lines of --clusters FILE.jsonl", columns: clusterColumns},
	{name: "entity", what: "lines of entities --json", columns: entityColumns},
	{name: "dropped", what: "lines of stream --duplicates FILE", columns: []linklist.Column{{Name: "id"}, {Name: "duplicate_of"}, {Name: "similarity", Number: true}}},
	{name: "progress", what: "lines of --progress json", of: reflect.TypeFor[event]()},
	{name: "held", what: "lines of index hold", of: reflect.TypeFor[answered]()},
	{name: "told", what: "stage match --json", of: reflect.TypeFor[toldObject]()},
	{name: "run", what: "stage publish --json", of: reflect.TypeFor[runner.Summary]()},
}

const schemaHelp = `Print the JSON Schema (2020-12) of what the program writes as JSON.

Programs that read it take what they know: later versions may add members. Without a name the
command lists the names, and which command writes what.`

func newSchema() *cobra.Command {
	names := make([]string, len(jsonKinds))
	for i, d := range jsonKinds {
		names[i] = d.name
	}
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "Print the schema of an output in JSON",
		Long:      schemaHelp,
		Example:   "  alike schema\n  alike schema summary",
		Args:      arguments(0, 1, "name one schema"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSchemas(cmd)
			}
			i := slices.Index(names, args[0])
			if i < 0 {
				return usagef("there is no schema %q: take %s", args[0], strings.Join(names, ", "))
			}
			s, err := jsonKinds[i].schema()
			if err != nil {
				return err
			}
			allowMore(s)
			return printJSON(cmd, s)
		},
	}
}

func listSchemas(cmd *cobra.Command) error {
	out := printed(cmd)
	for _, d := range jsonKinds {
		fmt.Fprintf(out, "%-16s %s\n", d.name, d.what)
	}
	return nil
}

// schema returns the schema of the document, whose objects have no members that it does not name.
func (d *jsonKind) schema() (*jsonschema.Schema, error) {
	if d.of == nil {
		return d.titled(rowSchema(d.columns, d.more)), nil
	}
	schemas := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.Number](): {Type: "number"},
		reflect.TypeFor[[]byte]():      {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[dedup.Expected](): {AnyOf: []*jsonschema.Schema{
			{Type: "number"}, {Type: "array", Items: &jsonschema.Schema{Type: "number"}, MinItems: jsonschema.Ptr(2), MaxItems: jsonschema.Ptr(2)},
		}},
	}
	addTexts(schemas, d.of, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(d.of, &jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", d.name, err)
	}
	return d.titled(s), nil
}

func (d *jsonKind) titled(s *jsonschema.Schema) *jsonschema.Schema {
	s.Schema, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", d.name, d.what
	return s
}

// rowSchema is the schema of a row as linklist writes it. A text that is not UTF-8 stands in base64 beside it.
func rowSchema(columns []linklist.Column, more bool) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, Required: linklist.Names(columns)}
	for _, c := range columns {
		if s.PropertyOrder = append(s.PropertyOrder, c.Name); c.Number {
			s.Properties[c.Name] = &jsonschema.Schema{Types: []string{"null", "number"}}
			continue
		}
		raw := c.Name + "_bytes"
		s.Properties[c.Name], s.Properties[raw] = &jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
		s.PropertyOrder = append(s.PropertyOrder, raw)
	}
	if s.AdditionalProperties = (&jsonschema.Schema{Not: &jsonschema.Schema{}}); more {
		s.AdditionalProperties = &jsonschema.Schema{Types: []string{"null", "number", "string"}}
	}
	return s
}

// addTexts adds the types within a type that are written as texts.
func addTexts(to map[reflect.Type]*jsonschema.Schema, t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch {
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		if to[t] == nil && t != reflect.TypeFor[time.Time]() {
			to[t] = &jsonschema.Schema{Type: "string"}
		}
	case t.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.IsExported() && f.Tag.Get("json") != "-" {
				addTexts(to, f.Type, seen)
			}
		}
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		addTexts(to, t.Elem(), seen)
	}
}

// allowMore lets objects have other members.
func allowMore(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		allowMore(p)
	}
	allowMore(s.Items)
	allowMore(s.AdditionalProperties)
}
