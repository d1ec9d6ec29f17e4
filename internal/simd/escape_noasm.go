//go:build purego || (!amd64 && !arm64)

package simd

func jsonMarks(marks []uint64, s []byte) { jsonMarksGeneric(marks, s) }

func unescapeJSON(dst, src []byte) (written, read int) { return unescapeJSONGeneric(dst, src) }
