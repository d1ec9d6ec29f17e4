package linkage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// noisy makes two tables of persons, of which a share is in both with typing errors, in three columns among others
// that hold nothing but noise of several kinds, or of the first ones only. The truth is in equal ids.
func noisy(rows, noise, kindsOfNoise int, overlap float64) (left, right string, matches int) {
	r := rand.New(rand.NewPCG(11, 12))
	word := func(vocabulary, seed int) string {
		w := rand.New(rand.NewPCG(uint64(r.IntN(vocabulary)), uint64(seed)))
		b := make([]byte, 6+w.IntN(4))
		for i := range b {
			b[i] = byte('a' + w.IntN(26))
		}
		return string(b)
	}
	kinds := []func() string{
		func() string { return fmt.Sprintf("%016x", r.Uint64()) },
		func() string { return fmt.Sprint(r.IntN(1_000_000_000)) },
		func() string { return fmt.Sprint(r.IntN(1000)) },
		func() string { return word(2000, 1) + " " + word(2000, 1) + " " + word(2000, 1) },
		func() string { return "constant" },
		func() string {
			if r.IntN(50) == 0 {
				return word(300, 2)
			}
			return "nearly constant"
		},
		func() string { return fmt.Sprintf("%d-%02d-%02d", 1950+r.IntN(60), 1+r.IntN(12), 1+r.IntN(28)) },
		func() string { return fmt.Sprintf("%.4f", r.NormFloat64()) },
	}
	var tables [2]strings.Builder
	header := []string{"id"}
	for k := range noise + 3 {
		header = append(header, fmt.Sprintf("n%d", k))
	}
	places := [3]int{1 + noise/4, 1 + noise/2, 1 + noise}
	header[places[0]], header[places[1]], header[places[2]] = "first", "last", "city"
	line := func(t *strings.Builder, id string, person [3]string) {
		row := []string{id}
		for k := range noise + 3 {
			row = append(row, kinds[k%kindsOfNoise]())
		}
		for i, at := range places {
			row[at] = person[i]
		}
		t.WriteString(strings.Join(row, ",") + "\n")
	}
	for i := range tables {
		tables[i].WriteString(strings.Join(header, ",") + "\n")
	}
	for i := range rows {
		person := [3]string{word(200, 3), word(1000, 4), word(60, 5)}
		line(&tables[0], fmt.Sprint(i), person)
		if r.Float64() < overlap {
			at, of := r.IntN(5), r.IntN(2)
			person[of] = person[of][:at] + "x" + person[of][at+1:]
			line(&tables[1], fmt.Sprint(i), person)
			matches++
		} else {
			line(&tables[1], fmt.Sprint("r", i), [3]string{word(200, 3), word(1000, 4), word(60, 5)})
		}
	}
	return tables[0].String(), tables[1].String(), matches
}

func TestNoiseDoesNotPushOutTheColumnsThatTell(t *testing.T) {
	left, right, matches := noisy(800, 297, 8, 0.5)
	r := join(t, Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Left)
	}
	if !slices.Equal(names, []string{"first", "last", "city"}) {
		t.Errorf("compared: %v", names)
	}
	if precision, recall := scores(r, matches); precision < 0.9 || recall < 0.8 {
		t.Errorf("precision %.3f, recall %.3f", precision, recall)
	}
}

func TestNoiseOfOneTableDoesNotPushOutTheColumnsThatTell(t *testing.T) {
	left, right, matches := noisy(800, 60, 8, 0.4)
	_, rows, _ := strings.Cut(strings.ReplaceAll(right, "\n", "\nb"), "\n")
	r := join(t, Config{Left: write(t, "t.csv", left+strings.TrimSuffix(rows, "b"))})
	var names []string
	hits := 0
	for _, c := range r.Columns {
		names = append(names, c.Left)
	}
	for l := range r.Links.All() {
		if "b"+string(l.A) == string(l.B) {
			hits++
		}
	}
	if !slices.Equal(names, []string{"first", "last", "city"}) {
		t.Errorf("compared: %v", names)
	}
	if f1 := 2 * float64(hits) / float64(r.Links.Len()+matches); f1 < 0.8 {
		t.Errorf("F1 %.3f: %d of %d links are right, there are %d", f1, hits, r.Links.Len(), matches)
	}
}

// TestColumnsThatAgreeNowhereComeLast has tables without a record in common.
func TestColumnsThatAgreeNowhereComeLast(t *testing.T) {
	left, right, _ := noisy(300, 60, 1, 0)
	chosen, err := Choose(t.Context(), Config{Left: write(t, "l.csv", left), Right: write(t, "r.csv", right)})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range chosen.Fields {
		names = append(names, f.Left)
	}
	for _, want := range []string{"first", "last", "city"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among the %d compared columns: %v", want, len(names), names)
		}
	}
}
