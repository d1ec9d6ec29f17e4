package columns

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestASourceThatHasThingsTwiceIsNamed has registers of which some hold a third of their things twice.
func TestASourceThatHasThingsTwiceIsNamed(t *testing.T) {
	for _, test := range []struct {
		twice   []string
		sources []string
		doubled []string
	}{
		{nil, []string{"register"}, nil},
		{[]string{"west"}, []string{"register"}, []string{"west"}},
		{[]string{"north", "south", "west"}, nil, nil},
	} {
		sample := &Sample{Names: []string{"register", "name", "number", "town"}}
		for i, row := range registers(500) {
			sample.Rows = append(sample.Rows, row)
			if i%3 == 0 && slices.Contains(test.twice, string(row[0])) {
				sample.Rows = append(sample.Rows, [][]byte{row[0], fmt.Append(nil, string(row[1]), "x"), row[2], row[3]})
			}
		}
		chosen, err := Choose(t.Context(), sample, sample, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(chosen.Sources, test.sources) || !slices.Equal(chosen.Doubled, test.doubled) {
			t.Errorf("things twice in %v: sources %v but %v, want %v but %v", test.twice, chosen.Sources, chosen.Doubled, test.sources, test.doubled)
		}
		for _, u := range chosen.LeftOut {
			if said := strings.Contains(u.Reason, "no source but"); u.Name == "register" && said != (test.doubled != nil) {
				t.Errorf("things twice in %v: %s", test.twice, u.Reason)
			}
		}
	}
}
