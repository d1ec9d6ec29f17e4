package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/record"
)

// payments makes two tables of payments in several currencies: as they were sent, and as they were received one to nine days
// later, some less a fee of a hundredth or so, some in another currency by the rate of the day. Names are in full, and then
// cut short or initials only. One payment in five is in one table only. The truth is in equal ids.
func payments(n int) (sent, received string) {
	rng := rand.New(rand.NewPCG(8, 9))
	var l, r strings.Builder
	l.WriteString("id,payee,sent on,amount\n")
	r.WriteString("id,text,sent on,amount\n")
	for i := range n {
		first, middle, last := word(rng.IntN(80)), word(100+rng.IntN(60)), word(200+rng.IntN(300))
		day, amount := rng.IntN(200), math.Exp(rng.NormFloat64()*1.5+6)
		name := fmt.Sprintf("%s %c. %s", first, middle[0], last)
		date := func(day int) (year, month, of int) { return 2023, 1 + day/28, 1 + day%28 }
		y, m, d := date(day)
		fmt.Fprintf(&l, "%d,%s,%d-%02d-%02d,%.2f\n", i, name, y, m, d, amount)
		if rng.IntN(5) == 0 {
			i, day, amount = i+n, rng.IntN(200), math.Exp(rng.NormFloat64()*1.5+6)
		}
		switch rng.IntN(3) {
		case 0:
			amount *= 1 - 0.02*rng.Float64()
		case 1:
			amount *= 1 + 0.05*(rng.Float64()-0.5)
		}
		if rng.IntN(2) == 0 {
			name = fmt.Sprintf("%c %c %c transfer", first[0], middle[0], last[0])
		} else {
			name = name[:min(len(name), 8+rng.IntN(10))]
		}
		y, m, d = date(min(day+1+rng.IntN(3)*rng.IntN(5), 335))
		fmt.Fprintf(&r, "%d,%s,%02d.%02d.%d,%.2f\n", i, name, d, m, y, amount)
	}
	return l.String(), r.String()
}

// TestPaymentsAreFoundByDaysAndAmountsThatAreNear compares with the same columns as texts, which have no distances.
func TestPaymentsAreFoundByDaysAndAmountsThatAreNear(t *testing.T) {
	const n = 2500
	sent, received := payments(n)
	matches := 0
	for _, line := range strings.Split(strings.TrimSpace(received), "\n")[1:] {
		var id int
		if _, err := fmt.Sscanf(line, "%d,", &id); err != nil {
			t.Fatal(err)
		}
		if id < n {
			matches++
		}
	}
	left, right := write(t, "l.csv", sent), write(t, "r.csv", received)
	f1 := func(kinds ...record.Kind) float64 {
		p, r := scores(join(t, Config{Left: left, Right: right, Fields: []Field{
			{Left: "payee", Right: "text"}, {Left: "sent on", Tokens: kinds[0]}, {Left: "amount", Tokens: kinds[1]},
		}}), matches)
		t.Logf("%v: precision %.3f, recall %.3f", kinds, p, r)
		return 2 * p * r / (p + r)
	}
	if near := f1(record.Date, record.Number); near < 0.92 {
		t.Errorf("F1 %.3f", near)
	}
	if apart := f1(record.Text, record.Text); apart > 0.7 {
		t.Errorf("F1 %.3f without distances: the table shows nothing", apart)
	}
}

// TestManyPaymentsAreFoundByWindows has so many payments that candidates share keys.
func TestManyPaymentsAreFoundByWindows(t *testing.T) {
	sent, received := payments(2500)
	c := Config{Left: write(t, "l.csv", sent), Right: write(t, "r.csv", received), Fields: []Field{{Left: "payee", Right: "text"}, {Left: "sent on"}, {Left: "amount"}}}
	c.limits.many = 100
	_, recall := scores(join(t, c), 2000)
	if recall < 0.75 {
		t.Errorf("recall %.3f", recall)
	}
}

// TestPaymentsInAnotherCurrencyAreFound has bills that are due 30 days after they are ordered, with a tax and in another
// currency. Nothing is equal but a customer with many orders, who is missing in a third of the bills.
func TestPaymentsInAnotherCurrencyAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 1500
	first := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	var rows [2][]string
	for i := range n {
		customer, day, amount := fmt.Sprintf("C%04d", 1000+rng.IntN(150)), first.AddDate(0, 0, rng.IntN(700)), math.Exp(2+6*rng.Float64())
		rows[0] = append(rows[0], fmt.Sprintf("%d,%s,%s,%.2f", i, customer, day.Format(time.DateOnly), amount))
		if rng.IntN(3) == 0 {
			customer = ""
		}
		rows[1] = append(rows[1], fmt.Sprintf("%d,%s,%s,%.2f", i, customer, day.AddDate(0, 0, 30).Format("02.01.2006"), 1.19*7.46*amount))
	}
	rng.Shuffle(n, func(i, j int) { rows[1][i], rows[1][j] = rows[1][j], rows[1][i] })
	c := Config{Left: write(t, "l.csv", strings.Join(slices.Insert(rows[0], 0, "id,customer,ordered,net"), "\n")+"\n")}
	c.Right = write(t, "r.csv", strings.Join(slices.Insert(rows[1], 0, "id,customer,due,gross"), "\n")+"\n")
	c.Fields = []Field{{Left: "customer"}, {Left: "ordered", Right: "due"}, {Left: "net", Right: "gross"}}
	r := join(t, c)
	if p, recall := scores(r, n); p < 0.97 || recall < 0.97 {
		t.Errorf("precision %.3f, recall %.3f", p, recall)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "30 days apart") || !strings.Contains(notes, "factor of 8.877") {
		t.Errorf("notes %q", r.Notes)
	}
	if shifts := r.Model.Base.Shifts; len(shifts) != 3 || shifts[0] != (Shift{}) || shifts[1].By != 30 || !shifts[2].Ratio {
		t.Errorf("the model has shifts %+v", shifts)
	}
}

// TestPlacesAreFoundByCoordinates has places that two surveys name in ways of their own, and measure a little differently.
func TestPlacesAreFoundByCoordinates(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n = 1500
	var rows [2][]string
	for i := range n {
		name := word(rng.IntN(40)) + " " + word(50+rng.IntN(400))
		lat, lon := 40+10*rng.Float64(), -5+20*rng.Float64()
		rows[0] = append(rows[0], fmt.Sprintf("%d,%s,%.5f,%.5f", i, name, lat, lon))
		if rng.IntN(2) == 0 {
			name = strings.Fields(name)[0]
		}
		rows[1] = append(rows[1], fmt.Sprintf("%d,%s,%.4f,%.4f", i, name, lat+0.01*rng.NormFloat64(), lon+0.01*rng.NormFloat64()))
	}
	rng.Shuffle(n, func(i, j int) { rows[1][i], rows[1][j] = rows[1][j], rows[1][i] })
	var files []string
	for side, name := range []string{"l.csv", "r.csv"} {
		files = append(files, write(t, name, strings.Join(slices.Insert(rows[side], 0, "id,name,lat,lon"), "\n")+"\n"))
	}
	p, r := scores(join(t, Config{Left: files[0], Right: files[1]}), n)
	if p < 0.95 || r < 0.95 {
		t.Errorf("precision %.3f, recall %.3f", p, r)
	}
}
