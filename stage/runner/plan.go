// Package runner runs the stages of package stage. Under a scheduler, each task is a process that reads
// and writes a folder or an object store (Run). Under an engine, blocks go through pipes (Pipe, Pack).
//
// A Plan says what to run, over which files, and where the results go. A task writes one object, which
// appears when it is whole, under a name that depends on the plan, the stage and the task only. A task
// may run several times, at once or one after the other, on any machine: every run writes the same bytes.
// docs/how/formats.md describes objects and pipes, docs/cluster.md plans.
package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/vfs"
)

// Plan is a stage.Plan with its inputs and outputs. It is stored as JSON.
type Plan struct {
	stage.Plan
	Files    []File   `json:"files"`
	Engine   bool     `json:"engine,omitempty"` // an engine passes in the documents, and Files is empty
	Run      string   `json:"run,omitempty"`    // for an engine: a random name, because the plan does not know the documents
	Reading  Reading  `json:"reading"`
	Tables   []Table  `json:"tables,omitempty"` // for records: the left and the right table, or the only one
	Skipped  int64    `json:"skipped"`          // number of inputs that were found and cannot be read
	Work     string   `json:"work"`             // folder or URL for the blocks that tasks exchange
	Output   string   `json:"output"`           // URL or folder for Dedup and Cut, URL or file for Pairs and Join
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
	Ends    string    `json:"ends,omitempty"`    // without a version: see corpus.Source.Ends
	Query   string    `json:"query,omitempty"`   // of the object's URL: settings of its bucket
}

// fileOf returns an input as it is now. An input that cannot be read has no Ends; the task that reads it says why.
func fileOf(ctx context.Context, s corpus.Source, o corpus.Options) (File, error) {
	ends, err := s.Ends(ctx, o)
	if ctx.Err() == nil && !errors.Is(err, corpus.ErrUnavailable) && !errors.Is(err, corpus.ErrChanged) {
		err = nil
	}
	return File{Path: s.Path, Name: s.Name, Size: s.Size, ModTime: s.ModTime, Version: s.Version, Ends: ends, Query: s.Query}, err
}

// label names the file for users.
func (f *File) label() string { return corpus.Source{Path: f.Path, Query: f.Query}.Label() }

// tags returns the fields that are added to kept records; nil: none.
func (p *Plan) tags() *tagging.Fields {
	if p.Plan.Tags == nil {
		return nil
	}
	return tagging.Duplicates(p.Plan.Tags.Prefix, p.References > 0)
}

// Reading says how files are read. See corpus.Options.
type Reading struct {
	Format    corpus.Format `json:"format,omitempty"`
	TextField string        `json:"text_field,omitempty"`
	IDField   string        `json:"id_field,omitempty"`
	Field     string        `json:"field,omitempty"`  // field that the keep rule compares
	Within    string        `json:"within,omitempty"` // field within whose values texts are compared: that of the recipe
	MaxRecord int64         `json:"max_record,omitempty"`
	Fail      bool          `json:"fail,omitempty"` // stop at the first record that cannot be used
}

// Load reads a plan. It refuses one that was changed after it was made.
func Load(r io.Reader) (*Plan, error) {
	p := &Plan{}
	if err := fault.Decode(bom.NewReader(r), p, true); err != nil {
		return nil, fmt.Errorf("not a plan of alike: %w", err)
	}
	if p.Digest == "" {
		return nil, errors.New("not a plan of alike: it has no digest")
	}
	return p, p.Settle()
}

// made returns a plan as Load will read it: JSON holds nothing but UTF-8, and the digest must be the same then.
func (p *Plan) made() (*Plan, error) {
	line, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	again := &Plan{}
	if err := json.Unmarshal(line, again); err != nil {
		return nil, err
	}
	return again, again.Settle()
}

