package simd

// AppendWordHashes tokenises the ASCII prefix of src into words, runs of
// [0-9A-Za-z], and appends hashing.Bytes of every word to dst. With fold the
// words are lower-cased first.
//
// It returns dst and the number n of bytes consumed: src[:n] is ASCII and wholly
// tokenised. If all of src is ASCII, n is len(src) and a word that touches the
// end counts as complete. Otherwise n is the start of the word that touches the
// first non-ASCII byte, or the index of that byte where a separator (or
// nothing) precedes it.
// It costs O(len(src)) and reads nothing outside src[:len(src)]. It allocates only to grow dst, for
// the largest possible number of words: one for two bytes of src, up to 1024 more than were found.
// dst is overwritten between its length and its capacity.
func AppendWordHashes(dst []uint64, src []byte, fold bool) ([]uint64, int) {
	return appendWordHashes(bestWords, dst, src, fold)
}
