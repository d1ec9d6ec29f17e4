package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/alike-dev/alike/bench/internal/cost"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

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
