package corpus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/alike-dev/alike/corpus/internal/lines"
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

// Columns returns the names of the columns of a table, in its order, without repeats: those
// of the header of csv and tsv, for Parquet the columns with one value a row, and for jsonl
// the fields of the records in the first block, in order of appearance. In place of an object
// are the fields in it, as meta.lang, unless they are more than 100: then it is no record, but
// a map whose names are data. Other formats have none. It opens the source; of a stream the beginning is lost. The errors are those of Open
// and File.Next.
func Columns(ctx context.Context, s Source, o Options) (names []string, err error) {
	o.NoText, o.IDField, o.Fields = true, NoID, nil
	f, err := Open(ctx, s, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	seen := map[string]bool{}
	add := func(all []string) {
		for _, name := range all {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	if f.kind.names != nil {
		err = f.kind.names(f, add)
	}
	return names, err
}

func namesOfHeader(f *File, add func([]string)) error {
	add(f.Columns())
	return nil
}

// fieldsOfFirst adds the fields of the objects in the first block.
func fieldsOfFirst(f *File, add func([]string)) error {
	var b Block
	defer b.Release()
	if err := f.Next(&b); err != nil && err != io.EOF {
		return err
	}
	p := NewParser(f.o)
	p.Start(f, &b)
	all := fieldNames{json: &p.json}
	for r := (Record{}); p.Next(&r); {
		if r.Err == nil {
			all.see(bytes.TrimPrefix(lines.WithoutEnd(p.inUTF8(r.Raw)), lines.ByteOrderMark))
		}
	}
	add(all.names())
	return nil
}
