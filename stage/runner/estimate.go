package runner

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// Prices are the prices of machines and object stores, in any currency.
type Prices struct {
	Source          string  `json:"source,omitempty"` // source and date of the prices
	Currency        string  `json:"currency"`
	CPUHour         float64 `json:"cpu_hour"`           // one core with its memory
	ReadRequests    float64 `json:"read_requests"`      // a thousand
	WriteRequests   float64 `json:"write_requests"`     // a thousand, listings included
	GigabyteMonth   float64 `json:"gigabyte_month"`     // stored
	GigabyteMoved   float64 `json:"gigabyte_moved"`     // between machines and store
	DaysOfWorkFiles float64 `json:"days_of_work_files"` // how long work files are kept; 0: one day
}

// The costs of stages that the sample does not show, measured with a million documents of 1.2 kB
// (docs/cluster.md).
const (
	workOfReading = 4.0     // processor time of all stages, as a multiple of reading and sketching once
	rowBytes      = 116     // bytes that tasks exchange for each document
	keyBytes      = 24      // and for each of its keys
	wantedShare   = 0.3     // share of the documents that have candidates, so that their sets are exchanged
	setsOfInput   = 2.5     // bytes of a set, as a multiple of the bytes of its record
	inputOfTask   = 4 << 30 // most bytes of input for a task, on average
	uploadPart    = 5 << 20 // bytes of a part of an upload
	lists         = 3       // files of Dedup besides the kept ones
)

// divide estimates the work, for documents with this number of keys each, and chooses the number of partitions
// and the files of each task.
func (p *Plan) divide(ctx context.Context, c dedup.Config, keys int, prices Prices) error {
	c.Threads, c.Outputs, c.Output, c.Memory = 1, nil, "", 0
	c.OnSkip, c.OnNotice, c.Progress = nil, nil, nil // findFiles has reported
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
	e.MovedBytes = p.passes()*e.InputBytes + 2*e.WorkBytes // blocks are written and read
	e.ReadRequests, e.WriteRequests = p.requests()
	if prices.Currency != "" {
		e.Currency = prices.Currency
		e.Cost = prices.cost(e)
	}
	return nil
}

// passes returns how often the input is read.
func (p *Plan) passes() (n int64) {
	for _, s := range p.Stages() {
		if s.Documents {
			n++
		}
	}
	return n
}

// requests estimates the requests of all tasks to an object store. A task reads the index of an object and one
// range for each stream, lists a thousand objects with a request, and reads files in ranges of 2 MiB. An object
// that is longer than uploadPart takes a request for each part, one before and one after them. The list of Pairs
// counts as one request, because its length is not known.
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
		read += int64(s.Tasks) // to see whether the task was done before
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
