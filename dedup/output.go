package dedup

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/resume"
	"github.com/alike-dev/alike/dedup/internal/scratch"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/internal/setting"
)

// Names of what a run leaves in its output folder.
const (
	KeptFolder   = "kept"
	KeptList     = "kept.txt"
	KeptIDsFile  = "kept.csv"
	RemovedFile  = "removed.csv"
	ClustersFile = "clusters.csv"
	SummaryFile  = "summary.json"
)

// stagingFolder holds the output until it is whole; stagingLock is there while a run
// works on it, or was killed.
const (
	stagingFolder = ".partial"
	stagingLock   = ".partial.lock"
)

// outputDir is a run's output folder. Everything is written below a staging
// folder and moved to its place when all of it is there, summary.json last.
//
// Where the output is a place in an object store, the staging folder is in the
// work folder, and each file of records is uploaded and removed as soon as it is
// whole, so that the disk need not hold all of them.
type outputDir struct {
	fs      vfs.FS
	path    string         // that holds the staging folder
	remote  *remote.Prefix // nil: the output is path
	created string         // the topmost folder that this run has made; "" if the output's was there
	lock    *filelock.Lock // nil: not taken

	mu       sync.Mutex
	uploaded []string
}

// openOutput returns the output of a run. Nothing is made yet: inputs that are globs
// must not find it.
func openOutput(ctx context.Context, config *Config) (*outputDir, error) {
	o := &outputDir{fs: config.fs, path: bucketurl.LocalPath(config.Output)}
	if !bucketurl.Is(config.Output) {
		return o, nil
	}
	var err error
	o.remote, err = remote.Open(ctx, config.Output, config.Corpus.Buckets)
	return o, err
}

// checkEmpty refuses a folder with anything but what a killed run has left. A run
// that goes on may find some of its output in its place.
func (o *outputDir) checkEmpty(ctx context.Context, goesOn bool) error {
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
		if name == stagingFolder || name == stagingLock || goesOn && slices.Contains(outputNames, name) {
			continue
		}
		return fmt.Errorf("output folder %s is not empty (it holds %s): name another folder or empty it", fault.Shown(o.name()), fault.Shown(name))
	}
	return nil
}

func (o *outputDir) name() string {
	if o.remote != nil {
		return o.remote.URL("")
	}
	return o.path
}

// outputNames are what a run puts into its output folder, in the order in which it
// does.
var outputNames = []string{KeptFolder, KeptList, KeptIDsFile, RemovedFile, ClustersFile, SummaryFile}

// prepare makes the output folder, locks it, sees that it is empty, and makes a
// staging folder in it, empty unless a run goes on that has begun to fill it. A run
// that goes on when all was staged may find some of it in its place. sources are the
// inputs, whose names must be possible here.
func (o *outputDir) prepare(ctx context.Context, w *scratch.Space, log *resume.Log, published bool, sources []corpus.Source) error {
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
		err = o.checkEmpty(ctx, published || o.remote != nil && log.Resumed())
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
	o.unlock()
	if !log.Keeps() {
		o.removeCreated()
	}
	return err
}

// takeLock keeps other runs out of the folder.
func (o *outputDir) takeLock() (err error) {
	o.lock, err = filelock.Take(o.fs, filepath.Join(o.path, stagingLock))
	if errors.Is(err, filelock.ErrTaken) {
		return fmt.Errorf("output folder %s is %w: wait for it to end, or name another folder", fault.Shown(o.path), err)
	}
	return folderError(err)
}

// unlock lets other runs in. An error leaves an empty file at worst, which the next
// run takes for its own.
func (o *outputDir) unlock() {
	if o.lock != nil {
		_ = o.lock.Release()
		o.lock = nil
	}
}

