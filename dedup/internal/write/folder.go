package write

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// Names of a run's files in its output folder.
const (
	KeptFolder   = "kept"
	KeptList     = "kept.txt"
	KeptIDsFile  = "kept.csv"
	RemovedFile  = "removed.csv"
	ClustersFile = "clusters.csv"
	ReportFile   = "report.html"
	ReportData   = "report.json" // what it shows
	FoundFile    = "found.csv"
	LittleFile   = "little.csv"
	SummaryFile  = "summary.json"
)

// StagingFolder holds the output until it is complete; StagingLock exists while a run works on it,
// or after it was killed.
const (
	StagingFolder = ".partial"
	StagingLock   = ".partial.lock"
)

// Folder is a run's output folder. Everything is written below a staging folder and moved to its
// place when it is complete, summary.json last.
//
// If the output is a place in an object store, the staging folder is in the work folder, and each
// file of records is uploaded and removed as soon as it is complete, so that the disk need not hold
// all of them.
type Folder struct {
	Needs []string // names that every run of its kind has

	fs      vfs.FS
	path    string         // the folder with the staging folder
	remote  *remote.Prefix // nil: the output is path
	created string         // the topmost folder that this run has made; "" if the output's existed
	lock    *filelock.Lock // nil: not taken

	mu       sync.Mutex
	uploaded []string
}

// Open returns the output of a run. It makes nothing yet: inputs that are globs must not find it.
func Open(ctx context.Context, fs vfs.FS, name string, c corpus.Options) (*Folder, error) {
	o := &Folder{fs: fs, path: bucketurl.LocalPath(name), Needs: []string{RemovedFile, ClustersFile, SummaryFile}}
	if !bucketurl.Is(name) {
		return o, nil
	}
	var err error
	o.remote, err = remote.Open(ctx, name, c.Buckets)
	return o, err
}

