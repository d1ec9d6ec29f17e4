// Package corpus reads and writes files of records: it finds the inputs, cuts
// them into blocks that workers take in parallel, parses their records, and
// writes kept records back byte for byte.
//
// Use it when several goroutines should read one large file, or many files, and every skipped record
// must be accounted for. For one small file encoding/json or encoding/csv with a bufio.Scanner is
// simpler.
//
// The flow of the data:
//
//	Find  inputs (files, folders, globs, URLs, "-")  → []Source, what was skipped
//	Open  a Source                                     → *File
//	File.Next    one call a block, from any number of goroutines
//	Parser.Next  one call a record, one Parser a goroutine
//	Create       a Writer for what is kept
//
// # Formats
//
//   - jsonl: one JSON object a line (RFC 8259, the whole line is checked). Blank
//     lines are not records. A name with dots (meta.lang) is that of a field of
//     the outermost object or, if it has none of this name, of one in the object
//     meta; if a key repeats, the last one counts. Bytes that are not UTF-8 are
//     accepted inside strings and passed on unchanged; a lone surrogate
//     escape becomes U+FFFD; an unescaped control character is malformed.
//   - csv: RFC 4180 with a header line. Quoted fields may hold line ends. Blank
//     lines are not records. If column names repeat, the first one counts. If the
//     header has no comma, but one kind of semicolons, tabs or vertical bars, and
//     the first record has as many cells by these, they separate the columns.
//   - tsv: tab-separated with a header line, no quoting. Blank lines are not
//     records.
//   - parquet: every row is a record. Columns are named by their path, with dots
//     (meta.id). The text is a column of strings or of byte arrays without
//     another meaning; ids and fields may be of any type with one value a row,
//     and are read in text form: numbers in digits, times after RFC 3339. All
//     encodings and the codecs SNAPPY, GZIP, ZSTD, BROTLI and LZ4_RAW are read.
//     A row whose text is null is skipped as a record with a missing field.
//   - lines: every line is a document, also an empty one.
//   - text: the whole file is one document.
//
// Lines end with LF or CRLF; the end of the last one may be missing. A byte order mark at the start of a file is
// not part of a record, but of File.Header; only in the Record.Raw of a text it stays. A file that begins with the mark
// of UTF-16 is decoded: texts, ids and fields are UTF-8, a surrogate without its other half is U+FFFD; Record.Raw,
// offsets and lengths are those of the file. UTF-16 without a mark is not known. Any format but parquet may be compressed: .gz (also with
// several members), .zst (also with several frames), .bz2 and .xz (also with several streams).
//
// # Parallel reading
//
// Any number of goroutines may read one file. Plain jsonl, tsv and lines are read without a lock; csv
// is cut under one, which is quick. Files of several gzip members or zstd frames of at most 8 MiB (as a
// Writer, bgzip and pzstd make them) and bzip2 files are decoded in parallel. xz, and gzip and zstd files
// that are one large member or frame, are decoded by one goroutine at a time, while others parse. Only the wanted columns of a
// parquet file are read; their pages are decoded in parallel, in memory of a few pages a goroutine
// however large the row groups are.
//
// # Memory
//
// A file can be made to need more memory than its size suggests. A zstd stream asks for the memory of
// its window, usually 8 MiB and here at most 128 MiB, and so does an xz stream. Decoded bytes are
// counted (see expansion): a compressed or Parquet file that expands to far more than its size, or to
// 16 times MaxRecord without a record, ends there, with ErrBomb. File.Next describes the other memory.
//
// # Object storage
//
// With Options.Buckets, inputs may be URLs: s3://bucket/prefix. An object is read front to back like a
// compressed file: goroutines of its own fetch a few ranges ahead, one worker at a time decodes, all
// parse. It must be the version that Find has seen. To write an object, call NewWriter with the result
// of BucketWriter.Create.
//
// # Accounting
//
// Everything that could not be read is reported exactly once: as a Problem of
// Find, as the error of Open, as Record.Err, or as an error of Next. A caller
// that counts each as one record read and skipped can state that read = kept
// + removed + skipped.
//
// Formats, their rules above, and the bytes that a Writer and CopyRows make for given content (for one
// version of the compression libraries) stay compatible; the sizes of blocks and the contents of
// Record.Raw of a parquet file do not.
package corpus

import (
	"context"
	"io"
	"io/fs"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
)

// Format says how a file is divided into records. The zero value chooses by the file's name.
type Format string

const (
	ByName  Format = ""
	JSONL   Format = "jsonl"
	CSV     Format = "csv"
	TSV     Format = "tsv"
	Parquet Format = "parquet"
	Lines   Format = "lines"
	Text    Format = "text"
)

// Compression is how a file is compressed. It always follows from the name.
type Compression string