func folderError(err error) error {
	switch {
	case err == nil:
		return nil
	case vfs.IsNoSpaceError(err):
		return fmt.Errorf("output folder: %w", err) // the command tells what to do about full disks
	case errors.Is(err, durable.ErrForeign):
		return fmt.Errorf("output folder: %w, or name another folder", err)
	}
	return fmt.Errorf("output folder: %w; name another folder, one that can be written", err)
}

func (o *outputDir) makeStaging(goOn bool) error {
	var err error
	if !goOn {
		err = o.fs.RemoveAll(o.staged())
	}
	if err == nil {
		err = o.fs.MkdirAll(o.staged(), 0o755)
	}
	if err == nil {
		err = durable.CheckDir(o.fs, o.staged())
	}
	return folderError(err)
}

func (o *outputDir) makeFolder() error {
	made, err := durable.MkdirAll(o.fs, filepath.Clean(o.path), 0o755)
	if len(made) > 0 {
		o.created = made[len(made)-1]
	}
	if err == nil {
		err = durable.SyncNames(o.fs, made)
	}
	return folderError(err)
}

// surelyFits is what any file system in use takes as a name, in bytes.
const surelyFits = 128

// checkNames refuses inputs whose output could not be given its name: an object's key
// may be longer than a file's name, and so may the name on another file system.
func (o *outputDir) checkNames(sources []corpus.Source) error {
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

// whole takes a staged file that no more is written to: it is durable and, if the
// output is elsewhere, there.
func (o *outputDir) whole(ctx context.Context, name, path string) error {
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

func (o *outputDir) staged(elem ...string) string {
	return filepath.Join(append([]string{o.path, stagingFolder}, elem...)...)
}

// kept returns where a source's kept records are staged.
func (o *outputDir) kept(s *corpus.Source) string {
	return o.staged(KeptFolder, filepath.FromSlash(s.Name))
}

// syncFolders makes the names of all that is staged durable.
func (o *outputDir) syncFolders(sources []corpus.Source) error {
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
		// Of a file that cannot be read there may be no folder.
		if err := durable.SyncDir(o.fs, path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return outputError(err)
		}
	}
	return nil
}

// publish moves what is staged to its place, the summary last. It may go on where
// an earlier process was killed. After an error no summary is in its place.
func (o *outputDir) publish(ctx context.Context) error {
	if o.remote != nil {
		if err := o.remote.UploadFolder(ctx, o.fs, o.staged(), SummaryFile); err != nil {
			return outputError(err)
		}
		_ = o.fs.RemoveAll(o.path) // the next run in the work folder does
		return nil
	}
	for _, name := range outputNames {
		if name == SummaryFile {
			// The others must be in their places before it is, whatever happens.
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
	// An empty folder that stays, or comes back when the power fails, is not worth an
	// error.
	_ = o.fs.RemoveAll(o.staged())
	return nil
}

// move moves what is staged under a name to its place, unless it is there already.
func (o *outputDir) move(name string) error {
	place := filepath.Join(o.path, name)
	err := o.fs.Rename(o.staged(name), place)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if name == KeptFolder || name == KeptList || name == KeptIDsFile { // not every run has them
		return nil
	}
	if _, err := o.fs.Stat(place); err != nil {
		return setting.Errorf("%w; what was staged is gone: start over with %s", err, setting.Fresh)
	}
	return nil
}

// discard removes what a failed run has written.
func (o *outputDir) discard(ctx context.Context) error {
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
	o.unlock()
	o.removeCreated()
	return err
}

// removeCreated removes the folders that this run has made, as far as nothing else
// is in them: another run may have put its output there.
func (o *outputDir) removeCreated() {
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
func (o *outputDir) writeFile(name string, fill func(w io.Writer) error) error {
	path := o.staged(name)
	file, err := o.fs.Create(path, vfs.WriteCategoryUnspecified)
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

// AppendSimilarity appends a similarity as outputs print it, with six decimals.
func AppendSimilarity(dst []byte, similarity float64) []byte {
	return strconv.AppendFloat(dst, similarity, 'f', 6, 64)
}

// rows writes a CSV file with a header.
func (o *outputDir) rows(name string, header []string, fill func(write func(row ...string)) error) error {
	return o.writeFile(name, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		_ = rows.Write(header) // Flush tells of errors
		if err := fill(func(row ...string) { _ = rows.Write(row) }); err != nil {
			return err
		}
		rows.Flush()
		if err := rows.Error(); err != nil {
			return outputError(err)
		}
		return nil
	})
}

// writeRemoved writes removed.csv: id,kept_id,similarity in input order.
func (o *outputDir) writeRemoved(ctx context.Context, t *table.Table, c *clusters.Result) error {
	return o.rows(RemovedFile, []string{"id", "kept_id", "similarity"}, func(write func(row ...string)) error {
		removed, kept := t.Scanner(), table.Namer{Cursor: t.Cursor()}
		similarities := extsort.NewLookup(c.Similarities)
		err := c.Removed.Visit(func(e extsort.Entry) error {
			similarity := 1.0 // a copy
			if bits, ok := similarities.Find(e.Key); ok {
				similarity = math.Float64frombits(bits)
			}
			write(removed.ID(uint32(e.Key)), kept.ID(uint32(e.Value)), string(AppendSimilarity(nil, similarity)))
			return errors.Join(removed.Err, kept.Err, ctx.Err())
		})
		return errors.Join(err, similarities.Err(), similarities.Close())
	})
}

// writeClusters writes clusters.csv: id,cluster for the members of clusters of
// two or more, in input order; a cluster is named by its smallest document.
func (o *outputDir) writeClusters(ctx context.Context, t *table.Table, c *clusters.Result) error {
	return o.rows(ClustersFile, []string{"id", "cluster"}, func(write func(row ...string)) error {
		docs, labels := t.Scanner(), table.Namer{Cursor: t.Cursor()}
		return c.Labels.Visit(func(e extsort.Entry) error {
			write(docs.ID(uint32(e.Key)), labels.ID(uint32(e.Value)))
			return errors.Join(docs.Err, labels.Err, ctx.Err())
		})
	})
}

// writeKeptList writes kept.txt: the paths of the kept documents that are
// files of their own.
func (o *outputDir) writeKeptList(ctx context.Context, k *keptWriter) error {
	t := k.r.table
	return o.writeFile(KeptList, func(w io.Writer) error {
		c := t.Scanner()
		var name, line []byte
		for i := t.References; i < t.Docs; i++ {
			doc := uint32(i)
			if !k.keeps(doc) || t.Sources[t.FileOf(doc)].Format != corpus.Text {
				continue
			}
			name = c.AppendID(name[:0], doc)
			line = append(appendLineName(line[:0], name), '\n')
			if err := errors.Join(c.Err, ctx.Err()); err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return outputError(err)
			}
		}
		return nil
	})
}

// writeKeptIDs writes kept.csv: id of the kept documents, in input order.
func (o *outputDir) writeKeptIDs(ctx context.Context, k *keptWriter) error {
	return o.rows(KeptIDsFile, []string{"id"}, func(write func(row ...string)) error {
		docs := k.r.table.Scanner()
		for i := k.r.table.References; i < k.r.table.Docs; i++ {
			doc := uint32(i)
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !k.keeps(doc) {
				continue
			}
			write(docs.ID(doc))
			if docs.Err != nil {
				return docs.Err
			}
			k.items.Add(1)
		}
		return nil
	})
}

// appendLineName appends a name as a line of a list shows it: as it is, unless it holds
// control characters or line separators or begins with a quotation mark. Then it is in
// quotes and escaped as Go does, which strconv.Unquote undoes.
func appendLineName(dst, name []byte) []byte {
	for i, r := range string(name) {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || i == 0 && r == '"' {
			return strconv.AppendQuote(dst, string(name))
		}
	}
	return append(dst, name...)
}

func (o *outputDir) writeSummary(s *Summary) error {
	return o.writeFile(SummaryFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	})
}
