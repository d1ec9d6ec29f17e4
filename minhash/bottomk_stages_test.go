package minhash

import (
	"cmp"
	"container/heap"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/shingle"
)

// The four stages of A. Gudkov, "Efficient implementation of MinHash, part 1", in Go:
// texts as UTF-16 units, K = 3, FNV-1a of 32 bits, the n smallest hashes.

const (
	stageK     = 3
	fnvBasis   = uint32(2166136261)
	fnvPrime   = uint32(16777619)
	stageEmpty = uint32(43) // a free slot of the table
)

var stageLetters = func() (t [1 << 16]bool) {
	for r := range t {
		t[r] = unicode.IsLetter(rune(r)) || unicode.IsDigit(rune(r))
	}
	return t
}()

func stageUnit(h uint32, u uint16) uint32 {
	h = (h ^ uint32(u&0xff)) * fnvPrime
	return (h ^ uint32(u>>8)) * fnvPrime
}

// smallestOf is the end of the first two stages.
func smallestOf(hashes []uint32, n int) []uint32 {
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	return hashes[:min(len(hashes), n)]
}

// naiveStage: a list of words, then of hashes, each of them anew.
func naiveStage(text []uint16, n int) []uint32 {
	var words [][]uint16
	var hashes []uint32
	for i := 0; i < len(text); {
		for i < len(text) && !stageLetters[text[i]] {
			i++
		}
		var word []uint16
		for ; i < len(text) && stageLetters[text[i]]; i++ {
			word = append(word, text[i])
		}
		if len(word) > 0 {
			words = append(words, word)
		}
	}
	for i := 0; i+stageK <= len(words); i++ {
		h := fnvBasis
		for _, word := range words[i : i+stageK] {
			for _, u := range word {
				h = stageUnit(h, u)
			}
		}
		hashes = append(hashes, h)
	}
	return smallestOf(hashes, n)
}

// pipeline calls collect with the hash of every shingle; the hashes of all shingles
// that a word belongs to are made side by side.
func pipeline(text []uint16, collect func(h uint32)) {
	a, b, c := fnvBasis, fnvBasis, fnvBasis
	words := 0
	for i := 0; i < len(text); {
		if !stageLetters[text[i]] {
			i++
			continue
		}
		for ; i < len(text) && stageLetters[text[i]]; i++ {
			a, b, c = stageUnit(a, text[i]), stageUnit(b, text[i]), stageUnit(c, text[i])
		}
		if words++; words >= stageK {
			collect(a)
		}
		a, b, c = b, c, fnvBasis
	}
}

// sortStage: the pipeline, and all hashes sorted.
func sortStage(text []uint16, n int) []uint32 {
	var hashes []uint32
	pipeline(text, func(h uint32) { hashes = append(hashes, h) })
	return smallestOf(hashes, n)
}

// largestFirst is a heap for container/heap.
type largestFirst []uint32

func (h largestFirst) Len() int           { return len(h) }
func (h largestFirst) Less(i, j int) bool { return h[i] > h[j] }
func (h largestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *largestFirst) Push(x any)        { *h = append(*h, x.(uint32)) }
func (h *largestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// setStage: the pipeline, a heap of the n smallest and the library's set of them.
func setStage(text []uint16, n int) []uint32 {
	smallest, in := make(largestFirst, 0, n), map[uint32]struct{}{}
	pipeline(text, func(h uint32) {
		if len(smallest) == n && h >= smallest[0] {
			return
		}
		if _, has := in[h]; has {
			return
		}
		in[h] = struct{}{}
		if len(smallest) < n {
			heap.Push(&smallest, h)
			return
		}
		delete(in, smallest[0])
		smallest[0] = h
		heap.Fix(&smallest, 0)
	})
	slices.Sort(smallest)
	return smallest
}

// stageTable is a set that only grows, in open addressing, and is made anew from the
// heap when half of it is in use.
type stageTable struct {
	slots []uint32
	used  int
	empty bool // holds stageEmpty
}

func (t *stageTable) clear() {
	for i := range t.slots {
		t.slots[i] = stageEmpty
	}
	t.used, t.empty = 0, false
}

// add reports whether h is new.
func (t *stageTable) add(h uint32) bool {
	if h == stageEmpty {
		isNew := !t.empty
		t.empty = true
		return isNew
	}
	mask := uint32(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		switch t.slots[at] {
		case h:
			return false
		case stageEmpty:
			t.slots[at] = h
			t.used++
			return true
		}
	}
}

// tableStage: the pipeline, a heap written out, and that table.
func tableStage(table *stageTable, text []uint16, n int) []uint32 {
	for len(table.slots) < 8*n {
		table.slots = append(table.slots, make([]uint32, max(1, len(table.slots)))...)
	}
	table.clear()
	smallest := make([]uint32, 0, n)
	pipeline(text, func(h uint32) {
		if len(smallest) == n && h >= smallest[0] || !table.add(h) {
			return
		}
		if len(smallest) < n {
			smallest = append(smallest, h)
			if len(smallest) == n {
				slices.SortFunc(smallest, func(a, b uint32) int { return cmp.Compare(b, a) }) // a heap
			}
		} else {
			replaceLargest(smallest, h)
		}
		if table.used >= len(table.slots)/2 {
			table.clear()
			for _, x := range smallest {
				table.add(x)
			}
		}
	})
	slices.Sort(smallest)
	return smallest
}

// replaceLargest puts h in the place of a heap's root.
func replaceLargest(heap []uint32, h uint32) {
	at := 0
	for {
		child := 2*at + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] > heap[child] {
			child++
		}
		if heap[child] <= h {
			break
		}
		heap[at] = heap[child]
		at = child
	}
	heap[at] = h
}

