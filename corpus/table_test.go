package corpus

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTablesAreReadWithoutAText(t *testing.T) {
	for _, c := range []struct {
		name, content string
		columns       []string
	}{
		{"a.csv", "\ufeffkey,\"na,me\",key\n1,x,2\n", []string{"key", "na,me"}},
		{"a.tsv", "key\tna,me\n1\tx\n", []string{"key", "na,me"}},
		{"a.jsonl", "\ufeff{\"key\":1,\"na,me\":\"x\"}\n{\"key\":2,\"more\":null}\nbad\n", []string{"key", "na,me", "more"}},
		{"a.txt", "key,name\n", nil},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		sources, _, err := Find(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		names, err := Columns(t.Context(), sources[0], Options{})
		if err != nil || !slices.Equal(names, c.columns) {
			t.Errorf("%s: columns %q, %v, want %q", c.name, names, err, c.columns)
		}
		if c.columns == nil {
			continue
		}
		o := Options{NoText: true, IDField: "key", Fields: []string{"na,me", "none"}}
		f, err := Open(t.Context(), sources[0], o)
		if err != nil {
			t.Fatal(err)
		}
		var b Block
		if err := f.Next(&b); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		p := NewParser(o)
		p.Start(f, &b)
		var r Record
		if !p.Next(&r) || r.Err != nil || string(r.ID) != "1" || string(r.Fields[0]) != "x" || r.Fields[1] != nil || r.Text != nil {
			t.Errorf("%s: record %+v", c.name, r)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
