package runner

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/measure"
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
// (bench/RESULTS.md).
const (
	workOfPass  = 1.1     // processor time for each pass over the input, as a multiple of reading and sketching it
	taskSeconds = 0.015   // processor time of a task with hardly any rows: most of it is the start of its process
	readSeconds = 50e-6   // and of a request to read, of a folder
	rowBytes    = 116     // bytes that tasks exchange for each document
	keyBytes    = 24      // and for each of its keys
	wantedShare = 0.3     // share of the documents that have candidates, so that their sets are exchanged
	setsOfInput = 2.5     // bytes of a set, as a multiple of the bytes of its record
	inputOfTask = 4 << 30 // most bytes of input for a task, on average
	uploadPart  = 5 << 20 // bytes of a part of an upload
	lists       = 3       // files of Dedup besides the kept ones
)

// divide estimates the work, for documents with this number of keys each, and chooses the number of partitions
// and the files of each task.
func (p *Plan) divide(ctx context.Context, c dedup.Config, keys int, prices Prices) error {
	c.Threads, c.Outputs, c.Output, c.Memory = 1, nil, "", 0
	c.OnSkip, c.OnNotice, c.Progress = nil, nil, nil // findFiles has reported
	if decision, _ := c.Decide.(dedup.Similarity); decision.Measure.IsCount() {
		c.Decide = dedup.Similarity{Measure: measure.Containment} // reading costs the same by any measure for which sets are joined
	}
	judged, err := dedup.MakePlan(ctx, c)
	if err != nil {
		return err
	}
	e := &p.Estimate
	e.Files, e.InputBytes, e.Documents = judged.Files, judged.InputBytes, judged.Documents
	rows := e.Documents * int64(rowBytes+keyBytes*keys)
	sets := int64(wantedShare * setsOfInput * float64(e.InputBytes))
	if p.Partitions == 0 {
		p.Partitions = p.partitionsFor(rows+sets, e.InputBytes)
	}
	tasks := max(p.Partitions, int(e.InputBytes/inputOfTask))
	p.FirstFiles = p.cutBehind(p.References, tasks)
	e.WorkBytes = rows + sets
	e.ReadRequests, e.WriteRequests = p.requests()
	e.MovedBytes = p.passes()*e.InputBytes + 2*e.WorkBytes + p.bytesOfIndexes() // blocks are written and read
	seconds := taskSeconds*float64(p.tasks()) + readSeconds*float64(e.ReadRequests)
	if judged.SampledBytes > 0 {
		seconds += workOfPass * float64(p.passes()) * judged.SampleProcessorSeconds * float64(e.InputBytes) / float64(judged.SampledBytes)
	}
	e.CPUHours = seconds / 3600
	if prices.Currency != "" {
		e.Currency = prices.Currency
		e.Cost = prices.cost(e)
	}
	return nil
}

// A plan has at least one partition for each file, so that as many tasks can work at once behind the reading as read: up
// to mostByFiles, since requests grow with the square of partitions, and of leastShare of input each, since smaller tasks
// would spend most of their time on starting.
const (
	mostByFiles = 64
	leastShare  = 16 << 20
)

// partitionsFor chooses the number of partitions for bytes that tasks exchange: half the memory of a task holds one.
func (p *Plan) partitionsFor(exchanged, input int64) int {
	byFiles := min(int64(len(p.Files)), input/leastShare, mostByFiles)
	return int(min(max(exchanged/(p.Memory/2), byFiles, 1), stage.MaxPartitions))
}

// tasks returns the number of tasks of all stages.
func (p *Plan) tasks() (n int) {
	for _, s := range p.Stages() {
		n += s.Tasks
	}
	return n
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

// eachInput visits what tasks of a stage read: from each object of an earlier stage, so many of its streams.
func eachInput(stages []stage.Stage, visit func(reader, of stage.Stage, streams int64)) {
	for i, s := range stages {
		for _, of := range stages[:i] {
			streams := int64(0)
			for _, stream := range s.Reads {
				if slices.Contains(of.Writes, stream) {
					streams++
				}
			}
			if streams > 0 {
				visit(s, of, streams)
			}
		}
	}
}

// longestIndex returns the bytes of the index of an object of a stage that has rows for every task that reads it.
func longestIndex(stages []stage.Stage, of stage.Stage) (bytes int64) {
	eachInput(stages, func(reader, from stage.Stage, streams int64) {
		if from.Name == of.Name {
			bytes += streams * int64(reader.Tasks) * entryBytes
		}
	})
	return bytes + indexBytes
}

// bytesOfIndexes estimates the bytes that tasks read to find the blocks of other tasks: the beginning of each object,
// and the rest of its index if that is longer.
func (p *Plan) bytesOfIndexes() (bytes int64) {
	stages := p.Stages()
	blocks := p.Estimate.WorkBytes / int64(p.tasks()) // of an object
	eachInput(stages, func(s, of stage.Stage, _ int64) {
		index := longestIndex(stages, of)
		bytes += int64(s.Tasks) * int64(of.Tasks) * max(index, min(firstBytes, index+blocks))
	})
	return bytes
}

// requests estimates the requests of all tasks to an object store. A task reads the index of an object, by a second
// request if it is longer than firstBytes, and one range for each stream, lists a thousand objects with a request, and
// reads files in ranges of 2 MiB. An object that is longer than uploadPart takes a request for each part, one before and
// one after them. The list of Pairs counts as one request, because its length is not known.
func (p *Plan) requests() (read, write int64) {
	stages := p.Stages()
	eachInput(stages, func(s, of stage.Stage, streams int64) {
		if longestIndex(stages, of) > firstBytes {
			streams++
		}
		read += int64(s.Tasks) * int64(of.Tasks) * (1 + streams)
		write += int64(s.Tasks) * int64(1+of.Tasks/1000)
	})
	for _, s := range stages {
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
