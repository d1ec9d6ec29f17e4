// Package runner runs the stages of package stage. Under a scheduler, each task is a process that reads
// and writes a folder or an object store (Run). Under an engine, blocks go through pipes (Pipe, Pack).
//
// A Plan says what to run, over which files, and where the results go. A task writes one object, which
// appears when it is whole, under a name that depends on the plan, the stage and the task only. A task
// may run several times, at once or one after the other, on any machine: every run writes the same bytes.
// docs/cluster.md describes objects, pipes and plans.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/stage"
)

// Plan is a stage.Plan with its inputs and outputs. It is stored as JSON.
type Plan struct {
	stage.Plan
	Files    []File   `json:"files"`
	Engine   bool     `json:"engine,omitempty"` // an engine passes in the documents, and Files is empty
	Reading  Reading  `json:"reading"`
	Tables   []Table  `json:"tables,omitempty"` // for records: the left and the right table, or the only one
	Skipped  int64    `json:"skipped"`          // number of inputs that were found and cannot be read
	Work     string   `json:"work"`             // folder or URL for the blocks that tasks exchange
	Output   string   `json:"output"`           // URL or folder for Dedup, URL or file for Pairs and Join
	Memory   int64    `json:"memory"`           // bytes of a process
	Estimate Estimate `json:"estimate"`
}

// File is an input, as it was when the plan was made.
type File struct {
	Path    string    `json:"path"`
	Name    string    `json:"name"` // of its output file below kept/
	Size    int64     `json:"size"`
	ModTime time.Time `json:"changed,omitzero"`
	Version string    `json:"version,omitempty"` // of an object
	Query   string    `json:"query,omitempty"`   // of the object's URL: settings of its bucket
}

// fileOf returns an input as it is now.
func fileOf(s corpus.Source) File {
	return File{Path: s.Path, Name: s.Name, Size: s.Size, ModTime: s.ModTime, Version: s.Version, Query: s.Query}
}

// Reading says how files are read. See corpus.Options.
type Reading struct {
	Format    corpus.Format `json:"format,omitempty"`
	TextField string        `json:"text_field,omitempty"`
	IDField   string        `json:"id_field,omitempty"`
	Field     string        `json:"field,omitempty"` // field that the keep rule compares
	MaxRecord int64         `json:"max_record,omitempty"`
	Fail      bool          `json:"fail,omitempty"` // stop at the first record that cannot be used
}

// Load reads a plan.
func Load(r io.Reader) (*Plan, error) {
	p := &Plan{}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("not a plan of alike: %w", err)
	}
	if p.Digest == "" {
		return nil, errors.New("not a plan of alike: it has no digest")
	}
	if err := p.Plan.Settle(""); err != nil { // "" will do, because the plan has a digest
		return nil, err
	}
	if last := p.FirstFiles[len(p.FirstFiles)-1]; !p.Engine && last > len(p.Files) {
		return nil, fmt.Errorf("not a plan of alike: a task begins with file %d of %d", last, len(p.Files))
	}
	if p.Join != nil {
		tables := 1
		if p.Join.RightFile > 0 {
			tables = 2
		}
		if len(p.Tables) != tables || !p.Engine && p.Join.RightFile >= len(p.Files) {
			return nil, errors.New("not a plan of alike: its tables and their files are not those of a join")
		}
	}
	return p, nil
}

// Settle checks a plan whose fields are set, except Digest, and computes Digest.
func (p *Plan) Settle() error {
	inputs, err := json.Marshal(struct {
		Files   []File
		Reading Reading
		Tables  []Table `json:",omitempty"`
		Output  string
	}{p.Files, p.Reading, p.Tables, p.Output})
	if err != nil {
		return err
	}
	return p.Plan.Settle(string(inputs))
}

// Cut divides files into runs of about equal size, one for each task, and returns the first file of each.
// There are as many runs as tasks, or one for each file if there are fewer files.
func Cut(files []File, tasks int) (first []int) {
	tasks = max(min(tasks, len(files)), 1)
	total, before := int64(0), int64(0)
	for _, f := range files {
		total += f.Size + 1
	}
	first = []int{0}
	for i, f := range files {
		left := len(files) - i
		if n := len(first); i > first[n-1] && n < tasks && (before >= total/int64(tasks)*int64(n) || left <= tasks-n) {
			first = append(first, i)
		}
		before += f.Size + 1
	}
	return first
}

