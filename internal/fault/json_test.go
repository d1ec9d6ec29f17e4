package fault

import (
	"strings"
	"testing"
)

func TestMistakesInJSONAreSaidWithoutTypesOfGo(t *testing.T) {
	for text, want := range map[string]string{
		``:                  "it is empty",
		`{"n":`:             "it ends too soon",
		`{"n":tru}`:         "it is not JSON: invalid character '}' in literal true (expecting 'e')",
		`{} x`:              "something comes after it",
		`{}{}`:              "something comes after it",
		`[]`:                "it is a list, not an object",
		`{"n":"x"}`:         "n is a string, not a whole number",
		`{"n":1.5}`:         "n is 1.5: take a whole number, not too large",
		`{"x":1e999}`:       "x is 1e999: take a number, not too large",
		`{"x":true}`:        "x is true or false, not a number",
		`{"list":{}}`:       "list is an object, not a list",
		`{"list":[{}]}`:     "list is an object, not a string",
		`{"of":{"a":[]}}`:   "of is a list, not true or false",
		`{"zebra":1}`:       `it has a field "zebra", which is not known`,
		"{\"a\\u001bb\":1}": `it has a field "a\x1bb", which is not known`,
		`{"n":1}`:           "",
	} {
		var to struct {
			N    int             `json:"n"`
			X    *float64        `json:"x"`
			List []string        `json:"list"`
			Of   map[string]bool `json:"of"`
		}
		said := ""
		if err := Decode(strings.NewReader(text), &to, true); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%s: %s; want %s", text, said, want)
		}
	}
}
