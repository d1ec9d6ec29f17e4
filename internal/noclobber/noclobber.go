// Package noclobber checks that no file that a program writes is another one that it writes or reads, by
// whatever name: links, spellings and standard streams included.
package noclobber

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/stdio"
)

// outputs are all files and folders that a run writes. None of them may be an input, another file
// that was read, or a part of another output. Other names do not hide this: whether two paths,
// links or spellings are the same file is asked of the system.
type outputs struct {
	all    []output
	folder string          // whose parents were checked last
	clear  map[string]bool // real paths of folders that no output owns
}

// output is a file or folder that a run writes.
type output struct {
	what   string // "output", "output folder", "work folder"
	name   string // as the user knows it; "" for standard output
	kind   string // "file", "folder" or "place": the remedy is to name another one
	path   string // resolved; "-" for standard output, a place's URL
	at     fs.FileInfo
	parent fs.FileInfo   // the nearest existing folder that it lies in
	owned  []string      // what the run writes: path, or the run's names in a folder; of a place, URLs
	taken  []fs.FileInfo // existing files among those of owned
	stream bool          // a standard stream, whose path is not known
}

// An apartError says that an output is an input or another output. It is fault.ErrUsage.
type apartError struct {
	text string
	mute bool // standard error is a file that is read: not even this may be written there
}

func (e *apartError) Error() string        { return e.text }
func (e *apartError) Is(target error) bool { return target == fault.ErrUsage }

func apartf(format string, args ...any) error { return &apartError{text: fmt.Sprintf(format, args...)} }

// Mutes tells whether an error, of Check or of a run, says that standard error is an input, so that
// no message may be written to it.
func Mutes(err error) bool {
	var apart *apartError
	return errors.As(err, &apart) && apart.mute
}

func (o *output) String() string {
	if o.name == "" {
		return o.what
	}
	return o.what + " " + fault.Shown(o.name)
}

// StandardError is the name of standard error among the written files.
const StandardError = "&2"

// A Folder is one in which files of these names are written, and nothing else.
type Folder struct {
	Path  string // "": there is none
	Names []string
}

// Files are those that a program writes and reads. Empty names are ignored.
type Files struct {
	Output, Work, Index Folder
	Written             []string // "-": standard output; StandardError

	Inputs []string // "-": standard input; files, folders and patterns that the function of Check will meet
	Read   []string // other files that are read; "-": standard input
	Stdin  bool     // standard input is not that of the process
}

// Check returns a dedup.ErrUsage if one of the written files is, by whatever name, another written
// file, one that is read or, in an object store, among the inputs; and another error if a standard
// stream that is needed was closed when the process started. visit does the same for files that are
// found in folders and by patterns: it is for corpus.Options.Visit.
func (f Files) Check() (visit func(path string, info fs.FileInfo) error, err error) {
	o := &outputs{clear: map[string]bool{}}
	err = errors.Join(o.addFolder("output folder", f.Output), o.addFolder("work folder", f.Work), o.addFolder("index", f.Index))
	if err != nil {
		return nil, err
	}
	if err := o.fill(&f); err != nil {
		return nil, err
	}
	return o.check, nil
}

// Check is Files.Check for files that are all named.
func Check(written, read []string) error {
	_, err := Files{Written: written, Inputs: read, Read: read}.Check()
	return err
}

// fill adds the written files to the folders, and checks all that is known before inputs are found.
func (o *outputs) fill(f *Files) error {
	for _, name := range named(f.Written) {
		if err := o.addFile(name); err != nil {
			return err
		}
	}
	inputs, read := named(f.Inputs), named(f.Read)
	for i := range o.all {
		for j := range i {
			if err := o.all[i].checkOther(&o.all[j]); err != nil {
				return err
			}
		}
		for _, input := range inputs {
			if err := o.all[i].checkURL(input); err != nil {
				return err
			}
		}
	}
	for _, name := range append(inputs, read...) {
		if name == "-" && !f.Stdin && stdio.Closed(os.Stdin) {
			return errors.New("standard input is closed: name a file, or give it an input")
		}
	}
	return o.checkReads(read)
}

