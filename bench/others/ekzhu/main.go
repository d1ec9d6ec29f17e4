// Command ekzhu lists candidate pairs by the Go library ekzhu/minhash-lsh, as its
// own all-pairs program does: signatures of 128 hashes, all added, indexed, and
// every document queried. Signatures are made by as many goroutines as there are
// processors.
//
//	ekzhu CORPUS.jsonl PAIRS.csv THRESHOLD
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unicode"

	minhashlsh "github.com/ekzhu/minhash-lsh"
	"github.com/valyala/fastjson"
)

const (
	hashes = 128
	words  = 5 // a shingle
)

// document is a record of the corpus: its line, then its id and signature.
type document struct {
	line      []byte
	id        string
	signature []uint64
	err       error
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "ekzhu: usage: ekzhu CORPUS.jsonl PAIRS.csv THRESHOLD")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "ekzhu:", err)
		os.Exit(1)
	}
}

func run(corpus, output, threshold string) error {
	t, err := strconv.ParseFloat(threshold, 64)
	if err != nil {
		return err
	}
	documents, err := sketchAll(corpus)
	if err != nil {
		return err
	}
	lsh := minhashlsh.NewMinhashLSH(hashes, t)
	for i, d := range documents {
		if d.err != nil {
			return d.err
		}
		lsh.Add(i, d.signature)
	}
	lsh.Index()

	f, err := os.Create(output)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "a,b")
	for i, d := range documents {
		for _, key := range lsh.Query(d.signature) {
			if other := key.(int); other < i {
				fmt.Fprintf(w, "%s,%s\n", documents[other].id, d.id)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// sketchAll reads a corpus and makes the signatures, in the order of its lines.
func sketchAll(corpus string) ([]*document, error) {
	f, err := os.Open(corpus)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	work := make(chan *document, 64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var parser fastjson.Parser
			for d := range work {
				d.sketch(&parser)
			}
		})
	}
	var documents []*document
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		d := &document{line: bytes.Clone(lines.Bytes())}
		documents = append(documents, d)
		work <- d
	}
	close(work)
	workers.Wait()
	return documents, lines.Err()
}

// sketch fills in id and signature of a document, and lets its line go.
func (d *document) sketch(parser *fastjson.Parser) {
	v, err := parser.ParseBytes(d.line)
	d.line = nil
	if err != nil {
		d.err = err
		return
	}
	d.id = string(v.GetStringBytes("id"))
	minhash := minhashlsh.NewMinhash(1, hashes)
	eachShingle(v.GetStringBytes("text"), minhash.Push)
	d.signature = minhash.Signature()
}

// eachShingle visits the word 5-grams of a text, lower-cased and joined by single
// spaces; a text of fewer words is one shingle.
func eachShingle(text []byte, visit func([]byte)) {
	fields := bytes.FieldsFunc(bytes.ToLower(text), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M)
	})
	joined := bytes.Join(fields, []byte(" "))
	starts := make([]int, 0, len(fields)) // of the words in joined
	at := 0
	for _, f := range fields {
		starts = append(starts, at)
		at += len(f) + 1
	}
	for i := range max(min(1, len(fields)), len(fields)-words+1) {
		end := len(joined)
		if i+words < len(starts) {
			end = starts[i+words] - 1
		}
		visit(joined[starts[i]:end])
	}
}
