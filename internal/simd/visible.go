package simd

// VisibleSlack is how many bytes more than len(src) the dst of Visible must have
// room for, all of which may be overwritten.
const VisibleSlack = 64

// Visible writes to dst, in order, the bytes of src that are ASCII and not white space (space,
// U+0009 to U+000D), with fold capital letters as small ones, and returns their number. dst must
// have room for len(src)+VisibleSlack bytes and may not overlap src.
func Visible(dst, src []byte, fold bool) int {
	if len(src) == 0 {
		return 0
	}
	_ = dst[len(src)+VisibleSlack-1]
	done, n := visibleVector(dst, src, fold)
	return n + visibleGeneric(dst[n:], src[done:], fold)
}

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
