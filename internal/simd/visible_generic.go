package simd

// visibleTable[fold][c] is the byte that replaces c, plus 0x100 if it is kept.
var visibleTable = func() (t [2][256]uint16) {
	for c := range uint16(128) {
		if c == ' ' || c >= '\t' && c <= '\r' {
			continue
		}
		t[0][c], t[1][c] = 0x100|c, 0x100|c
		if c >= 'A' && c <= 'Z' {
			t[1][c] |= 0x20
		}
	}
	return t
}()

// visibleGeneric is the pure Go twin of the kernel: every byte is written, but only kept bytes
// advance the output, so that no branch depends on the text.
func visibleGeneric(dst, src []byte, fold bool) int {
	table := &visibleTable[0]
	if fold {
		table = &visibleTable[1]
	}
	dst = dst[:len(src)]
	n := 0
	for _, c := range src {
		e := table[c]
		dst[n] = byte(e)
		n += int(e >> 8)
	}
	return n
}
