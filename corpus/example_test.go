package corpus_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/corpus"
)

// Records are read block by block. Several goroutines may call Next of one
// File, each with a Block and a Parser of its own.
func Example() {
	o := corpus.Options{Stdin: strings.NewReader(
		`{"id": 1, "text": "Call me Ishmael."}` + "\n" +
			`{"id": 2, "body": "Some years ago"}` + "\n" +
			`{"id": 3, "text": "never mind how long` + "\n" +
			`{"text": "having little or no money"}` + "\n")}
	sources, _, err := corpus.Find(context.Background(), []string{"-"}, o)
	if err != nil {
		log.Fatal(err)
	}
	file, err := corpus.Open(context.Background(), sources[0], o)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	var block corpus.Block
	var record corpus.Record
	parser := corpus.NewParser(o)
	lines := int64(0) // of earlier blocks
	for {
		if err := file.Next(&block); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		parser.Start(file, &block)
		for parser.Next(&record) {
			line := lines + record.Line
			if record.Err != nil {
				fmt.Println("skipped", file.Problem(line, record.Offset, record.Err))
				continue
			}
			id := record.ID
			if id == nil {
				id = file.Source().AppendID(nil, line)
			}
			fmt.Printf("%s: %s\n", id, record.Text)
		}
		lines += block.Lines
	}
	// Output:
	// 1: Call me Ishmael.
	// skipped stdin.jsonl:2: no field "text", there are: id, body; name the field with the text (TextField)
	// skipped stdin.jsonl:3: malformed JSON at byte 39 of the line: the line ends inside a string; correct or remove it
	// stdin.jsonl:4: having little or no money
}

func ExampleFind() {
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"notes.txt", "news.jsonl.gz"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			log.Fatal(err)
		}
	}
	sources, _, err := corpus.Find(context.Background(), []string{dir}, corpus.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sources {
		fmt.Printf("%s: %s %s\n", s.Name, s.Format, s.Compression)
	}
	// Output:
	// news.jsonl.gz: jsonl gzip
	// notes.txt: text
}

// A file is whole under its name, or not there.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := corpus.Create(filepath.Join(dir, "kept.jsonl.zst"), corpus.Zstd, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // nothing after Commit
	if _, err := io.WriteString(w, `{"text": "kept"}`+"\n"); err != nil {
		log.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		log.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name())
	}
	// Output: kept.jsonl.zst
}
