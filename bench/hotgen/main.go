// Command hotgen makes corpora that are hard for a program that groups documents in
// buckets: all of their documents, or most, share a bucket. Run it with -h. The
// command corpusgen makes realistic corpora.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
)

const usage = `hotgen makes corpora in which all documents share a bucket.

    go run ./bench/hotgen -kind KIND [flags] >CORPUS.jsonl

KIND is one of

    distinct     no two texts have anything in common; of half as many to one and a
                 half times as many words as asked for
    size         the same, all of one size, in words and in bytes
    copies       one text
    template     one text but for one number, another in every document
    edits        one text but for one word, another in every document and each time
                 at another place
    boilerplate  the first three quarters are one text, and the rest has nothing in
                 common: the documents meet in many buckets, and no two are alike

Of 100 words, two documents of template have a similarity of 0.90 (5-word
shingles), of edits 0.81 or more, of boilerplate 0.59. The corpus is JSONL with the
fields id and text, about 7 bytes a word, and the same for the same flags.

Flags:
`

// kinds has for each kind the function that appends the words of document i to dst.
// Do not change them: figures are compared over versions.
var kinds = map[string]func(m *maker, dst []byte, i int) []byte{
	"distinct": func(m *maker, dst []byte, _ int) []byte {
		return m.appendWords(dst, m.words-m.words/2+m.random.IntN(m.words/2*2+1))
	},
	"size": func(m *maker, dst []byte, _ int) []byte {
		for range m.words {
			for range letters {
				dst = append(dst, byte('a'+m.random.IntN(26)))
			}
			dst = append(dst, ' ')
		}
		return dst
	},
	"copies": func(m *maker, dst []byte, _ int) []byte {
		return m.appendText(dst, m.words)
	},
	"template": func(m *maker, dst []byte, i int) []byte {
		return m.appendEdited(dst, m.words/2, i)
	},
	"edits": func(m *maker, dst []byte, i int) []byte {
		return m.appendEdited(dst, i%m.words, i)
	},
	"boilerplate": func(m *maker, dst []byte, _ int) []byte {
		shared := m.words * 3 / 4
		return m.appendWords(m.appendText(dst, shared), m.words-shared)
	},
}

// letters is the average length of a word.
const letters = 6

// maker makes the documents of a corpus in order.
type maker struct {
	random *rand.Rand
	words  int      // of a document
	vocab  []string // each with a space behind it
	text   []int    // the words that documents share, as places in vocab
}

func newMaker(words int, seed uint64) *maker {
	m := &maker{random: rand.New(rand.NewPCG(seed, 0)), words: words, vocab: make([]string, 1<<15)}
	for i := range m.vocab {
		word := make([]byte, letters-3+m.random.IntN(7), letters+4)
		for j := range word {
			word[j] = byte('a' + m.random.IntN(26))
		}
		m.vocab[i] = string(append(word, ' '))
	}
	for range words {
		m.text = append(m.text, m.random.IntN(len(m.vocab)))
	}
	return m
}

// appendWords appends n words at random.
func (m *maker) appendWords(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, m.vocab[m.random.IntN(len(m.vocab))]...)
	}
	return dst
}

// appendText appends the first n words of the shared text.
func (m *maker) appendText(dst []byte, n int) []byte {
	for _, w := range m.text[:n] {
		dst = append(dst, m.vocab[w]...)
	}
	return dst
}

// appendEdited appends the shared text with a number in place of a word.
func (m *maker) appendEdited(dst []byte, place, number int) []byte {
	for i, w := range m.text {
		if i == place {
			dst = append(strconv.AppendInt(dst, int64(number), 10), ' ')
			continue
		}
		dst = append(dst, m.vocab[w]...)
	}
	return dst
}

// write writes documents of a kind.
func (m *maker) write(w io.Writer, kind string, documents int) error {
	out := bufio.NewWriterSize(w, 1<<20)
	var line []byte
	for i := range documents {
		line = fmt.Appendf(line[:0], `{"id":"d%08d","text":"`, i)
		line = kinds[kind](m, line, i)
		line = append(line[:len(line)-1], "\"}\n"...) // the last space goes
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "hotgen:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("hotgen", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	kind := f.String("kind", "", "what the documents have in common")
	documents := f.Int("documents", 1e6, "number of documents")
	words := f.Int("words", 100, "words of a document")
	seed := f.Uint64("seed", 1, "seed")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch {
	case kinds[*kind] == nil:
		return fmt.Errorf("kind %q is not one of those that -h lists", *kind)
	case *documents < 1:
		return fmt.Errorf("%d documents: at least 1, please", *documents)
	case *words < 2:
		return fmt.Errorf("%d words: at least 2, please", *words)
	}
	return newMaker(*words, *seed).write(stdout, *kind, *documents)
}
