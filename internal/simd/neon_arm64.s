//go:build !purego

#include "textflag.h"

// What Go's assembler has no name for.
#define MUL4S(m, n, d) WORD $(0x4EA09C00 | m<<16 | n<<5 | d)
#define ADDPAIRS16B(n, d) WORD $(0x6E202800 | n<<5 | d) // UADDLP d.8H, n.16B

// One bit for each byte of V4 … V7, which are 0 or 255, in order: each keeps the bit of
// its place among eight, then neighbours are added three times.
#define MASK(weights, bits) \
	VAND  weights.B16, V4.B16, V4.B16 \
	VAND  weights.B16, V5.B16, V5.B16 \
	VAND  weights.B16, V6.B16, V6.B16 \
	VAND  weights.B16, V7.B16, V7.B16 \
	VADDP V5.B16, V4.B16, V4.B16      \
	VADDP V7.B16, V6.B16, V6.B16      \
	VADDP V6.B16, V4.B16, V4.B16      \
	VADDP V4.B16, V4.B16, V4.B16      \
	VMOV  V4.D[0], bits

// word becomes 255 where text is a letter or a digit.
#define WORDBYTES(text, word) \
	VORR  V16.B16, text.B16, V24.B16 \
	VSUB  V17.B16, V24.B16, V24.B16  \
	VUMIN V18.B16, V24.B16, V25.B16  \
	VCMEQ V24.B16, V25.B16, V24.B16  \
	VSUB  V19.B16, text.B16, V25.B16 \
	VUMIN V20.B16, V25.B16, V26.B16  \
	VCMEQ V25.B16, V26.B16, V25.B16  \
	VORR  V24.B16, V25.B16, word.B16

