package main

import "testing"

func TestEstimatesAreWrittenAsPeopleWriteThem(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "less than 0.1 seconds", 0.0882: "less than 0.1 seconds", 0.1: "about 0.1 seconds", 9.94: "about 9.9 seconds", 9.96: "about 10 seconds",
		89: "about 89 seconds", 90: "about 1.5 minutes", 5399: "about 90 minutes", 5400: "about 1.5 hours", 140_400: "about 1.6 days", 1e9: "about 11,574 days",
	} {
		if got := describeSeconds(seconds); got != want {
			t.Errorf("%v seconds: %s, want %s", seconds, got, want)
		}
	}
	for sum, want := range map[float64]string{0: "less than 0.01", 0.004: "less than 0.01", 0.006: "about 0.01", 12.345: "about 12.35", 99.99: "about 99.99", 1234.5: "about 1,235"} {
		if got := describeMoney(sum); got != want {
			t.Errorf("%v: %s, want %s", sum, got, want)
		}
	}
}
