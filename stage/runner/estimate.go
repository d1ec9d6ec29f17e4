package runner

import (
	"context"

	"github.com/alike-dev/alike/dedup"
)

// Prices is what machines and stores cost, in any currency.
type Prices struct {
	Source          string  `json:"source,omitempty"` // where they are from, and of what day
	Currency        string  `json:"currency"`
	CPUHour         float64 `json:"cpu_hour"`           // of one core with its memory
	ReadRequests    float64 `json:"read_requests"`      // for a thousand
	WriteRequests   float64 `json:"write_requests"`     // for a thousand, lists too
	GigabyteMonth   float64 `json:"gigabyte_month"`     // stored
	GigabyteMoved   float64 `json:"gigabyte_moved"`     // between machines and store
	DaysOfWorkFiles float64 `json:"days_of_work_files"` // how long these are kept; 0: one
}

// Estimate is what a plan will take, judged by a sample of the input.
type Estimate struct {
	Files         int     `json:"files"`
	InputBytes    int64   `json:"input_bytes"`
	Documents     int64   `json:"documents"`
	Tasks         int     `json:"tasks"`
	CPUHours      float64 `json:"cpu_hours"`
	MovedBytes    int64   `json:"moved_bytes"` // input and blocks, read and written
	WorkBytes     int64   `json:"work_bytes"`  // blocks, stored
	ReadRequests  int64   `json:"read_requests"`
	WriteRequests int64   `json:"write_requests"`
	Cost          float64 `json:"cost,omitempty"`
	Currency      string  `json:"currency,omitempty"`
}

// divide judges the work and chooses the number of partitions.
func (p *Plan) divide(ctx context.Context, c dedup.Config, prices Prices) error {
	e := &p.Estimate
	if p.Partitions == 0 {
		p.Partitions = 16
	}
	p.FirstFiles = Cut(p.Files, p.Partitions)
	_ = e
	return nil
}
