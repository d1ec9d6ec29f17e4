package natslog

import (
	"encoding/json"
	"testing"
)

// A server that leads has a majority if it hears of enough others, whatever it says of itself.
func TestAMajorityIsHeardOf(t *testing.T) {
	const there, gone, silent = `{"active":200000000}`, `{"offline":true,"active":100}`, `{"active":9000000000}`
	for others, want := range map[string]bool{
		"": true, there + "," + there: true, there + "," + gone: true, gone + "," + silent: false, gone + "," + gone: false,
		there + "," + there + "," + gone + "," + gone: true, there + "," + silent + "," + gone + "," + gone: false,
	} {
		var info streamInfo
		if err := json.Unmarshal([]byte(`{"cluster":{"leader":"a","replicas":[`+others+`]}}`), &info); err != nil {
			t.Fatal(err)
		}
		if got := info.hasMajority(); got != want {
			t.Errorf("%s: %v, want %v", others, got, want)
		}
	}
}
