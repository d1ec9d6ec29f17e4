package cluster

import "testing"

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"", "0", "-0.50", "1e3", "+.5E-7", "1.", "1e999999999999999999", "--1", "1e"} {
		f.Add(s, "12.5")
	}
	f.Fuzz(func(t *testing.T, s, u string) {
		x, okX := parseDecimal(s)
		y, okY := parseDecimal(u)
		if okX && okY && x.compare(y) != -y.compare(x) {
			t.Errorf("%q and %q compare unevenly", s, u)
		}
		if longer, ok := parseDecimal("0" + s); okX && s[0] != '-' && s[0] != '+' && (!ok || longer.compare(x) != 0) {
			t.Errorf("a zero before %q changes it", s)
		}
	})
}
