// Command corpusgen makes a corpus of any size with planted near-duplicates, and
// the truth about them, from base texts. Run it with -h; package
// internal/plant describes how the corpus is made, and its uses.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/plant"
)

const usage = `corpusgen makes a corpus with planted near-duplicates from base texts.

    go run ./bench/corpusgen [flags] -o CORPUS.jsonl BASE.jsonl[.zst|.gz]...

BASE files are JSONL with the texts in one field. Texts of one file are recombined
with each other only: keep every language in a file of its own. The corpus is
JSONL with the fields id and text, in shuffled order. The truth file,
id1,id2,similarity, lists every planted pair with its true Jaccard similarity
(5-word shingles, alike's default text pipeline). Recall at a threshold is the
share of its lines with that similarity or more that a program reports.

The same flags, seed and base texts give the same bytes, with any -threads.

    # 1 GB, 10 % copies with up to 4 % of the words edited
    go run ./bench/corpusgen -o corpus.jsonl -truth truth.csv -size 1GB wiki.jsonl.zst

    # ten million short documents, exact copies and copies of copies among them
    go run ./bench/corpusgen -o short.jsonl.zst -documents 10000000 -words 10-30 \
        -exact 0.2 -chains 0.3 wiki.jsonl.zst

    # real texts as they are, cut into documents, in 4 files
    go run ./bench/corpusgen -o real.jsonl -shards 4 -cut -words 300-800 wiki.jsonl.zst

Flags:
`

// config is the command line, parsed.
type config struct {
	options   plant.Options
	textField string
	output    string
	truth     string
	shards    int
	threads   int
	bases     []string
}

func main() {
	c, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "corpusgen:", err)
		os.Exit(2)
	}
	if err := run(c, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "corpusgen:", err)
		os.Exit(1)
	}
}

// parse reads the command line; messages about flags go to stderr.
func parse(args []string, stderr io.Writer) (config, error) {
	var c config
	var size, words, rate string
	o, e := &c.options, &c.options.Edits
	f := flag.NewFlagSet("corpusgen", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&c.output, "o", "", "corpus `file`; .gz or .zst compresses it")
	f.StringVar(&c.truth, "truth", "", "truth `file` (none: no truth is computed)")
	f.StringVar(&c.textField, "text-field", "text", "field of the base texts")
	f.StringVar(&size, "size", "", "size of the corpus, at least, e.g. 300MB or 1GB (decimal)")
	f.IntVar(&o.Documents, "documents", 0, "number of documents, instead of -size")
	f.Uint64Var(&o.Seed, "seed", 1, "seed")
	f.StringVar(&words, "words", "100-1600", "length of an original in words, `shortest-longest`")
	f.BoolVar(&o.Cut, "cut", false, "originals are stretches of the base texts as they are, not recombined sentences")
	f.Float64Var(&o.Duplicates, "duplicates", 0.1, "share of the documents that are copies")
	f.Float64Var(&o.Chains, "chains", 0.1, "share of the copies that are copies of copies")
	f.StringVar(&rate, "edits", "0-0.04", "share of a copy's words that are edited, `least-most`")
	f.Float64Var(&e.Replace, "replace", 1, "relative frequency of replaced words among the edits")
	f.Float64Var(&e.Delete, "delete", 1, "of deleted words")
	f.Float64Var(&e.Insert, "insert", 1, "of inserted words")
	f.Float64Var(&e.Move, "move", 0, "share of the copies in which a block of words moves")
	f.Float64Var(&e.Truncate, "truncate", 0, "share of the copies that lose up to half of their text")
	f.Float64Var(&e.Restyle, "restyle", 0.1, "share of the copies with other case and punctuation")
	f.Float64Var(&e.Exact, "exact", 0.1, "share of the copies that are exact")
	f.IntVar(&c.shards, "shards", 1, "number of corpus files: NAME-0001.jsonl and so on")
	f.IntVar(&c.threads, "threads", runtime.GOMAXPROCS(0), "documents made at once; does not change the corpus")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	c.bases = f.Args()
	var err1, err2, err3 error
	o.Bytes, err1 = parseSize(size)
	o.MinWords, o.MaxWords, err2 = parseRange(words, strconv.Atoi)
	e.MinRate, e.MaxRate, err3 = parseRange(rate, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return c, errors.Join(err1, err2, err3, c.validate())
}

func (c config) validate() error {
	switch {
	case c.output == "":
		return errors.New("no output file: give -o FILE")
	case len(c.bases) == 0:
		return errors.New("no base texts: name JSONL files")
	case c.shards < 1 || c.shards > 9999:
		return fmt.Errorf("%d shards: between 1 and 9999, please", c.shards)
	case c.threads < 1:
		return fmt.Errorf("%d threads: at least 1, please", c.threads)
	}
	return c.options.Validate()
}

// parseSize reads a number of bytes with an optional kB, MB or GB; "" is 0.
func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	for suffix, factor := range map[string]int64{"kB": 1e3, "MB": 1e6, "GB": 1e9} {
		if n, found := strings.CutSuffix(s, suffix); found {
			number, unit = n, factor
		}
	}
	if s == "" {
		return 0, nil
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || x <= 0 || x*float64(unit) > 1e15 {
		return 0, fmt.Errorf("size %q is not like 300MB or 1GB", s)
	}
	return int64(x * float64(unit)), nil
}

// parseRange reads "least-most", or one number for both.
func parseRange[T int | float64](s string, parse func(string) (T, error)) (lo, hi T, err error) {
	first, second, found := strings.Cut(s, "-")
	if !found {
		second = first
	}
	lo, err1 := parse(first)
	hi, err2 := parse(second)
	if err1 != nil || err2 != nil || lo > hi {
		return lo, hi, fmt.Errorf("range %q is not like 10-30", s)
	}
	return lo, hi, nil
}

// run makes the corpus and reports what it made.
func run(c config, stderr io.Writer) error {
	base, err := readBases(c.bases, c.textField, c.options.Cut)
	if err != nil {
		return err
	}
	sentences, size := base.Size()
	fmt.Fprintf(stderr, "base: %d sentences, %.1f MB\n", sentences, float64(size)/1e6)
	corpus, err := plant.New(base, c.options)
	if err != nil {
		return err
	}
	out, err := newShards(c.output, c.shards, c.options.Bytes, corpus.Len())
	if err != nil {
		return err
	}
	truth, err := create(c.truth)
	if err != nil {
		return errors.Join(err, out.close())
	}
	if truth != nil {
		if _, err := io.WriteString(truth, plant.TruthHeader); err != nil {
			return errors.Join(err, out.close(), truth.Close())
		}
	}
	made, err := produce(corpus, c, out, truth)
	if truth != nil {
		err = errors.Join(err, truth.Close())
	}
	if err := errors.Join(err, out.close()); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "made: %d documents, %.1f MB, %d planted pairs\n", made.documents, float64(made.bytes)/1e6, made.pairs)
	return nil
}

