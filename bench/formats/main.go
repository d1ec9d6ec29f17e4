// Command formats writes a corpus of JSON lines with id and text in another
// format, by the end of the name that it is given: .jsonl, .csv, .tsv, .lines
// (a text a line), .parquet (zstd, pages of 1 MiB), or a folder, with a file for
// each document, by a slash. It is for benchmarks: the same documents in every
// format, in any number of parts. Run it with -h.
package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
)

const usage = `formats writes JSON lines with id and text in other formats.

    go run ./bench/formats CORPUS.jsonl OUTPUT...

Every OUTPUT gets its share of the documents, one after the other: the first of
three outputs the first, the fourth and so on. What it is the end of its name
says: .jsonl, .csv, .tsv, .lines, .parquet or / (a folder of text files).
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "formats:", err)
		os.Exit(1)
	}
}

// document is a record of the corpus, and a row of a Parquet file.
type document struct {
	ID   string `json:"id" parquet:"id"`
	Text string `json:"text" parquet:"text"`
}

// sink takes the documents of one output.
type sink interface {
	add(d document) error
	close() error
}

// run distributes the documents of a corpus among outputs.
func run(corpus string, outputs []string) (err error) {
	in, err := os.Open(corpus)
	if err != nil {
		return err
	}
	defer in.Close()
	var sinks []sink
	defer func() {
		for _, s := range sinks {
			err = errors.Join(err, s.close())
		}
	}()
	for _, output := range outputs {
		s, err := create(output)
		if err != nil {
			return err
		}
		sinks = append(sinks, s)
	}
	decoder := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for i := 0; ; i++ {
		var d document
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: document %d: %w", corpus, i+1, err)
		}
		if err := sinks[i%len(sinks)].add(d); err != nil {
			return err
		}
	}
}

// create makes an output.
func create(name string) (sink, error) {
	if strings.HasSuffix(name, "/") {
		return folder(name), os.MkdirAll(name, 0o777)
	}
	encode, ok := encoders[filepath.Ext(name)]
	if !ok && filepath.Ext(name) != ".parquet" {
		return nil, fmt.Errorf("%s: unknown format; give it the end .jsonl, .csv, .tsv, .lines, .parquet or /", name)
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if !ok {
		w := parquet.NewGenericWriter[document](f, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(1<<20), parquet.MaxRowsPerRowGroup(20_000))
		return &columns{w, f}, nil
	}
	s := &lines{f: f, w: bufio.NewWriterSize(f, 1<<20), encode: encode}
	_, err = s.w.WriteString(headers[filepath.Ext(name)])
	return s, err
}

var headers = map[string]string{".csv": "id,text\n", ".tsv": "id\ttext\n"}

// encoders give the lines of a document in the formats that have lines.
var encoders = map[string]func(d document) ([]byte, error){
	".jsonl": func(d document) ([]byte, error) {
		line, err := json.Marshal(d)
		return append(line, '\n'), err
	},
	".csv": func(d document) ([]byte, error) {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		err := w.Write([]string{d.ID, d.Text})
		w.Flush()
		return b.Bytes(), err
	},
	".tsv":   func(d document) ([]byte, error) { return []byte(d.ID + "\t" + oneLine(d.Text) + "\n"), nil },
	".lines": func(d document) ([]byte, error) { return []byte(oneLine(d.Text) + "\n"), nil },
}

// oneLine replaces characters that end a line or a field by spaces.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text)
}

type lines struct {
	f      *os.File
	w      *bufio.Writer
	encode func(d document) ([]byte, error)
}

func (s *lines) add(d document) error {
	line, err := s.encode(d)
	if err == nil {
		_, err = s.w.Write(line)
	}
	return err
}

func (s *lines) close() error { return errors.Join(s.w.Flush(), s.f.Close()) }

type columns struct {
	w *parquet.GenericWriter[document]
	f *os.File
}

func (s *columns) add(d document) error {
	_, err := s.w.Write([]document{d})
	return err
}

func (s *columns) close() error { return errors.Join(s.w.Close(), s.f.Close()) }

// folder has a file for each document.
type folder string

func (s folder) add(d document) error {
	return os.WriteFile(filepath.Join(string(s), d.ID+".txt"), []byte(d.Text), 0o666)
}

func (s folder) close() error { return nil }
