//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./escape -out ../escape_amd64.s -stubs ../escape_stub_amd64.go -pkg simd"

var (
	hasVectorMarks    = cpu.X86.HasAVX2
	hasVectorUnescape = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2 &&
		cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
)

// jsonMarks is JSONMarks for len(marks) whole blocks, one or more.
func jsonMarks(marks []uint64, s []byte) {
	if !hasVectorMarks {
		jsonMarksGeneric(marks, s)
		return
	}
	jsonMarksAVX2(&marks[0], &s[0], len(marks))
}

func unescapeJSON(dst, src []byte) (written, read int) {
	if !hasVectorUnescape {
		return unescapeJSONGeneric(dst, src)
	}
	return unescapeJSONAVX512(&dst[0], &src[0], len(src))
}