// shards spreads the corpus over files in order, each with about the same bytes
// or documents.
type shards struct {
	pattern   string // with one %04d, or a plain name
	count     int
	bytes     int64 // of all files, when a size is asked for
	documents int
	current   io.WriteCloser
	opened    int
}

func newShards(name string, count int, bytes int64, documents int) (*shards, error) {
	s := &shards{count: count, bytes: bytes, documents: documents}
	if count > 1 {
		dir, file := filepath.Split(name)
		stem, suffixes, _ := strings.Cut(file, ".")
		s.pattern = strings.ReplaceAll(dir+stem, "%", "%%") + "-%04d." + strings.ReplaceAll(suffixes, "%", "%%")
	} else {
		s.pattern = strings.ReplaceAll(name, "%", "%%")
	}
	return s, s.next()
}

// next closes the current file and opens the next one.
func (s *shards) next() error {
	if err := s.close(); err != nil {
		return err
	}
	s.opened++
	name := fmt.Sprintf(s.pattern, s.opened)
	if s.count == 1 {
		name = strings.ReplaceAll(s.pattern, "%%", "%")
	}
	var err error
	s.current, err = create(name)
	return err
}

// write writes a block of whole lines, the documents from position first on,
// after done bytes of the corpus.
func (s *shards) write(lines []byte, first int, done int64) error {
	for s.opened < s.count && s.isFull(first, done) {
		if err := s.next(); err != nil {
			return err
		}
	}
	_, err := s.current.Write(lines)
	return err
}

func (s *shards) isFull(first int, done int64) bool {
	if s.bytes > 0 {
		return done >= s.bytes/int64(s.count)*int64(s.opened)
	}
	return first >= s.documents/s.count*s.opened
}

func (s *shards) close() error {
	if s.current == nil {
		return nil
	}
	err := s.current.Close()
	s.current = nil
	return err
}

// file is a buffered, perhaps compressed file.
type file struct {
	io.Writer
	closers []func() error
}

// Close writes buffered data and closes the file.
func (f *file) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// create creates a file, compressed as its name says. For an empty name it returns no file.
func create(name string) (io.WriteCloser, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(f, 1<<20)
	w, err := compressor(buffered, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{w, []func() error{w.Close, buffered.Flush, f.Close}}, nil
}
