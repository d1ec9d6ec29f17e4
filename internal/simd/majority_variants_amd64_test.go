//go:build !purego

package simd

// majorities are the variants that this machine has.
func majorities() map[string]majorityFunc {
	variants := map[string]majorityFunc{"chosen": Majority, "Go": checkedTie(majorityGeneric)}
	if hasMajorityAVX2 {
		variants["AVX2"] = checkedTie(func(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
			if len(hashes) == 0 {
				majorityGeneric(dst, hashes, tie, scratch)
				return
			}
			majorityVectors(withAVX2, dst, hashes, tie, scratch)
		})
	}
	return variants
}
