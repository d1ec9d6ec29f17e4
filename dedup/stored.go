package dedup

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/stdio"
)

// Stored fingerprints are records with these fields, or columns, and one for the scheme of the signature.
const (
	SignatureField = read.SignatureField // the signature in the form that the scheme stores, in base64 or hexadecimal
	IDBytesField   = read.IDBytesField   // of an id that is not UTF-8, in base64
)

// ErrScheme ends a run when fingerprints have another scheme than the run.
var ErrScheme = fault.ErrScheme

// peekBytes is how much of an input is read at most to see what it holds.
const peekBytes = 1 << 20

// Fingerprinted examines the first record of the inputs: if it is a fingerprint, with a signature
// and a scheme and no text, ok is true and line is its scheme, for recipe.Parse. The first input
// must be a file, a glob of files, or standard input or, with Config.Fingerprints, anything; a FIFO
// is not examined, because it can be read only once. config.Corpus may be changed so that what was
// read of standard input is read again.
func Fingerprinted(ctx context.Context, config *Config) (line string, ok bool, err error) {
	o := &config.Corpus
	if len(config.Inputs) == 0 || o.TextField != "" && !config.Fingerprints {
		return "", false, nil
	}
	input := config.Inputs[0]
	if input == "-" {
		return peekStdin(ctx, o)
	}
	if _, _, record := corpus.NameFormat(input); !config.Fingerprints && !record && o.Format == corpus.ByName {
		return "", false, nil
	}
	if st, err := os.Stat(bucketurl.LocalPath(input)); err == nil && st.IsDir() && !config.Fingerprints {
		return "", false, nil
	}
	find := *o
	find.Visit = nil
	sources, _, err := corpus.Find(ctx, []string{input}, find)
	if err != nil || len(sources) == 0 || sources[0].Stream {
		return "", false, nil // the run will report the error
	}
	line, ok = peek(ctx, sources[0], find)
	return line, ok, ctx.Err()
}

// peek returns the scheme of the first record of a source, if it is a fingerprint.
func peek(ctx context.Context, s corpus.Source, o corpus.Options) (line string, ok bool) {
	const noText = "text"
	if o.TextField == "" {
		o.TextField = SignatureField
	}
	o.Fields, o.BlockSize, o.MaxRecord = []string{read.SchemeField, noText}, peekBytes/16, peekBytes
	file, err := corpus.Open(ctx, s, o)
	if err != nil {
		return "", false
	}
	defer file.Close()
	var b corpus.Block
	defer b.Release()
	p := corpus.NewParser(o)
	for decoded := 0; decoded < peekBytes && file.Next(&b) == nil; decoded += len(b.Data()) + 1 {
		p.Start(file, &b)
		if r := new(corpus.Record); p.Next(r) {
			return string(fieldOf(r, 0)), r.Err == nil && fieldOf(r, 0) != nil && fieldOf(r, 1) == nil
		}
	}
	return "", false
}

func fieldOf(r *corpus.Record, at int) []byte {
	if at < len(r.Fields) {
		return r.Fields[at]
	}
	return nil
}

// peekStdin is peek for standard input. A file is read without moving its offset; of a pipe the
// first line is read, and put back before the rest.
func peekStdin(ctx context.Context, o *corpus.Options) (line string, ok bool, err error) {
	from := o.Stdin
	if from == nil {
		if stdio.Closed(os.Stdin) {
			return "", false, nil // the run will report the error
		}
		from = os.Stdin
	}
	var head []byte
	file, isFile := from.(*os.File)
	if isFile {
		st, err := file.Stat()
		isFile = err == nil && st.Mode().IsRegular()
	}
	if isFile {
		at, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return "", false, nil
		}
		head = make([]byte, peekBytes)
		n, _ := file.ReadAt(head, at)
		head = head[:n]
	} else {
		if head, err = firstLine(ctx, from); err != nil {
			return "", false, err
		}
		o.Stdin = io.MultiReader(bytes.NewReader(bytes.Clone(head)), from)
	}
	look := *o
	look.Stdin, look.Visit = bytes.NewReader(head), nil
	sources, _, err := corpus.Find(ctx, []string{"-"}, look)
	if err != nil || sources[0].Format == corpus.Parquet {
		return "", false, nil
	}
	line, ok = peek(ctx, sources[0], look)
	return line, ok, nil
}

// firstLine reads a stream to the end of its first line that is not blank, or up to peekBytes. The
// other end of the stream may neither write nor close it, so an interrupted run does not wait for
// it.
func firstLine(ctx context.Context, from io.Reader) ([]byte, error) {
	read := make(chan []byte, 1)
	go func() {
		var head []byte
		buf := make([]byte, 64<<10)
		for len(head) < peekBytes {
			n, err := from.Read(buf)
			head = append(head, buf[:n]...)
			if err != nil || bytes.IndexByte(bytes.TrimLeft(head, " \t\r\n"), '\n') >= 0 {
				break // an error comes again when the rest is read
			}
		}
		read <- head
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case head := <-read:
		return head, nil
	}
}
