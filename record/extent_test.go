package record

import (
	"math"
	"testing"
	"time"
)

func TestPointsOfDatesAreDaysSince1970(t *testing.T) {
	for day := time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 3000; day = day.AddDate(0, 0, 1) {
		if got, want := pointOfDate([]byte(day.Format("2006 01 02"))), float64(day.Unix())/(24*60*60); got != want {
			t.Fatalf("%s is day %v, want %v", day.Format(time.DateOnly), got, want)
		}
	}
}

// columnOf returns a column of one kind with these values, in two chunks.
func columnOf(kind Kind, openings bool, values ...string) (*Column, []uint32) {
	n := &Numbering{Openings: openings}
	table, cutter := NewTable(1, n), NewCutter()
	for _, half := range [][]string{values[:len(values)/2], values[len(values)/2:]} {
		chunk := NewChunk([]Kind{kind})
		for _, v := range half {
			chunk.Append(cutter, nil, [][]byte{[]byte(v)})
		}
		table.Add(chunk)
	}
	var numbers []uint32
	for row := range table.Rows() {
		numbers = append(numbers, table.Cells(row)[0]-1)
	}
	return n.Column(0), numbers
}

func TestAColumnHasThePointOfEachValue(t *testing.T) {
	of := func(kind Kind, values ...string) (points []float64) {
		column, numbers := columnOf(kind, false, values...)
		for _, v := range numbers {
			points = append(points, column.Point(v))
		}
		return points
	}
	got := of(Number, "$1,200.50", "-3", "unknown", "1200.5", "$1,200.50", "7 %")
	want := []float64{1200.5, -3, math.NaN(), 1200.5, 1200.5, 7}
	for i := range want {
		if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("number %d is at %v, want %v", i, got[i], want[i])
		}
	}
	if got := of(Date, "1970-01-02", "02.01.1970", "no day", "03/31/1970"); got[0] != 1 || got[1] != 1 || !math.IsNaN(got[2]) || got[3] != 89 {
		t.Errorf("dates are at %v", got)
	}
	if got := of(Date, "1970-01-02 06:00", "2 Jan 1970, 6:00 pm"); got[0] != 1.25 || got[1] != 1.75 {
		t.Errorf("dates with times are at %v", got)
	}
	if got := of(Time, "7:05:33", "7:05 pm", "noon"); got[0] != 25_533 || got[1] != 68_700 || !math.IsNaN(got[2]) {
		t.Errorf("times are at %v", got)
	}
	if got := of(Longitude, "48.5, -2.25", "POINT(-2.25 48.5)", "Paris"); got[0] != -2.25 || got[1] != -2.25 || !math.IsNaN(got[2]) {
		t.Errorf("longitudes are at %v", got)
	}
	if got := of(Text, "12", "13"); !math.IsNaN(got[0]) {
		t.Errorf("a text is at %v", got)
	}
}

func TestOpeningsAreTheFirstWordsAndTheirInitials(t *testing.T) {
	column, at := columnOf(Text, true, "J F D payment", "james f. donovan", "j f d", "J. Frank D CHQ", "ann", "J F")
	of := func(i int) [openings]uint64 { return column.Openings(at[i]) }
	if of(0) != of(2) {
		t.Error("what follows the first three words matters")
	}
	for place, same := range [openings]bool{false, false, false, true, true} {
		if (of(0)[place] == of(1)[place]) != same {
			t.Errorf("opening %d of initials and a name is the same: %v", place, !same)
		}
	}
	if of(3)[0] != of(0)[0] || of(3)[1] == of(0)[1] || of(3)[4] != of(0)[4] {
		t.Error("openings of J. Frank D are not those of J, and of the initials JFD")
	}
	if of(4)[0] == 0 || of(4)[1] != 0 || of(4)[3] != 0 || of(5)[2] != 0 || of(5)[4] != 0 || of(5)[3] != of(0)[3] {
		t.Error("a text of fewer words has openings of more")
	}
	if column, at := columnOf(Text, false, "a b c", "a b d"); column.Openings(at[0]) != [openings]uint64{} {
		t.Error("openings are kept though nobody asks for them")
	}
}
