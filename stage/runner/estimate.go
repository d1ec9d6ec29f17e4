package runner

import (
	"context"
	"math"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/setting"
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
)

// bytesOfPiece are how many bytes of input have a piece, and cardBytes the bytes that tasks exchange for each document,
// of plans of passages: the least of Reuters and of English articles.
var bytesOfPiece = map[pieces.Unit]int64{pieces.Line: 70, pieces.Sentence: 150, pieces.Paragraph: 600, pieces.Substring: 6}

const (
	pieceBytes = 24
	nearBytes  = 116 // more for each piece, if similar ones are found
	cardBytes  = 60
)

// exchanged estimates the number of keys of a document, or of its pieces, and the bytes that tasks exchange.
func exchanged(p *Plan, keys int) (int, int64) {
	e := &p.Estimate
	if p.Passages != nil {
		keys = int(e.InputBytes / bytesOfPiece[p.Passages.Unit] / max(e.Documents, 1))
		bytes := e.Documents * int64(cardBytes+pieceBytes*keys)
		if p.Passages.Threshold > 0 { // the texts of different units too
			bytes += e.InputBytes + e.Documents*int64(nearBytes*keys)
		}
		return keys, bytes
	}
	sets := int64(wantedShare * setsOfInput * float64(e.InputBytes))
	if p.Whole { // the texts of similar pairs
		sets += int64(wantedShare * float64(e.InputBytes))
	}
	return keys, e.Documents*int64(rowBytes+keyBytes*keys) + sets
}