// Settle checks a plan whose fields are set. It sets Digest if there is none, else Digest must be that of the fields.
func (p *Plan) Settle() error {
	inputs, err := json.Marshal(struct {
		Files   []File
		Engine  bool   `json:",omitempty"`
		Run     string `json:",omitempty"`
		Reading Reading
		Tables  []Table `json:",omitempty"`
		Skipped int64
		Output  string
	}{p.Files, p.Engine, p.Run, p.Reading, p.Tables, p.Skipped, p.Output})
	if err != nil {
		return err
	}
	if err := p.Plan.Settle(string(inputs)); err != nil {
		return err
	}
	return p.check()
}

// check checks what is not covered by stage.Plan: a plan may come from anywhere, and its digest from its author.
func (p *Plan) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("not a plan of alike: "+format, args...)
	}
	last := p.FirstFiles[len(p.FirstFiles)-1]
	switch {
	case p.Memory < 1:
		return wrong("a memory of %d bytes", p.Memory)
	case p.Skipped < 0 || p.Reading.MaxRecord < 0:
		return wrong("%d skipped inputs, records of up to %d bytes", p.Skipped, p.Reading.MaxRecord)
	case !p.Engine && (!isAbsolute(p.Work) || !isAbsolute(p.Output)) || p.Work != "" && !isAbsolute(p.Work):
		return wrong("the places of work files %.100q and results %.100q depend on the working folder", p.Work, p.Output)
	case !p.Engine && last > len(p.Files):
		return wrong("a task begins with file %d of %d", last, len(p.Files))
	}
	if p.Join != nil {
		tables := 1
		if p.Join.RightFile > 0 {
			tables = 2
		}
		if len(p.Tables) != tables || !p.Engine && p.Join.RightFile >= len(p.Files) {
			return wrong("its tables and their files are not those of a join")
		}
		for _, t := range p.Tables {
			if most := len(p.Join.Columns) + len(p.Join.Others) + len(p.Join.Sources); len(t.Fields) != most {
				return wrong("a table of %d fields, not %d", len(t.Fields), most)
			}
		}
	}
	if p.References > len(p.Files) {
		return wrong("%d references of %d files", p.References, len(p.Files))
	}
	named := map[string]bool{}
	for _, f := range p.Files[p.References:] {
		if err := checkName(f.Name); err != nil {
			return wrong("%w", err)
		}
		name := path.Clean(f.Name)
		if fillsFolder(p) && named[name] {
			return wrong("two inputs have the name %.100q", name)
		}
		named[name] = true
	}
	return nil
}