// named returns the names that are not empty.
func named(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
}

// checkReads checks files that are read besides those of inputs. Reading reports what is wrong with
// them.
func (o *outputs) checkReads(names []string) error {
	for _, name := range names {
		info, err := os.Stat(bucketurl.LocalPath(name))
		if name == "-" {
			info, err = os.Stdin.Stat()
		}
		if err == nil {
			if err := o.check(name, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFolder adds the folder or place of a URL in which a run makes files of the given names; "" is
// none.
func (o *outputs) addFolder(what string, f Folder) error {
	name, names := f.Path, f.Names
	if name == "" {
		return nil
	}
	out := output{what: what, name: name, kind: "folder", path: bucketurl.LocalPath(name)}
	if bucketurl.Is(name) {
		out = output{what: "output", name: name, kind: "place", path: name}
		for _, n := range names {
			out.owned = append(out.owned, strings.TrimSuffix(name, "/")+"/"+n)
		}
		o.all = append(o.all, out)
		return nil
	}
	if err := out.look(); err != nil {
		return err
	}
	for _, n := range names {
		out.own(filepath.Join(out.path, n))
	}
	o.all = append(o.all, out)
	return nil
}

func streamed(what, name string, stream *os.File) output {
	out := output{what: what, kind: "file", path: name, owned: []string{name}, stream: true}
	if at, err := stream.Stat(); err == nil && at.Mode().IsRegular() {
		out.at = at
	}
	return out
}

// addFile adds a file, the object of a URL, or a standard stream. Devices and pipes keep
// nothing, and a folder is refused when it is opened.
func (o *outputs) addFile(name string) error {
	out := output{what: "output", name: name, kind: "file", path: bucketurl.LocalPath(name)}
	switch {
	case name == "-":
		if stdio.Closed(os.Stdout) {
			return errors.New("standard output is closed, or the null device opened for reading too, and what is written there would be lost: name a file, or open the null device for writing only (> /dev/null)")
		}
		out = streamed("standard output", name, os.Stdout)
	case name == StandardError:
		out = streamed("standard error", name, os.Stderr)
	case bucketurl.Is(name):
		out = output{what: "output", name: name, kind: "place", path: name, owned: []string{name}}
	default:
		if err := out.look(); err != nil {
			return err
		}
		if out.at != nil && !out.at.Mode().IsRegular() {
			return nil
		}
		out.own(out.path)
	}
	o.all = append(o.all, out)
	return nil
}

// look resolves the path and finds out what exists there.
func (out *output) look() error {
	path, err := resolved(out.path)
	if err != nil {
		return fmt.Errorf("%s: %w; name another %s", out, err, out.kind)
	}
	out.path = path
	if at, err := os.Stat(path); err == nil {
		out.at = at
	}
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if at, err := os.Stat(folder); err == nil {
			out.parent = at
			return nil
		} else if folder == filepath.Dir(folder) {
			return fmt.Errorf("%s: %w; name another %s", out, err, out.kind)
		}
	}
}

func (out *output) own(path string) {
	out.owned = append(out.owned, path)
	if at, err := os.Stat(path); err == nil {
		out.taken = append(out.taken, at)
	}
}

// checkOther refuses an output that overlaps an earlier one.
func (out *output) checkOther(other *output) error {
	if out.stream && other.stream && out.path != other.path {
		return nil // 2>&1: results and messages for one reader
	}
	if same(out.path, other.path) || out.at != nil && other.at != nil && os.SameFile(out.at, other.at) {
		return apartf("%s and %s are the same: name another %s", other, out, out.kind)
	}
	if other.what == "output folder" && out.what == "work folder" && below(out.path, other.path) {
		return apartf("%s lies inside the %s: name a folder outside of it", out, other)
	}
	if out.stream && out.at != nil && other.has(out.at) {
		return apartf("%s is a file of the %s: name another %s", out, other, out.kind)
	}
	for _, a := range out.owned {
		for _, b := range other.owned {
			switch {
			case same(a, b):
				return apartf("%s is a file of the %s: name another %s", out, other, out.kind)
			case below(a, b):
				return apartf("%s lies among the files of the %s: name another %s", out, other, out.kind)
			case below(b, a):
				return apartf("%s lies below the %s: name another %s", other, out, out.kind)
			}
		}
	}
	return nil
}

// has tells whether an existing file lies in a folder among those of the output.
func (out *output) has(at fs.FileInfo) (found bool) {
	if out.kind != "folder" {
		return false
	}
	for _, path := range out.owned {
		_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				info, err := d.Info()
				found = found || err == nil && os.SameFile(info, at)
			}
			return nil
		})
	}
	return found
}

