package linkage

import (
	"os"
	"testing"
)

// BenchmarkJoin joins the table in ALIKE_TABLE within itself: see ../shared/tools/persons.py.
func BenchmarkJoin(b *testing.B) {
	table := os.Getenv("ALIKE_TABLE")
	if table == "" {
		b.Skip("ALIKE_TABLE names no table")
	}
	for b.Loop() {
		r, err := Join(b.Context(), Config{Left: table})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Candidates), "candidates")
	}
}
