package dedup

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/corpus"
)

// Names of what a run leaves in its output folder.
const (
	KeptFolder   = "kept"
	KeptList     = "kept.txt"
	RemovedFile  = "removed.csv"
	ClustersFile = "clusters.csv"
	SummaryFile  = "summary.json"
)

// stagingFolder holds the output until it is whole.
const stagingFolder = ".partial"

// outputDir is a run's output folder. Everything is written below a staging
// folder and moved to its place when all of it is there, summary.json last.
type outputDir struct {
	path    string
	created string // the topmost folder that this run has made; "" if the output's was there
}

// openOutput checks the output folder. Nothing is made yet: inputs that are
// globs must not find it.
func openOutput(config *Config) (*outputDir, error) {
	o := &outputDir{path: config.Output}
	if err := o.checkApart(config); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(o.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("output folder: %w; name a folder that does not exist yet", err)
	}
	for _, e := range entries {
		if e.Name() != stagingFolder { // a killed run's remains are ours to clear
			return nil, fmt.Errorf("output folder %s is not empty (it holds %s): name another folder or empty it", o.path, e.Name())
		}
	}
	return o, nil
}

// prepare makes the output folder and an empty staging folder in it.
func (o *outputDir) prepare() error {
	for at := filepath.Clean(o.path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
			break
		}
		o.created = at
	}
	if err := os.RemoveAll(o.staged()); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	if err := os.MkdirAll(o.staged(), 0o755); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	return nil
}

// checkApart refuses an output folder that is an input or lies inside one: the
// next run would read this run's output.
func (o *outputDir) checkApart(config *Config) error {
	out, err := resolved(o.path)
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	for _, input := range slices.Concat(config.Inputs, config.Against) {
		if input == "-" {
			continue
		}
		for _, name := range named(input) {
			in, err := resolved(name)
			if err != nil {
				continue // reported when it is looked for
			}
			if out == in {
				return fmt.Errorf("output folder %s is also an input: name another folder", o.path)
			}
			if rel, err := filepath.Rel(in, out); err == nil && filepath.IsLocal(rel) {
				return fmt.Errorf("output folder %s lies inside the input %s: name a folder outside of it", o.path, name)
			}
		}
	}
	return nil
}

// named returns the paths that an input stands for: its own, or those that it
// matches as a glob.
func named(input string) []string {
	if _, err := os.Lstat(input); err != nil {
		if matches, err := filepath.Glob(input); err == nil {
			return matches
		}
	}
	return []string{input}
}

// resolved returns the absolute path without symbolic links; parts that do not
// exist yet are taken as they are.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, os.ErrNotExist) {
		parent := filepath.Dir(abs)
		if parent == abs {
			return abs, nil
		}
		if parent, err = resolved(parent); err != nil {
			return "", err
		}
		return filepath.Join(parent, filepath.Base(abs)), nil
	}
	return real, err
}

func (o *outputDir) staged(elem ...string) string {
	return filepath.Join(append([]string{o.path, stagingFolder}, elem...)...)
}

// publish moves the staged entries to their places, the summary last.
func (o *outputDir) publish() error {
	entries, err := os.ReadDir(o.staged())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != SummaryFile {
			if err := os.Rename(o.staged(e.Name()), filepath.Join(o.path, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.Rename(o.staged(SummaryFile), filepath.Join(o.path, SummaryFile)); err != nil {
		return err
	}
	return os.Remove(o.staged())
}

// discard removes what a failed run has written.
func (o *outputDir) discard() error {
	if o.created != "" {
		return os.RemoveAll(o.created)
	}
	return os.RemoveAll(o.staged())
}

// writeFile creates a staged file and fills it through a buffer.
func (o *outputDir) writeFile(name string, fill func(w io.Writer) error) error {
	file, err := os.Create(o.staged(name))
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<16)
	err = fill(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// AppendSimilarity appends a similarity as outputs print it, with six decimals.
func AppendSimilarity(dst []byte, similarity float64) []byte {
	return strconv.AppendFloat(dst, similarity, 'f', 6, 64)
}

// writeRemoved writes removed.csv: id,kept_id,similarity in input order.
func (o *outputDir) writeRemoved(t *table, removed []removal) error {
	return o.writeFile(RemovedFile, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		_ = rows.Write([]string{"id", "kept_id", "similarity"}) // Flush tells of errors
		for _, m := range removed {
			_ = rows.Write([]string{t.id(m.doc), t.id(m.kept), string(AppendSimilarity(nil, m.similarity))})
		}
		rows.Flush()
		return rows.Error()
	})
}

// writeClusters writes clusters.csv: id,cluster for the members of clusters of
// two or more, in input order; a cluster is named by its smallest document.
func (o *outputDir) writeClusters(t *table, r *clustering) error {
	members := make([]uint32, len(r.label))
	for _, label := range r.label {
		members[label]++
	}
	return o.writeFile(ClustersFile, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		_ = rows.Write([]string{"id", "cluster"}) // Flush tells of errors
		for doc, label := range r.label {
			if members[label] > 1 {
				_ = rows.Write([]string{t.id(uint32(doc)), t.id(label)})
			}
		}
		rows.Flush()
		return rows.Error()
	})
}

// writeKeptList writes kept.txt: the paths of the kept documents that are
// files of their own.
func (o *outputDir) writeKeptList(t *table, r *clustering) error {
	return o.writeFile(KeptList, func(w io.Writer) error {
		var line []byte
		for i := t.refs; i < len(t.docs); i++ {
			doc := uint32(i)
			if r.kept[doc] != doc || t.docs[doc].skipped || t.sources[t.fileOf(doc)].Format != corpus.Text {
				continue
			}
			line = append(t.appendID(line[:0], doc), '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o *outputDir) writeSummary(s *Summary) error {
	return o.writeFile(SummaryFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	})
}
