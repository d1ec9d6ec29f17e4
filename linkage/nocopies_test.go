package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// addresses makes a register of addresses without a copy: each number of a street once, and places within a town.
func addresses(streets int) (rows []string) {
	rng := rand.New(rand.NewPCG(31, 7))
	town := make([]string, 60)
	for i := range town {
		town[i] = fmt.Sprintf("%s,%d,%%s,%%s", word(i), 10000+rng.IntN(89999))
	}
	for s := range streets {
		t := rng.IntN(len(town))
		place := rand.New(rand.NewPCG(uint64(t), 1))
		lat, lon := 47+7*place.Float64(), 6+8*place.Float64()
		for _, house := range rng.Perm(80)[:1+rng.IntN(6)] {
			at := fmt.Sprintf(town[t], fmt.Sprintf("%.5f", lat+rng.NormFloat64()/50), fmt.Sprintf("%.5f", lon+rng.NormFloat64()/50))
			rows = append(rows, fmt.Sprintf("%s %s,%d,%s", word(100+s), word(700+s%90), 1+house, at))
		}
	}
	return rows
}

// TestATableWithoutACopyIsNotSaidToHaveSome has records that agree in all but what tells them apart: alone, and as two tables of
// which each has about half.
func TestATableWithoutACopyIsNotSaidToHaveSome(t *testing.T) {
	var tables [3]strings.Builder
	for i := range tables {
		tables[i].WriteString("id,street,house,town,postcode,lat,lon\n")
	}
	rng := rand.New(rand.NewPCG(33, 7))
	for i, row := range addresses(300) {
		fmt.Fprintf(&tables[0], "%d,%s\n", i, row)
		fmt.Fprintf(&tables[1+rng.IntN(2)], "%d,%s\n", i, row)
	}
	alone := join(t, Config{Left: write(t, "table.csv", tables[0].String())})
	if alone.Tells() {
		t.Errorf("alone: %d links, said to be right: %v", alone.Links.Len(), alone.ExpectedPrecision)
	}
	halves := join(t, Config{Left: write(t, "left.csv", tables[1].String()), Right: write(t, "right.csv", tables[2].String())})
	if says := halves.ExpectedPrecision; halves.Links.Len() > 10 && !halves.Disputed && says[1]-says[0] < 0.3 {
		t.Errorf("halves: %d links, said to be right: %v", halves.Links.Len(), says)
	}
}

// TestNamesakesAreNotSaidToBeOnePerson has persons of whom none is there twice, whose names are common and, as in life, those of their
// country.
func TestNamesakesAreNotSaidToBeOnePerson(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 7))
	few := func(of int) int { return min(of-1, int(math.Pow(rng.Float64(), -1.4))-1) }
	var rows strings.Builder
	rows.WriteString("id,first,last,born,region,country\n")
	for i := range 2000 {
		country := min(3, few(9))
		fmt.Fprintf(&rows, "%d,%s,%s,%d-%02d-%02d,R%d,C%d\n", i, word(1000*country+few(60)), word(1000*country+100+few(400)),
			1950+rng.IntN(60), 1+rng.IntN(12), 1+rng.IntN(28), 10*country+rng.IntN(8), country)
	}
	r := join(t, Config{Left: write(t, "table.csv", rows.String())})
	if says := r.ExpectedPrecision; r.Links.Len() > 10 && !r.Disputed && says[1]-says[0] < 0.3 {
		t.Errorf("%d links, said to be right: %v", r.Links.Len(), says)
	}
}
