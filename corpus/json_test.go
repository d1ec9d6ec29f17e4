package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus/internal/jsonline"
)

// parseLine parses one line of a format.
func parseLine(f *File, o Options, line string) Record {
	var r Record
	NewParser(o).ParseRaw(f.Layout(), []byte(line), &r)
	return r
}

var jsonFile = &File{src: Source{Path: "a.jsonl", Format: JSONL}, kind: JSONL.kind()}

func TestJSONRecord(t *testing.T) {
	for _, tt := range []struct {
		name, line, text, id, fields string
	}{
		{"plain", `{"text":"a","id":"x"}`, "a", "x", `<nil>,<nil>,`},
		{"any order and white space", "\ufeff \t{ \"id\" : \"x\" ,\"other\":0, \"text\" : \"a\" } \r\n", "a", "x", `<nil>,<nil>,`},
		{"an id that is a number keeps its spelling", `{"text":"a","id":1.50e+3}`, "a", "1.50e+3", `<nil>,<nil>,`},
		{"a null id is none", `{"text":"a","id":null}`, "a", "", `<nil>,<nil>,`},
		{"an empty id is none", `{"text":"a","id":""}`, "a", "", `<nil>,<nil>,`},
		{"an id that is an object is its JSON text", `{"text":"a","id":{"$oid":"5"}}`, "a", `{"$oid":"5"}`, `<nil>,<nil>,`},
		{"fields of all kinds", `{"f":true,"g":[1, {"text":"no"}],"text":"a"}`, "a", "", `"true","[1, {\"text\":\"no\"}]",`},
		{"a null field is as one that is not there", `{"f":null,"g":"","text":"a"}`, "a", "", `<nil>,"",`},
		{"the empty text", `{"text":""}`, "", "", `<nil>,<nil>,`},
		{"the last of repeated keys counts", `{"text":1,"text":"a\n","text":"b\t","id":"1","id":"2"}`, "b\t", "2", `<nil>,<nil>,`},
		{"all escapes", `{"text":"\"\\\/\b\f\n\r\t\u0041\u00e9\u8a9e\uD83D\uDE00\u0000"}`, "\"\\/\b\f\n\r\tAé語😀\x00", "", `<nil>,<nil>,`},
		{"lone surrogates", `{"text":"\ud800 \udc00 \ud800\ud800\udc00 \ud800\u0041 \ud83dx"}`, "\ufffd \ufffd \ufffd𐀀 \ufffdA \ufffdx", "", `<nil>,<nil>,`},
		{"bytes that are not UTF-8 stay", "{\"text\":\"a\xff\xc3(\\n\xed\xa0\x80\"}", "a\xff\xc3(\n\xed\xa0\x80", "", `<nil>,<nil>,`},
		{"a key with escapes", `{"\u0074ext":"a","i\u0064":"x"}`, "a", "x", `<nil>,<nil>,`},
		{"several values with escapes do not disturb each other", `{"id":"\ti","text":"\tt","f":"\tf","g":"\tg"}`, "\tt", "\ti", `"\tf","\tg",`},
		{"DEL is no control character", "{\"text\":\"\x7f\"}", "\x7f", "", `<nil>,<nil>,`},
		{"deep nesting", `{"x":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `,"text":"a"}`, "a", "", `<nil>,<nil>,`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := parseLine(jsonFile, Options{Fields: []string{"f", "g"}}, tt.line)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if string(r.Text) != tt.text || string(r.ID) != tt.id || showFields(r.Fields) != tt.fields {
				t.Errorf("text %q id %q fields %s", r.Text, r.ID, showFields(r.Fields))
			}
			if (r.ID == nil) != (tt.id == "") {
				t.Errorf("id %#v", r.ID)
			}
		})
	}
}

func TestJSONRecordThatIsSkipped(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		kind       error
		says       string
	}{
		{"no object", `"text"`, ErrMalformed, "at byte 1 of the line: not a JSON object"},
		{"an array", ` [{"text":"a"}]`, ErrMalformed, "at byte 2 of the line: an array, not an object (jq"},
		{"cut off", `{"text":"a`, ErrMalformed, "at byte 11 of the line: the line ends inside a string"},
		{"cut off after the value", `{"text":"a"`, ErrMalformed, "the line ends inside an object"},
		{"something behind", `{"text":"a"}{}`, ErrMalformed, "at byte 13 of the line: something follows the object"},
		{"a comma too many", `{"text":"a",}`, ErrMalformed, "expected a key in quotes"},
		{"no colon", `{"text" "a"}`, ErrMalformed, "expected ':'"},
		{"no comma", `{"text":"a" "b":1}`, ErrMalformed, "expected ',' or '}'"},
		{"a bad escape", `{"text":"\x"}`, ErrMalformed, "bad escape"},
		{"a short escape", `{"x":"\u12g4","text":""}`, ErrMalformed, "bad escape"},
		{"an escape cut off", `{"text":"\ud8`, ErrMalformed, "bad escape"},
		{"a control character", "{\"text\":\"a\tb\"}", ErrMalformed, "control character"},
		{"a number with a zero in front", `{"n":01,"text":"a"}`, ErrMalformed, "expected ',' or '}'"},
		{"a number without digits", `{"n":-,"text":"a"}`, ErrMalformed, "not a number"},
		{"a number with a bare dot", `{"n":1.,"text":"a"}`, ErrMalformed, "not a number"},
		{"not a number", `{"n":NaN,"text":"a"}`, ErrMalformed, "expected a value"},
		{"single quotes", `{'text':'a'}`, ErrMalformed, "expected a key"},
		{"brackets that do not match", `{"x":[1},"text":"a"}`, ErrMalformed, "expected ',' or the end of an object or array"},
		{"nested too deeply", `{"x":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`, ErrMalformed, "nested too deeply"},
		{"no text", `{"a":1,"b\n":{},"c":"\u00e9"}`, ErrMissingField, `no field "text", there are: a, "b\n", c; name the field with the text (TextField)`},
		{"no fields", ` { } `, ErrMissingField, `the record has no fields`},
		{"null text", `{"text":null}`, ErrMissingField, `field "text" is null`},
		{"text is a number", `{"text":5}`, ErrNotString, `field "text" is a number, not a string`},
		{"text is false", `{"text":false}`, ErrNotString, `field "text" is false, not a string`},
		{"last text is an object", `{"text":"a","text":{}}`, ErrNotString, `field "text" is an object`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := parseLine(jsonFile, Options{}, tt.line)
			if !errors.Is(r.Err, tt.kind) || !strings.Contains(r.Err.Error(), tt.says) {
				t.Errorf("error %v", r.Err)
			}
		})
	}
}

