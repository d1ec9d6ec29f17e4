package passage_test

import (
	"fmt"
	"strings"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/passage"
)

func ExampleShared() {
	a := strings.Fields("in the beginning the quick brown fox jumps over the lazy dog and sleeps")
	b := strings.Fields("a lazy dog and sleeps while the quick brown fox jumps")
	for _, p := range passage.Shared(hashes(a), hashes(b), 3) {
		fmt.Println(p.A, p.B, strings.Join(a[p.A:p.A+p.Len], " "))
	}
	// Output:
	// 3 6 the quick brown fox jumps
	// 10 1 lazy dog and sleeps
}

// Any hash of a token will do; package text makes them from real text.
func hashes(words []string) (tokens []uint64) {
	for _, w := range words {
		tokens = append(tokens, hashing.Bytes([]byte(w)))
	}
	return tokens
}
