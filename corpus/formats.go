package corpus

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
)

// A kind is all that the package asks about a Format. A new format of lines is a row of kinds; one whose
// records are no lines has functions of its own as well, in a file of their own.
type kind struct {
	Format
	endings []string // of the names of record files, before that of a compression
	stream  string   // the ending of the name of a stream's file; "": as Format

	packed bool // files are compressed inside, and never outside; records have no bytes of their own
	whole  bool // a file is one record
	header bool // the first line names the columns
	quoted bool // a record may have several lines, so that not every line end is the end of a record
	told   bool // a record tells its encoding, or the file has none

	open   func(f *File) error                           // nil: a file is bytes from front to back
	cut    func(p *Parser, r *Record) bool               // the next record of a block; nil: a line
	parse  func(p *Parser, r *Record)                    // fills r from r.Raw
	blank  func(line []byte) bool                        // whether a line is no record; nil: every line is one
	blanks string                                        // of these bytes and LF such lines consist
	names  func(f *File, add func(names []string)) error // of the columns or fields; nil: there are none
}

var kinds = []kind{
	{
		Format: JSONL, endings: []string{".jsonl", ".ndjson"}, told: true,
		parse: (*Parser).parseJSON, blank: blankJSON, blanks: " \t\r", names: fieldsOfFirst,
	},
	{
		Format: CSV, endings: []string{".csv"}, header: true, quoted: true,
		parse: (*Parser).parseRow, blank: blankLine, blanks: "\r", names: namesOfHeader,
	},
	{
		Format: TSV, endings: []string{".tsv"}, header: true,
		parse: (*Parser).parseRow, blank: blankLine, blanks: "\r", names: namesOfHeader,
	},
	{
		Format: Parquet, endings: []string{".parquet"}, packed: true, told: true,
		open: openParquet, cut: (*Parser).nextFrame, parse: (*Parser).parseFrame, names: singleColumns,
	},
	{Format: Lines, stream: "txt", parse: (*Parser).parseLine},
	{Format: Text, stream: "txt", whole: true, told: true, parse: (*Parser).parseText},
}

// noKind is that of no format, [ByName] among them.
var noKind = kind{parse: (*Parser).parseText}

func (f Format) kind() *kind {
	for i := range kinds {
		if kinds[i].Format == f {
			return &kinds[i]
		}
	}
	return &noKind
}

func formatNames() string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = string(kinds[i].Format)
	}
	return strings.Join(names, ", ")
}

// kindOfName returns the kind of record file that a name says, nil if it is none, and the compression.
func kindOfName(name string) (*kind, Compression) {
	name, c := cutCompression(name)
	for i := range kinds {
		for _, ending := range kinds[i].endings {
			if strings.HasSuffix(name, ending) {
				return &kinds[i], c
			}
		}
	}
	return nil, c
}

// NameFormat returns the format and compression for a file name, and whether the name is that of a
// record file (jsonl, ndjson, csv, tsv, parquet, the last one without compression). Case does not
// matter. Every other name is a text.
func NameFormat(name string) (f Format, c Compression, record bool) {
	k, c := kindOfName(name)
	if k == nil || k.packed && c != Plain {
		return Text, c, false
	}
	return k.Format, c, true
}

// cutCompression returns a name in lower case without the ending of its compression.
func cutCompression(name string) (base string, c Compression) {
	name = strings.ToLower(name)
	for _, s := range [...]struct {
		suffix string
		c      Compression
	}{{".gz", Gzip}, {".zst", Zstd}, {".bz2", Bzip2}, {".xz", Xz}} {
		if base, ok := strings.CutSuffix(name, s.suffix); ok {
			return base, s.c
		}
	}
	return name, Plain
}

// A Layout says how to parse the records of a file: its format and, for a table, its
// columns. It remains valid after the file is closed, and goroutines may share it.
type Layout struct {
	kind     *kind
	columns  *delimited.Columns
	encoding bom.Encoding // not of JSONL, whose records tell it
}

// Equal reports whether both parse records in the same way.
func (l Layout) Equal(other Layout) bool {
	return l.kind == other.kind && l.encoding == other.encoding && l.columns.Equal(other.columns)
}

// Validate returns an error for the first unusable option.
func (o Options) Validate() error {
	if o.Format != ByName && o.Format.kind() == &noKind {
		return fmt.Errorf("unknown format %q; use one of %s", string(o.Format), formatNames())
	}
	if o.MaxRecord < 0 {
		return fmt.Errorf("maximum record size %d is negative; use 0 for the default of 64 MiB", o.MaxRecord)
	}
	if o.BlockSize < 0 {
		return fmt.Errorf("block size %d is negative; use 0 for the default of 1 MiB", o.BlockSize)
	}
	if o.Lookups < 0 {
		return fmt.Errorf("%d lookups at once are negative; use 0 for one", o.Lookups)
	}
	if o.ReadAhead < 0 {
		return fmt.Errorf("read-ahead %d is negative; use 0 for the default of 8 MiB", o.ReadAhead)
	}
	if o.TextField == NoID {
		return fmt.Errorf("the text field cannot be %q; name the field that holds the text", NoID)
	}
	return nil
}

var errPacked = fault.Because(ErrUnsupported, "a compressed Parquet file; decompress it: Parquet compresses inside of its files")

// foreign are the endings of compressions that are not read.
var foreign = []string{".lz4", ".br", ".lzma", ".z", ".sz", ".snappy", ".zip", ".7z", ".rar"}

// unreadable returns why a file with the name of records is not read: its format compresses inside, or the compression is not
// read. It would be taken for a text. nil: it has another name.
func unreadable(path string) error {
	name := strings.ToLower(filepath.Base(path))
	if k, c := kindOfName(name); k != nil && k.packed && c != Plain {
		return errPacked
	}
	for _, ending := range foreign {
		if base, ok := strings.CutSuffix(name, ending); ok {
			if k, _ := kindOfName(base); k != nil {
				return fault.Because(ErrUnsupported, "records compressed as %s, which is not read; decompress it, or compress it as .gz, .zst, .bz2 or .xz", ending)
			}
		}
	}
	return nil
}