// isAbsolute tells whether a path or URL names the same place in every working folder.
func isAbsolute(where string) bool {
	return bucketurl.Is(where) || filepath.IsAbs(bucketurl.LocalPath(where))
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

// cutBehind divides the first files and the others, if there are any, each as Cut does.
func (p *Plan) cutBehind(first, tasks int) (all []int) {
	if first > 0 {
		all = Cut(p.Files[:first], tasks)
	}
	for _, n := range Cut(p.Files[first:], tasks) {
		all = append(all, first+n)
	}
	return all
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
	for _, field := range []string{p.Reading.Within, p.Reading.Field} {
		if field != "" {
			o.Fields = append(o.Fields, field)
		}
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
	}
	changed := len(found) != 1 || found[0].Stream
	if !changed {
		now, err := fileOf(ctx, found[0], o)
		if err != nil {
			return s, err
		}
		// Times of objects are not compared: a store rounds them differently in different answers.
		changed = now.Size != f.Size || now.Version != f.Version || now.Ends != f.Ends || f.Version == "" && !now.ModTime.Equal(f.ModTime)
	}
	if changed {
		return s, &corpus.Problem{Path: f.Path, Err: fmt.Errorf("%w since the plan was made: plan again", corpus.ErrChanged)}
	}
	found[0].Name = f.Name
	return found[0], nil
}

// Open reads the plan in a file or an object.
func Open(ctx context.Context, where string, buckets Buckets) (*Plan, error) {
	text, err := readPlan(ctx, where, buckets)
	var p *Plan
	if err == nil {
		p, err = Load(bytes.NewReader(text))
	}
	if err != nil {
		return nil, &corpus.Problem{Path: where, Err: err}
	}
	return p, nil
}

func readPlan(ctx context.Context, where string, buckets Buckets) ([]byte, error) {
	if !bucketurl.Is(where) { // may be a link, or a pipe: the user has named it
		text, err := os.ReadFile(bucketurl.LocalPath(where))
		if err != nil {
			err = fault.File(err)
		}
		return text, err
	}
	dir, name := splitName(where)
	at, err := openPlace(ctx, dir, buckets, false)
	if err != nil {
		return nil, err
	}
	o, err := at.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	return at.read(ctx, o, 0, o.Size)
}

// Table says how to read a table.
type Table struct {
	IDField string `json:"id_field"` // corpus.NoID: records are named by their numbers
	// Fields are the compared columns, then Others and Sources of stage.Tables. A table need not have all of Others.
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

// removeRemains removes the unfinished files that killed tasks have left in folders: all of those between the objects
// of the plan, and those of its results. A task that runs once more at this time keeps its own. Nothing depends on what
// cannot be removed; in buckets nothing is left that has a name.
func removeRemains(p *Plan) {
	if !bucketurl.Is(p.Work) {
		objects := filepath.Join(bucketurl.LocalPath(p.Work), p.Digest)
		_ = filepath.WalkDir(objects, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = filelock.RemoveLeft(vfs.OS, path, func(string) bool { return true })
			}
			return err
		})
	}
	if bucketurl.Is(p.Output) {
		return
	}
	for dir, names := range resultFiles(p) {
		_ = filelock.RemoveLeft(vfs.OS, dir, func(hash string) bool { return names[hash] })
	}
}

// resultFiles returns the files of the results: their folders, and the hashes of their names.
func resultFiles(p *Plan) map[string]map[string]bool {
	folders := map[string]map[string]bool{}
	add := func(path string) {
		dir, name := filepath.Split(path)
		if folders[dir] == nil {
			folders[dir] = map[string]bool{}
		}
		folders[dir][filelock.Hash(name)] = true
	}
	output := bucketurl.LocalPath(p.Output)
	if !fillsFolder(p) {
		add(output)
		return folders
	}
	add(filepath.Join(output, dedup.SummaryFile))
	for _, list := range listsOf(p) {
		add(filepath.Join(output, list.name))
	}
	for _, f := range p.Files {
		add(filepath.Join(output, dedup.KeptFolder, filepath.FromSlash(f.Name)))
	}
	return folders
}

// fillsFolder tells whether the results are a folder of several files.
func fillsFolder(p *Plan) bool { return p.Command == stage.Dedup || p.Command == stage.Cut }

// textList is a list of the results: a file of lines that tasks have made.
type textList struct {
	stream       stage.Stream
	name, header string // the name is "" if the list is all that results from the plan
}

// listsOf returns the lists of a plan, except for those in Parquet.
func listsOf(p *Plan) []textList {
	switch p.Command {
	case stage.Pairs:
		return []textList{{stage.PairsText, "", "a,b,similarity\n"}}
	case stage.Cut:
		return []textList{{stage.FoundText, dedup.FoundFile, "document,start,end,first_document,first_start\n"}, {stage.LittleText, dedup.LittleFile, "document,words\n"}}
	case stage.Join:
		var header strings.Builder
		_ = linklist.WriteHeader(&header, p.Join.Format, p.Join.List()) // a Builder takes everything
		return []textList{{stage.LinksText, "", header.String()}}
	}
	members := "id,cluster\n"
	if p.Join != nil {
		members = "id,cluster,probability\n"
	}
	all := []textList{{stage.RemovedText, dedup.RemovedFile, "id,kept_id,similarity\n"}, {stage.ClustersText, dedup.ClustersFile, members}}
	if p.Listed {
		all = append(all, textList{stage.KeptText, dedup.KeptList, ""})
	}
	return all
}
