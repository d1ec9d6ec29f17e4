package plant

import (
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// featureSets turns a text into its set of 5-word shingles, sorted.
type featureSets struct {
	tokens *[]uint64
	word   *[]byte
}

func newFeatureSets() featureSets { return featureSets{new([]uint64), new([]byte)} }

func (f featureSets) append(dst []uint64, text []byte) []uint64 {
	tokens := (*f.tokens)[:0]
	for start, end := nextWord(text, 0); start < len(text); start, end = nextWord(text, end) {
		word := append((*f.word)[:0], text[start:end]...)
		for i, c := range word {
			if c >= 'A' && c <= 'Z' {
				word[i] = c + 'a' - 'A'
			}
		}
		tokens = append(tokens, hashing.Bytes(word))
		*f.word = word
	}
	*f.tokens = tokens
	if len(tokens) == 0 {
		return dst
	}
	n := min(5, len(tokens))
	for i := range len(tokens) - n + 1 {
		h := uint64(n)
		for _, t := range tokens[i : i+n] {
			h = hashing.Mix(h ^ t)
		}
		dst = append(dst, h)
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}

func intersection(a, b []uint64) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}