// func classifyNEON(block *byte) (word, high uint64)
TEXT ·classifyNEON(SB), NOSPLIT, $0-24
	MOVD  block+0(FP), R0
	VLD1  (R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	VMOVI $0x20, V16.B16
	VMOVI $97, V17.B16         // 'a'
	VMOVI $25, V18.B16
	VMOVI $48, V19.B16         // '0'
	VMOVI $9, V20.B16
	VMOVI $0x80, V22.B16
	MOVD  $0x8040201008040201, R1
	VDUP  R1, V21.D2
	WORDBYTES(V0, V4)
	WORDBYTES(V1, V5)
	WORDBYTES(V2, V6)
	WORDBYTES(V3, V7)
	MASK(V21, R2)
	VCMTST V22.B16, V0.B16, V4.B16
	VCMTST V22.B16, V1.B16, V5.B16
	VCMTST V22.B16, V2.B16, V6.B16
	VCMTST V22.B16, V3.B16, V7.B16
	MASK(V21, R3)
	MOVD  R2, word+8(FP)
	MOVD  R3, high+16(FP)
	RET

// marks becomes 255 where text is a quote, a backslash or at most 0x1f.
#define SPECIALBYTES(text, marks) \
	VCMEQ V16.B16, text.B16, marks.B16 \
	VCMEQ V17.B16, text.B16, V24.B16   \
	VUMIN V18.B16, text.B16, V25.B16   \
	VCMEQ V25.B16, text.B16, V25.B16   \
	VORR  V24.B16, marks.B16, marks.B16 \
	VORR  V25.B16, marks.B16, marks.B16

// func jsonMarksNEON(marks *uint64, s *byte, blocks int)
TEXT ·jsonMarksNEON(SB), NOSPLIT, $0-24
	MOVD  marks+0(FP), R0
	MOVD  s+8(FP), R1
	MOVD  blocks+16(FP), R2
	VMOVI $34, V16.B16         // '"'
	VMOVI $92, V17.B16         // '\\'
	VMOVI $0x1f, V18.B16
	MOVD  $0x8040201008040201, R3
	VDUP  R3, V21.D2

special:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	SPECIALBYTES(V0, V4)
	SPECIALBYTES(V1, V5)
	SPECIALBYTES(V2, V6)
	SPECIALBYTES(V3, V7)
	MASK(V21, R3)
	MOVD.P R3, 8(R0)
	SUBS   $1, R2
	BNE    special
	RET

// func lowerAffineNEON(low, mul, add *uint32, k int, src *uint32, n int)
TEXT ·lowerAffineNEON(SB), NOSPLIT, $0-48
	MOVD low+0(FP), R0
	MOVD mul+8(FP), R1
	MOVD add+16(FP), R2
	MOVD k+24(FP), R3

chunk:
	MOVD   src+32(FP), R4
	MOVD   n+40(FP), R5
	VLD1   (R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R2), [V16.S4, V17.S4, V18.S4, V19.S4]

word:
	VLD1R.P 4(R4), [V20.S4]
	MUL4S(4, 20, 21)
	MUL4S(5, 20, 22)
	MUL4S(6, 20, 23)
	MUL4S(7, 20, 24)
	VADD  V16.S4, V21.S4, V21.S4
	VADD  V17.S4, V22.S4, V22.S4
	VADD  V18.S4, V23.S4, V23.S4
	VADD  V19.S4, V24.S4, V24.S4
	VUMIN V21.S4, V0.S4, V0.S4
	VUMIN V22.S4, V1.S4, V1.S4
	VUMIN V23.S4, V2.S4, V2.S4
	VUMIN V24.S4, V3.S4, V3.S4
	SUBS  $1, R5
	BNE   word
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUBS  $16, R3
	BNE   chunk
	RET

// The bits in which a word of two bitmaps each differs from row are added to V16 … V19.
#define DIFFER(row) \
	VEOR row.B16, V4.B16, V4.B16   \
	VEOR row.B16, V5.B16, V5.B16   \
	VEOR row.B16, V6.B16, V6.B16   \
	VEOR row.B16, V7.B16, V7.B16   \
	VCNT V4.B16, V4.B16            \
	VCNT V5.B16, V5.B16            \
	VCNT V6.B16, V6.B16            \
	VCNT V7.B16, V7.B16            \
	VADD V4.B16, V16.B16, V16.B16  \
	VADD V5.B16, V17.B16, V17.B16  \
	VADD V6.B16, V18.B16, V18.B16  \
	VADD V7.B16, V19.B16, V19.B16

// func paritiesWithinNEON(tile *uint64, groups int, row *uint64, most uint64) uint64
TEXT ·paritiesWithinNEON(SB), NOSPLIT, $0-40
	MOVD tile+0(FP), R0
	MOVD groups+8(FP), R1
	MOVD row+16(FP), R2
	MOVD most+24(FP), R3
	LDP  (R2), (R4, R5)
	LDP  16(R2), (R6, R7)
	VDUP R4, V0.D2
	VDUP R5, V1.D2
	VDUP R6, V2.D2
	VDUP R7, V3.D2
	VDUP R3, V20.H8
	MOVD $0x0008000400020001, R4
	VMOV R4, V21.D[0]
	LSL  $4, R4
	VMOV R4, V21.D[1]
	MOVD $0, R10
	MOVD $0, R11

group:
	MOVD R0, R8
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	DIFFER(V0)
	ADD  $512, R8
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	DIFFER(V1)
	ADD  $512, R8
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	DIFFER(V2)
	ADD  $512, R8
	VLD1 (R8), [V4.B16, V5.B16, V6.B16, V7.B16]
	DIFFER(V3)

	// A byte is up to 32 here, 64 and 128 below; the sum of all is in 16 bits.
	VADDP V17.B16, V16.B16, V16.B16
	VADDP V19.B16, V18.B16, V18.B16
	VADDP V18.B16, V16.B16, V16.B16
	ADDPAIRS16B(16, 16)
	VUMIN V20.H8, V16.H8, V17.H8
	VCMEQ V16.H8, V17.H8, V17.H8
	VAND  V21.B16, V17.B16, V17.B16
	VADDV V17.H8, V17
	VMOV  V17.H[0], R9
	LSL   R11, R9, R9
	ORR   R9, R10, R10
	ADD   $8, R11
	ADD   $64, R0
	SUBS  $1, R1
	BNE   group
	MOVD  R10, ret+32(FP)
	RET

// func Prefetch(p *uint64)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET
