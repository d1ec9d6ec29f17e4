package runner

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
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

// The costs of stages that the sample does not show, measured with a million documents of 1.2 kB
// (docs/cluster.md).
const (
	workOfReading = 4.0 // processor time of all stages, in times of that of reading and sketching once
	rowBytes      = 116 // of what tasks hand each other, for each document
	keyBytes      = 24  // and for each of its keys
	wantedShare   = 0.3 // of the documents have candidates; the set of each is handed over
	setsOfInput   = 2.5 // bytes of sets in times of those of their records
	inputOfTask   = 4 << 30
	uploadPart    = 5 << 20 // of an object that is written as it is made
	lists         = 3       // files of Dedup beside those that are kept
)

// divide judges the work on documents of so many keys each, and chooses the number of partitions and the
// files of each task.
func (p *Plan) divide(ctx context.Context, c dedup.Config, keys int, prices Prices) error {
	c.Threads, c.Outputs, c.Output, c.Memory = 1, nil, "", 0
	c.OnSkip, c.OnNotice, c.Progress = nil, nil, nil // told already
	judged, err := dedup.MakePlan(ctx, c)
	if err != nil {
		return err
	}
	e := &p.Estimate
	e.Files, e.InputBytes, e.Documents = judged.Files, judged.InputBytes, judged.Documents
	rows := e.Documents * int64(rowBytes+keyBytes*keys)
	sets := int64(wantedShare * setsOfInput * float64(e.InputBytes))
	if p.Partitions == 0 {
		p.Partitions = int(min(max((rows+sets)/(p.Memory/2), 1), stage.MaxPartitions))
	}
	p.FirstFiles = Cut(p.Files, max(p.Partitions, int(e.InputBytes/inputOfTask)))
	if judged.SampledBytes > 0 {
		e.CPUHours = workOfReading * judged.SampleSeconds * float64(e.InputBytes) / float64(judged.SampledBytes) / 3600
	}
	e.WorkBytes = rows + sets
	e.MovedBytes = 3*e.InputBytes + 2*e.WorkBytes // read three times, written once at most: what is removed is not
	e.ReadRequests, e.WriteRequests = p.requests()
	if prices.Currency != "" {
		e.Currency = prices.Currency
		e.Cost = prices.cost(e)
	}
	return nil
}

// requests counts those of tasks to an object store: of each object that a task reads an index
// and a range for each stream; a listing for each thousand; files in ranges of 2 MiB. An object that is
// longer than a part of an upload takes a request for each part, one before and one behind them. The list of
// Pairs, of which nobody knows how long it will be, is counted as one.
func (p *Plan) requests() (read, write int64) {
	stages := p.Stages()
	for i, s := range stages {
		for _, of := range stages[:i] {
			streams := int64(0)
			for _, stream := range s.Reads {
				if slices.Contains(of.Writes, stream) {
					streams++
				}
			}
			if streams > 0 {
				read += int64(s.Tasks) * int64(of.Tasks) * (1 + streams)
				write += int64(s.Tasks) * int64(1+of.Tasks/1000)
			}
		}
		if s.Documents {
			read += p.Estimate.InputBytes>>21 + int64(len(p.Files))
		}
		read += int64(s.Tasks) // whether the task is done already
		write += int64(s.Tasks)
	}
	write += 3 * p.Estimate.WorkBytes / uploadPart
	if p.Command == stage.Dedup {
		return read, write + int64(len(p.Files)) + lists + 3*p.Estimate.InputBytes/uploadPart
	}
	return read, write + 1
}

func (r *Prices) cost(e *Estimate) float64 {
	const giga = 1e9
	days := max(r.DaysOfWorkFiles, 1)
	return r.CPUHour*e.CPUHours + r.ReadRequests*float64(e.ReadRequests)/1000 + r.WriteRequests*float64(e.WriteRequests)/1000 +
		r.GigabyteMonth*float64(e.WorkBytes)/giga*days/30 + r.GigabyteMoved*float64(e.MovedBytes)/giga
}