// filesOf returns the files of a task: from first up to end, which is not included.
func (p *Plan) filesOf(task int) (first, end int) {
	end = len(p.Files)
	if task+1 < len(p.FirstFiles) {
		end = p.FirstFiles[task+1]
	}
	return p.FirstFiles[task], end
}

// optionsOf returns how to read the file, or the engine's part, with a number.
func (p *Plan) optionsOf(file int, buckets Buckets) corpus.Options {
	o := p.options(buckets)
	if p.Join != nil {
		table := p.Tables[0]
		if p.Join.RightFile > 0 && file >= p.Join.RightFile {
			table = p.Tables[1]
		}
		o.NoText, o.IDField, o.Fields = true, table.IDField, slices.Concat(table.Fields, o.Fields)
	}
	return o
}

// options returns how to read files of texts.
func (p *Plan) options(buckets Buckets) corpus.Options {
	o := corpus.Options{
		Format: p.Reading.Format, TextField: p.Reading.TextField, IDField: p.Reading.IDField, MaxRecord: p.Reading.MaxRecord, Buckets: buckets,
	}
	if p.Reading.Field != "" {
		o.Fields = []string{p.Reading.Field}
	}
	return o
}

// source looks up a file of the plan. It fails if the file has changed since the plan was made.
func (p *Plan) source(ctx context.Context, f File, o corpus.Options) (s corpus.Source, err error) {
	found, skipped, err := corpus.Find(ctx, []string{corpus.Source{Path: f.Path, Query: f.Query}.Input()}, o)
	switch {
	case err != nil:
		return s, err
	case len(skipped) > 0:
		return s, &skipped[0]
	// Times of objects are not compared: a store rounds them differently in different answers.
	case len(found) != 1 || found[0].Size != f.Size || found[0].Version != f.Version || f.Version == "" && !found[0].ModTime.Equal(f.ModTime):
		return s, &corpus.Problem{Path: f.Path, Err: fmt.Errorf("%w since the plan was made: plan again", corpus.ErrChanged)}
	}
	found[0].Name = f.Name
	return found[0], nil
}

// Open reads the plan in a file or an object.
func Open(ctx context.Context, where string, buckets Buckets) (*Plan, error) {
	dir, name := splitName(where)
	at, prefix, err := place(ctx, dir, buckets)
	if err != nil {
		return nil, err
	}
	o, err := at.Stat(ctx, prefix+name)
	if err != nil {
		return nil, &corpus.Problem{Path: where, Err: err}
	}
	r, err := at.Read(ctx, o, 0, max(o.Size, 1))
	if err != nil {
		return nil, &corpus.Problem{Path: where, Err: err}
	}
	defer r.Close()
	p, err := Load(r)
	if err != nil {
		return nil, &corpus.Problem{Path: where, Err: err}
	}
	return p, nil
}

// Table says how to read a table.
type Table struct {
	IDField string `json:"id_field"` // corpus.NoID: records are named by their numbers
	// Fields are the compared columns, then stage.Tables.Others. A table need not have all of the latter.
	Fields []string `json:"fields"`
}

// Estimate is the expected cost of a plan, from a sample of the input.
type Estimate struct {
	Files         int     `json:"files"`
	InputBytes    int64   `json:"input_bytes"`
	Documents     int64   `json:"documents"`
	Tasks         int     `json:"tasks"`
	CPUHours      float64 `json:"cpu_hours"`
	MovedBytes    int64   `json:"moved_bytes"` // input and blocks, read and written
	WorkBytes     int64   `json:"work_bytes"`  // stored blocks
	ReadRequests  int64   `json:"read_requests"`
	WriteRequests int64   `json:"write_requests"`
	Cost          float64 `json:"cost,omitempty"`
	Currency      string  `json:"currency,omitempty"`
}
