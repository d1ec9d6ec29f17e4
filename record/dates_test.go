package record

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestDatesAreReadAsTheStandardLibraryWritesThem writes random times in many layouts.
func TestDatesAreReadAsTheStandardLibraryWritesThem(t *testing.T) {
	days := []string{"2006-01-02", "02.01.2006", "2/1/2006", "20060102", "2 Jan 2006", "January 2, 2006", "Mon, 02 Jan 2006", "02-Jan-2006"}
	clocks := []string{"", " 15:04", " 15:04:05", " 3:04 PM", "T15:04:05Z"}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-20_000_000_000, 20_000_000_000).Draw(t, "at"), 0).UTC()
		day, clock := rapid.SampledFrom(days).Draw(t, "day"), rapid.SampledFrom(clocks).Draw(t, "clock")
		if at.Day() <= 12 && day == "20060102" || day == "20060102" && clock != "" {
			return // a time makes no number of eight digits
		}
		value := at.Format(day + clock)
		if kind, _ := NewCutter().Shape([]byte(value)); kind != Date {
			t.Fatalf("%q looks like no date", value)
		}
		want, err := time.Parse(day+clock, value)
		if err != nil {
			t.Fatal(err)
		}
		column, _ := columnOf(Date, false, value)
		if got := column.Point(0) * 24 * 60 * 60; fmt.Sprintf("%.0f", got) != fmt.Sprint(want.Unix()) {
			t.Fatalf("%q is at %.3f s, want %d", value, got, want.Unix())
		}
	})
}

// TestMonthsAreNamedByTheirFirstLetters takes each beginning of each name: it names the month, or several.
func TestMonthsAreNamedByTheirFirstLetters(t *testing.T) {
	for m, names := range months {
		for _, name := range names {
			for n := 3; n <= len(name); n++ {
				if got := monthOf([]byte(name[:n])); got != m+1 && (got != 0 || n > 3) {
					t.Errorf("%q is month %d, want %d", name[:n], got, m+1)
				}
			}
		}
	}
	for _, word := range []string{"", "ja", "jui", "thursday", "maria"} {
		if got := monthOf([]byte(word)); got != 0 {
			t.Errorf("%q is month %d", word, got)
		}
	}
}
