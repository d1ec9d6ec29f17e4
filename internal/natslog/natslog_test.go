package natslog

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestWhatIsNoURLOfALogIsRefused(t *testing.T) {
	for _, address := range []string{
		"http://n1", "nats://", "nats://n1,/s", "nats://:4222", "nats://n1:99999", "nats://n1:0", "nats://n1:x", "nats://n1/a.b", "nats://n1/s?x=1", "nats://n1?replicas=1",
		"nats://n1/s?replicas=6",
	} {
		if o, err := parse(address); err == nil {
			t.Errorf("%s: %+v", address, o)
		}
	}
	o, err := parse("tls://u:p@n1:4222,n2/s?replicas=1&ca=f")
	if want := (options{[]string{"tls://u:p@n1:4222", "tls://u:p@n2"}, "s", 1, "", "f"}); err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, %v", o, err)
	}
}

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
