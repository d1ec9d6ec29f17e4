package dedup

import (
	"encoding/json"
	"testing"
)

func TestAnExpectedShareIsANumberOrARange(t *testing.T) {
	for text, want := range map[string]Expected{
		"0.99": promised(0.99), "1": promised(1), "[0.5,0.5]": {0.5, 0.5, true}, "[0,1]": {0, 1, true},
	} {
		got, err := json.Marshal(want)
		if err != nil || string(got) != text {
			t.Errorf("%+v is written as %s, want %s (%v)", want, got, text, err)
		}
		var read Expected
		if err := json.Unmarshal([]byte(text), &read); err != nil || read != want {
			t.Errorf("%s is read as %+v, want %+v (%v)", text, read, want, err)
		}
	}
	for _, text := range []string{`"1"`, "[1]", "[0,0.5,1]", "{}"} {
		if err := json.Unmarshal([]byte(text), &Expected{}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
