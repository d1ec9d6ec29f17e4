package record

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestALookupFindsWhatATableHas looks up values that a table has and others, with grams and without, twice each.
func TestALookupFindsWhatATableHas(t *testing.T) {
	kinds := []Kind{Text, Units, Words, Grams, Code, Number, Date, Value}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.StringMatching(`[abAB é/-]{0,8}`), rapid.StringMatching(`[0-2]{1,3}([.,][0-2])?`), rapid.SampledFrom([]string{"null", "2001-02-03", strings.Repeat("long ab/ba ", 90)}),
		)
		row := func() (values [][]byte) {
			for range kinds {
				values = append(values, []byte(value.Draw(t, "value")))
			}
			return values
		}
		repetitions := rapid.Bool().Draw(t, "repetitions")
		cutter := NewCutter()
		cutter.Repetitions = repetitions
		n := &Numbering{}
		table, chunk := NewTable(len(kinds), n), NewChunk(kinds)
		held := [][][]byte{row(), row(), row()}
		for _, values := range held {
			chunk.Append(cutter, nil, values)
		}
		table.Add(chunk)
		known := n.Snapshot()
		all, words := NewLookup(n, kinds, repetitions, false), NewLookup(known, kinds, repetitions, true)
		for _, values := range slices.Concat(held, held, [][][]byte{row()}) {
			for f, v := range values {
				hashes, whole := cutter.Cut(nil, v, kinds[f])
				slices.Sort(hashes)
				var tokens, wanted []uint32
				others, otherWords := false, false
				for _, hash := range slices.Compact(hashes) {
					number, ok := n.tokens.find(hash)
					isWord := hash&gramBit == 0 && kinds[f].OfWords()
					switch {
					case !ok:
						others, otherWords = true, otherWords || isWord
					case isWord:
						wanted = append(wanted, number)
						fallthrough
					default:
						tokens = append(tokens, number)
					}
				}
				number, _ := n.columns[f].numbers.find(whole.hash())
				has := slices.ContainsFunc(held, func(row [][]byte) bool { _, w := cutter.Cut(nil, row[f], kinds[f]); return w == whole && w.Words != 0 })
				for _, look := range []*Lookup{all, words} {
					found := look.Find(f, v)
					wantTokens, wantOthers := tokens, others
					if look.words {
						wantTokens, wantOthers = wanted, otherWords
					}
					if found.Missing != (whole.Words == 0) || (found.Value > 0) != has || has && found.Value != number+1 || whole.Words != 0 && (!slices.Equal(found.Tokens, wantTokens) || found.Others != wantOthers) {
						t.Fatalf("%q of column %d, words %v: found %+v; want value %d (%v), tokens %v, others %v", v, f, look.words, *found, number+1, has, wantTokens, wantOthers)
					}
				}
			}
		}
	})
}
