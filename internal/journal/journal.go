package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// The names of the journal's files in a work folder; it touches no others.
const (
	journalName = "alike.journal"
	newName     = "alike.journal.new" // being created
	lockName    = "alike.lock"        // exists while a process works, or after it was killed
)

// Names are the files that a journal may have in its folder.
var Names = []string{journalName, newName, lockName}

// maxRecord bounds a record, so that a reader still takes two records for one line if the line feed
// between them is damaged.
const maxRecord = 16 << 20

// ErrInUse says that another process uses the folder.
var ErrInUse = errors.New("work folder in use by another process")

// ErrCorrupt says that a journal is damaged before its last record, which no crash causes.
var ErrCorrupt = errors.New("damaged journal")

// errClosed says that a journal was used after Close or Remove.
var errClosed = errors.New("journal is closed")

// Journal is an open journal. Its methods are safe for concurrent use.
type Journal struct {
	fs      vfs.FS
	dir     string
	path    string
	lock    *filelock.Lock
	resumed bool
	first   int64 // offset of the first record

	mu   sync.Mutex
	file vfs.File // nil when closed
	end  int64    // of the last whole record
}

// Record is one record that was given to Append.
type Record struct {
	Kind    string
	Payload json.RawMessage
}

// Resumed reports whether the journal held records when it was opened.
func (j *Journal) Resumed() bool { return j.resumed }

// Append writes a record of v as JSON and returns when it is safe on disk. A kind is made of a to
// z, 0 to 9 and -; a record may have up to 16 MiB. It costs one write and one sync.
//
// After an error the journal is as it was before, and Append may be called again. Only if the disk
// keeps failing may the record be in the file nevertheless.
func (j *Journal) Append(kind string, v any) error {
	if err := checkKind(kind); err != nil {
		return err
	}
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal record of kind %s: %w", kind, err)
	}
	line := appendLine(nil, kind, payload)
	if len(line) > maxRecord {
		return fmt.Errorf("journal record of kind %s has %d bytes, more than %d", kind, len(line), maxRecord)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return errClosed
	}
	size := int64(len(line)) // WriteAt may change the bytes
	if _, err = j.file.WriteAt(line, j.end); err == nil {
		err = j.file.SyncData()
	}
	if err != nil {
		// Overwrite the start, so that the bytes are no record. Where even this fails, the next
		// record overwrites them.
		_, _ = j.file.WriteAt([]byte{0}, j.end)
		return fault.InWorkFolder(err)
	}
	j.end += size
	return nil
}

// Records yields all records in the order in which they were appended, including those of this
// process. It reads the file as it goes and holds one record at a time; the consumer may keep the
// payload. It ends after the first error.
func (j *Journal) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		j.mu.Lock()
		file, end := j.file, j.end
		j.mu.Unlock()
		if file == nil {
			yield(Record{}, errClosed)
			return
		}
		lines := newLineReader(file, j.first, end)
		for {
			at := lines.next
			line, err := lines.read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil && !errors.Is(err, errTorn) {
				yield(Record{}, fmt.Errorf("read %s: %w", j.path, err))
				return
			}
			kind, payload, ok := parseLine(line)
			if !ok {
				yield(Record{}, j.corrupt(at))
				return
			}
			if !yield(Record{string(kind), append(json.RawMessage(nil), payload...)}, nil) {
				return
			}
		}
	}
}

// Last decodes the last record of a kind into a pointer and reports whether there
// is one. It reads the whole file.
func (j *Journal) Last(kind string, into any) (bool, error) {
	var last json.RawMessage
	for r, err := range j.Records() {
		if err != nil {
			return false, err
		}
		if r.Kind == kind {
			last = r.Payload
		}
	}
	if last == nil {
		return false, nil
	}
	return true, j.decode(kind, last, into)
}

// All yields the decoded records of a kind in the order in which they were appended. It ends after
// the first error.
func All[T any](j *Journal, kind string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range j.Records() {
			var v T
			if err == nil && r.Kind != kind {
				continue
			}
			if err == nil {
				err = j.decode(kind, r.Payload, &v)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (j *Journal) decode(kind string, payload json.RawMessage, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return setting.Errorf("%s: record of kind %s: %w; %s", j.path, kind, err, startOver)
	}
	return nil
}

// startOver is the remedy for an unusable journal.
var startOver = setting.Textf("start over with %s, or name another work folder", setting.Fresh)

func (j *Journal) corrupt(at int64) error {
	return setting.Errorf("%w: %s at byte %d; %s", ErrCorrupt, j.path, at, startOver)
}

// Close releases the folder and keeps the journal, so that the run can continue later. A second
// call does nothing.
func (j *Journal) Close() error { return j.close(false) }

// Remove ends the run: it removes the journal and releases the folder, but keeps the folder. Remove
// the run's other files before.
func (j *Journal) Remove() error { return j.close(true) }

func (j *Journal) close(remove bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	if remove {
		err = errors.Join(err, j.removeFiles())
	}
	if err = errors.Join(err, j.lock.Release()); err != nil {
		return fmt.Errorf("work folder %s: %w", j.dir, err)
	}
	return nil
}

// removeFiles removes a journal, complete or not, and makes that safe on disk.
func (j *Journal) removeFiles() error {
	for _, path := range []string{j.path, filepath.Join(j.dir, newName)} {
		if err := j.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return durable.SyncDir(j.fs, j.dir)
}
