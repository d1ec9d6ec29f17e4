package linkage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// readings makes a table of readings at stations, of each of which so many a share are there twice. No copy is equal: times differ by
// seconds, values in their last digits, and coordinates by some metres. Readings of one station and day are near each other too.
func readings(n int, share float64) (table string, matches int) {
	rng := rand.New(rand.NewPCG(31, 32))
	first := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	var b strings.Builder
	b.WriteString("id,time,station,parameter,value,lat,lon\n")
	for i := range n {
		station, at := rng.IntN(40), first.Add(time.Duration(rng.IntN(200*24*60))*time.Minute)
		parameter, value := []string{"o3", "no2", "temp", "hum"}[rng.IntN(4)], 5+75*rng.Float64()
		row := func(copied string) {
			seconds := time.Duration(rng.IntN(60)) * time.Second
			lat, lon := 50+float64(station%7)/7+rng.NormFloat64()/2000, 8+float64(station)/13+rng.NormFloat64()/2000
			fmt.Fprintf(&b, "%d-%s,%s,S%02d,%s,%.2f,%.4f,%.4f\n", i, copied, at.Add(seconds).Format("2006-01-02T15:04:05"), station, parameter, value+rng.NormFloat64()/5, lat, lon)
		}
		row("a")
		if rng.Float64() < share {
			row("b")
			matches++
		}
	}
	return b.String(), matches
}

func TestReadingsAreFoundOfWhichNoValueIsEqual(t *testing.T) {
	table, matches := readings(1000, 0.4)
	r := join(t, Config{Left: write(t, "readings.csv", table)})
	right := rightOf(r)
	if f1 := 2 * float64(right) / float64(r.Links.Len()+matches); f1 < 0.6 {
		t.Errorf("F1 %.3f: %d of %d links are right, of %d matches", f1, right, r.Links.Len(), matches)
	}
	if p := r.ExpectedPrecision; p[1]-p[0] < 0.3 && float64(right) < (p[0]-0.05)*float64(r.Links.Len()) {
		t.Errorf("%d of %d links are right, said to be %v", right, r.Links.Len(), p)
	}
}

func TestReadingsWithoutCopiesAreNotSaidToBeCopies(t *testing.T) {
	table, _ := readings(1000, 0)
	r := join(t, Config{Left: write(t, "readings.csv", table)})
	if p := r.ExpectedPrecision; r.Links.Len() > 10 && !r.Disputed {
		t.Errorf("%d links, precision %v, of readings without a copy", r.Links.Len(), p)
	}
}
