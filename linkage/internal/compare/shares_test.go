package compare

import "testing"

func TestFewRecordsAreComparedOnceEach(t *testing.T) {
	for records, want := range map[[2]int]int{{30, 0}: 30 * 29 / 2, {30, 30}: 30 * 30} {
		seen := map[Pair]bool{}
		for p := range Strangers(records, RandomPairs) {
			if seen[p] || records[1] == 0 && p.A >= p.B {
				t.Errorf("%v is compared again, or with itself", p)
			}
			seen[p] = true
		}
		if len(seen) != want {
			t.Errorf("%d pairs, want %d", len(seen), want)
		}
	}
}
