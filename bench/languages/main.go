// Command languages measures, for every document of a corpus with one language a document, how fast its text becomes a
// signature on one core, and prints the slowest and the share of English that each reaches.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/bench/internal/docs"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

const usage = `usage: languages [flags] DOCS.jsonl[.zst]

DOCS has a document a line with the fields id and text, each in another language. A text is repeated until it has -size
bytes. Rounds of all texts follow each other, and of each text the fastest round counts: processor time of one thread.

`

type language struct {
	id   string
	text []byte
	best time.Duration
}

func (l *language) speed() float64 { return float64(len(l.text)) / 1e6 / l.best.Seconds() }

func main() {
	log.SetFlags(0)
	size := flag.Int("size", 256<<10, "bytes of each text")
	rounds := flag.Int("rounds", 7, "rounds of all texts")
	english := flag.String("english", "eng", "id of the text that others are compared with")
	count := flag.Int("slowest", 20, "rows to print")
	tokens := flag.String("tokens", "words", "tokeniser: words, alnum, space, uax29, chars")
	normalize := flag.String("normalize", "nfkc", "nfkc, nfc or none")
	only := flag.String("only", "", "ids, separated by commas; default: all")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	all, err := read(flag.Arg(0), *size, *english, *only)
	if err == nil {
		err = measure(all, *rounds, shingle.Options{Text: text.Options{Tokens: text.Tokens(*tokens), Normalize: text.Normalization(*normalize)}})
	}
	if err != nil {
		log.Fatal(err)
	}
	show(all, *english, *count)
}

// read returns the languages of a file.
func read(name string, size int, english, only string) (all []*language, err error) {
	wanted := strings.Split(only, ",")
	err = docs.Each(name, func(doc docs.Doc) error {
		if doc.Text == "" || only != "" && doc.ID != english && !slices.Contains(wanted, doc.ID) {
			return nil
		}
		long := strings.Repeat(doc.Text+"\n", 1+size/len(doc.Text))
		all = append(all, &language{id: doc.ID, text: []byte(long)})
		return nil
	})
	return all, err
}

// measure sets the best time of each language.
func measure(all []*language, rounds int, o shingle.Options) error {
	shingler, err := shingle.New(o)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	scheme := minhash.Default()
	sketcher := scheme.NewSketcher()
	signature := make([]uint32, scheme.K())
	var features []uint64
	for range rounds {
		for _, l := range all {
			before := cost.Thread()
			features = shingler.AppendFeatures(features[:0], l.text)
			sketcher.Sketch(signature, features)
			if took := cost.Thread() - before; l.best == 0 || took < l.best {
				l.best = took
			}
		}
	}
	return nil
}

// show prints the slowest languages, and how many reach half of English.
func show(all []*language, english string, count int) {
	i := slices.IndexFunc(all, func(l *language) bool { return l.id == english })
	if i < 0 {
		log.Fatalf("no text with the id %s", english)
	}
	full := all[i].speed()
	slices.SortFunc(all, func(a, b *language) int { return cmp.Compare(a.speed(), b.speed()) })
	half := 0
	for _, l := range all {
		if l.speed() >= full/2 {
			half++
		}
	}
	fmt.Printf("English %.0f MB/s; half of it and more: %d of %d languages\n\n", full, half, len(all))
	fmt.Print("| slowest | MB/s | of English |\n|---|--:|--:|\n")
	for _, l := range all[:min(count, len(all))] {
		fmt.Printf("| %s | %.0f | %.2f |\n", l.id, l.speed(), l.speed()/full)
	}
}
