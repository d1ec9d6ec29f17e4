package plant

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
)

// realBase makes a base of the first real texts of a file.
func realBase(t testing.TB, texts int, elem ...string) *Base {
	t.Helper()
	all := shareddata.Texts(t, 0, elem...)
	base := new(Base)
	for _, text := range all[:min(texts, len(all))] {
		base.Add(text, false)
	}
	return base
}

// What the package comment says of originals, measured on real texts, for long
// documents and for short ones.
func TestOriginalsOfRealTextsAreNotAlike(t *testing.T) {
	base := realBase(t, 300, "wiki_long_en", "docs.jsonl.zst")
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"long":  {Documents: 2000},
		"short": {Documents: 20_000, MinWords: 10, MaxWords: 30},
	} {
		m := mustNew(t, base, o).NewMaker()
		var sets [][]uint64
		var text []byte
		for i := range o.Documents {
			text = m.AppendDocument(text[:0], i)
			sets = append(sets, shingle.Set(s.AppendFeatures(nil, text)))
		}
		threshold, err := measure.NewThreshold(measure.Jaccard, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		alike := slices.Collect(simjoin.SelfJoin(sets, threshold))
		t.Logf("%s: %d of %d pairs of originals reach 0.1", name, len(alike), o.Documents*(o.Documents-1)/2)
		for _, p := range alike {
			if similarity := p.Similarity(measure.Jaccard); similarity >= 0.2 {
				t.Errorf("%s originals %d and %d: similarity %v", name, p.A, p.B, similarity)
			}
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	base := realBase(b, 1000, "wiki_long_en", "docs.jsonl.zst")
	edits := Edits{MaxRate: 0.04, Restyle: 0.1, Exact: 0.1}
	for name, o := range map[string]Options{
		"long":  {Documents: 1 << 20, Duplicates: 0.1, Chains: 0.1, Edits: edits},
		"short": {Documents: 1 << 24, Duplicates: 0.1, Chains: 0.1, Edits: edits, MinWords: 10, MaxWords: 30},
	} {
		b.Run(name, func(b *testing.B) {
			c, err := New(base, o)
			if err != nil {
				b.Fatal(err)
			}
			m := c.NewMaker()
			var line []byte
			var pairs []Pair
			size, i := 0, 0
			for b.Loop() {
				line = m.AppendRecord(line[:0], i)
				pairs = m.AppendPairs(pairs[:0], i)
				size += len(line)
				i++
			}
			b.SetBytes(int64(size / i))
		})
	}
}