func TestIDsCanBeSwitchedOffAndNamed(t *testing.T) {
	line := `{"text":"a","id":"x","key":7}`
	if r := parseLine(jsonFile, Options{IDField: NoID}, line); r.ID != nil {
		t.Errorf("id %q", r.ID)
	}
	if r := parseLine(jsonFile, Options{IDField: "key"}, line); string(r.ID) != "7" {
		t.Errorf("id %q", r.ID)
	}
	if r := parseLine(jsonFile, Options{IDField: "text", Fields: []string{"text", "id", "id"}}, line); string(r.ID) != "a" || showFields(r.Fields) != `"a","x","x",` {
		t.Errorf("id %q fields %s", r.ID, showFields(r.Fields))
	}
	if r := parseLine(jsonFile, Options{TextField: "id"}, line); string(r.Text) != "x" || string(r.ID) != "x" {
		t.Errorf("text %q", r.Text)
	}
}

func TestAFieldWithDotsIsFoundInObjects(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"meta":{"lang":"de"}}`, `"de",`},
		{`{"meta.lang":"en","meta":{"lang":"de"}}`, `"en",`},
		{`{"meta.lang":null,"meta":{"lang":"de"}}`, `<nil>,`},
		{`{"meta":{"lang":"de"},"meta":{"lang":"en","lang":"\u0066r"}}`, `"fr",`},
		{`{"meta":{"lang":"de"},"meta":{}}`, `<nil>,`},
		{`{"meta":"{\"lang\":\"de\"}"}`, `<nil>,`},
		{`{"meta":[{"lang":"de"}],"lang":"de"}`, `<nil>,`},
		{`{"meta":{"lang":["de", 1]}}`, `"[\"de\", 1]",`},
		{`{"x":{"meta":{"lang":"de"}}}`, `<nil>,`},
	} {
		r := parseLine(jsonFile, Options{NoText: true, Fields: []string{"meta.lang"}}, tt.line)
		if got := showFields(r.Fields); r.Err != nil || got != tt.want {
			t.Errorf("%s: %s, want %s, error %v", tt.line, got, tt.want, r.Err)
		}
	}
	o := Options{TextField: "a.b.c", IDField: "a.id", Fields: []string{"a", "a.b.c", "a.b.d", "b.c", ""}}
	r := parseLine(jsonFile, o, `{"":0,"a":{"id":7,"b.d":1,"b":{"c":"\t","d":2}}}`)
	if string(r.Text) != "\t" || string(r.ID) != "7" ||
		showFields(r.Fields) != `"{\"id\":7,\"b.d\":1,\"b\":{\"c\":\"\\t\",\"d\":2}}","\t","1",<nil>,"0",` {
		t.Errorf("text %q id %q fields %s, error %v", r.Text, r.ID, showFields(r.Fields), r.Err)
	}
	if r := parseLine(jsonFile, o, `{"a":{"b":{"c":5}}}`); !errors.Is(r.Err, ErrNotString) {
		t.Errorf("error %v", r.Err)
	}
}

var (
	nestedKey  = rapid.SampledFrom([]string{"a", "b", "a.b", "b.a", "a.b.a"})
	nestedLeaf = rapid.SampledFrom([]any{"", "x", "\n", 1.0, true, nil})
)

// nestedRecord draws an object with objects in it, down to a depth.
func nestedRecord(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		o := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			if depth > 0 && rapid.Bool().Draw(t, "deeper") {
				o[nestedKey.Draw(t, "key")] = nestedRecord(depth-1).Draw(t, "object")
			} else {
				o[nestedKey.Draw(t, "key")] = nestedLeaf.Draw(t, "value")
			}
		}
		return o
	})
}

// A field that is found in an object is the one that encoding/json finds there.
func TestAFieldWithDotsIsTheOneOfAGeneralParser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, name := nestedRecord(3).Draw(t, "record"), nestedKey.Draw(t, "name")
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		r := parseLine(jsonFile, Options{NoText: true, Fields: []string{name}}, string(line))
		want := lookUp(o, name)
		if text, ok := want.(string); ok && r.Fields[0] != nil && string(r.Fields[0]) == text || want == nil && r.Fields[0] == nil {
			return
		}
		if asJSON, _ := json.Marshal(want); string(asJSON) != string(r.Fields[0]) {
			t.Fatalf("%s of %s is %q, want %s", name, line, r.Fields[0], asJSON)
		}
	})
}

// lookUp is the slow twin of nested.
func lookUp(o any, name string) any {
	fields, _ := o.(map[string]any)
	if v, ok := fields[name]; ok {
		return v
	}
	if outer, rest, dotted := strings.Cut(name, "."); dotted {
		return lookUp(fields[outer], rest)
	}
	return nil
}

// Columns names every value in a record that is no object, and each under a name by which it is found.
func TestEveryNestedValueHasAName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := nestedRecord(3).Draw(t, "record").(map[string]any)
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		all := fieldNames{json: &jsonline.Scanner{}}
		all.see(line)
		names := all.names()
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				t.Fatalf("%s: %q is named twice", line, name)
			}
		}
		var visit func(fields map[string]any, path string)
		visit = func(fields map[string]any, path string) {
			for key, v := range fields {
				inner, is := v.(map[string]any)
				switch name := path + key; {
				case is && len(inner) > 0 && !strings.Contains(key, "."):
					visit(inner, name+".")
				case is && len(inner) == 0 && path != "", !is && v == nil:
				case !slices.Contains(names, name):
					t.Fatalf("%s: %q is not among %q", line, name, names)
				case path == "" && !reflect.DeepEqual(lookUp(o, name), v):
					t.Fatalf("%s: %q is not the literal field", line, name)
				}
			}
		}
		visit(o, "")
	})
}

func TestAnObjectWithManyNamesIsOneColumn(t *testing.T) {
	all := fieldNames{json: &jsonline.Scanner{}}
	for n := range mostNested + 1 {
		all.see(fmt.Appendf(nil, `{"counts":{"%d":1},"meta":{"lang":"de"},"meta":{"at":[{"x":1}]},"none":{},"null":null}`, n))
	}
	all.see([]byte(`{"deep":` + strings.Repeat(`{"a":`, deepest+1) + `1` + strings.Repeat(`}`, deepest+1) + `,"some":"text"}`))
	all.see([]byte(`{"some":{"of":1},"none":{"of":1}}`))
	want := []string{"counts", "meta.lang", "meta.at", "none.of", "null", "deep" + strings.Repeat(".a", deepest), "some", "some.of"}
	if got := all.names(); !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}

// checkJSON holds one line to encoding/json.
func checkJSON(t interface {
	Fatalf(string, ...any)
}, line string) {
	if strings.Contains(line, "\n") {
		return
	}
	o := Options{Fields: []string{"n"}}
	r := parseLine(jsonFile, o, line)
	var want got
	want.object(strings.TrimPrefix(line, "\ufeff"), o.withDefaults())
	if (r.Err != nil) != want.Bad {
		t.Fatalf("%q: error %v, encoding/json: bad = %v", line, r.Err, want.Bad)
	}
	if r.Err != nil {
		if errors.Is(r.Err, ErrMalformed) && json.Valid([]byte(line)) && strings.HasPrefix(strings.Trim(line, " \t\r"), "{") {
			t.Fatalf("%q: valid, but %v", line, r.Err)
		}
		return
	}
	if validUTF8(string(r.Text)) != want.Text || validUTF8(string(r.ID)) != validUTF8(want.ID) {
		t.Fatalf("%q: text %q id %q, want text %q id %q", line, r.Text, r.ID, want.Text, want.ID)
	}
	if (r.Fields[0] == nil) != (want.Fields == "<nil>,") {
		t.Fatalf("%q: field %q, want %s", line, r.Fields[0], want.Fields)
	}
}

var jsonSeeds = []string{
	`{"text":"a","id":1}`, `{"text":"\ud83d\ude00\ud800","n":[{"a":[]},{}]}`, `{"text":"a","text":null}`, "\ufeff{}",
	`{"id":-0.1e-7,"n":true,"text":"","x":{"text":[1,2,"3",null,false]}}`, `{"te\u0078t":"0123456789012345678901234567890123456789\""}`,
	"{\"text\":\"\xff\x80\"}", `{"text":"a"} `, `{"text":"\u00"}`, `[1]`, `{"a":1e}`, `{"a":"b`,
}

func FuzzJSONL(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) { checkJSON(t, line) })
}

func TestJSONAgreesWithTheStandardLibraryOnMadeLines(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"`, `\`, `"text":`, `"id":`, `"n":`, `"a"`, `"\u`, "d83d", `\ude00`, "0", "-1", "1.5", "e9", "true", "null", " ", "\t", "\x00", "é", "\xff", "text",
		`{"text":"x"}`, `"0123456789abcdefghijklmnopqrstuvwxyz"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
		checkJSON(t, line)
		checkJSON(t, `{"text":`+line+`}`)
		checkJSON(t, `{"text":"`+line+`"}`)
		checkJSON(t, `{"n":[`+line+`],"text":"a"}`)
	})
}

func TestJSONAgreesWithTheStandardLibraryOnMarshaledObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := map[string]any{
			"text": rapid.String().Draw(t, "text"),
			"id":   rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n })).Draw(t, "id"),
			"n":    rapid.SliceOf(rapid.Float64Range(-1e300, 1e300)).Draw(t, "n"),
		}
		m[rapid.String().Draw(t, "key")] = map[string]any{"x": rapid.String().Draw(t, "value")}
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		checkJSON(t, string(line))
	})
}
