package corpus

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
)

// Find finds the files of the inputs. An input is a file, a folder (with everything below
// it), a glob that matches files or folders, the URL of an object or of a prefix (treated
// as a folder), a URL with a glob in its key, or "-" for standard input. URLs need
// Options.Buckets, except file://, which names a path. In a folder *.jsonl, *.ndjson,
// *.csv, *.tsv (also with .gz, .zst, .bz2, .xz) and *.parquet are files of records, and
// every other file is one document; Options.Format overrides that.
//
// Sources are in the order of the inputs, and within a folder in byte order of their
// paths. A file that is reached twice, because inputs overlap or through a symbolic link,
// is read once, silently, at the first place that is no link; a hard link is a file of
// its own. Links are followed, also into folders.
//
// In a folder, entries that cannot be read (FIFO, socket, device, dangling link, link to
// a folder above, folder without permission, unsupported format) are not opened and
// become Problems. A FIFO that is itself an input is read as a stream, JSONL unless its
// name says otherwise.
//
// The error is that of ctx, or a *Problem for an input that does not exist
// (fs.ErrNotExist), a folder with nothing in it (ErrNoFiles), or an input that is a
// socket or device (ErrNotRegular), except terminals and the null device.
func Find(ctx context.Context, inputs []string, o Options) (sources []Source, skipped []Problem, err error) {
	if err := o.Validate(); err != nil {
		return nil, nil, err
	}
	if len(inputs) == 0 {
		return nil, nil, fault.Because(ErrNoFiles, "no input; name a file, a folder, or - for standard input")
	}
	w := &walk{ctx: ctx, o: o, seen: map[string]bool{}, files: map[int]int{}, deep: map[int]deepGlob{}}
	for i, input := range inputs {
		w.input = i
		err := w.add(input)
		if w.stopped != nil {
			err = w.stopped
		}
		if err != nil {
			return nil, nil, err
		}
	}
	w.followLinks()
	if w.stopped != nil {
		return nil, nil, w.stopped
	}
	if err := w.checkEmpty(); err != nil {
		return nil, nil, err
	}
	sources, skipped = w.result(), w.problems()
	if o.Texts != nil {
		var failed []Problem
		if sources, failed, err = o.Texts(ctx, sources); err != nil {
			return nil, nil, err
		}
		skipped = append(skipped, failed...)
	}
	return sources, skipped, nil
}

func (w *walk) add(input string) error {
	if input == "-" {
		if !w.stdin {
			w.stdin = true
			w.visitStdin()
			format := w.o.Format
			if format == ByName {
				format = JSONL
			}
			w.found = append(w.found, reached[Source]{w.input, Source{Path: "-", Format: format, Size: -1, Stream: true}})
		}
		return nil
	}
	input = bucketurl.LocalPath(input)
	if at, ok := bucketurl.Parse(input); ok {
		return w.addURL(at)
	}
	paths, matched := []string{input}, false
	if _, err := os.Lstat(input); err != nil {
		if bucketurl.IsDeep(input) {
			return w.addDeep(input)
		}
		matches, gerr := filepath.Glob(input)
		if !strings.ContainsAny(input, "*?[") || gerr != nil || input == "" {
			return openError(input, err)
		}
		if len(matches) == 0 {
			return noMatch(input)
		}
		paths, matched = matches, true // sorted
	}
	for _, p := range paths {
		if err := w.addNamed(filepath.Clean(p), matched); err != nil {
			return err
		}
	}
	return nil
}

// addNamed adds a file or folder that is itself an input, or was matched by one.
func (w *walk) addNamed(path string, matched bool) error {
	st, err := os.Stat(path)
	if err != nil {
		return linkError(path, err)
	}
	real, err := realPath(path)
	if err != nil {
		real = path // for example /dev/fd/63 of a pipe
	}
	switch {
	case st.IsDir():
		w.roots = append(w.roots, root{w.input, path})
		w.folder(path, real, st)
	case st.Mode().IsRegular():
		err := unreadable(path)
		if base, _ := cutCompression(path); !matched && w.o.Texts == nil && slices.Contains(holders, filepath.Ext(base)) {
			err = errHolder
		}
		if err != nil && w.o.Format == ByName {
			return &Problem{Path: path, Err: err}
		}
		w.file(path, real, st)
	case st.Mode()&fs.ModeSocket != 0, st.Mode()&fs.ModeDevice != 0 && !isStandard(path):
		return &Problem{Path: path, Err: notRegular(st.Mode())}
	case w.once(real):
		format, c, record := NameFormat(path)
		if !record {
			format = JSONL
		}
		if w.o.Format != ByName {
			format = w.o.Format
		}
		w.found = append(w.found, reached[Source]{w.input, Source{Path: path, Format: format, Compression: c, Size: -1, Stream: true}})
	}
	return nil
}