var stages = []struct {
	name string
	run  func() func(text []uint16, n int) []uint32
}{
	{"naive", func() func([]uint16, int) []uint32 { return naiveStage }},
	{"pipeline+sort", func() func([]uint16, int) []uint32 { return sortStage }},
	{"pipeline+set+heap", func() func([]uint16, int) []uint32 { return setStage }},
	{"pipeline+table+heap", func() func([]uint16, int) []uint32 {
		var table stageTable
		return func(text []uint16, n int) []uint32 { return tableStage(&table, text, n) }
	}},
}

func unitsOf(text []byte) []uint16 {
	units := utf16.Encode([]rune(string(text)))
	for i, u := range units {
		if utf16.IsSurrogate(rune(u)) {
			units[i] = ' '
		}
	}
	return units
}

// fingerprinter returns the way from a text to its fingerprint, which holds until the
// next call.
func fingerprinter(t testing.TB, s Scheme, n int) func(text []byte) *BottomKSketcher {
	shingler, err := shingle.New(shingle.Options{N: n, Hash: shingle.Hash(s.FeatureHash())})
	if err != nil {
		t.Fatal(err)
	}
	sketcher := s.NewBottomKSketcher()
	var features []uint64
	return func(text []byte) *BottomKSketcher {
		sketcher.Reset()
		for at := 0; at < len(text); {
			features, at = shingler.AppendFeaturesFrom(features[:0], text, at)
			sketcher.Add(features)
		}
		return sketcher
	}
}

func TestTheStagesOfTheArticleGiveTheSameFingerprints(t *testing.T) {
	word := rapid.StringMatching(`[a-c]{1,2}|[äж中]{1,3}|[0-9]|_|\.|𝐀`)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "n")
		s, err := BottomK(FNV1a, n, 32, 0)
		if err != nil {
			rt.Fatal(err)
		}
		text := strings.Join(rapid.SliceOfN(word, 0, 200).Draw(rt, "words"), " ")
		got := fingerprinter(t, s, stageK)([]byte(text)).Append32(nil)
		for _, stage := range stages {
			if want := stage.run()(unitsOf([]byte(text)), n); !slices.Equal(got, want) {
				rt.Fatalf("%q: %x, want %x as %s", text, got, want, stage.name)
			}
		}
	})
}

// longTexts are the longest thousand of the texts in the folder that ALIKE_TEXTS
// names, else real ones.
func longTexts(b *testing.B) (texts [][]byte, size int) {
	folder := os.Getenv("ALIKE_TEXTS")
	if folder == "" {
		texts = shareddata.Texts(b, 0, "wiki_long_en", "docs.jsonl.zst")
	} else {
		paths, err := filepath.Glob(filepath.Join(folder, "*"))
		for _, path := range paths {
			text, readErr := os.ReadFile(path)
			err = cmp.Or(err, readErr)
			texts = append(texts, text)
		}
		if err != nil || len(texts) == 0 {
			b.Fatalf("%s: %d texts, %v", folder, len(texts), err)
		}
	}
	slices.SortStableFunc(texts, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	texts = texts[:min(1000, len(texts))]
	for _, text := range texts {
		size += len(text)
	}
	return texts, size
}

// BenchmarkBottomKText is the whole way from a text to its fingerprint, K = 3,
// N = 128, and the article's stages for comparison. MB/s are of UTF-8, whatever the
// stages read; least-MB/s counts the shortest time of each text, so that what else
// the machine does falls out when there are several rounds (-benchtime 10x).
func BenchmarkBottomKText(b *testing.B) {
	texts, size := longTexts(b)
	run := func(name string, begin func() func(i int)) {
		b.Run(name, func(b *testing.B) {
			f := begin()
			least := make([]time.Duration, len(texts))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for i := range texts {
					start := time.Now()
					f(i)
					if took := time.Since(start); least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			var sum time.Duration
			for _, took := range least {
				sum += took
			}
			b.ReportMetric(float64(size)/sum.Seconds()/1e6, "least-MB/s")
		})
	}
	for _, line := range []string{"bottomk", "bottomk bits=32", "bottomk hash=fnv1a", "bottomk bits=32 hash=fnv1a"} {
		run(line, func() func(i int) {
			fingerprint := fingerprinter(b, mustParse(b, line), stageK)
			hashes := make([]uint64, 0, DefaultK)
			return func(i int) { hashes = fingerprint(texts[i]).Append64(hashes[:0]) }
		})
	}
	for _, stage := range stages {
		run(stage.name, func() func(i int) {
			units := make([][]uint16, len(texts))
			for i, text := range texts {
				units[i] = unitsOf(text)
			}
			fingerprint := stage.run()
			return func(i int) { fingerprint(units[i], DefaultK) }
		})
	}
}
