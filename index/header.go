package index

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/text"
	"github.com/alike-dev/alike/vfs"
)

// The files of an index in a folder.
const (
	headerFile = "INDEX" // the options of the index; written once
	stateFile  = "STATE" // how far it was when it was last opened or closed
	lockFile   = "lock"  // held by the process that has it open
	storeDir   = "store" // Pebble's
	sortDir    = "sort"  // of a build, for entries that do not fit in memory
)

// newSuffix ends the name of a file that is not complete. A process that is killed may leave
// such a file, and the next one that writes the file removes it.
const newSuffix = ".new"

// begunFile is the header of an index that is being made, see Create.
const begunFile = headerFile + newSuffix

// FileNames returns the names of the files and folders that an index has in its folder.
func FileNames() []string { return []string{headerFile, stateFile, lockFile, storeDir} }

// formatVersion is the version of the header, the keys and the values.
const formatVersion = "alike index 1"

// ErrFormat says that a folder is no index, or has a format that this program does not know.
var ErrFormat = errors.New("index: format")

// ErrDamaged says that data in the folder differ from what was written. Errors of this kind
// name the damaged part.
var ErrDamaged = errDamaged

// ErrOther says that an index was made with another recipe, or with other options.
var ErrOther = errors.New("index: made in another way")

// lines is a small file of names and values, one pair a line, with the checksum of all earlier
// bytes at the end:
//
//	alike index 1
//	recipe text/v2 … | …
//	keep text
//	crc 89abcdef
type lines struct{ names, values []string }

func (l *lines) add(name string, value any) {
	l.names, l.values = append(l.names, name), append(l.values, fmt.Sprint(value))
}

func (l *lines) get(name string) string {
	for i, n := range l.names {
		if n == name {
			return l.values[i]
		}
	}
	return ""
}

func (l *lines) number(name string) uint64 {
	n, err := strconv.ParseUint(l.get(name), 10, 64)
	if err != nil {
		return 0 // the checksum is right, so another version wrote this field
	}
	return n
}

func (l *lines) write(fsys vfs.FS, path string) error {
	var b strings.Builder
	b.WriteString(formatVersion + "\n")
	for i := range l.names {
		fmt.Fprintf(&b, "%s %s\n", l.names[i], l.values[i])
	}
	fmt.Fprintf(&b, "crc %08x\n", durable.Checksum(0, []byte(b.String())))
	f, err := durable.CreateAs(fsys, path, filepath.Base(path)+newSuffix)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write([]byte(b.String())); err != nil {
		return err
	}
	return f.Commit()
}

func readLines(fsys vfs.FS, path string) (l lines, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return l, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return l, err
	}
	text, sum, ok := strings.Cut(string(b), "\ncrc ")
	text += "\n"
	if !ok || sum != fmt.Sprintf("%08x\n", durable.Checksum(0, []byte(text))) {
		return l, fmt.Errorf("%s: %w: checksum", path, errDamaged)
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if all[0] != formatVersion {
		return l, fmt.Errorf("%w: %s begins with %q, and this program knows %q: take a program of that version, or build the index anew", ErrFormat, path, all[0], formatVersion)
	}
	for _, line := range all[1:] {
		name, value, _ := strings.Cut(line, " ")
		l.add(name, value)
	}
	return l, nil
}

// seedSign stands before the seed in the header's containment. Without it the seed is minhash.DefaultSeed.
const seedSign = " seed="

// parseContainment is the inverse of what header writes.
func (o *Options) parseContainment(s string) (err error) {
	number, seed, seeded := strings.Cut(s, seedSign)
	o.seed = minhash.DefaultSeed
	if o.Containment, err = strconv.Atoi(number); err == nil && seeded {
		o.seed, err = strconv.ParseUint(seed, 10, 64)
	}
	if err != nil {
		return fmt.Errorf("%w: containment %s", errDamaged, s)
	}
	return nil
}

