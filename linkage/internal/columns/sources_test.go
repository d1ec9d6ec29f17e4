package columns

import (
	"fmt"
	"math/rand/v2"
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

// TestFormsOfTheSameThingsAreSources has a catalogue of two shops, which name the features of a thing in columns of their own. The
// models of a series are alike in all but their number, so the records that have most in common are of one shop. If either shop sells
// things of its own, nothing tells that these are shops, and not sorts of things; and a shop may list things twice.
func TestFormsOfTheSameThingsAreSources(t *testing.T) {
	for _, test := range []struct {
		shared, twice bool
		want          []string
	}{
		{shared: true, want: []string{"shop"}},
		{shared: false},
		{shared: true, twice: true},
	} {
		sample := &Sample{Names: []string{"shop", "title", "width", "depth", "weight", "breadth", "thickness", "mass"}}
		for i := range 400 {
			series := i / 4
			features := [3]string{fmt.Sprint(100 + series), fmt.Sprint(series * 7 % 50), fmt.Sprint(3000 + series*13)}
			for shop, name := range []string{"east", "west"} {
				model := i
				if !test.shared {
					model = 2*i + shop
				}
				row := [8]string{name, fmt.Sprintf("%s set %d model m%d", name, series, model)}
				copy(row[2+3*shop:], features[:])
				of := make([][]byte, len(row))
				for k, value := range row {
					of[k] = []byte(value)
				}
				if sample.Rows = append(sample.Rows, of); test.twice && i%2 == 0 {
					sample.Rows = append(sample.Rows, of)
				}
			}
		}
		chosen, err := Choose(t.Context(), sample, sample, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(chosen.Sources, test.want) {
			t.Errorf("shops with the same things %v, some twice %v: sources %v, want %v", test.shared, test.twice, chosen.Sources, test.want)
		}
	}
}

// Of three shops only one names features, so all pairs that have most in common are its own: it seems to have things twice. It still
// counts when it is asked whether the words that only two records have stand in one shop.
func TestAShopThatAloneDescribesThingsIsASourceToo(t *testing.T) {
	sample := &Sample{Names: []string{"shop", "title", "width", "depth", "weight", "height", "power", "volume"}}
	rng := rand.New(rand.NewPCG(1, 2))
	var twins [8][]byte // what a model and its twin have in common, each feature independent of the others
	for i := range 600 {
		series := i / 4
		detailed := slices.Clone(twins[:])
		if i%2 == 0 {
			for k := range detailed {
				detailed[k] = fmt.Appendf(nil, "%d", 100+rng.IntN(100))
			}
			copy(twins[:], detailed)
		}
		detailed[0], detailed[1] = []byte("east"), fmt.Appendf(nil, "set %d model m%d", series, i)
		sample.Rows = append(sample.Rows, detailed)
		if i%3 == 0 {
			other := []byte([]string{"west", "north"}[i%2])
			sample.Rows = append(sample.Rows, [][]byte{other, fmt.Appendf(nil, "m%d model of set %d", i, series), nil, nil, nil, nil, nil, nil})
		}
	}
	chosen, err := Choose(t.Context(), sample, sample, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(chosen.Sources, []string{"shop"}) {
		t.Errorf("sources %v", chosen.Sources)
	}
}