// same tells whether two resolved paths, or URLs, are equal. Names that differ only by case are one
// file on some systems, and nobody needs two such outputs.
func same(a, b string) bool {
	if bucketurl.Is(a) || bucketurl.Is(b) {
		return a == b
	}
	return a == b || filepath.Dir(a) == filepath.Dir(b) && strings.EqualFold(filepath.Base(a), filepath.Base(b))
}

// below tells whether a path is the folder or lies in it, at any depth.
func below(path, folder string) bool {
	if bucketurl.Is(path) || bucketurl.Is(folder) {
		return bucketurl.Inside(path, folder)
	}
	for !same(path, folder) {
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
	return true
}

// checkURL refuses a place in an object store that is or holds an input, or lies inside one.
func (out *output) checkURL(input string) error {
	if out.kind != "place" {
		return nil
	}
	if bucketurl.Inside(out.name, input) {
		return apartf("%s is or lies inside the input %s: name another place", out, fault.Shown(input))
	}
	for _, url := range out.owned {
		if bucketurl.Inside(input, url) {
			return apartf("%s holds the input %s: name another place", out, fault.Shown(input))
		}
	}
	return nil
}

// check refuses outputs that are a file or folder that is read, lie inside one, or hold it. It is
// corpus.Options.Visit.
func (o *outputs) check(path string, info fs.FileInfo) error {
	err := o.checkInput(path, info)
	var apart *apartError
	if errors.As(err, &apart) {
		apart.mute = slices.ContainsFunc(o.all, func(out output) bool {
			return out.path == StandardError && out.at != nil && os.SameFile(out.at, info)
		})
	}
	return err
}

func (o *outputs) checkInput(path string, info fs.FileInfo) error {
	for i := range o.all {
		out := &o.all[i]
		switch {
		case out.at != nil && os.SameFile(out.at, info):
			return apartf("%s is also an input: name another %s", out, out.kind)
		case info.IsDir() && out.parent != nil && os.SameFile(out.parent, info):
			return apartf("%s lies inside the input %s: name a %s outside of it", out, fault.Shown(path), out.kind)
		case out.holds(info):
			return apartf("%s holds the input %s: name another %s", out, fault.Shown(path), out.kind)
		}
	}
	if folder := filepath.Dir(path); folder != o.folder {
		o.folder = folder
		return o.checkAbove(path, folder)
	}
	return nil
}

func (out *output) holds(info fs.FileInfo) bool {
	return slices.ContainsFunc(out.taken, func(at fs.FileInfo) bool { return os.SameFile(at, info) })
}

// checkAbove refuses outputs that hold the folder of an input.
func (o *outputs) checkAbove(path, folder string) error {
	if !slices.ContainsFunc(o.all, func(out output) bool { return len(out.taken) > 0 }) {
		return nil
	}
	at, err := resolved(folder)
	if err != nil {
		return nil // reported when the input is read
	}
	for !o.clear[at] {
		info, err := os.Stat(at)
		if err != nil {
			return nil
		}
		for i := range o.all {
			if out := &o.all[i]; out.holds(info) {
				return apartf("%s holds the input %s: name another %s", out, fault.Shown(path), out.kind)
			}
		}
		o.clear[at] = true
		at = filepath.Dir(at)
	}
	return nil
}

// resolved returns the absolute path without symbolic links; parts that do not exist yet are kept
// unchanged.
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
