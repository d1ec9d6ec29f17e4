package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"strconv"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// Setting is one value that a run's results depend on: an option, the version of a format, an input
// with its size and time. Names need not be unique.
type Setting struct{ Name, Value string }

// String is for messages.
func (s Setting) String() string { return s.text().String() }

func (s Setting) text() setting.Text {
	if s == (Setting{}) {
		return setting.Textf("nothing more")
	}
	return setting.Textf("%s %s", setting.Name(s.Name), s.Value)
}

// MismatchError says that the work folder holds a run with other settings. Was or Is is zero if the
// other one has no counterpart.
type MismatchError struct {
	Dir string
	Was Setting // in the journal: the first that differs
	Is  Setting // asked for now
}

func (e *MismatchError) Error() string { return e.text().String() }

// Explain returns the text with every setting named by name, see alike.Explain.
func (e *MismatchError) Explain(name func(field string) string) string { return e.text().Explain(name) }

func (e *MismatchError) text() setting.Text {
	was, is := e.Was.text(), e.Is.text()
	var what setting.Text
	switch zero := (Setting{}); {
	case e.Is == zero:
		what = setting.Textf("with %s, which is missing now", was)
	case e.Was == zero:
		what = setting.Textf("without %s", is)
	case e.Was.Name == e.Is.Name:
		what = setting.Textf("with %s, and it is %s now", was, e.Is.Value)
	default:
		what = setting.Textf("with %s where there is %s now", was, is)
	}
	return setting.Textf("work folder %s holds an unfinished run %s; %s", e.Dir, what, startOver)
}

// Open locks a work folder, making it if necessary, and opens its journal, or creates one with the
// given settings: all that the results depend on, in a fixed order. Open iterates over them once
// and does not keep them; there may be millions.
//
// It fails with ErrInUse if another process has the folder, with a *MismatchError if its journal
// has other settings or another format, and with ErrCorrupt if the journal is damaged. A last
// record that was not written completely is dropped. With fresh an existing journal is removed
// first, whatever it holds. Files of other names are left alone.
//
// It costs one reading of the journal and a few syncs.
func Open(fsys vfs.FS, dir string, settings iter.Seq[Setting], fresh bool) (*Journal, error) {
	made, err := durable.MkdirAll(fsys, dir, 0o777)
	if err == nil {
		err = durable.SyncNames(fsys, made)
	}
	if err != nil {
		return nil, folderError("make", dir, err)
	}
	lock, err := filelock.Take(fsys, filepath.Join(dir, lockName))
	if errors.Is(err, filelock.ErrTaken) {
		return nil, fmt.Errorf("%w: %s; wait for it to end, or name another folder", ErrInUse, dir)
	}
	if err != nil {
		return nil, folderError("lock", dir, err)
	}
	j := &Journal{fs: fsys, dir: dir, path: filepath.Join(dir, journalName), lock: lock}
	if err := j.open(settings, fresh); err != nil {
		if j.file != nil {
			err = errors.Join(err, j.file.Close())
		}
		return nil, errors.Join(err, lock.Release())
	}
	return j, nil
}

func (j *Journal) open(settings iter.Seq[Setting], fresh bool) error {
	if fresh {
		if err := j.removeFiles(); err != nil {
			return folderError("start over in", j.dir, err)
		}
	}
	_, err := durable.Lstat(j.fs, j.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = j.create(settings)
	}
	if err == nil {
		j.file, err = durable.OpenOwn(j.fs, j.path)
	}
	if err != nil {
		return folderError("use", j.dir, err)
	}
	if err := j.load(settings); err != nil {
		return err
	}
	// A process may have been killed between a write and its sync. The run will rely on the records
	// read here, so they must be safe on disk.
	if err := errors.Join(j.file.Sync(), durable.SyncDir(j.fs, j.dir)); err != nil {
		return fault.InWorkFolder(err)
	}
	return nil
}

// folderError adds the remedy to the error of a folder that cannot be used.
func folderError(do, dir string, err error) error {
	remedy := "name another folder, one that can be written"
	switch {
	case vfs.IsNoSpace(err):
		remedy = "free space on its disk, or name another folder"
	case errors.Is(err, durable.ErrForeign):
		remedy = "or name another folder"
	}
	return fmt.Errorf("%s work folder %s: %w; %s", do, dir, err, remedy)
}