// isStandard reports whether a device is one that ends: the null device, or one that may
// be a terminal. Others, such as disks and /dev/zero, cannot be inputs.
func isStandard(path string) bool {
	switch path {
	case os.DevNull, "/dev/stdin", "/dev/tty":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

func (w *walk) visitStdin() {
	if w.o.Visit == nil || w.o.Stdin != nil {
		return
	}
	if st, err := os.Stdin.Stat(); err == nil && st.Mode().IsRegular() {
		w.visit("-", st)
	}
}

// checkEmpty returns an error for an input of folders without any file.
func (w *walk) checkEmpty() error {
	for _, p := range w.wrong {
		w.files[p.input]++
	}
	for _, r := range w.roots {
		if w.files[r.input] == 0 {
			return &Problem{Path: r.path, Err: fault.Because(ErrNoFiles, "no files in the folder; name one that has some")}
		}
	}
	for _, input := range slices.Sorted(maps.Keys(w.deep)) {
		if g := w.deep[input]; w.files[input] == 0 {
			return noMatch(g.pattern)
		}
	}
	return nil
}

// noMatch is the error for a pattern without a match.
func noMatch(pattern string) error {
	return &Problem{Path: pattern, Err: fault.Because(fs.ErrNotExist, "the pattern matches no file; check it")}
}

// name sets the Name of every source: its path relative to the deepest folder that holds
// all inputs (for an input file: its folder), made unique.
func (w *walk) name(sources []Source) {
	var parent []string
	first := true
	share := func(dir string) {
		parts := pathParts(dir)
		if first {
			parent, first = parts, false
			return
		}
		n := 0
		for n < len(parent) && n < len(parts) && parent[n] == parts[n] {
			n++
		}
		parent = parent[:n]
	}
	isRoot := map[string]bool{}
	for _, r := range w.roots {
		share(r.path)
		isRoot[r.path] = true
	}
	for _, s := range sources {
		if !s.Stream && !underRoot(s.Path, isRoot) {
			share(parentOf(s.Path))
		}
	}
	used := map[string]bool{}
	folder, below := "", "" // the previous folder and its name, since each look-up asks the system for the current folder
	for i := range sources {
		s := &sources[i]
		var name string
		if s.Path == "-" {
			s.Name = stdinName(*s, sources, used)
			continue
		}
		switch _, remote := bucketurl.Parse(s.Path); {
		case s.Stream:
			name = streamName(*s)
		case remote:
			name = strings.Join(pathParts(s.Path)[len(parent):], "/")
		default:
			if dir := filepath.Dir(s.Path); dir != folder {
				folder, below = dir, strings.Join(append(pathParts(dir)[len(parent):], ""), "/")
			}
			name = below + filepath.Base(s.Path)
			if strings.HasSuffix(s.Path, name) { // share the memory: there may be millions
				name = s.Path[len(s.Path)-len(name):]
			}
		}
		s.Name = unique(name, used)
	}
}

// parentOf returns the folder of a path or URL; at the top it returns name.
func parentOf(name string) string {
	at, ok := bucketurl.Parse(name)
	if !ok {
		return filepath.Dir(name)
	}
	at.Key = at.Key[:max(0, strings.LastIndexByte(at.Key, '/'))]
	return at.String()
}

func underRoot(path string, isRoot map[string]bool) bool {
	for {
		dir := parentOf(path)
		if isRoot[dir] {
			return true
		}
		if dir == path {
			return false
		}
		path = dir
	}
}

// pathParts returns the names on the absolute path, beginning with the volume; for a URL,
// beginning with scheme and bucket.
func pathParts(path string) []string {
	if at, ok := bucketurl.Parse(path); ok {
		return at.NameParts()
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = filepath.Clean(path)
	}
	volume := filepath.VolumeName(abs)
	parts := strings.Split(strings.Trim(filepath.ToSlash(abs[len(volume):]), "/"), "/")
	if parts[0] == "" {
		parts = nil
	}
	if volume != "" {
		parts = append([]string{strings.Trim(strings.NewReplacer(":", "", `\`, "_", "/", "_").Replace(volume), "_")}, parts...)
	}
	return parts
}

// streamName is the name of a file that holds the records of a stream.
func streamName(s Source) string {
	name := "stdin"
	if s.Path != "-" {
		name = filepath.Base(s.Path)
		if f, _, record := NameFormat(name); record && f == s.Format {
			return name
		}
	}
	return name + "." + cmp.Or(s.Format.kind().stream, string(s.Format))
}

// foldNames is set where file systems by default treat names that differ only in case as
// equal.
var foldNames = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// stdinName returns the name of standard input. It identifies its records, as paths
// identify those of files, so it differs from all paths.
func stdinName(s Source, sources []Source, used map[string]bool) string {
	taken := maps.Clone(used)
	for i := range sources {
		taken[nameKey(filepath.ToSlash(sources[i].Path))] = true
	}
	name := unique(streamName(s), taken)
	used[nameKey(name)] = true
	return name
}

// nameKey is equal for names that file systems by default treat as equal.
func nameKey(name string) string {
	if foldNames {
		return strings.ToLower(name)
	}
	return name
}

// unique adds a number to a name that is already used.
func unique(name string, used map[string]bool) string {
	for n, candidate := 1, name; ; n++ {
		key := nameKey(candidate)
		if !used[key] {
			used[key] = true
			return candidate
		}
		dir, base := "", name
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			dir, base = name[:i+1], name[i+1:]
		}
		stem, ext, _ := strings.Cut(base, ".")
		candidate = dir + stem + "-" + strconv.Itoa(n)
		if ext != "" {
			candidate = fmt.Sprintf("%s.%s", candidate, ext)
		}
	}
}

// result puts the sources in order and names them.
func (w *walk) result() []Source {
	sources := inOrder(w.found, func(s *Source) string { return s.Path })
	w.found, w.seen = nil, nil // release their memory
	w.name(sources)
	return sources
}