// header returns the header of an index. The window is not part of it: it may differ each time
// the index is opened.
func (o Options) header() (l lines) {
	l.add("recipe", o.Recipe.String())
	l.add("keep", o.Keep)
	containment := strconv.Itoa(o.Containment)
	if o.Containment > 0 && o.seed != minhash.DefaultSeed {
		containment += seedSign + strconv.FormatUint(o.seed, 10) // a program that does not know it takes the keys for none
	}
	l.add("containment", containment)
	l.add("bucketcap", o.BucketCap)
	l.add("byid", o.ByID)
	if o.Keys != KeysInMemory {
		l.add("keys", o.Keys)
	}
	l.add("columns", strconv.Quote(strings.Join(o.Columns, "\x00")))
	return l
}

// fromHeader returns the options of the header. o has the options that are not in the header.
// Its recipe may be one that cannot be parsed from its line; if it is set, it must equal the
// recipe of the header.
func fromHeader(l lines, o Options) (Options, error) {
	line := l.get("recipe")
	if o.Recipe.Keys() == 0 {
		var err error
		if o.Recipe, err = parseRecipe(line); err != nil {
			return o, err
		}
	} else if strings.HasPrefix(line, string(text.V1)+" ") {
		return o, fmt.Errorf("index: made with %s, which no setting asks for any more: it can be searched and added to as it is; else read all again into another folder", text.V1)
	} else if o.Recipe.String() != line {
		return o, fmt.Errorf("%w: it has the recipe\n  %s\nand not\n  %s", ErrOther, line, o.Recipe)
	}
	if byID := l.get("byid") == "true"; byID && !o.ByID && (o.Window.Docs > 0 || o.Window.Age > 0) {
		return o, fmt.Errorf("%w: its documents are found by their ids, and would expire: a window needs an index of its own", ErrOther)
	}
	if keys := Keys(l.get("keys")); o.Keys != KeysInMemory && o.Keys != keys {
		return o, fmt.Errorf("%w: it has its keys in memory and not on %s", ErrOther, o.Keys)
	}
	if most := int(l.number("bucketcap")); o.BucketCap != 0 && o.BucketCap != most {
		return o, fmt.Errorf("%w: its buckets take %d documents and not %d", ErrOther, most, o.BucketCap)
	}
	o.Keep, o.BucketCap = Keep(l.get("keep")), int(l.number("bucketcap"))
	if err := o.parseContainment(l.get("containment")); err != nil {
		return o, err
	}
	o.ByID, o.Keys = l.get("byid") == "true", Keys(l.get("keys"))
	columns, err := strconv.Unquote(l.get("columns"))
	if err != nil {
		return o, fmt.Errorf("%w: columns %s", errDamaged, l.get("columns"))
	}
	if o.Columns = nil; columns != "" {
		o.Columns = strings.Split(columns, "\x00")
	}
	return o, o.Validate()
}

// ParseRecipe returns the recipe that Open would parse from the header: the same recipe, or an
// error if its line does not say all of it (stop words, for example). An index with such a
// recipe can be opened only with the recipe itself in OpenOptions.
func ParseRecipe(r recipe.Recipe) (recipe.Recipe, error) { return parseRecipe(r.String()) }

func parseRecipe(line string) (recipe.Recipe, error) {
	r, err := recipe.Parse(line)
	if err != nil {
		err = fmt.Errorf("index: the recipe cannot be had from its line alone: %w", err)
	}
	return r, err
}

// readHeader reads the header of the index in a folder.
func readHeader(fsys vfs.FS, dir string, o Options) (Options, error) {
	l, err := readLines(fsys, filepath.Join(dir, headerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return o, fmt.Errorf("%w: there is no index in %s", fs.ErrNotExist, dir)
	}
	if err != nil {
		return o, err
	}
	return fromHeader(l, o)
}

// settleFile begins the names of tables that are being written.
const settleFile = "settle"

func isSettleFile(name string) bool {
	return strings.HasPrefix(name, settleFile) && strings.HasSuffix(name, newSuffix)
}
