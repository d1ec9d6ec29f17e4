package passage

import "github.com/alike-dev/alike/text"

// Span is a passage of two texts, with its places in bytes: from the first byte of its first
// token to the end of its last one.
type Span struct {
	Tokens       int
	StartA, EndA int
	StartB, EndB int
}

// InTexts returns the passages that [Shared] finds in the tokens of two texts. The tokenizer
// belongs to the caller's goroutine. Cost: that of tokenising and of Shared.
func InTexts(t *text.Tokenizer, a, b []byte, minTokens int) []Span {
	tokensA, tokensB := t.AppendTokens(nil, a), t.AppendTokens(nil, b)
	shared := Shared(hashes(tokensA), hashes(tokensB), minTokens)
	spans := make([]Span, len(shared))
	for i, p := range shared {
		last := p.Len - 1
		spans[i] = Span{
			Tokens: p.Len,
			StartA: tokensA[p.A].Start, EndA: tokensA[p.A+last].End,
			StartB: tokensB[p.B].Start, EndB: tokensB[p.B+last].End,
		}
	}
	return spans
}

func hashes(tokens []text.Token) []uint64 {
	h := make([]uint64, len(tokens))
	for i, t := range tokens {
		h[i] = t.Hash
	}
	return h
}
