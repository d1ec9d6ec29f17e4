package linklist

import (
	"bytes"
	"strings"
	"testing"
)

func TestANumberThatIsNotFiniteIsAnError(t *testing.T) {
	columns := []Column{{"a", false}, {"probability", true}}
	for _, value := range []string{"NaN", "+Inf", "-Inf", "1e999", "x", "0.5}"} {
		var out bytes.Buffer
		for name, w := range map[string]Writer{"JSON": New(&out, JSONL, columns), "Parquet": NewParquet(&out, columns, make([]bool, 2))} {
			if err := w.Write([]string{"1", value}); err == nil || !strings.HasPrefix(err.Error(), "column probability: ") {
				t.Errorf("%s of %s: %v", name, value, err)
			}
		}
	}
}

func TestJSONHasNumbersTextsAndBytes(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, JSONL, []Column{{"a", false}, {"similarity", true}, {"name", true}})
	if err := w.Write([]string{"\xff", "0.500000", ""}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"\ufffd","a_bytes":"/w==","similarity":0.500000,"name":null}` + "\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
