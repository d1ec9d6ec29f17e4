package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fence"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/vfs"
)

// The files of a table in the folder of the store. The first one names the second: it is written last, and the table is
// there if it is.
//
//	NAME.table.json       the settings
//	NAME.NUMBER.records   the records, an object of JSON a line
const (
	tableSuffix   = ".table.json"
	recordsSuffix = ".records"
)

// tableSettings define a table, as JSON: how its records are matched.
type tableSettings struct {
	// Model is a model of alike learn, or the settings of alike join --save-config.
	Model   json.RawMessage `json:"model"`
	IDField string          `json:"id_field,omitempty"` // of the records
	Top     int             `json:"top,omitempty"`      // most matches of an answer
}

// tableFile is the content of the file of a table.
type tableFile struct {
	tableSettings
	Records string `json:"records"` // the name of the other file
}

// A table is the records of a table that can be matched with others.
type table struct {
	*linkage.Matcher
	idField string
	file    string // of its records
}

// tables has the tables. Their files are always synced, whatever the durability of collections.
type tables struct {
	fs  vfs.FS
	dir string // "": in memory

	changing sync.Mutex // held while tables are made and removed
	mu       sync.RWMutex
	all      map[string]*table
}

// openTables opens all tables of a folder, and removes the records of what is none.
func openTables(fsys vfs.FS, dir string) (t *tables, err error) {
	t = &tables{fs: fence.Around(fsys, dir), dir: dir, all: map[string]*table{}}
	if dir == "" {
		return t, nil
	}
	names, err := t.fs.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	used := map[string]bool{}
	for _, file := range names {
		name, ok := strings.CutSuffix(file, tableSuffix)
		if !ok || !isName(name) {
			continue
		}
		if err := t.load(name); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		used[t.all[name].file] = true
	}
	for _, file := range names {
		if isRecords(file) && !used[file] {
			if err := t.fs.Remove(filepath.Join(dir, file)); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// durability is what an answer to a change promises.
func (t *tables) durability() Durability {
	if t.dir == "" {
		return Memory
	}
	return Sync
}

// isRecords tells whether a name is one that records of a table have.
func isRecords(file string) bool {
	name, number, ok := strings.Cut(strings.TrimSuffix(file, recordsSuffix), ".")
	_, err := strconv.ParseUint(number, 10, 64)
	return ok && err == nil && strings.HasSuffix(file, recordsSuffix) && isName(name)
}

// load opens a table of the folder.
func (t *tables) load(name string) error {
	f, err := t.fs.Open(filepath.Join(t.dir, name+tableSuffix))
	if err != nil {
		return err
	}
	defer f.Close()
	var of tableFile
	if err := json.NewDecoder(f).Decode(&of); err != nil {
		return err
	}
	if !isRecords(of.Records) {
		return errors.New("does not name its records")
	}
	made, err := openTable(context.Background(), filepath.Join(t.dir, of.Records), &of.tableSettings)
	if err != nil {
		return err
	}
	made.file = of.Records
	t.all[name] = made
	return nil
}

// openTable reads and indexes the records of a file. A record that cannot be read is an error.
func openTable(ctx context.Context, path string, s *tableSettings) (*table, error) {
	model, threshold, err := linkage.ReadSaved(s.Model)
	if err != nil {
		return nil, unprocessable("model", "%v", err)
	}
	m, err := linkage.OpenMatcher(ctx, linkage.MatchConfig{
		Model: model, Threshold: threshold, Table: path, ID: s.IDField, Top: s.Top, Corpus: corpus.Options{Format: corpus.JSONL}, Fail: true,
	})
	var bad *corpus.Problem
	switch {
	case errors.As(err, &bad) && bad.Line > 0:
		return nil, unprocessable("records", "record %d cannot be read: %s", bad.Line, bad.Kind())
	case errors.As(err, &bad):
		return nil, err
	case err != nil: // of columns: it names the file, which nobody knows
		return nil, unprocessable("records", "%s", strings.ReplaceAll(err.Error(), path, "the table"))
	}
	return &table{Matcher: m, idField: s.IDField}, nil
}

var errNoTable = &Problem{Status: 404, Detail: "there is no table of this name"}

func (t *tables) get(name string) (*table, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if of := t.all[name]; of != nil {
		return of, nil
	}
	return nil, errNoTable
}

func (t *tables) names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.all))
}

// put makes a table of records, which write writes a line each, or replaces the one of the name: requests that use that one
// end with it. After an error it is as before.
func (t *tables) put(ctx context.Context, name string, s *tableSettings, write func(to io.Writer) error) (made *table, err error) {
	if !isName(name) {
		return nil, unprocessable("table", "takes 1 to 63 of a-z, 0-9, _ and -, with a letter or digit first")
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	if t.dir == "" {
		made, err = inMemory(ctx, s, write)
	} else {
		made, err = t.keep(ctx, name, s, write)
	}
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	before := t.all[name]
	t.all[name] = made
	t.mu.Unlock()
	if before != nil && t.dir != "" {
		err = t.fs.Remove(filepath.Join(t.dir, before.file))
	}
	return made, err
}

// inMemory opens a table whose records are in a temporary file meanwhile.
func inMemory(ctx context.Context, s *tableSettings, write func(to io.Writer) error) (_ *table, err error) {
	f, err := os.CreateTemp("", "alike-table-*.jsonl")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := buffered(f, write); err != nil {
		return nil, err
	}
	return openTable(ctx, f.Name(), s)
}

// keep writes a table into the folder, and opens it.
func (t *tables) keep(ctx context.Context, name string, s *tableSettings, write func(to io.Writer) error) (made *table, err error) {
	file := name + "." + strconv.FormatUint(durable.NewID(), 10) + recordsSuffix
	path := filepath.Join(t.dir, file)
	if err := writeWhole(t.fs, path, write); err != nil {
		return nil, err
	}
	if made, err = openTable(ctx, path, s); err == nil {
		made.file = file
		err = writeWhole(t.fs, filepath.Join(t.dir, name+tableSuffix), func(to io.Writer) error {
			return json.NewEncoder(to).Encode(tableFile{*s, file})
		})
	}
	if err != nil {
		return nil, errors.Join(err, t.fs.Remove(path))
	}
	return made, nil
}

// remove removes a table. Its settings go first: without them it is none.
func (t *tables) remove(name string) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	t.mu.Lock()
	of := t.all[name]
	delete(t.all, name)
	t.mu.Unlock()
	if of == nil {
		return errNoTable
	}
	if t.dir == "" {
		return nil
	}
	if err := t.fs.Remove(filepath.Join(t.dir, name+tableSuffix)); err != nil {
		return err
	}
	if err := durable.SyncDir(t.fs, t.dir); err != nil {
		return err
	}
	return t.fs.Remove(filepath.Join(t.dir, of.file))
}