// divide estimates the work, for documents with this number of keys each, and chooses the number of partitions
// and the files of each task.
func (p *Plan) divide(ctx context.Context, c dedup.Config, keys int, prices Prices) error {
	c.Threads, c.Outputs, c.Output, c.Memory = 1, nil, "", 0
	tell := c.OnNotice
	c.OnSkip, c.OnNotice, c.Progress = nil, nil, nil // findFiles has reported
	seen := c.Corpus.Watch()
	if decision, _ := c.Decide.(dedup.Similarity); decision.Measure.IsCount() {
		c.Decide = dedup.Similarity{Measure: measure.Containment} // reading costs the same by any measure for which sets are joined
	}
	judged, err := dedup.MakePlan(ctx, c)
	if err != nil {
		return err
	}
	if tell != nil && seen.LacksIDs(c.Corpus) {
		tell(setting.Textf("in a sample %s", c.Corpus.NoIDs()))
	}
	e := &p.Estimate
	e.Files, e.InputBytes, e.Documents = judged.Files, judged.InputBytes, judged.Documents
	keys, e.WorkBytes = exchanged(p, keys)
	chosen := p.Partitions == 0
	if chosen {
		p.Partitions = p.partitionsFor(e.WorkBytes, e.InputBytes, e.Documents)
	}
	tasks := max(p.Partitions, int(e.InputBytes/inputOfTask))
	p.FirstFiles = p.cutBehind(p.References, tasks)
	if chosen && e.WorkBytes <= mostJoined*p.Memory {
		p.Partitions = 1
	}
	if p.Joined = p.Partitions == 1; p.Joined && p.Passages == nil {
		e.WorkBytes -= e.Documents * int64((keyBytes-8)*keys) // of each key a row
	}
	e.ReadRequests, e.WriteRequests = p.requests(keys)
	e.MovedBytes = p.passes()*e.InputBytes + 2*e.WorkBytes + p.bytesOfTables() // blocks are written and read
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

// mostJoined is up to how many times the memory of a task stages are joined, which leaves their work to one task at a time:
// of 3 million documents of 1.1 kB it takes some 10 seconds.
const mostJoined = 4

// Requests grow with the square of partitions, and those by which texts are read and objects written do not: up to
// fewRequests partitions the latter are more. So a partition need not fit the memory of a task beyond that. It is sorted on
// the disk of its machine, of which it takes up to diskOfTask, and a task holds rowBytesHeld for each of its rows. The object of
// such a task stays below the 48 GiB that S3 takes in one stream.
const (
	fewRequests  = 800
	diskOfTask   = 64 << 30
	rowBytesHeld = 8
)

// partitionsFor chooses the number of partitions for bytes that tasks exchange: half the memory of a task holds one, if
// there are not too many then.
func (p *Plan) partitionsFor(exchanged, input, documents int64) int {
	byMemory := exchanged / (p.Memory / 2)
	byMemory = min(byMemory, max(fewRequests, exchanged/diskOfTask, rowBytesHeld*documents/(p.Memory/4)))
	byFiles := min(int64(len(p.Files)), input/leastShare, mostByFiles)
	return int(min(max(byMemory, byFiles, 1), stage.MaxPartitions))
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

// eachInput visits what tasks of a stage read: from each object of an earlier stage, some of its streams.
func (p *Plan) eachInput(visit func(of stage.Stage, by section)) {
	for _, of := range p.Stages() {
		for _, by := range p.table(of).sections {
			visit(of, by)
		}
	}
}

// bytesOfTables estimates the bytes that tasks read to find the blocks of other tasks: a row of the table of each object.
func (p *Plan) bytesOfTables() (bytes int64) {
	p.eachInput(func(of stage.Stage, by section) { bytes += by.pairs(of.Tasks) * by.rowBytes() })
	return bytes
}

// rowsOfDocument are how many rows of a stream come of a document, where it is not wantedShare. Of streams that have hardly
// any, a stage seldom has blocks for another one.
func rowsOfDocument(s stage.Stream, keys int) float64 {
	switch s {
	case stage.Rows, stage.Names, stage.Cards, stage.Totals, stage.Counts, stage.KeptText, stage.LittleText:
		return 1
	case stage.Keys, stage.Sampled, stage.Pieces, stage.Joined, stage.Units:
		return float64(keys)
	case stage.Damaged, stage.Skips, stage.Repeats, stage.Renames:
		return 0
	}
	return wantedShare
}

// blocks estimates how many pairs of tasks exchange blocks of a stream. Rows fall into partitions at random.
func (p *Plan) blocks(of stage.Stage, by section, s stage.Stream, keys int) float64 {
	rows := rowsOfDocument(s, keys) * float64(p.Estimate.Documents)
	pairs := float64(by.pairs(of.Tasks))
	if p.Estimate.Documents == 0 { // it is not known
		return pairs
	}
	return pairs * -math.Expm1(-rows/pairs)
}

// requests estimates the requests of all tasks to an object store. A task reads a row of the table of each object of others,
// and a range for each stream that has blocks for it, and looks at files and reads them in ranges of 2 MiB. An object that is longer than uploadPart
// takes a request for each part, one before and one after them. The list of Pairs counts as one request, because its length
// is not known.
func (p *Plan) requests(keys int) (read, write int64) {
	ranges := 0.0
	p.eachInput(func(of stage.Stage, by section) {
		read += by.pairs(of.Tasks)
		for _, s := range by.streams {
			ranges += p.blocks(of, by, s, keys)
		}
	})
	read += int64(ranges)
	for _, s := range p.Stages() {
		if s.Documents {
			read += p.Estimate.InputBytes>>21 + 2*int64(len(p.Files))
		}
		read += int64(s.Tasks) // to see whether the task was done before
		write += int64(s.Tasks)
	}
	write += moreForParts(p.Estimate.WorkBytes, int64(p.tasks()))
	if fillsFolder(p) {
		files, lists := int64(len(p.Files)), int64(len(listsOf(p))+1)
		return read, write + files + lists + moreForParts(p.Estimate.InputBytes, files)
	}
	return read, write + 1
}

// moreForParts returns how many requests to write objects of so many bytes in all take besides one for each.
func moreForParts(bytes, objects int64) int64 {
	if bytes <= uploadPart*objects {
		return 0
	}
	return bytes/uploadPart + objects
}

func (r *Prices) cost(e *Estimate) float64 {
	const giga = 1e9
	days := max(r.DaysOfWorkFiles, 1)
	return r.CPUHour*e.CPUHours + r.ReadRequests*float64(e.ReadRequests)/1000 + r.WriteRequests*float64(e.WriteRequests)/1000 +
		r.GigabyteMonth*float64(e.WorkBytes)/giga*days/30 + r.GigabyteMoved*float64(e.MovedBytes)/giga
}