// CheckEmpty refuses a folder with anything other than what a killed run has left. A resumed run
// may find some of its output in its place.
func (o *Folder) CheckEmpty(ctx context.Context, goesOn bool) error {
	var names []string
	if o.remote != nil {
		name, err := o.remote.First(ctx)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if name != "" {
			first, _, _ := strings.Cut(name, "/")
			names = append(names, first)
		}
	} else {
		var err error
		if names, err = o.fs.List(o.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("output folder: %w; name a folder that does not exist yet", err)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if name == StagingFolder || name == StagingLock || goesOn && slices.Contains(outputNames, name) {
			continue
		}
		return fmt.Errorf("output folder %s is not empty (it holds %s): name another folder or empty it", fault.Shown(o.name()), fault.Shown(name))
	}
	return nil
}

func (o *Folder) name() string {
	if o.remote != nil {
		return o.remote.URL("")
	}
	return o.path
}

// outputNames are the names that a run may put into its output folder, in this order.
var outputNames = []string{KeptFolder, KeptList, KeptIDsFile, RemovedFile, ClustersFile, ReportFile, ReportData, FoundFile, LittleFile, SummaryFile}

// OwnedNames returns the names of everything that a run makes in its output folder.
func OwnedNames() []string { return append(slices.Clone(outputNames), StagingFolder, StagingLock) }

// Prepare makes the output folder, locks it, checks that it is empty, and makes a staging folder in
// it, which is empty unless a resumed run has begun to fill it. A run that is resumed after all was
// staged may find some of the output in its place. sources are the inputs, whose names must be
// possible here.
func (o *Folder) Prepare(ctx context.Context, w *scratch.Space, log *resume.Log, published bool, sources []corpus.Source) error {
	if o.remote != nil {
		path, err := w.PathOf("output")
		if err != nil {
			return err
		}
		o.path = path
	}
	err := o.makeFolder()
	if err == nil {
		err = o.checkNames(sources)
	}
	if err == nil {
		err = o.takeLock()
	}
	if err == nil {
		err = o.CheckEmpty(ctx, published || o.remote != nil && log.Resumed())
	}
	if err == nil {
		err = o.makeStaging(log.Resumed())
	}
	if err == nil {
		return nil
	}
	if o.lock != nil && !log.Keeps() {
		err = errors.Join(err, o.fs.RemoveAll(o.staged()))
	}
	o.Unlock()
	if !log.Keeps() {
		o.removeCreated()
	}
	return err
}

// takeLock keeps other runs out of the folder.
func (o *Folder) takeLock() (err error) {
	o.lock, err = filelock.Take(o.fs, filepath.Join(o.path, StagingLock))
	if errors.Is(err, filelock.ErrTaken) {
		return fmt.Errorf("output folder %s is %w: wait for it to end, or name another folder", fault.Shown(o.path), err)
	}
	return folderError(err)
}

// Unlock lets other runs in. After an error at worst an empty file stays, which the next run
// accepts as its own.
func (o *Folder) Unlock() {
	if o.lock != nil {
		_ = o.lock.Release()
		o.lock = nil
	}
}

func folderError(err error) error {
	switch {
	case err == nil:
		return nil
	case vfs.IsNoSpace(err):
		return fmt.Errorf("output folder: %w", err) // the command adds the remedy for full disks
	case errors.Is(err, durable.ErrForeign):
		return fmt.Errorf("output folder: %w, or name another folder", err)
	}
	return fmt.Errorf("output folder: %w; name another folder, one that can be written", err)
}

func (o *Folder) makeStaging(goOn bool) error {
	var err error
	if !goOn {
		err = o.fs.RemoveAll(o.staged())
	}
	if err == nil {
		err = o.fs.MkdirAll(o.staged(), 0o777)
	}
	if err == nil {
		err = durable.CheckDir(o.fs, o.staged())
	}
	return folderError(err)
}

// Restart empties the staging folder: a run that goes on writes all of its output again.
func (o *Folder) Restart() error { return o.makeStaging(false) }

func (o *Folder) makeFolder() error {
	made, err := durable.MkdirAll(o.fs, filepath.Clean(o.path), 0o777)
	if len(made) > 0 {
		o.created = made[len(made)-1]
	}
	if err == nil {
		err = durable.SyncNames(o.fs, made)
	}
	return folderError(err)
}

// surelyFits is the length of a name, in bytes, that every file system in use accepts.
const surelyFits = 128

// checkNames refuses inputs whose output cannot have the input's name: an object's key may be
// longer than a file's name, and so may a name on another file system.
func (o *Folder) checkNames(sources []corpus.Source) error {
	for i := range sources {
		s := &sources[i]
		if s.Format == corpus.Text || len(o.kept(s)) <= surelyFits {
			continue
		}
		tries := []string{o.kept(s)} // the length of the path
		for name := range strings.SplitSeq(s.Name, "/") {
			if len(name) > surelyFits {
				tries = append(tries, filepath.Join(o.path, name))
			}
		}
		for _, path := range tries {
			if _, err := o.fs.Stat(path); errors.Is(err, syscall.ENAMETOOLONG) {
				return fmt.Errorf("%s: its name is too long for a file in %s (%d bytes); give it a shorter name, or name a folder on another file system",
					s.Label(), o.path, len(filepath.Base(path)))
			}
		}
	}
	return nil
}

// whole makes a finished staged file durable and, if the output is elsewhere, uploads it.
func (o *Folder) whole(ctx context.Context, name, path string) error {
	if o.remote == nil {
		if err := durable.SyncDir(o.fs, filepath.Dir(path)); err != nil {
			return outputError(err)
		}
		return nil
	}
	file, err := o.fs.Open(path)
	if err != nil {
		return outputError(err)
	}
	st, err := file.Stat()
	if err == nil {
		err = o.remote.Upload(ctx, name, file, st.Size())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return outputError(err)
	}
	o.mu.Lock()
	o.uploaded = append(o.uploaded, name)
	o.mu.Unlock()
	return o.fs.Remove(path)
}

func (o *Folder) staged(elem ...string) string {
	return filepath.Join(append([]string{o.path, StagingFolder}, elem...)...)
}

// kept returns the staging path of a source's kept records.
func (o *Folder) kept(s *corpus.Source) string {
	return o.staged(KeptFolder, filepath.FromSlash(s.Name))
}

// SyncFolders makes the names of all staged files durable.
func (o *Folder) SyncFolders(sources []corpus.Source) error {
	folders := map[string]bool{o.path: true, o.staged(): true}
	for i := range sources {
		if sources[i].Format == corpus.Text {
			continue
		}
		for at := filepath.Dir(o.kept(&sources[i])); !folders[at]; at = filepath.Dir(at) {
			folders[at] = true
		}
	}
	for path := range folders {
		// A file that cannot be read may have no folder.
		if err := durable.SyncDir(o.fs, path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return outputError(err)
		}
	}
	return nil
}

// Publish moves the staged output to its place, the summary last. It may continue where an earlier
// process was killed. After an error no summary is in its place.
func (o *Folder) Publish(ctx context.Context) error {
	if o.remote != nil {
		if err := o.remote.UploadFolder(ctx, o.fs, o.staged(), SummaryFile); err != nil {
			return outputError(err)
		}
		_ = o.fs.RemoveAll(o.path) // otherwise the next run in the work folder removes it
		return nil
	}
	for _, name := range outputNames {
		if name == SummaryFile {
			// The other files must be in their places before the summary, whatever happens.
			if err := durable.SyncDir(o.fs, o.path); err != nil {
				return outputError(err)
			}
		}
		if err := o.move(name); err != nil {
			return outputError(err)
		}
	}
	if err := durable.SyncDir(o.fs, o.path); err != nil {
		back := o.fs.Rename(filepath.Join(o.path, SummaryFile), o.staged(SummaryFile))
		return outputError(errors.Join(err, back))
	}
	// If an empty folder stays, or comes back after a power failure, that is not worth an error.
	_ = o.fs.RemoveAll(o.staged())
	return nil
}

// move moves a staged name to its place, unless it is already there.
func (o *Folder) move(name string) error {
	place := filepath.Join(o.path, name)
	err := o.fs.Rename(o.staged(name), place)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !slices.Contains(o.Needs, name) {
		return nil
	}
	if _, err := o.fs.Stat(place); err != nil {
		return setting.Errorf("%w; what was staged is gone: start over with %s", err, setting.Fresh)
	}
	return nil
}

// Settle makes the removal of the staging folder durable: if it came back without the journal of
// the run, no run would remove it.
func (o *Folder) Settle() {
	if o.remote == nil {
		_ = durable.SyncDir(o.fs, o.path)
	}
}

// Discard removes the output of a failed run.
func (o *Folder) Discard(ctx context.Context) error {
	var err error
	for _, name := range o.uploaded {
		err = errors.Join(err, o.remote.Remove(ctx, name))
	}
	switch {
	case o.remote != nil:
		err = errors.Join(err, o.remote.RemoveFolder(ctx, o.fs, o.staged()))
	default:
		for _, name := range slices.Backward(outputNames) { // some may have been moved to their places
			err = errors.Join(err, o.fs.RemoveAll(filepath.Join(o.path, name)))
		}
	}
	err = errors.Join(err, o.fs.RemoveAll(o.staged()))
	o.Unlock()
	o.removeCreated()
	return err
}

// removeCreated removes the folders that this run has made, if nothing else is in them: another run
// may have put its output there.
func (o *Folder) removeCreated() {
	if o.created == "" {
		return
	}
	for at := filepath.Clean(o.path); ; at = filepath.Dir(at) {
		if names, err := o.fs.List(at); err != nil || len(names) > 0 || o.fs.Remove(at) != nil || at == o.created {
			return
		}
	}
}

// writeFile creates a staged file and fills it through a buffer.
func (o *Folder) writeFile(name string, fill func(w io.Writer) error) error {
	path := o.staged(name)
	file, err := o.fs.Create(path)
	if err != nil {
		return outputError(err)
	}
	w := bufio.NewWriterSize(file, 1<<16)
	err = fill(w)
	if err == nil {
		if err = w.Flush(); err == nil {
			err = file.Sync()
		}
		if err != nil {
			err = outputError(err)
		}
	}
	return errors.Join(err, file.Close())
}

// CreateKept begins the file of kept/ for a source, with its compression.
func (o *Folder) CreateKept(s *corpus.Source, threads int, memory int64) (*corpus.Writer, error) {
	path := o.kept(s)
	if err := o.fs.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, outputError(err)
	}
	w, err := createOn(o.fs, path, s.Compression, threads)
	if err != nil {
		return nil, outputError(err)
	}
	if memory > 0 {
		w.Limit(memory)
	}
	return w, nil
}

// CommitKept completes the file of kept/ for a source.
func (o *Folder) CommitKept(ctx context.Context, s *corpus.Source, w *corpus.Writer) error {
	if err := w.Commit(); err != nil {
		return outputError(err)
	}
	if o.remote == nil {
		return nil // all names are made durable together at the end
	}
	return o.whole(ctx, KeptFolder+"/"+s.Name, o.kept(s))
}

// AllWritten returns sources as those of a run that writes every one of them, also those that are documents of their own.
func AllWritten(sources []corpus.Source) []corpus.Source {
	sources = slices.Clone(sources)
	for i := range sources {
		if sources[i].Format == corpus.Text {
			sources[i].Format = corpus.Lines
		}
	}
	return sources
}