// create writes a journal without records. The file gets its name only when it is whole.
func (j *Journal) create(settings iter.Seq[Setting]) error {
	f, err := durable.CreateAs(j.fs, j.path, newName)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := writeSettings(f, settings); err != nil {
		return err
	}
	return f.Commit()
}

func writeSettings(f io.Writer, settings iter.Seq[Setting]) error {
	out := bufio.NewWriterSize(f, 64<<10)
	// The writer keeps the first error for Flush.
	_, _ = out.Write(header())
	var line []byte
	n := 0
	for s := range settings {
		line = appendSetting(line[:0], s)
		_, _ = out.Write(line)
		n++
	}
	_, _ = out.Write(appendLine(line[:0], beginKind, strconv.AppendInt(nil, int64(n), 10)))
	return out.Flush()
}

// load reads the journal: it compares the settings and finds the first record and the end of the
// last whole one.
func (j *Journal) load(settings iter.Seq[Setting]) error {
	info, err := j.file.Stat()
	if err != nil {
		return fmt.Errorf("read %s: %w", j.path, err)
	}
	lines := newLineReader(j.file, 0, info.Size())
	if err := j.compare(lines, settings); err != nil {
		return err
	}
	j.first, j.end = lines.next, lines.next
	for {
		line, err := lines.read()
		whole := false
		switch {
		case err == nil:
			_, _, whole = parseLine(line)
		case errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, errTorn):
			return fmt.Errorf("read %s: %w", j.path, err)
		}
		if !whole {
			return j.cut(info.Size())
		}
		j.end, j.resumed = lines.next, true
	}
}

// cut accepts j.end as the end although bytes follow it, if they may be the rest of one record that
// was not written completely. They stay until a record overwrites them; they cannot be read as a
// record until then.
func (j *Journal) cut(size int64) error {
	more, err := wholeLineAfter(j.file, j.end, size)
	if err != nil {
		return fmt.Errorf("read %s: %w", j.path, err)
	}
	if more {
		return j.corrupt(j.end)
	}
	return nil
}

func (j *Journal) compare(lines *lineReader, settings iter.Seq[Setting]) error {
	line, err := j.readWhole(lines)
	if err != nil {
		return err
	}
	version, ok := parseHeader(line)
	if !ok {
		return j.corrupt(0)
	}
	if now := strconv.Itoa(formatVersion); version != now {
		const name = "journal format"
		return &MismatchError{j.dir, Setting{name, version}, Setting{name, now}}
	}
	var want []byte
	n := 0
	for s := range settings {
		at := lines.next
		line, err := j.readWhole(lines)
		if err != nil {
			return err
		}
		want = appendSetting(want[:0], s)
		if !bytes.Equal(line, want[:len(want)-1]) {
			return j.mismatch(at, line, s)
		}
		n++
	}
	at := lines.next
	if line, err = j.readWhole(lines); err != nil {
		return err
	}
	want = appendLine(want[:0], beginKind, strconv.AppendInt(nil, int64(n), 10))
	if !bytes.Equal(line, want[:len(want)-1]) {
		return j.mismatch(at, line, Setting{})
	}
	return nil
}

// readWhole reads a line of the part of the journal that was complete before the file got its name.
func (j *Journal) readWhole(lines *lineReader) ([]byte, error) {
	at := lines.next
	line, err := lines.read()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, errTorn):
		return nil, j.corrupt(at)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", j.path, err)
	}
	return line, nil
}

// mismatch says why a line of the journal is not that of the setting is, or not the end of the
// settings if is is zero.
func (j *Journal) mismatch(at int64, line []byte, is Setting) error {
	kind, payload, ok := parseLine(line)
	if !ok {
		return j.corrupt(at)
	}
	switch string(kind) {
	case settingKind:
		if was, ok := parseSetting(payload); ok {
			return &MismatchError{j.dir, was, is}
		}
	case beginKind:
		if is != (Setting{}) {
			return &MismatchError{j.dir, Setting{}, is}
		}
	}
	return j.corrupt(at)
}
