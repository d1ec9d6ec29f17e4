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
