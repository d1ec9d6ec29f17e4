package charttest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

const chart = "../helm/alike"

// files are those of the chart, as templates see them.
type files struct{}

func (files) Get(name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(chart, name))
	return string(content), err
}

// readYAML returns a file of the chart as a map.
func readYAML(t *testing.T, name string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chart, name))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := yaml.UnmarshalStrict(content, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// merge returns values with others in place of them, key by key.
func merge(values, others map[string]any) map[string]any {
	merged := maps.Clone(values)
	for key, other := range others {
		below, isMap := values[key].(map[string]any)
		if otherMap, ok := other.(map[string]any); ok && isMap {
			other = merge(below, otherMap)
		}
		merged[key] = other
	}
	return merged
}

// engine returns the templates of the chart with the functions of Helm that they use. Helm's own engine brings the
// client of Kubernetes along; ../kubetest installs by it.
func engine(t *testing.T) *template.Template {
	t.Helper()
	all := template.New("chart")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data any) (string, error) {
		var b strings.Builder
		err := all.ExecuteTemplate(&b, name, data)
		return b.String(), err
	}
	functions["toYaml"] = func(value any) (string, error) {
		out, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(out), "\n"), err
	}
	all.Funcs(functions).Option("missingkey=error")
	names, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil || len(names) == 0 {
		t.Fatal("no templates", err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all.New(filepath.Base(name)).Parse(string(content)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// render returns the objects that the chart installs with some values beside its defaults, in YAML.
func render(t *testing.T, values string) (objects [][]byte, err error) {
	t.Helper()
	others := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &others); err != nil {
		t.Fatal(err)
	}
	about := readYAML(t, "Chart.yaml")
	data := map[string]any{
		"Values": merge(readYAML(t, "values.yaml"), others), "Files": files{},
		"Release": map[string]any{"Name": "release", "Namespace": "space", "Service": "Helm"},
		"Chart":   map[string]any{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
	}
	all := engine(t)
	for _, part := range all.Templates() {
		if !strings.HasSuffix(part.Name(), ".yaml") {
			continue
		}
		var b bytes.Buffer
		if err := part.Execute(&b, data); err != nil {
			return nil, err
		}
		for _, object := range bytes.Split(b.Bytes(), []byte("\n---\n")) {
			var fields map[string]any
			if err := yaml.UnmarshalStrict(object, &fields); err != nil {
				t.Fatalf("%s: %v\n%s", part.Name(), err, object)
			}
			if len(fields) > 0 {
				objects = append(objects, object)
			}
		}
	}
	return objects, nil
}