const (
	Plain Compression = Compression(codec.Plain)
	Gzip  Compression = Compression(codec.Gzip)
	Zstd  Compression = Compression(codec.Zstd)
	Bzip2 Compression = Compression(codec.Bzip2)
	Xz    Compression = Compression(codec.Xz)
)

// Memory returns about how many bytes it takes to read a file of this compression from front to back,
// including its block, and for each part that a [Writer] is compressing (0 for Plain). A file that asks
// for a larger zstd window or xz dictionary than usual needs that in addition.
func (c Compression) Memory() (reading, part int64) {
	if z, err := codec.CompressorOf(codec.Name(c)); err == nil && z != nil {
		part = z.Memory
	}
	return codec.ReadingMemory(codec.Name(c)), part
}

// Encoding is how a file encodes its text: as UTF-8 or, if it begins with the mark of that, UTF-16.
type Encoding = bom.Encoding

// NoID as Options.IDField means that records have no id of their own.
const NoID = "-"

const (
	defaultTextField = "text"
	defaultIDField   = "id"
	defaultMaxRecord = 64 << 20
)

// DefaultBlockSize is the block size in bytes if Options do not set one.
const DefaultBlockSize = 1 << 20

// Options say what to read from files. The zero value means the defaults.
type Options struct {
	Format    Format    // ByName: by the file's name; any other: for every file, whatever its name
	TextField string    // field or column with the text; "" = "text". Not used by lines and text
	NoText    bool      // records have no text, only Fields: Record.Text is nil, and no record lacks one
	IDField   string    // field or column with the id; "" = "id"; NoID = none
	Fields    []string  // further fields or columns whose values a Record carries, in this order
	MaxRecord int64     // bytes of a record with its line end, in parquet of one value; longer ones are skipped; 0 = 64 MiB
	BlockSize int       // bytes a worker takes at once from a plain file or a decoded stream; 0 = 1 MiB, less for small plain files
	Stdin     io.Reader // what "-" reads; nil = os.Stdin
	Lookups   int       // goroutines in which Find looks up the files of a large folder; 0 = 1

	// Visit, if set, is called for every file and folder that Find reaches, in that order, with the path
	// as the user knows it and the system's information, links followed. It is not called for streams and
	// objects, except for standard input that is a file, as "-". If it returns an error, Find ends and
	// returns that error.
	Visit func(path string, info fs.FileInfo) error

	// Texts, if set, is given all sources that Find has found, and returns them, some of them with a text in place of
	// their bytes (Source.WithText). Those of which it cannot make a text become Problems. If it returns an error, Find
	// returns that error.
	Texts func(ctx context.Context, sources []Source) ([]Source, []Problem, error)

	// Buckets opens the bucket of a URL without its key, such as s3://bucket?region=eu-west-1; package
	// corpus/objects has one. It may be called for the same bucket again. nil: URLs are refused.
	Buckets func(ctx context.Context, url string) (Bucket, error)
	// ReadAhead is how many bytes of an open object are fetched in advance; 0 = 8 MiB.
	ReadAhead int
	// AtOnce ends a block of a stream when no more bytes have arrived yet, so that records are delivered
	// as they arrive.
	AtOnce bool
	// Admit, if set, is called by File.Next before a Block grows to so many bytes. It may wait, so that a
	// caller can bound how many long records are in memory at once. release, if not nil, is called when
	// the block is given to Next again, or released; until then Admit is not called for that block again.
	Admit func(ctx context.Context, bytes int) (release func(), err error)

	seen *Seen // of Watch
}

// AsksForIDs tells whether records should have an id of their own: whether a field is named for it, and not the usual one, which
// they need not have.
func (o Options) AsksForIDs() bool {
	return o.IDField != "" && o.IDField != defaultIDField && o.IDField != NoID
}

func (o Options) withDefaults() Options {
	if o.TextField == "" {
		o.TextField = defaultTextField
	}
	if o.IDField == "" {
		o.IDField = defaultIDField
	}
	if o.MaxRecord == 0 {
		o.MaxRecord = defaultMaxRecord
	}
	if o.BlockSize == 0 {
		o.BlockSize = DefaultBlockSize
	}
	return o
}

// holders are the endings of archives and workbooks: in a folder a file of this name is a text, as any other, but who names
// it means what it holds.
var (
	holders   = []string{".zip", ".7z", ".rar", ".tar", ".tgz", ".xls", ".xlsx", ".ods"}
	errHolder = fault.Because(ErrUnsupported, "an archive or a workbook, which is not read; unpack it, or save its table as CSV")
)

// RandomAccess gives the stored bytes of a source, in any order. It is safe for
// concurrent use. No ReadAt may be in progress during Close.
type RandomAccess interface {
	io.ReaderAt
	io.Closer
	// Size is the number of bytes.
	Size() int64
}
