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
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/stage/runner"
)

// document is a kind of JSON that the program writes.
type document struct {
	name, what string
	of         reflect.Type
}

// documents are all kinds, in the order in which they are listed. A file of lines has one object a line.
var documents = []document{
	{"summary", "summary.json and --json of dedup and passages", reflect.TypeFor[alike.Summary]()},
	{"estimate", "dedup --dry-run --json", reflect.TypeFor[dedup.Plan]()},
	{"pairs", "lines of pairs --json, and of -o FILE.jsonl", reflect.TypeFor[pairObject]()},
	{"fingerprints", "lines of sketch", reflect.TypeFor[fingerprintObject]()},
	{"matches", "lines of search --json", reflect.TypeFor[queryObject]()},
	{"skipped", "lines of --skipped FILE", reflect.TypeFor[skippedObject]()},
	{"check", "check", reflect.TypeFor[alike.Checked]()},
	{"compare", "compare --json", reflect.TypeFor[alike.Comparison]()},
	{"compare-measure", "compare --measure --json", reflect.TypeFor[measuredComparison]()},
	{"curve", "tune --threshold --json", reflect.TypeFor[alike.Tuning]()},
	{"recipe", "tune INPUT --json", reflect.TypeFor[tuned]()},
	{"scores", "eval --json", reflect.TypeFor[alike.PairScores]()},
	{"cluster-scores", "eval --clusters --json", reflect.TypeFor[alike.ClusterScores]()},
	{"index", "index build, add and delete --json", reflect.TypeFor[fed]()},
	{"decontaminate", "summary.json and --json of decontaminate", reflect.TypeFor[decontaminate.Summary]()},
	{"links", "--summary FILE of join, and of pairs and dedup --records", reflect.TypeFor[linkage.Report]()},
	{"entities", "--summary FILE of entities", reflect.TypeFor[alike.Entities]()},
	{"config", "--save-config FILE of join, pairs --records and entities", reflect.TypeFor[joinFile]()},
	{"model", "learn -o FILE", reflect.TypeFor[linkage.Model]()},
	{"answers", "lines of match", reflect.TypeFor[alike.MatchAnswer]()},
	{"baseline", "pairs --write-baseline FILE", reflect.TypeFor[gate.Baseline]()},
	{"plan", "plan -o FILE", reflect.TypeFor[runner.Plan]()},
	{"stages", "stage list --json", reflect.TypeFor[stagesObject]()},
	{"told", "stage match --json", reflect.TypeFor[toldObject]()},
	{"run", "stage publish --json", reflect.TypeFor[runner.Summary]()},
}

const schemaHelp = `Print the JSON Schema (2020-12) of what the program writes as JSON.

Programs that read it take what they know: later versions may add members. Without a name the
command lists the names, and which command writes what.`

func newSchema() *cobra.Command {
	names := make([]string, len(documents))
	for i, d := range documents {
		names[i] = d.name
	}
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "Print the schema of an output in JSON",
		Long:      schemaHelp,
		Example:   "  alike schema\n  alike schema summary",
		Args:      atMost(1, "name one schema"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSchemas(cmd)
			}
			i := slices.Index(names, args[0])
			if i < 0 {
				return usagef("there is no schema %q: take %s", args[0], strings.Join(names, ", "))
			}
			s, err := documents[i].schema()
			if err != nil {
				return err
			}
			open(s)
			return printJSON(cmd, s)
		},
	}
}

func listSchemas(cmd *cobra.Command) error {
	out := printed(cmd)
	for _, d := range documents {
		fmt.Fprintf(out, "%-16s %s\n", d.name, d.what)
	}
	return nil
}

// schema returns the schema of the document, whose objects have no members that it does not name.
func (d *document) schema() (*jsonschema.Schema, error) {
	schemas := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.Number](): {Type: "number"},
		reflect.TypeFor[[]byte]():      {Type: "string", ContentEncoding: "base64"},
	}
	addTexts(schemas, d.of, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(d.of, &jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", d.name, err)
	}
	s.Schema, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", d.name, d.what
	return s, nil
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

// open lets objects have other members.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}
