package engine

import "github.com/alike-dev/alike/internal/hashing"

// Check returns the part of a digest (recipe.Digest) that is kept in addition to its first word.
func Check(digest [2]uint64) uint32 { return uint32(hashing.Mix(digest[1]) >> 32) }

// Classes divides documents, sorted by digest, check and their order, into classes of equal ones. The
// first document of a class represents it.
type Classes struct {
	begun         bool
	digest, check uint64
}

// Begins tells whether the next document is the first of its class.
func (c *Classes) Begins(digest, check uint64) bool {
	if c.begun && digest == c.digest && check == c.check {
		return false
	}
	*c = Classes{true, digest, check}
	return true
}
