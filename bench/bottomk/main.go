// Command bottomk measures bottom-k fingerprints as A. Gudkov's article "Efficient
// implementation of MinHash, part 1" does: the fingerprints of the longest thousand
// texts of a folder (K = 3, N = 128), all comparisons of those of 2000 texts at
// threshold 0.5, and all pairs of a large collection. It runs on one core.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

var (
	passes     = flag.Int("passes", 15, "times that each row is measured; the median counts")
	collection = flag.Int("collection", 0, "join and search a collection of so many documents, made of the texts' sentences; such as 740000")
	scheme     = flag.String("scheme", "bottomk bits=32", "fingerprints of the collection")
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bottomk [flags] FOLDER\n\nFOLDER holds a text a file.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(25) // as the command alike has it for heaps of this size
	texts, err := read(flag.Arg(0))
	if err == nil && *collection > 0 {
		err = large(texts)
	} else if err == nil {
		err = article(texts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bottomk:", err)
		os.Exit(1)
	}
}

// read returns the files of a folder, the longest first.
func read(folder string) (texts [][]byte, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) < 2 {
		return nil, fmt.Errorf("%s: %d files: name a folder of texts", folder, len(texts))
	}
	slices.SortStableFunc(texts, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	return texts, nil
}

// fingerprinter makes fingerprints of one scheme.
type fingerprinter struct {
	shingler *shingle.Shingler
	sketcher *minhash.BottomKSketcher
	features []uint64
}

func newFingerprinter(line string) (*fingerprinter, error) {
	s, err := minhash.ParseScheme(line)
	if err != nil {
		return nil, err
	}
	shingler, err := shingle.New(shingle.Options{N: 3, Hash: shingle.Hash(s.FeatureHash())})
	if err != nil {
		return nil, err
	}
	return &fingerprinter{shingler: shingler, sketcher: s.NewBottomKSketcher()}, nil
}

func (f *fingerprinter) of(text []byte) *minhash.BottomKSketcher {
	f.sketcher.Reset()
	for at := 0; at < len(text); {
		f.features, at = f.shingler.AppendFeaturesFrom(f.features[:0], text, at)
		f.sketcher.Add(f.features)
	}
	return f.sketcher
}

// typical runs n pieces of work several times, and returns the sum of the median times of the pieces. Medians leave
// out the passes in which another program disturbed a piece.
func typical(n int, work func(i int)) time.Duration {
	took := make([][]time.Duration, n)
	for range *passes {
		for i := range n {
			start := time.Now()
			work(i)
			took[i] = append(took[i], time.Since(start))
		}
	}
	var sum time.Duration
	for _, of := range took {
		slices.Sort(of)
		sum += of[len(of)/2]
	}
	return sum
}

// article prints the rows of the article's two tables.
func article(texts [][]byte) error {
	long := texts[:min(1000, len(texts))]
	size := 0
	for _, text := range long {
		size += len(text)
	}
	fmt.Printf("%d texts, %.1f MB, K = 3, N = 128\n", len(long), float64(size)/1e6)
	hashes := make([]uint64, 0, 128)
	for _, line := range []string{"bottomk bits=64", "bottomk bits=32", "bottomk bits=64 hash=fnv1a", "bottomk bits=32 hash=fnv1a", "bottomk bits=32 hash=fnv1a-listing"} {
		f, err := newFingerprinter(line)
		if err != nil {
			return err
		}
		took := typical(len(long), func(i int) { hashes = f.of(long[i]).Append64(hashes[:0]) })
		fmt.Printf("  %-36s %8.1f ms %8.0f MB/s\n", line, ms(took), float64(size)/took.Seconds()/1e6)
	}
	return compareAll(texts[:min(2000, len(texts))])
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// compareAll prints the rows of comparisons.
func compareAll(texts [][]byte) error {
	half, err := measure.NewThreshold(measure.Jaccard, 0.5)
	if err != nil {
		return err
	}
	narrow, err := newFingerprinter("bottomk bits=32 hash=fnv1a-listing")
	if err != nil {
		return err
	}
	wide, err := newFingerprinter("bottomk bits=64")
	if err != nil {
		return err
	}
	var of32 [][]uint32
	var same32, of64 [][]uint64
	for _, text := range texts {
		of32 = append(of32, narrow.of(text).Append32(nil))
		same32 = append(same32, narrow.of(text).Append64(nil))
		of64 = append(of64, wide.of(text).Append64(nil))
	}
	fmt.Printf("%d fingerprints, %d comparisons, threshold 0.5\n", len(texts), len(texts)*(len(texts)-1)/2)
	compareRows("32 bits", of32, half)
	joinRow("32 bits", same32, half)
	compareRows("64 bits", of64, half)
	joinRow("64 bits", of64, half)
	return nil
}

func compareRows[T uint32 | uint64](name string, sets [][]T, t measure.Threshold) {
	pairs := float64(len(sets)*(len(sets)-1)) / 2
	hits := make([]int, len(sets))
	row := func(way string, hit func(a, b []T) bool) {
		took := typical(len(sets), func(i int) {
			hits[i] = 0
			for _, b := range sets[:i] {
				if hit(sets[i], b) {
					hits[i]++
				}
			}
		})
		found := 0
		for _, n := range hits {
			found += n
		}
		fmt.Printf("  %-36s %8.1f ms %8.1f M/s  %d pairs\n", name+", "+way, ms(took), pairs/took.Seconds()/1e6, found)
	}
	row("every overlap", func(a, b []T) bool {
		n := simjoin.Intersection(a, b)
		return t.Reached(uint64(n), uint64(len(a)), uint64(len(b)))
	})
	row("up to the threshold", func(a, b []T) bool {
		_, ok := simjoin.Verify(a, b, t)
		return ok
	})
}

func joinRow(name string, sets [][]uint64, t measure.Threshold) {
	found := 0
	took := typical(1, func(int) { found = count(simjoin.SelfJoin(sets, t)) })
	fmt.Printf("  %-36s %8.2f ms %8.0f M/s  %d pairs\n", name+", joined", ms(took),
		float64(len(sets)*(len(sets)-1))/2/took.Seconds()/1e6, found)
}

func count(matches iter.Seq[measure.Match]) (n int) {
	for range matches {
		n++
	}
	return n
}

const (
	sentencesADocument = 30
	copyEvery          = 20 // the last of so many documents is a copy of one before …
	changed            = 3  // … with so many sentences of its own
	queries            = 1000
)

// large makes a collection, joins it with itself, and searches it for new documents.
func large(texts [][]byte) error {
	var sentences [][]byte
	for _, text := range texts {
		for sentence := range bytes.SplitAfterSeq(text, []byte(". ")) {
			if len(sentence) >= 40 {
				sentences = append(sentences, sentence)
			}
		}
	}
	if len(sentences) < sentencesADocument {
		return fmt.Errorf("%d sentences are too few", len(sentences))
	}
	half, err := measure.NewThreshold(measure.Jaccard, 0.5)
	if err != nil {
		return err
	}
	f, err := newFingerprinter(*scheme)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	document := func(of [][]byte) [][]byte {
		for len(of) < sentencesADocument {
			of = append(of, sentences[rng.IntN(len(sentences))])
		}
		return of
	}
	fingerprint := func(of [][]byte) []uint64 { return f.of(bytes.Join(of, nil)).Append64(nil) }
	start := time.Now()
	sets := make([][]uint64, *collection)
	var original [][]byte
	for i := range sets {
		if i%copyEvery != copyEvery-1 {
			original = document(nil)
		} else {
			original = document(slices.Clone(original[changed:]))
		}
		sets[i] = fingerprint(original)
	}
	fmt.Printf("%d documents of %d sentences, fingerprints by %s: %.1f s\n",
		len(sets), sentencesADocument, *scheme, time.Since(start).Seconds())
	start = time.Now()
	before := cost.Processor()
	pairs := count(simjoin.SelfJoin(sets, half))
	took := time.Since(start)
	processor, memory := cost.Processor(), cost.PeakMemory()
	fmt.Printf("  all pairs at 0.5: %.1f s (%.1f of processor), %d pairs; %.0f million comparisons a second would take as long; %d MB at most so far\n",
		took.Seconds(), (processor - before).Seconds(), pairs, float64(len(sets))*float64(len(sets)-1)/2/took.Seconds()/1e6, memory>>20)
	start = time.Now()
	x := simjoin.NewSearchIndex(sets, half)
	fmt.Printf("  index for searches: %.1f s\n", time.Since(start).Seconds())
	wanted := make([][]uint64, queries)
	for i := range wanted {
		wanted[i] = fingerprint(document(nil))
		if i%2 == 0 { // one that has its likes
			wanted[i] = sets[rng.IntN(len(sets))]
		}
	}
	var p simjoin.Prober
	found := 0
	took = typical(queries, func(i int) {
		if i == 0 {
			found = 0
		}
		found += len(x.Search(&p, wanted[i]))
	})
	fmt.Printf("  search: %.1f µs a new document, %d found for %d\n", took.Seconds()*1e6/queries, found, queries)
	return nil
}
